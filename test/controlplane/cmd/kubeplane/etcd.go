package main

import (
	"fmt"
	"net"
	"net/url"
	"path/filepath"
	"time"

	"go.etcd.io/etcd/server/v3/embed"
)

const etcdTimeout = 30 * time.Second

// startEtcd starts an etcd of one member in this process, with its data under
// dir, and returns when it serves. Nothing is fsynced: the data needn't outlive
// the process.
func startEtcd(dir string) (*embed.Etcd, error) {
	config := embed.NewConfig()
	config.Dir = filepath.Join(dir, "etcd")
	config.LogLevel = "error"
	config.UnsafeNoFsync = true
	// Port 0 can't be advertised, so free ones are looked for.
	ports, err := freePorts(2)
	if err != nil {
		return nil, err
	}
	clients, peers := []url.URL{loopback(ports[0])}, []url.URL{loopback(ports[1])}
	config.ListenClientUrls, config.AdvertiseClientUrls = clients, clients
	config.ListenPeerUrls, config.AdvertisePeerUrls = peers, peers
	config.InitialCluster = config.InitialClusterFromName(config.Name)

	etcd, err := embed.StartEtcd(config)
	if err != nil {
		return nil, fmt.Errorf("starting etcd: %w", err)
	}
	select {
	case <-etcd.Server.ReadyNotify():
		return etcd, nil
	case err = <-etcd.Err():
	case <-time.After(etcdTimeout):
		err = fmt.Errorf("not ready after %v", etcdTimeout)
	}
	etcd.Close()
	return nil, fmt.Errorf("starting etcd: %w", err)
}

func loopback(port int) url.URL {
	return url.URL{Scheme: "http", Host: fmt.Sprintf("127.0.0.1:%d", port)}
}

// freePorts returns n different TCP ports that nothing listens on now.
func freePorts(n int) ([]int, error) {
	ports := make([]int, 0, n)
	for range n {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return nil, fmt.Errorf("looking for a free port: %w", err)
		}
		defer l.Close()
		ports = append(ports, l.Addr().(*net.TCPAddr).Port)
	}
	return ports, nil
}

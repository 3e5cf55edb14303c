package armsim

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"log"
	"math/big"
	"net"
	"net/http"
	"time"
)

// Listener is a simulator that listens.
type Listener struct {
	// URL is https://host:port.
	URL string
	// CAPEM is the certificate that clients have to trust.
	CAPEM []byte

	server *http.Server
	done   chan error
}

const stopTimeout = 5 * time.Second

// Start listens with a certificate of its own until ctx ends. Port 0 takes
// any free port.
func (s *Server) Start(ctx context.Context, listen string) (*Listener, error) {
	var lc net.ListenConfig
	tcp, err := lc.Listen(ctx, "tcp", listen)
	if err != nil {
		return nil, fmt.Errorf("listening on %s: %w", listen, err)
	}
	addr, _ := tcp.Addr().(*net.TCPAddr)
	cert, certPEM, err := newCertificate(addr.IP, s.opts.Clock())
	if err != nil {
		_ = tcp.Close()
		return nil, err
	}
	host := addr.IP.String()
	if addr.IP.IsUnspecified() {
		host = "127.0.0.1"
	}
	l := &Listener{
		URL: fmt.Sprintf("https://%s", net.JoinHostPort(host, fmt.Sprint(addr.Port))), CAPEM: certPEM,
		done: make(chan error, 1),
		server: &http.Server{
			Handler: s.Handler(), ReadHeaderTimeout: 10 * time.Second, ErrorLog: log.New(io.Discard, "", 0),
			TLSConfig: &tls.Config{Certificates: []tls.Certificate{cert}, MinVersion: tls.VersionTLS12},
		},
	}
	stop := context.AfterFunc(ctx, func() {
		end, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopTimeout)
		defer cancel()
		if l.server.Shutdown(end) != nil {
			_ = l.server.Close()
		}
	})
	go func() {
		defer stop()
		err := l.server.ServeTLS(tcp, "", "")
		if errors.Is(err, http.ErrServerClosed) {
			err = nil
		}
		l.done <- err
		close(l.done)
	}()
	return l, nil
}

// Client is an HTTP client that trusts the listener; it is a Transporter of
// azcore as it is.
func (l *Listener) Client() *http.Client {
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(l.CAPEM)
	return &http.Client{Transport: &http.Transport{
		ForceAttemptHTTP2: true, TLSClientConfig: &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12},
	}}
}

// Wait returns when the listener has stopped; nil where the context ended it.
func (l *Listener) Wait() error { return <-l.done }

// newCertificate makes a certificate for this host and the given address.
func newCertificate(ip net.IP, now time.Time) (tls.Certificate, []byte, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return tls.Certificate{}, nil, fmt.Errorf("making a key: %w", err)
	}
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 100))
	if err != nil {
		return tls.Certificate{}, nil, fmt.Errorf("making a serial number: %w", err)
	}
	template := &x509.Certificate{
		SerialNumber: serial, Subject: pkix.Name{CommonName: "Armature ARM simulator"},
		NotBefore: now.Add(-time.Hour), NotAfter: now.AddDate(1, 0, 0),
		KeyUsage:    x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
		IsCA:        true, BasicConstraintsValid: true,
		DNSNames: []string{"localhost"}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1), net.IPv6loopback, ip},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		return tls.Certificate{}, nil, fmt.Errorf("making a certificate: %w", err)
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key},
		pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), nil
}

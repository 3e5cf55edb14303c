// Package armclient talks to Azure Resource Manager: one request at a time,
// operations that resume from a token, refusals as typed outcomes, and rate
// budgets that mirror ARM's. It never sleeps for long: what has to wait is
// told so, with a duration, and comes back.
package armclient

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/cloud"
)

// Cloud is where ARM and its login live.
type Cloud struct {
	// Endpoint is ARM's base URL.
	Endpoint string
	// Audience is what tokens are asked for.
	Audience string
	// Authority is the login's base URL.
	Authority string
	// CAFile is a PEM file whose certificates are trusted beside the system's;
	// "" for the system's alone.
	CAFile string
	// InsecureHTTP allows an Endpoint of http://, over which tokens travel in
	// the clear: for a simulator on the same machine only.
	InsecureHTTP bool
}

// PublicCloud is Azure as most know it.
func PublicCloud() Cloud { return known(cloud.AzurePublic) }

// USGovernment is Azure for the US government.
func USGovernment() Cloud { return known(cloud.AzureGovernment) }

// China is Azure in China.
func China() Cloud { return known(cloud.AzureChina) }

// known relies on azcore's ARM runtime, which the pipeline is made of: its
// import fills in the services.
func known(c cloud.Configuration) Cloud {
	s := c.Services[cloud.ResourceManager]
	return Cloud{Endpoint: s.Endpoint, Audience: s.Audience, Authority: c.ActiveDirectoryAuthorityHost}
}

func (c Cloud) configuration() cloud.Configuration {
	return cloud.Configuration{
		ActiveDirectoryAuthorityHost: c.Authority,
		Services: map[cloud.ServiceName]cloud.ServiceConfiguration{
			cloud.ResourceManager: {Endpoint: c.Endpoint, Audience: c.Audience},
		},
	}
}

// scope is what tokens are asked for. A slash at the audience's end stays, and
// gives two: the login takes them for a part of the audience.
func (c Cloud) scope() string { return c.Audience + "/.default" }

// public reports whether the authority is one that Microsoft's instance
// discovery knows.
func (c Cloud) public() bool {
	u, err := url.Parse(c.Authority)
	if err != nil {
		return false
	}
	return slices.ContainsFunc([]Cloud{PublicCloud(), USGovernment(), China()}, func(k Cloud) bool {
		return strings.Contains(k.Authority, "//"+strings.ToLower(u.Host)+"/")
	})
}

// base is the endpoint as a URL, checked.
func (c Cloud) base() (*url.URL, error) {
	u, err := url.Parse(c.Endpoint)
	if err != nil {
		return nil, fmt.Errorf("reading the ARM endpoint: %w", err)
	}
	switch {
	case u.Host == "" || (u.Scheme != "https" && u.Scheme != "http"):
		return nil, fmt.Errorf("reading the ARM endpoint %q: expected https://host", c.Endpoint)
	case u.Scheme == "http" && !c.InsecureHTTP:
		return nil, fmt.Errorf("reading the ARM endpoint %q: a token would travel in the clear; expected https", c.Endpoint)
	case u.RawQuery != "" || u.Fragment != "" || u.User != nil:
		return nil, errors.New("reading the ARM endpoint: expected no user, query or fragment")
	case c.Audience == "":
		return nil, errors.New("reading the ARM audience: expected a URL, found none")
	}
	u.Path = strings.TrimRight(u.Path, "/")
	return u, nil
}

// How long one call may take: connections that hang must not hold a worker.
const (
	headerTimeout  = 60 * time.Second
	maxIdlePerHost = 64
)

// transport trusts the system's certificates and those of CAFile.
func (c Cloud) transport() (*http.Transport, error) {
	t := &http.Transport{
		Proxy:                 http.ProxyFromEnvironment,
		ForceAttemptHTTP2:     true,
		MaxIdleConns:          4 * maxIdlePerHost,
		MaxIdleConnsPerHost:   maxIdlePerHost,
		IdleConnTimeout:       90 * time.Second,
		TLSHandshakeTimeout:   10 * time.Second,
		ResponseHeaderTimeout: headerTimeout,
		TLSClientConfig:       &tls.Config{MinVersion: tls.VersionTLS12},
	}
	if c.CAFile == "" {
		return t, nil
	}
	pem, err := os.ReadFile(c.CAFile)
	if err != nil {
		return nil, fmt.Errorf("reading the CA file: %w", err)
	}
	pool, err := x509.SystemCertPool()
	if err != nil {
		pool = x509.NewCertPool()
	}
	if !pool.AppendCertsFromPEM(pem) {
		return nil, fmt.Errorf("reading the CA file %s: expected PEM certificates, found none", c.CAFile)
	}
	t.TLSClientConfig.RootCAs = pool
	return t, nil
}

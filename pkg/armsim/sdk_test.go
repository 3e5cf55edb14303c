package armsim_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/arm"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/cloud"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/runtime"
	"github.com/Azure/azure-sdk-for-go/sdk/azidentity"

	"github.com/armature-dev/armature/config"
	"github.com/armature-dev/armature/pkg/armsim"
)

const tenantID = "00000000-0000-0000-0000-00000000aaaa"

// sdk is a real azcore client, logged in by a real azidentity credential.
func sdk(t *testing.T, opts armsim.Options) (*arm.Client, *armsim.Listener) {
	t.Helper()
	catalog, err := config.Catalog()
	if err != nil {
		t.Fatal(err)
	}
	l, err := armsim.New(catalog, opts).Start(t.Context(), "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(l.CAPEM)
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}}}
	core := azcore.ClientOptions{
		Transport: client, Retry: policy.RetryOptions{MaxRetries: -1},
		Cloud: cloud.Configuration{
			ActiveDirectoryAuthorityHost: l.URL,
			Services:                     map[cloud.ServiceName]cloud.ServiceConfiguration{cloud.ResourceManager: {Endpoint: l.URL, Audience: l.URL}},
		},
	}
	cred, err := azidentity.NewClientSecretCredential(tenantID, "app", "secret",
		&azidentity.ClientSecretCredentialOptions{ClientOptions: core, DisableInstanceDiscovery: true})
	if err != nil {
		t.Fatal(err)
	}
	c, err := arm.NewClient("armsim", "v1.0.0", cred, &arm.ClientOptions{ClientOptions: core})
	if err != nil {
		t.Fatal(err)
	}
	return c, l
}

func do(t *testing.T, c *arm.Client, l *armsim.Listener, method, path, version, body string) *http.Response {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	t.Cleanup(cancel)
	req, err := runtime.NewRequest(ctx, method, l.URL+path+"?api-version="+version)
	if err != nil {
		t.Fatal(err)
	}
	if body != "" {
		if err := req.SetBody(readSeekCloser{strings.NewReader(body)}, "application/json"); err != nil {
			t.Fatal(err)
		}
	}
	resp, err := c.Pipeline().Do(req)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = resp.Body.Close() })
	return resp
}

type readSeekCloser struct{ *strings.Reader }

func (readSeekCloser) Close() error { return nil }

func poll(t *testing.T, c *arm.Client, resp *http.Response) map[string]any {
	t.Helper()
	if resp.StatusCode >= http.StatusBadRequest {
		t.Fatal(runtime.NewResponseError(resp))
	}
	p, err := runtime.NewPoller[map[string]any](resp, c.Pipeline(), nil)
	if err != nil {
		t.Fatal(err)
	}
	v, err := p.PollUntilDone(t.Context(), &runtime.PollUntilDoneOptions{Frequency: time.Second})
	if err != nil {
		t.Fatal(err)
	}
	return v
}

const (
	group   = "/subscriptions/s1/resourceGroups/rg"
	network = group + "/providers/Microsoft.Network/virtualNetworks/net"
	vmss    = group + "/providers/Microsoft.Compute/virtualMachineScaleSets/web"
	account = group + "/providers/Microsoft.Storage/storageAccounts/acct"

	groupVersion   = "2025-04-01"
	networkVersion = "2024-10-01"
	vmssVersion    = "2025-04-01"
	storageVersion = "2025-01-01"
)

//nolint:bodyclose // do closes the bodies when the test ends
func TestAzureSDK(t *testing.T) {
	t.Parallel()
	for name, d := range map[string]time.Duration{"at once": 0, "in a moment": 50 * time.Millisecond} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c, l := sdk(t, armsim.Options{OperationDuration: d, TenantID: tenantID})
			poll(t, c, do(t, c, l, "PUT", group, groupVersion, `{"location":"westeurope"}`))
			v := poll(t, c, do(t, c, l, "PUT", vmss, vmssVersion, `{"location":"westeurope","sku":{"name":"Standard_B1s","capacity":2},"properties":{"orchestrationMode":"Uniform"}}`))
			if got := v["properties"].(map[string]any)["provisioningState"]; got != "Succeeded" {
				t.Errorf("after the PUT: state %v", got)
			}
			v = poll(t, c, do(t, c, l, "PATCH", vmss, vmssVersion, `{"sku":{"capacity":5}}`))
			if got := v["sku"].(map[string]any); got["capacity"] != 5.0 || got["name"] != "Standard_B1s" {
				t.Errorf("after the PATCH: sku %v", got)
			}
			v = poll(t, c, do(t, c, l, "PUT", account, storageVersion, `{"location":"westeurope","kind":"StorageV2","sku":{"name":"Standard_LRS"}}`))
			if v["name"] != "acct" {
				t.Errorf("storage: %v", v)
			}
			poll(t, c, do(t, c, l, "DELETE", vmss, vmssVersion, ""))
			if resp := do(t, c, l, "GET", vmss, vmssVersion, ""); resp.StatusCode != http.StatusNotFound {
				t.Errorf("after the DELETE: %d", resp.StatusCode)
			}
			poll(t, c, do(t, c, l, "DELETE", group, groupVersion, ""))
			if resp := do(t, c, l, "GET", account, storageVersion, ""); resp.StatusCode != http.StatusNotFound {
				t.Errorf("after the group's DELETE: %d", resp.StatusCode)
			}
		})
	}
}

func TestManagedIdentity(t *testing.T) {
	_, l := sdk(t, armsim.Options{})
	t.Setenv("IDENTITY_ENDPOINT", l.URL+"/_armature/identity/token")
	t.Setenv("IDENTITY_HEADER", "any")
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(l.CAPEM)
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}}}
	cred, err := azidentity.NewManagedIdentityCredential(&azidentity.ManagedIdentityCredentialOptions{
		ClientOptions: azcore.ClientOptions{Transport: client}, ID: azidentity.ClientID("app"),
	})
	if err != nil {
		t.Fatal(err)
	}
	token, err := cred.GetToken(t.Context(), policy.TokenRequestOptions{Scopes: []string{l.URL + "/.default"}})
	if err != nil {
		t.Fatal(err)
	}
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, l.URL+"/subscriptions?api-version=2022-12-01", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+token.Token)
	resp, err := client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		t.Errorf("status %d", resp.StatusCode)
	}
}

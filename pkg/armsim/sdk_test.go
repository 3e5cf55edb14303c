package armsim_test

import (
	"context"
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/arm"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/cloud"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/runtime"
	"github.com/Azure/azure-sdk-for-go/sdk/azidentity"
	"github.com/google/go-cmp/cmp"

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
	core := coreOptions(l)
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
	client := l.Client()
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

// coreOptions point azcore and azidentity at a listener.
func coreOptions(l *armsim.Listener) azcore.ClientOptions {
	return azcore.ClientOptions{
		Transport: l.Client(), Retry: policy.RetryOptions{MaxRetries: -1},
		Cloud: cloud.Configuration{
			ActiveDirectoryAuthorityHost: l.URL,
			Services:                     map[cloud.ServiceName]cloud.ServiceConfiguration{cloud.ResourceManager: {Endpoint: l.URL, Audience: l.URL}},
		},
	}
}

func TestCredentials(t *testing.T) {
	t.Parallel()
	_, l := sdk(t, armsim.Options{TenantID: tenantID, ClientID: "app", ClientSecret: "secret"})
	core := coreOptions(l)
	assertion := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(assertion, []byte("a.service.account"), 0o600); err != nil {
		t.Fatal(err)
	}
	secret := func(tenant, client, value string) (azcore.TokenCredential, error) {
		return azidentity.NewClientSecretCredential(tenant, client, value,
			&azidentity.ClientSecretCredentialOptions{ClientOptions: core, DisableInstanceDiscovery: true})
	}
	workload := func(client string) (azcore.TokenCredential, error) {
		return azidentity.NewWorkloadIdentityCredential(&azidentity.WorkloadIdentityCredentialOptions{
			ClientOptions: core, DisableInstanceDiscovery: true, TenantID: tenantID, ClientID: client, TokenFilePath: assertion,
		})
	}
	for name, c := range map[string]struct {
		make func() (azcore.TokenCredential, error)
		want string
	}{
		"secret":         {func() (azcore.TokenCredential, error) { return secret(tenantID, "app", "secret") }, ""},
		"wrong secret":   {func() (azcore.TokenCredential, error) { return secret(tenantID, "app", "guess") }, "AADSTS7000215"},
		"unknown client": {func() (azcore.TokenCredential, error) { return secret(tenantID, "other", "secret") }, "AADSTS700016"},
		"unknown tenant": {func() (azcore.TokenCredential, error) { return secret("nope", "app", "secret") }, "AADSTS90002"},
		"workload":       {func() (azcore.TokenCredential, error) { return workload("app") }, ""},
		"unknown pod":    {func() (azcore.TokenCredential, error) { return workload("other") }, "AADSTS700016"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cred, err := c.make()
			if err != nil {
				t.Fatal(err)
			}
			_, err = cred.GetToken(t.Context(), policy.TokenRequestOptions{Scopes: []string{l.URL + "/.default"}})
			if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}
}

// named is what azcore wants of a resumed poller: a type with a name.
type named struct{ Name string }

// TestResume makes a poller of another's token, as a manager does that was
// restarted in the middle of an operation.
//
//nolint:bodyclose // do closes the bodies when the test ends
func TestResume(t *testing.T) {
	t.Parallel()
	c, l := sdk(t, armsim.Options{OperationPolls: 2, TenantID: tenantID})
	poll(t, c, do(t, c, l, "PUT", group, groupVersion, `{"location":"westeurope"}`))
	resp := do(t, c, l, "PUT", network, networkVersion, `{"location":"westeurope","properties":{"addressSpace":{"addressPrefixes":["10.0.0.0/16"]}}}`)
	p, err := runtime.NewPoller[named](resp, c.Pipeline(), nil)
	if err != nil {
		t.Fatal(err)
	}
	token, err := p.ResumeToken()
	if err != nil {
		t.Fatal(err)
	}
	again, err := runtime.NewPollerFromResumeToken[named](token, c.Pipeline(), nil)
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []bool{false, true} {
		if _, err := again.Poll(t.Context()); err != nil || again.Done() != want {
			t.Fatalf("poll %d: done %v, %v", i+1, again.Done(), err)
		}
	}
	v, err := again.Result(t.Context())
	if err != nil || v.Name != "net" {
		t.Errorf("got %v, %v", v, err)
	}
}

// TestFailedOperation sees what azcore makes of an operation that fails.
//
//nolint:bodyclose // do closes the bodies when the test ends
func TestFailedOperation(t *testing.T) {
	t.Parallel()
	for name, method := range map[string]string{"by Azure-AsyncOperation": http.MethodPut, "by Location": http.MethodDelete} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c, l := sdk(t, armsim.Options{TenantID: tenantID})
			poll(t, c, do(t, c, l, "PUT", group, groupVersion, `{"location":"westeurope"}`))
			fault := `{"method":"` + method + `","failOperation":true,"code":"OutOfQuota","message":"no cores left"}`
			do(t, c, l, "POST", "/_armature/faults", groupVersion, fault)
			body := `{"location":"westeurope","sku":{"name":"Standard_B1s","capacity":1},"properties":{}}`
			path, version := vmss, vmssVersion
			if method == http.MethodDelete {
				path, version, body = group, groupVersion, ""
			}
			p, err := runtime.NewPoller[map[string]any](do(t, c, l, method, path, version, body), c.Pipeline(), nil)
			if err != nil {
				t.Fatal(err)
			}
			_, err = p.PollUntilDone(t.Context(), &runtime.PollUntilDoneOptions{Frequency: time.Second})
			if e, ok := errors.AsType[*azcore.ResponseError](err); !ok || e.ErrorCode != "OutOfQuota" {
				t.Errorf("got %v", err)
			}
		})
	}
}

// TestRegistersByItself lets azcore's own policy register a provider and
// repeat the request.
//
//nolint:bodyclose // do closes the bodies when the test ends
func TestRegistersByItself(t *testing.T) {
	t.Parallel()
	c, l := sdk(t, armsim.Options{TenantID: tenantID, Unregistered: []string{"Microsoft.Network"}})
	poll(t, c, do(t, c, l, "PUT", group, groupVersion, `{"location":"westeurope"}`))
	if resp := do(t, c, l, "PUT", network, networkVersion, `{"location":"westeurope","properties":{}}`); resp.StatusCode != http.StatusCreated {
		t.Errorf("status %d", resp.StatusCode)
	}
}

// TestPager follows nextLinks with azcore's pager.
//
//nolint:bodyclose // do closes the bodies when the test ends
func TestPager(t *testing.T) {
	t.Parallel()
	type page struct {
		Value    []map[string]any
		NextLink string
	}
	c, l := sdk(t, armsim.Options{TenantID: tenantID, PageSize: 2, EmptyPages: true})
	poll(t, c, do(t, c, l, "PUT", group, groupVersion, `{"location":"westeurope"}`))
	for _, n := range []string{"a", "b", "c"} {
		poll(t, c, do(t, c, l, "PUT", network+n, networkVersion, `{"location":"westeurope","properties":{}}`))
	}
	next := l.URL + group + "/providers/Microsoft.Network/virtualNetworks?api-version=" + networkVersion
	pager := runtime.NewPager(runtime.PagingHandler[page]{
		More: func(p page) bool { return p.NextLink != "" },
		Fetcher: func(ctx context.Context, p *page) (page, error) {
			if p != nil {
				next = p.NextLink
			}
			req, err := runtime.NewRequest(ctx, http.MethodGet, next)
			if err != nil {
				return page{}, err
			}
			resp, err := c.Pipeline().Do(req)
			if err != nil {
				return page{}, err
			}
			defer resp.Body.Close()
			var got page
			return got, runtime.UnmarshalAsJSON(resp, &got)
		},
	})
	var sizes []int
	for pager.More() {
		p, err := pager.NextPage(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		sizes = append(sizes, len(p.Value))
	}
	if d := cmp.Diff([]int{0, 2, 1}, sizes); d != "" {
		t.Error(d)
	}
}

package armclient

import (
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/google/go-cmp/cmp"
)

func TestCredentialFromEnv(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		env  map[string]string
		want CredentialConfig
	}{
		"nothing":           {nil, CredentialConfig{Kind: DefaultCredential}},
		"client secret":     {map[string]string{KeyTenantID: "t", KeyClientID: "c", KeyClientSecret: "s"}, CredentialConfig{Kind: ClientSecret, TenantID: "t", ClientID: "c", ClientSecret: "s"}},
		"workload identity": {map[string]string{KeyTenantID: "t", KeyClientID: "c", KeyFederatedTokenFile: "/f"}, CredentialConfig{Kind: WorkloadIdentity, TenantID: "t", ClientID: "c", FederatedTokenFile: "/f"}},
		"managed identity":  {map[string]string{keyIdentityEndpoint: "http://x"}, CredentialConfig{Kind: ManagedIdentity}},
		"named":             {map[string]string{KeyKind: "managedIdentity", KeyClientSecret: "s"}, CredentialConfig{Kind: ManagedIdentity, ClientSecret: "s"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if d := cmp.Diff(tc.want, CredentialFromEnv(func(k string) string { return tc.env[k] }), cmp.AllowUnexported()); d != "" {
				t.Error(d)
			}
		})
	}
}

func TestCredentialFromSecret(t *testing.T) {
	t.Parallel()
	full := map[string]string{KeyTenantID: "t", KeyClientID: "c\n", KeyClientSecret: "s3cret"}
	for name, tc := range map[string]struct {
		without, kind string
		want          string
	}{
		"complete":                {},
		"no tenant":               {without: KeyTenantID, want: KeyTenantID},
		"no client":               {without: KeyClientID, want: KeyClientID},
		"no secret":               {without: KeyClientSecret, want: KeyClientSecret},
		"no secret is needed":     {without: KeyClientSecret, kind: "workloadIdentity"},
		"a kind nobody heard of":  {kind: "magic", want: KeyKind},
		"an identity without any": {without: KeyTenantID, kind: "managedIdentity"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			data := map[string][]byte{}
			for k, v := range full {
				if k != tc.without {
					data[k] = []byte(v)
				}
			}
			if tc.kind != "" {
				data[KeyKind] = []byte(tc.kind)
			}
			_, err := CredentialFromSecret(data)
			switch {
			case tc.want == "" && err != nil:
				t.Error(err)
			case tc.want != "" && (err == nil || !strings.Contains(err.Error(), tc.want) || strings.Contains(err.Error(), "s3cret")):
				t.Errorf("got %v, want an error that names %s", err, tc.want)
			}
		})
	}
}

func TestCredentialConfigShowsNoSecret(t *testing.T) {
	t.Parallel()
	c := CredentialConfig{Kind: ClientSecret, TenantID: "t", ClientID: "c", ClientSecret: "s3cret"}
	b, err := json.Marshal(map[string]any{"c": c, "p": &c})
	if err != nil {
		t.Fatal(err)
	}
	if text := fmt.Sprintf("%v %+v %#v %s %v %#v", c, c, c, c, &c, &c) + string(b); strings.Contains(text, "s3cret") {
		t.Errorf("the secret is in %s", text)
	}
}

func TestClouds(t *testing.T) {
	t.Parallel()
	for _, c := range []Cloud{PublicCloud(), USGovernment(), China()} {
		if _, err := c.base(); err != nil || !c.public() || !strings.HasPrefix(c.Authority, "https://") {
			t.Errorf("%+v: %v", c, err)
		}
	}
	for name, c := range map[string]Cloud{
		"no endpoint": {Audience: "a"}, "plain http": {Endpoint: "http://h", Audience: "a"}, "no audience": {Endpoint: "https://h"},
		"query": {Endpoint: "https://h?x", Audience: "a"}, "no CA file": {Endpoint: "https://h", Audience: "a", CAFile: "/does/not/exist"},
	} {
		if _, err := New(c, nil, Options{}); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
	if _, err := New(Cloud{Endpoint: "http://h", Audience: "a", InsecureHTTP: true}, nil, Options{}); err != nil {
		t.Error(err)
	}
}

// TestLogin logs azidentity in at a login server of our own, known by its CA
// file alone.
func TestLogin(t *testing.T) {
	t.Parallel()
	var form string
	var url string
	s := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		switch {
		case strings.HasSuffix(r.URL.Path, "/openid-configuration"):
			_, _ = fmt.Fprintf(w, `{"authorization_endpoint":"%[1]s/t/oauth2/v2.0/authorize","token_endpoint":"%[1]s/t/oauth2/v2.0/token","issuer":"%[1]s/t/v2.0"}`, url)
		case strings.HasSuffix(r.URL.Path, "/token"):
			b, _ := io.ReadAll(r.Body)
			form = string(b)
			_, _ = io.WriteString(w, `{"token_type":"Bearer","expires_in":3600,"access_token":"`+secretToken+`"}`)
		default:
			http.NotFound(w, r)
		}
	}))
	t.Cleanup(s.Close)
	url = s.URL
	dir := t.TempDir()
	ca, federated := filepath.Join(dir, "ca.pem"), filepath.Join(dir, "token")
	if err := os.WriteFile(ca, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw}), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(federated, []byte("assertion"), 0o600); err != nil {
		t.Fatal(err)
	}
	c := Cloud{Endpoint: s.URL, Audience: "https://arm.test", Authority: s.URL, CAFile: ca}
	for _, cfg := range []CredentialConfig{
		{Kind: ClientSecret, TenantID: "t", ClientID: "c", ClientSecret: "s"},
		{Kind: WorkloadIdentity, TenantID: "t", ClientID: "c", FederatedTokenFile: federated},
	} {
		cred, err := c.NewCredential(cfg)
		if err != nil {
			t.Fatal(err)
		}
		tok, err := cred.GetToken(t.Context(), policy.TokenRequestOptions{Scopes: []string{c.scope()}})
		if err != nil || tok.Token != secretToken {
			t.Errorf("%s: got %v", cfg.Kind, err)
		}
		if !strings.Contains(form, "arm.test") {
			t.Errorf("%s: asked for %s", cfg.Kind, form)
		}
	}
}

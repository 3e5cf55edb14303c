package armclient

import (
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/azidentity"
)

// CredentialKind says how to log in.
type CredentialKind string

// The kinds of credential.
const (
	WorkloadIdentity CredentialKind = "workloadIdentity"
	ManagedIdentity  CredentialKind = "managedIdentity"
	ClientSecret     CredentialKind = "clientSecret"
	// DefaultCredential tries what azidentity tries: the environment, the
	// identities of the machine, the Azure CLI.
	DefaultCredential CredentialKind = "default"
)

// Keys of the environment and of credential Secrets, as Azure's own tools
// spell them. KeyKind is ours: it names the kind where the rest doesn't say.
const (
	KeyTenantID           = "AZURE_TENANT_ID"
	KeyClientID           = "AZURE_CLIENT_ID"
	KeyClientSecret       = "AZURE_CLIENT_SECRET" //nolint:gosec // the name of a variable
	KeyFederatedTokenFile = "AZURE_FEDERATED_TOKEN_FILE"
	KeyKind               = "AZURE_CREDENTIAL_KIND"
	keyIdentityEndpoint   = "IDENTITY_ENDPOINT"
)

// CredentialConfig is a credential as data. It shows no secret however it is
// printed or marshalled.
type CredentialConfig struct {
	Kind               CredentialKind
	TenantID           string
	ClientID           string
	ClientSecret       string
	FederatedTokenFile string
}

// String names kind, tenant and client, never the secret.
func (c CredentialConfig) String() string {
	return fmt.Sprintf("%s tenant=%s client=%s", c.Kind, c.TenantID, c.ClientID)
}

// GoString is String.
func (c CredentialConfig) GoString() string { return c.String() }

// MarshalText is String: what a logger or encoder may write.
func (c CredentialConfig) MarshalText() ([]byte, error) { return []byte(c.String()), nil }

// CredentialFromEnv reads the variables that Azure's tools and the workload
// identity webhook set. Where they say nothing the kind is DefaultCredential.
func CredentialFromEnv(getenv func(string) string) CredentialConfig {
	c := CredentialConfig{
		Kind: CredentialKind(getenv(KeyKind)), TenantID: getenv(KeyTenantID), ClientID: getenv(KeyClientID),
		ClientSecret: getenv(KeyClientSecret), FederatedTokenFile: getenv(KeyFederatedTokenFile),
	}
	switch {
	case c.Kind != "":
	case c.FederatedTokenFile != "" && c.ClientID != "" && c.TenantID != "":
		c.Kind = WorkloadIdentity
	case c.ClientSecret != "" && c.ClientID != "" && c.TenantID != "":
		c.Kind = ClientSecret
	case getenv(keyIdentityEndpoint) != "":
		c.Kind = ManagedIdentity
	default:
		c.Kind = DefaultCredential
	}
	return c
}

// CredentialFromSecret reads a Secret's data. Without KeyKind it is a client
// secret. An error names the missing key, never a value.
func CredentialFromSecret(data map[string][]byte) (CredentialConfig, error) {
	get := func(k string) string { return strings.TrimSpace(string(data[k])) }
	c := CredentialConfig{
		Kind: CredentialKind(get(KeyKind)), TenantID: get(KeyTenantID), ClientID: get(KeyClientID),
		ClientSecret: get(KeyClientSecret), FederatedTokenFile: get(KeyFederatedTokenFile),
	}
	if c.Kind == "" {
		c.Kind = ClientSecret
	}
	if err := c.check(); err != nil {
		return CredentialConfig{}, fmt.Errorf("reading the credential: %w", err)
	}
	return c, nil
}

func (c CredentialConfig) check() error {
	need := map[CredentialKind][]string{
		ClientSecret:     {KeyTenantID, KeyClientID, KeyClientSecret},
		WorkloadIdentity: {KeyTenantID, KeyClientID},
		ManagedIdentity:  nil, DefaultCredential: nil,
	}
	keys, ok := need[c.Kind]
	if !ok {
		return fmt.Errorf("%s: expected %s, %s, %s or %s", KeyKind, ClientSecret, WorkloadIdentity, ManagedIdentity, DefaultCredential)
	}
	have := map[string]string{KeyTenantID: c.TenantID, KeyClientID: c.ClientID, KeyClientSecret: c.ClientSecret}
	for _, k := range keys {
		if have[k] == "" {
			return fmt.Errorf("missing key %s, which %s needs", k, c.Kind)
		}
	}
	return nil
}

// A login is tried once more, soon; everything longer is the caller's to
// repeat.
const (
	loginRetries  = 1
	loginMaxDelay = 2 * time.Second
)

// NewCredential makes the credential that cfg describes, for this cloud's
// login. It contacts nobody. A login that Microsoft's instance discovery does
// not know is taken at its word.
func (c Cloud) NewCredential(cfg CredentialConfig) (azcore.TokenCredential, error) {
	if err := cfg.check(); err != nil {
		return nil, fmt.Errorf("making a credential: %w", err)
	}
	t, err := c.transport()
	if err != nil {
		return nil, fmt.Errorf("making a credential: %w", err)
	}
	cred, err := c.newCredential(cfg, policy.ClientOptions{
		Cloud:     c.configuration(),
		Transport: &http.Client{Transport: t},
		Retry:     policy.RetryOptions{MaxRetries: loginRetries, MaxRetryDelay: loginMaxDelay, TryTimeout: headerTimeout},
	})
	if err != nil {
		return nil, fmt.Errorf("making a %s credential: %w", cfg.Kind, err)
	}
	return cred, nil
}

func (c Cloud) newCredential(cfg CredentialConfig, o policy.ClientOptions) (azcore.TokenCredential, error) {
	private := !c.public()
	switch cfg.Kind {
	case ClientSecret:
		return azidentity.NewClientSecretCredential(cfg.TenantID, cfg.ClientID, cfg.ClientSecret,
			&azidentity.ClientSecretCredentialOptions{ClientOptions: o, DisableInstanceDiscovery: private})
	case WorkloadIdentity:
		return azidentity.NewWorkloadIdentityCredential(&azidentity.WorkloadIdentityCredentialOptions{
			ClientOptions: o, DisableInstanceDiscovery: private,
			TenantID: cfg.TenantID, ClientID: cfg.ClientID, TokenFilePath: cfg.FederatedTokenFile,
		})
	case ManagedIdentity:
		// Its own retry rules fit the identity endpoints of machines.
		mo := &azidentity.ManagedIdentityCredentialOptions{ClientOptions: policy.ClientOptions{Transport: o.Transport}}
		if cfg.ClientID != "" {
			mo.ID = azidentity.ClientID(cfg.ClientID)
		}
		return azidentity.NewManagedIdentityCredential(mo)
	case DefaultCredential:
	}
	return azidentity.NewDefaultAzureCredential(&azidentity.DefaultAzureCredentialOptions{
		ClientOptions: o, DisableInstanceDiscovery: private, TenantID: cfg.TenantID,
	})
}

package armsim

import (
	"crypto/hmac"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

const tokenLife = time.Hour

// login answers the endpoints of Entra ID that azidentity needs; false for
// any other path.
func (s *Server) login(q *request, seg []string) (response, bool) {
	switch {
	case is(seg, "common", "discovery", "instance"):
		return s.discovery(q), true
	case is(seg, "*", "v2.0", ".well-known", "openid-configuration"):
		return s.openID(q, seg[0]), true
	case is(seg, "*", "oauth2", "v2.0", "token"):
		return s.token(q, seg[0]), true
	case is(seg, "metadata", "endpoints"):
		return s.endpoints(q), true
	}
	return response{}, false
}

func (s *Server) tenant() string {
	if s.opts.TenantID == "" {
		return "common"
	}
	return s.opts.TenantID
}

func (s *Server) discovery(q *request) response {
	host := strings.TrimPrefix(strings.TrimPrefix(q.base, "https://"), "http://")
	return ok(http.StatusOK, map[string]any{
		"tenant_discovery_endpoint": q.base + "/" + s.tenant() + "/v2.0/.well-known/openid-configuration",
		"api-version":               "1.1",
		"metadata": []any{map[string]any{
			"preferred_network": host, "preferred_cache": host, "aliases": []any{host},
		}},
	})
}

func (s *Server) openID(q *request, tenant string) response {
	base := q.base + "/" + tenant
	return ok(http.StatusOK, map[string]any{
		"issuer":                                base + "/v2.0",
		"authorization_endpoint":                base + "/oauth2/v2.0/authorize",
		"token_endpoint":                        base + "/oauth2/v2.0/token",
		"device_authorization_endpoint":         base + "/oauth2/v2.0/devicecode",
		"jwks_uri":                              base + "/discovery/v2.0/keys",
		"response_types_supported":              []any{"code", "id_token"},
		"subject_types_supported":               []any{"pairwise"},
		"id_token_signing_alg_values_supported": []any{"RS256"},
	})
}

func (s *Server) token(q *request, tenant string) response {
	refuse := func(status int, code, text string) response {
		return ok(status, map[string]any{"error": code, "error_description": text, "error_codes": []any{}, "timestamp": stamp(q.now)})
	}
	if q.method != http.MethodPost {
		return refuse(http.StatusMethodNotAllowed, "invalid_request", "AADSTS900561: The endpoint only accepts POST requests.")
	}
	if s.opts.TenantID != "" && !strings.EqualFold(tenant, s.opts.TenantID) {
		return refuse(http.StatusBadRequest, "invalid_request", "AADSTS90002: Tenant '"+tenant+"' not found.")
	}
	form, err := url.ParseQuery(string(q.body))
	switch {
	case err != nil:
		return refuse(http.StatusBadRequest, "invalid_request", "AADSTS900144: The request body can't be read as a form.")
	case form.Get("grant_type") != "client_credentials":
		return refuse(http.StatusBadRequest, "unsupported_grant_type", "AADSTS70003: expected the grant type client_credentials.")
	case form.Get("client_id") == "":
		return refuse(http.StatusBadRequest, "invalid_request", "AADSTS900144: The request body must contain client_id.")
	case form.Get("client_secret") == "" && form.Get("client_assertion") == "":
		return refuse(http.StatusUnauthorized, "invalid_client", "AADSTS7000218: The request body must contain client_assertion or client_secret.")
	}
	if resp, refused := s.refusedClient(form, refuse); refused {
		return resp
	}
	life := int(tokenLife.Seconds())
	return ok(http.StatusOK, map[string]any{
		"token_type": "Bearer", "expires_in": life, "ext_expires_in": life,
		"access_token": s.issue(q, tenant, form.Get("client_id")),
	})
}

// refusedClient refuses a client that the options don't name.
func (s *Server) refusedClient(form url.Values, refuse func(status int, code, text string) response) (response, bool) {
	if s.opts.ClientID != "" && !strings.EqualFold(form.Get("client_id"), s.opts.ClientID) {
		return refuse(http.StatusBadRequest, "unauthorized_client", "AADSTS700016: Application with identifier '"+form.Get("client_id")+"' was not found."), true
	}
	secret := form.Get("client_secret")
	if s.opts.ClientSecret != "" && secret != "" && subtle.ConstantTimeCompare([]byte(secret), []byte(s.opts.ClientSecret)) == 0 {
		return refuse(http.StatusUnauthorized, "invalid_client", "AADSTS7000215: Invalid client secret provided."), true
	}
	return response{}, false
}

// endpoints describes this cloud to tools that ask ARM for it: one object
// since 2022-09-01, a list before.
func (s *Server) endpoints(q *request) response {
	cloud := map[string]any{
		"name": "ArmatureSimulator", "portal": q.base, "resourceManager": q.base + "/",
		"graph": q.base + "/", "graphAudience": q.base + "/", "microsoftGraphResourceId": q.base + "/", "batch": q.base + "/",
		"authentication": map[string]any{
			"loginEndpoint": q.base + "/", "audiences": []any{q.base + "/", q.base}, "tenant": s.tenant(), "identityProvider": "AAD",
		},
		"suffixes": map[string]any{"storage": "core.windows.net", "keyVaultDns": "vault.azure.net", "acrLoginServer": "azurecr.io"},
	}
	if q.query.Get("api-version") < "2022" {
		return ok(http.StatusOK, []any{cloud})
	}
	return ok(http.StatusOK, cloud)
}

// managedIdentity answers as App Service's identity endpoint does.
func (s *Server) managedIdentity(q *request) response {
	if q.header.Get("X-IDENTITY-HEADER") == "" {
		return fail(http.StatusUnauthorized, "Unauthorized", "expected the header X-IDENTITY-HEADER")
	}
	client := q.query.Get("client_id")
	if client == "" {
		client = "system-assigned"
	}
	return ok(http.StatusOK, map[string]any{
		"access_token": s.issue(q, s.tenant(), client), "token_type": "Bearer", "client_id": client,
		"resource": q.query.Get("resource"), "expires_on": strconv.FormatInt(q.now.Add(tokenLife).Unix(), 10),
	})
}

type claims struct {
	Issuer  string `json:"iss"`
	Tenant  string `json:"tid"`
	App     string `json:"appid"`
	Expires int64  `json:"exp"`
}

// issue makes a signed JWT.
func (s *Server) issue(q *request, tenant, app string) string {
	b, _ := json.Marshal(claims{Issuer: q.base, Tenant: tenant, App: app, Expires: q.now.Add(tokenLife).Unix()}) //nolint:errchkjson // strings and a number
	enc := base64.RawURLEncoding
	text := enc.EncodeToString([]byte(`{"alg":"HS256","typ":"JWT"}`)) + "." + enc.EncodeToString(b)
	return text + "." + enc.EncodeToString(s.sign(text))
}

func (s *Server) sign(text string) []byte {
	m := hmac.New(sha256.New, s.key)
	m.Write([]byte(text))
	return m.Sum(nil)
}

// authorized returns who the request's token stands for; false where it
// carries none that was issued here and has not expired.
func (s *Server) authorized(q *request) (principal string, granted bool) {
	scheme, token, _ := strings.Cut(q.header.Get("Authorization"), " ")
	i := strings.LastIndexByte(token, '.')
	if !strings.EqualFold(scheme, "Bearer") || i < 0 {
		return "", false
	}
	signature, err := base64.RawURLEncoding.DecodeString(token[i+1:])
	if err != nil || !hmac.Equal(signature, s.sign(token[:i])) {
		return "", false
	}
	_, payload, _ := strings.Cut(token[:i], ".")
	b, err := base64.RawURLEncoding.DecodeString(payload)
	var c claims
	if err != nil || json.Unmarshal(b, &c) != nil || q.now.Unix() >= c.Expires {
		return "", false
	}
	return c.App, true
}

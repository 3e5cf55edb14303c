package resource

import (
	"strings"

	"github.com/armature-dev/armature/pkg/field"
)

// Redact copies an observed body without what may not be shown: fields that
// are marked as secrets, and strings whose names look like one.
func Redact(body *field.Field, v map[string]any) map[string]any {
	c, _ := redact(body, v).(map[string]any)
	return c
}

func redact(f *field.Field, v any) any {
	switch x := v.(type) {
	case map[string]any:
		c := make(map[string]any, len(x))
		for k, e := range x {
			child := f.Below(x, k)
			if child != nil && child.Behaviours.Has(field.Secret) {
				continue
			}
			if _, text := e.(string); text && SecretLooking(k) {
				continue
			}
			c[k] = redact(child, e)
		}
		return c
	case []any:
		c := make([]any, len(x))
		for i := range x {
			c[i] = redact(f.Item(), x[i])
		}
		return c
	}
	return v
}

// SecretLooking reports whether a field's name alone suggests a credential.
func SecretLooking(name string) bool {
	n := strings.ToLower(name)
	for _, end := range []string{"password", "connectionstring", "primarykey", "secondarykey", "accesskey", "sharedkey", "accountkey", "clientsecret", "sastoken", "privatekey", "protectedsettings"} {
		if strings.HasSuffix(n, end) {
			return true
		}
	}
	return false
}

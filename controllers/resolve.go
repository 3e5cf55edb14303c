package controllers

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"

	"github.com/armature-dev/armature/hooks"
	"github.com/armature-dev/armature/pkg/field"
	"github.com/armature-dev/armature/pkg/resource"
)

// DigestKey makes digests of secrets: they tell whether a value changed, and
// nothing about it.
type DigestKey struct {
	// ID names the key in every digest.
	ID  string
	Key []byte
}

// Digest is salted with the ARM ID and the path, so that equal secrets differ.
func (k DigestKey) Digest(armID, path, value string) string {
	m := hmac.New(sha256.New, k.Key)
	for _, part := range []string{strings.ToLower(armID), path, value} {
		fmt.Fprintf(m, "%d:%s", len(part), part)
	}
	return k.ID + ":" + hex.EncodeToString(m.Sum(nil))
}

// resolve turns the spec's body into ARM's form: references into IDs or
// observed values, secret references into hidden values.
func (x *run) resolve(ctx context.Context) *halt {
	v, h := x.resolved(ctx, nil, x.kind.d.Body, x.spec.Body)
	if h != nil {
		return h
	}
	body, ok := v.(map[string]any)
	if !ok {
		body = map[string]any{}
	}
	if m, ok := hooks.For[hooks.BodyModifier](x.r.opts.Hooks, x.kind.d.Type); ok {
		changed, err := m.ModifyBody(hooks.Resource{ID: x.id, Desired: body})
		if err != nil {
			return stall(reasonInvalid, err.Error())
		}
		body = changed
	}
	x.desired = body
	return nil
}

func (x *run) resolved(ctx context.Context, p field.Path, f *field.Field, v any) (any, *halt) {
	switch val := v.(type) {
	case map[string]any:
		if ref, ok := secretRef(f, val); ok {
			return x.secret(ctx, p, ref)
		}
		out := make(map[string]any, len(val))
		for k, e := range val {
			r, h := x.resolved(ctx, p.Name(k), f.Below(val, k), e)
			if h != nil {
				return nil, h
			}
			out[k] = r
		}
		return out, nil
	case []any:
		out := make([]any, len(val))
		for i, e := range val {
			r, h := x.resolved(ctx, p.At(i), f.Item(), e)
			if h != nil {
				return nil, h
			}
			out[i] = r
		}
		return out, nil
	case string:
		if ref, ok := strings.CutPrefix(val, "ref:"); ok {
			return x.reference(ctx, p, ref)
		}
	}
	return v, nil
}

type secretKey struct{ name, key string }

// secretRef recognises {secretKeyRef: {name, key}} at a secret field.
func secretRef(f *field.Field, m map[string]any) (secretKey, bool) {
	if f == nil || !f.Behaviours.Has(field.Secret) || len(m) != 1 {
		return secretKey{}, false
	}
	ref, ok := m["secretKeyRef"].(map[string]any)
	if !ok {
		return secretKey{}, false
	}
	name, _ := ref["name"].(string)
	key, _ := ref["key"].(string)
	return secretKey{name, key}, true
}

func (x *run) secret(ctx context.Context, p field.Path, ref secretKey) (any, *halt) {
	if ref.name == "" || ref.key == "" {
		return nil, stall(reasonInvalid, fmt.Sprintf("spec.%s.secretKeyRef: name and key are required", p))
	}
	var s corev1.Secret
	if err := x.r.opts.Reader.Get(ctx, types.NamespacedName{Namespace: x.obj.Namespace, Name: ref.name}, &s); err != nil {
		if apierrors.IsNotFound(err) {
			return nil, wait(reasonSecret, fmt.Sprintf("spec.%s: there is no Secret %q in namespace %s; create it", p, ref.name, x.obj.Namespace))
		}
		return nil, kubernetes(fmt.Errorf("getting Secret %s: %w", ref.name, err))
	}
	value, ok := s.Data[ref.key]
	if !ok {
		return nil, wait(reasonSecret, fmt.Sprintf("spec.%s: Secret %q has no key %q", p, ref.name, ref.key))
	}
	return field.NewHidden(string(value), x.r.opts.Digests.Digest(x.id.String(), p.String(), string(value))), nil
}

var errReference = errors.New("expected ref:Kind/name or ref:Kind/name#json.path")

// reference resolves Kind/name to an ARM ID, and Kind/name#path to a value of
// what ARM was seen to hold.
func (x *run) reference(ctx context.Context, p field.Path, ref string) (any, *halt) {
	target, path, _ := strings.Cut(ref, "#")
	kindName, name, ok := strings.Cut(target, "/")
	if !ok || kindName == "" || name == "" {
		return nil, stall(reasonInvalid, fmt.Sprintf("spec.%s: %v, found ref:%s", p, errReference, ref))
	}
	found := x.r.opts.Catalog.ByKindName(kindName)
	if len(found) != 1 {
		return nil, stall(reasonInvalid, fmt.Sprintf("spec.%s: %d kinds are called %q", p, len(found), kindName))
	}
	x.dependsOn(found[0], name)
	k := x.r.kinds.get(found[0].GVK().GroupKind())
	if k == nil {
		return nil, wait(reasonReference, fmt.Sprintf("spec.%s: the CRD of %s is not installed", p, kindName))
	}
	var obj resource.Object
	if err := k.client.Get(ctx, types.NamespacedName{Namespace: x.obj.Namespace, Name: name}, &obj); err != nil {
		if apierrors.IsNotFound(err) {
			return nil, wait(reasonReference, fmt.Sprintf("spec.%s: there is no %s %q in namespace %s", p, kindName, name, x.obj.Namespace))
		}
		return nil, kubernetes(fmt.Errorf("getting %s: %w", ref, err))
	}
	id, h := readyID(&obj, k.d.Kind)
	if h != nil || path == "" {
		return id.String(), h
	}
	return observedValue(&obj, p, ref, path)
}

func observedValue(obj *resource.Object, p field.Path, ref, path string) (any, *halt) {
	st, err := obj.ParseStatus()
	if err != nil {
		return nil, kubernetes(err)
	}
	observed, err := field.DecodeObject(st.Observed)
	if err != nil {
		return nil, kubernetes(err)
	}
	at, err := field.ParsePath(path)
	if err != nil {
		return nil, stall(reasonInvalid, fmt.Sprintf("spec.%s: %v", p, err))
	}
	v, ok := field.Lookup(observed, at)
	if !ok {
		return nil, wait(reasonReference, fmt.Sprintf("spec.%s: %s has no value yet", p, ref))
	}
	return v, nil
}

package controllers

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	metav1alpha1 "github.com/armature-dev/armature/apis/meta/v1alpha1"
	"github.com/armature-dev/armature/pkg/field"
)

// journal is the last-applied annotation: what was confirmed, and what was
// sent since. It holds digests in place of secrets.
type journal struct {
	ArmID   string              `json:"armID"`
	Origin  metav1alpha1.Origin `json:"origin,omitempty"`
	Applied map[string]any      `json:"applied,omitempty"`
	Pending map[string]any      `json:"pending,omitempty"`
}

const (
	journalPlain = 16 << 10
	journalMax   = 96 << 10
	gzipPrefix   = "gzip:"
)

var errTooLarge = errors.New("the journal of the spec is larger than 96 KiB even compressed; split the resource or leave out what need not be managed")

// encode writes the annotation, gzipped above 16 KiB.
func (j journal) encode() (string, error) {
	b, err := json.Marshal(j)
	if err != nil {
		return "", fmt.Errorf("writing last-applied: %w", err)
	}
	if len(b) <= journalPlain {
		return string(b), nil
	}
	var buf bytes.Buffer
	z := gzip.NewWriter(&buf)
	if _, err := z.Write(b); err != nil {
		return "", fmt.Errorf("compressing last-applied: %w", err)
	}
	if err := z.Close(); err != nil {
		return "", fmt.Errorf("compressing last-applied: %w", err)
	}
	s := gzipPrefix + base64.StdEncoding.EncodeToString(buf.Bytes())
	if len(s) > journalMax {
		return "", errTooLarge
	}
	return s, nil
}

// decodeJournal reads the annotation. One of another resource (a copied
// manifest) or one that can't be read counts as none.
func decodeJournal(s, armID string) journal {
	none := journal{ArmID: armID}
	raw := []byte(s)
	if packed, ok := strings.CutPrefix(s, gzipPrefix); ok {
		b, err := base64.StdEncoding.DecodeString(packed)
		if err != nil {
			return none
		}
		z, err := gzip.NewReader(bytes.NewReader(b))
		if err != nil {
			return none
		}
		if raw, err = io.ReadAll(io.LimitReader(z, 16<<20)); err != nil {
			return none
		}
	}
	var j journal
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	if d.Decode(&j) != nil || !strings.EqualFold(j.ArmID, armID) {
		return none
	}
	return j
}

// settleBy moves pending to applied where the status confirms it.
func (j journal) settleBy(appliedHash string) journal {
	if j.Pending != nil && appliedHash == hash(j.Pending) {
		j.Applied, j.Pending = j.Pending, nil
	}
	return j
}

// digests is a body as the journal keeps it: secrets by digest.
func digests(body map[string]any) map[string]any {
	b, err := json.Marshal(body)
	if err != nil {
		return nil
	}
	m, err := field.DecodeObject(b)
	if err != nil {
		return nil
	}
	return m
}

// hash names a body in status.appliedHash.
func hash(body map[string]any) string {
	b, err := json.Marshal(body)
	if err != nil {
		return ""
	}
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:8])
}

package controllers

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const vnet = "/subscriptions/s/resourceGroups/g/providers/Microsoft.Network/virtualNetworks/n"

func TestJournalSurvivesTheAnnotation(t *testing.T) {
	t.Parallel()
	for name, body := range map[string]map[string]any{
		"small":   {"location": "x"},
		"gzipped": {"location": strings.Repeat("long ", 10_000)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			j := journal{ArmID: vnet, Origin: "Created", Applied: body, Pending: map[string]any{"a": "b"}}
			s, err := j.encode()
			if err != nil {
				t.Fatal(err)
			}
			if len(s) > journalPlain {
				t.Errorf("the annotation has %d bytes", len(s))
			}
			if d := cmp.Diff(j, decodeJournal(s, strings.ToUpper(vnet))); d != "" {
				t.Errorf("journal (-want +got):\n%s", d)
			}
			if d := cmp.Diff(journal{ArmID: vnet + "2"}, decodeJournal(s, vnet+"2")); d != "" {
				t.Errorf("the journal of a copied manifest was taken (-want +got):\n%s", d)
			}
		})
	}
}

func TestJournalTooLarge(t *testing.T) {
	t.Parallel()
	noise := make([]byte, 200<<10)
	if _, err := rand.Read(noise); err != nil {
		t.Fatal(err)
	}
	_, err := journal{ArmID: vnet, Applied: map[string]any{"x": hex.EncodeToString(noise)}}.encode()
	if !errors.Is(err, errTooLarge) {
		t.Fatalf("expected %v, got %v", errTooLarge, err)
	}
}

func TestJournalIsConfirmedByItsHash(t *testing.T) {
	t.Parallel()
	j := journal{Applied: map[string]any{"a": "1"}, Pending: map[string]any{"a": "2"}}
	if got := j.settleBy("another"); got.Applied["a"] != "1" || got.Pending == nil {
		t.Errorf("confirmed by a hash that is not its own: %v", got)
	}
	if got := j.settleBy(hash(j.Pending)); got.Applied["a"] != "2" || got.Pending != nil {
		t.Errorf("not confirmed by its hash: %v", got)
	}
}

func TestDigestsDiffer(t *testing.T) {
	t.Parallel()
	k := DigestKey{ID: "k1", Key: []byte("key")}
	seen := map[string]bool{}
	for _, in := range [][3]string{{vnet, "a", "b"}, {vnet, "ab", ""}, {vnet, "a", "c"}, {vnet + "2", "a", "b"}} {
		d := k.Digest(in[0], in[1], in[2])
		if seen[d] || !strings.HasPrefix(d, "k1:") {
			t.Errorf("the digest of %v is %s", in, d)
		}
		seen[d] = true
	}
	if k.Digest(strings.ToUpper(vnet), "a", "b") != k.Digest(vnet, "a", "b") {
		t.Error("the case of an ID counts")
	}
}

func FuzzDecodeJournal(f *testing.F) {
	f.Add(`{"armID":"` + vnet + `"}`)
	f.Add("gzip:H4sI")
	f.Fuzz(func(t *testing.T, s string) {
		if got := decodeJournal(s, vnet); !strings.EqualFold(got.ArmID, vnet) {
			t.Fatalf("took the journal of %q", got.ArmID)
		}
	})
}

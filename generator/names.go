package generator

import (
	"fmt"
	"hash/fnv"
	"slices"
	"strings"
	"unicode"

	"github.com/armature-dev/armature/generator/classify"
	"github.com/armature-dev/armature/generator/swagger"
	"github.com/armature-dev/armature/pkg/resource"
)

// maxKind bounds a kind's name: its list's name ends up in a label of 63.
const maxKind = 59

// nameKinds gives every result its Kubernetes names: the pinned ones, else
// made from the ARM type. Two kinds of one name in a group are told apart by
// the type's hash; pinned names win.
func nameKinds(all []*classify.Result, locks Locks, ds *swagger.Diagnostics) []*classify.Result {
	taken := map[string]string{}
	for _, k := range locks.Kinds {
		taken[k.Group+"/"+k.Kind] = strings.ToLower(k.Type)
	}
	var named []*classify.Result
	for _, r := range all {
		k, pinned := locks.kind(r.Type)
		if !pinned {
			k = madeUp(r.Type)
			if by, clash := taken[k.Group+"/"+k.Kind]; clash && by != strings.ToLower(r.Type) {
				k.Kind = shorten(k.Kind+"X"+hash(r.Type), r.Type)
				k.Plural = plural(k.Kind)
				ds.Add(swagger.Diagnostic{
					Severity: swagger.Warning, Type: r.Type, File: r.File, Pointer: r.Pointer,
					Message: "expected a kind name of its own, found that " + by + " has it; named " + k.Kind, Hint: "pin a better name in swagger/kinds.lock.yaml",
				})
			}
		}
		taken[k.Group+"/"+k.Kind] = strings.ToLower(r.Type)
		r.Group, r.Kind, r.Plural, r.ShortNames = k.Group, k.Kind, k.Plural, k.ShortNames
		named = append(named, r)
	}
	return named
}

func madeUp(armType string) KindLock {
	ns, rest, _ := strings.Cut(armType, "/")
	var kind strings.Builder
	for seg := range strings.SplitSeq(rest, "/") {
		kind.WriteString(capital(singular(seg)))
	}
	k := shorten(kind.String(), armType)
	return KindLock{Type: armType, Group: service(ns) + resource.GroupSuffix, Kind: k, Plural: plural(k)}
}

// service is the part of the group that stands for an ARM provider.
func service(namespace string) string {
	s := strings.ToLower(namespace)
	return strings.TrimPrefix(s, "microsoft.")
}

// capital keeps letters and digits, each word with a capital.
func capital(s string) string {
	var b strings.Builder
	up := true
	for _, r := range s {
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) || r > unicode.MaxASCII {
			up = true
			continue
		}
		if up {
			r = unicode.ToUpper(r)
		}
		up = false
		b.WriteRune(r)
	}
	return b.String()
}

func shorten(kind, armType string) string {
	if len(kind) <= maxKind {
		return kind
	}
	h := hash(armType)
	return kind[:maxKind-len(h)] + h
}

func hash(s string) string {
	h := fnv.New32a()
	_, _ = h.Write([]byte(strings.ToLower(s)))
	return fmt.Sprintf("%06x", h.Sum32()&0xffffff)
}

// singular is the singular of an ARM type's segment.
func singular(s string) string {
	lower := strings.ToLower(s)
	for _, same := range []string{"redis", "dns", "status", "sas", "access", "address", "analysis", "kubernetes", "media", "basis", "settings", "appsettings", "connectionstrings", "sentinel", "https", "rights"} {
		if strings.HasSuffix(lower, same) {
			return s
		}
	}
	for _, x := range []struct{ from, to string }{
		{"ies", "y"}, {"sses", "ss"}, {"shes", "sh"}, {"ches", "ch"}, {"xes", "x"}, {"statuses", "status"}, {"ss", "ss"}, {"us", "us"}, {"is", "is"}, {"s", ""},
	} {
		if strings.HasSuffix(lower, x.from) && len(s) > len(x.from)+1 {
			return s[:len(s)-len(x.from)] + x.to
		}
	}
	return s
}

// plural is the lower-case plural of a kind.
func plural(kind string) string {
	k := strings.ToLower(kind)
	last := func(suffixes ...string) bool {
		return slices.ContainsFunc(suffixes, func(s string) bool { return strings.HasSuffix(k, s) })
	}
	switch {
	case last("s", "x", "ch", "sh", "z"):
		return k + "es"
	case last("y") && !last("ay", "ey", "oy", "uy"):
		return k[:len(k)-1] + "ies"
	}
	return k + "s"
}

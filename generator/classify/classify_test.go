package classify_test

import (
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/armature-dev/armature/generator/classify"
	"github.com/armature-dev/armature/generator/swagger"
	"github.com/armature-dev/armature/pkg/field"
)

// body classifies a resource whose definitions are given as swagger, with the
// PUT body "Put", the answer "Get" and, where there is one, the PATCH body
// "Patch".
func body(t *testing.T, operation, definitions string) *classify.Result {
	t.Helper()
	var defs map[string]json.RawMessage
	if err := json.Unmarshal([]byte(definitions), &defs); err != nil {
		t.Fatal(err)
	}
	ref := func(name string) map[string]any { return map[string]any{"$ref": "#/definitions/" + name} }
	op := func(id, in string) map[string]any {
		o := map[string]any{"operationId": id, "responses": map[string]any{"200": map[string]any{"description": "", "schema": ref("Get")}}}
		if in != "" {
			o["parameters"] = []any{map[string]any{"name": "body", "in": "body", "schema": ref(in)}}
		}
		return o
	}
	item := map[string]any{"put": op("Things_"+operation, "Put"), "get": op("Things_Get", "")}
	if defs["Patch"] != nil {
		item["patch"] = op("Things_Update", "Patch")
	}
	b, err := json.Marshal(map[string]any{
		"swagger": "2.0", "definitions": defs,
		"paths": map[string]any{"/subscriptions/{s}/resourceGroups/{g}/providers/A.B/things/{n}": item},
	})
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	const folder = "specification/a/resource-manager/A.B/stable/2024-01-01"
	if err := os.MkdirAll(filepath.Join(dir, folder), 0o750); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, folder, "a.json"), b, 0o600); err != nil {
		t.Fatal(err)
	}
	ds := &swagger.Diagnostics{}
	loader := swagger.NewLoader(os.DirFS(dir))
	index, err := swagger.NewIndex(loader, ds)
	if err != nil {
		t.Fatal(err)
	}
	found, err := index.Find(swagger.Ref{Type: "A.B/things"})
	if err != nil {
		t.Fatal(err)
	}
	r := classify.Classify(swagger.NewSpace(loader, found.Folder, ds).Resource(found), nil, ds)
	for _, d := range ds.Sorted() {
		t.Error(d)
	}
	return r
}

func TestBehaviours(t *testing.T) {
	t.Parallel()
	const createOnly, readOnly, writeOnly = "createOnly", "readOnly", "writeOnly"
	for name, c := range map[string]struct {
		operation, put, get, patch string
		want                       map[string]string
	}{
		"markers beside a $ref": {
			put:  `{"a": {"$ref": "#/definitions/S", "readOnly": true}, "b": {"allOf": [{"$ref": "#/definitions/S"}], "x-ms-mutability": ["create", "read"]}, "c": {"$ref": "#/definitions/S"}}`,
			want: map[string]string{"properties.a": readOnly, "properties.b": createOnly, "properties.c": ""},
		},
		"mutability": {
			put: `{"r": {"type": "string", "x-ms-mutability": ["read"]}, "cr": {"type": "string", "x-ms-mutability": ["create", "read"]},
				"cu": {"type": "string", "x-ms-mutability": ["create", "update"]}, "c": {"type": "string", "x-ms-mutability": ["create"]},
				"all": {"type": "string", "x-ms-mutability": ["create", "read", "update"]}, "none": {"type": "string", "x-ms-mutability": []}}`,
			want: map[string]string{
				"properties.r": readOnly, "properties.cr": createOnly, "properties.cu": writeOnly, "properties.c": "createOnly,writeOnly",
				"properties.all": "", "properties.none": "",
			},
		},
		"secrets by marker and by name": {
			put: `{"a": {"type": "string", "x-ms-secret": true}, "b": {"type": "string", "format": "password"}, "adminPassword": {"type": "string"},
				"passwordPolicy": {"type": "string"}, "m": {"type": "object", "additionalProperties": {"type": "string"}, "x-ms-secret": true}}`,
			want: map[string]string{
				"properties.a": "writeOnly,secret", "properties.b": "writeOnly,secret", "properties.adminPassword": "writeOnly,secret",
				"properties.passwordPolicy": "", "properties.m": writeOnly, "properties.m[]": "writeOnly,secret",
			},
		},
		"models that differ": {
			put:  `{"both": {"type": "string"}, "mine": {"type": "string"}}`,
			get:  `{"both": {"type": "string"}, "theirs": {"properties": {"deep": {"type": "string"}}}}`,
			want: map[string]string{"properties.both": "", "properties.mine": writeOnly, "properties.theirs": readOnly, "properties.theirs.deep": ""},
		},
		"create, and an update that says less": {
			operation: "Create", put: `{"a": {"type": "string"}, "b": {"type": "string"}}`, patch: `{"a": {"type": "string"}}`,
			want: map[string]string{"properties.a": "", "properties.b": createOnly},
		},
		"create or update, and an update that says less": {
			operation: "CreateOrUpdate", put: `{"a": {"type": "string"}, "b": {"type": "string"}}`, patch: `{"a": {"type": "string"}}`,
			want: map[string]string{"properties.b": ""},
		},
		"provisioningState unmarked": {
			put: `{"provisioningState": {"type": "string"}}`, want: map[string]string{"properties.provisioningState": readOnly},
		},
		"the envelope unmarked": {
			put:  `{}`,
			want: map[string]string{"id": readOnly, "name": readOnly, "type": readOnly, "location": createOnly, "tags": ""},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if c.operation == "" {
				c.operation = "CreateOrUpdate"
			}
			if c.get == "" {
				c.get = c.put
			}
			envelope := func(properties string) string {
				return `{"properties": {"id": {"type": "string"}, "name": {"type": "string"}, "type": {"type": "string"}, "location": {"type": "string"},
					"tags": {"type": "object", "additionalProperties": {"type": "string"}}, "properties": {"properties": ` + properties + `}}}`
			}
			defs := `{"S": {"type": "string"}, "Put": ` + envelope(c.put) + `, "Get": ` + envelope(c.get)
			if c.patch != "" {
				defs += `, "Patch": ` + envelope(c.patch)
			}
			r := body(t, c.operation, defs+"}")
			got := map[string]string{}
			for path := range c.want {
				f := r.Body.At(path)
				if f == nil {
					t.Fatalf("no field %s", path)
				}
				got[path] = f.Behaviours.String()
				for b := range strings.SplitSeq(got[path], ",") {
					if b != "" && !evident(f, b) {
						t.Errorf("%s: no evidence for %s", path, b)
					}
				}
			}
			if d := cmp.Diff(c.want, got); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
		})
	}
}

func evident(f *field.Field, fact string) bool {
	for _, e := range f.Evidence {
		if e.Fact == fact {
			return true
		}
	}
	return false
}

func TestKeys(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		list, item string
		want       []string
	}{
		"identifiers":                {list: `"x-ms-identifiers": ["a", "/b/c"]`, item: `{"properties": {"a": {"type": "string"}, "b": {"properties": {"c": {"type": "string"}}}}}`, want: []string{"a", "b.c"}},
		"identifiers that are empty": {list: `"x-ms-identifiers": []`, item: `{"required": ["name"], "properties": {"name": {"type": "string"}}}`},
		"a key that isn't there":     {list: `"x-ms-identifiers": ["gone"]`, item: `{"properties": {"a": {"type": "string"}}}`},
		"a read-only key":            {list: `"x-ms-identifiers": ["a"]`, item: `{"properties": {"a": {"type": "string", "readOnly": true}}}`},
		"an id made from the name":   {list: `"x-ms-identifiers": ["id"]`, item: `{"properties": {"id": {"type": "string"}, "name": {"type": "string"}, "properties": {"properties": {"x": {"type": "string"}}}}}`, want: []string{"name"}},
		"a required name":            {list: `"description": ""`, item: `{"required": ["name"], "properties": {"name": {"type": "string"}}}`, want: []string{"name"}},
		"an optional name":           {list: `"description": ""`, item: `{"properties": {"name": {"type": "string"}}}`},
		"references":                 {list: `"description": ""`, item: `{"properties": {"id": {"type": "string"}}}`, want: []string{"id"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			thing := `{"properties": {"properties": {"properties": {"list": {"type": "array", "items": ` + c.item + `, ` + c.list + `}}}}}`
			r := body(t, "CreateOrUpdate", `{"Put": `+thing+`, "Get": `+thing+`}`)
			if got := r.Body.At("properties.list").Keys; !slices.Equal(got, c.want) {
				t.Errorf("got %v, want %v", got, c.want)
			}
		})
	}
}

func TestEnumsAndLimits(t *testing.T) {
	t.Parallel()
	thing := `{"properties": {"properties": {"properties": {
		"closed": {"type": "string", "enum": ["a"], "x-ms-enum": {"modelAsString": false}},
		"open": {"type": "string", "enum": ["a"], "x-ms-enum": {"modelAsString": true}},
		"plain": {"type": "string", "enum": ["a"]},
		"count": {"type": "integer", "minimum": 0, "exclusiveMinimum": true, "maximum": 10, "default": 3}}}}}`
	r := body(t, "CreateOrUpdate", `{"Put": `+thing+`, "Get": `+thing+`}`)
	for path, closed := range map[string]bool{"closed": true, "open": false, "plain": false} {
		if f := r.Body.At("properties." + path); f.Closed != closed || f.Equality != field.FoldCase {
			t.Errorf("%s: closed %v, equality %q", path, f.Closed, f.Equality)
		}
	}
	count := r.Body.At("properties.count")
	if *count.Minimum != 1 || *count.Maximum != 10 || count.Default != json.Number("3") {
		t.Errorf("got %v to %v, default %v", *count.Minimum, *count.Maximum, count.Default)
	}
	if _, ok := r.Verbs[http.MethodPut]; !ok {
		t.Error("no PUT")
	}
}

func TestOverlayFiles(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ text, err string }{
		"a reason is needed": {"- type: A.B/things\n  facts:\n  - {path: x, readOnly: true}\n", "a path and a reason"},
		"unknown facts":      {"- type: A.B/things\n  facts:\n  - {path: x, reason: y, colour: red}\n", "colour"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := classify.ReadOverlays("x.yaml", []byte(c.text))
			if err == nil || !strings.Contains(err.Error(), c.err) {
				t.Errorf("got %v, want one with %q", err, c.err)
			}
		})
	}
}

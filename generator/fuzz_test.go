package generator_test

import (
	"os"
	"testing"
	"testing/fstest"

	"github.com/armature-dev/armature/generator"
	"github.com/armature-dev/armature/generator/emit"
	"github.com/armature-dev/armature/generator/swagger"
)

// FuzzRun feeds whatever into the loader and the stages behind it: nothing may
// panic or hang, and what comes out must be writable.
func FuzzRun(f *testing.F) {
	const dir = "specification/garden/resource-manager/Contoso.Garden/stable/2024-01-01/"
	for _, seed := range []string{
		"testdata/garden/specs/" + dir + "garden.json",
		"testdata/broken/specs/specification/broken/resource-manager/Contoso.Broken/stable/2024-01-01/refs.json",
	} {
		b, err := os.ReadFile(seed)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	f.Add([]byte(`{"swagger":"2.0","paths":{"/providers/A.B/c/{d}":{"put":{"parameters":[{"in":"body","schema":{"allOf":[{"$ref":"#/paths"}],"items":{"$ref":"#"}}}],"responses":{"200":{"schema":{"$ref":"#/definitions/X"}}}}}},"definitions":{"X":{"discriminator":"k","additionalProperties":{"$ref":"#/definitions/X"},"enum":[1,null,"a",{}]},"Y":{"allOf":[{"$ref":"#/definitions/X"}]}}}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		out, err := generator.Run(generator.Input{Specs: fstest.MapFS{dir + "f.json": {Data: b}}, All: true, Workers: 1})
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range out.Diagnostics.Sorted() {
			if d.Severity == swagger.Error && d.Hint == "this is a defect of the generator; please report it with the file" {
				t.Fatal(d)
			}
		}
		if _, err := out.Emit(emit.Options{}); err != nil {
			t.Fatal(err)
		}
	})
}

package emit

import (
	"bytes"
	"fmt"
	"path"
	"slices"
	"strings"
	"unicode"

	"github.com/dave/jennifer/jen"

	"github.com/armature-dev/armature/generator/classify"
	"github.com/armature-dev/armature/pkg/resource"
)

// The packages that generated code imports.
const (
	metaPath    = "github.com/armature-dev/armature/apis/meta/v1alpha1"
	metav1Path  = "k8s.io/apimachinery/pkg/apis/meta/v1"
	apiextPath  = "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	runtimePath = "k8s.io/apimachinery/pkg/runtime"
	schemaPath  = "k8s.io/apimachinery/pkg/runtime/schema"
)

// Structs writes a kind's Go file: itself, its parts and their deep copies.
func Structs(r *classify.Result, n goKind) (File, error) {
	return render(r.Group, "zz_generated."+strings.ToLower(r.Kind)+".go", structs(r, n))
}

// registers writes a file a group: the registration of its kinds.
func registers(all []*classify.Result, names Names) ([]File, error) {
	var files []File
	groups, members := byGroup(all)
	for _, g := range groups {
		f, err := render(g, "zz_generated.register.go", register(g, members[g], names[g]))
		if err != nil {
			return nil, err
		}
		files = append(files, f)
	}
	return files, nil
}

func render(group, name string, f *jen.File) (File, error) {
	var b bytes.Buffer
	if err := f.Render(&b); err != nil {
		return File{}, fmt.Errorf("writing %s: %w", name, err)
	}
	return File{Path: path.Join("apis", packageOf(group), resource.Version, name), Content: b.Bytes()}, nil
}

// packageOf is the folder of a group's package.
func packageOf(group string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return r
		}
		return -1
	}, strings.TrimSuffix(group, resource.GroupSuffix))
}

// goKind are the Go names of a kind.
type goKind struct{ kind, list, spec, status string }

// kindNames resolves the names of a group's kinds: a kind FooSpec and the spec
// of a kind Foo must not share one.
func kindNames(all []*classify.Result) map[string]goKind {
	var kinds []string
	for _, r := range all {
		kinds = append(kinds, r.Kind)
	}
	free := func(kind, suffix string) string {
		if slices.Contains(kinds, kind+suffix) {
			return kind + "_" + suffix
		}
		return kind + suffix
	}
	names := map[string]goKind{}
	for _, k := range kinds {
		names[k] = goKind{kind: k, list: free(k, "List"), spec: free(k, "Spec"), status: free(k, "Status")}
	}
	return names
}

func newFile() *jen.File {
	f := jen.NewFile(resource.Version)
	f.HeaderComment("// " + header)
	f.ImportAlias(metaPath, "metav1alpha1")
	f.ImportAlias(metav1Path, "metav1")
	f.ImportAlias(apiextPath, "apiextensionsv1")
	return f
}

// register writes the package's group version and AddToScheme.
func register(group string, all []*classify.Result, names map[string]goKind) *jen.File {
	f := newFile()
	f.PackageComment("// Package " + resource.Version + " holds the kinds of " + group + ".")
	f.Comment("GroupVersion is the group and version of the kinds here.")
	f.Var().Id("GroupVersion").Op("=").Qual(schemaPath, "GroupVersion").Values(jen.Dict{
		jen.Id("Group"): jen.Lit(group), jen.Id("Version"): jen.Lit(resource.Version),
	})
	f.Comment("AddToScheme makes the kinds known to a scheme.")
	f.Func().Id("AddToScheme").Params(jen.Id("s").Op("*").Qual(runtimePath, "Scheme")).Error().BlockFunc(func(b *jen.Group) {
		b.Id("s").Dot("AddKnownTypes").CallFunc(func(c *jen.Group) {
			c.Id("GroupVersion")
			for _, r := range all {
				c.Op("&").Id(names[r.Kind].kind).Values()
				c.Op("&").Id(names[r.Kind].list).Values()
			}
		})
		b.Qual(metav1Path, "AddToGroupVersion").Call(jen.Id("s"), jen.Id("GroupVersion"))
		b.Return(jen.Nil())
	})
	return f
}

// structs writes a kind: itself, its list, spec and status, and the shapes
// below these.
func structs(r *classify.Result, n goKind) *jen.File {
	f := newFile()
	w := newGoWriter(r)
	inline := map[string]string{"json": ",inline"}
	f.Commentf("%s is the ARM type %s at API version %s.", n.kind, r.Type, r.APIVersion)
	f.Type().Id(n.kind).Struct(
		jen.Qual(metav1Path, "TypeMeta").Tag(inline),
		jen.Qual(metav1Path, "ObjectMeta").Tag(map[string]string{"json": "metadata,omitempty"}),
		jen.Line().Id("Spec").Id(n.spec).Tag(map[string]string{"json": "spec"}),
		jen.Id("Status").Id(n.status).Tag(map[string]string{"json": "status,omitempty"}),
	)
	f.Commentf("%s is a list of %s.", n.list, n.kind)
	f.Type().Id(n.list).Struct(
		jen.Qual(metav1Path, "TypeMeta").Tag(inline),
		jen.Qual(metav1Path, "ListMeta").Tag(map[string]string{"json": "metadata,omitempty"}),
		jen.Line().Id("Items").Index().Id(n.kind).Tag(map[string]string{"json": "items"}),
	)
	spec := w.root(n.spec, false)
	spec.embeds, spec.comment = "Common", "is the ARM body, and what it takes to manage it."
	observed := w.root(n.kind+"_Observed", true)
	observed.comment = "is the resource as ARM shows it."
	w.run()
	f.Commentf("%s is what the operator reports, and the resource as ARM last showed it.", n.status)
	f.Type().Id(n.status).Struct(
		jen.Qual(metaPath, "Status").Tag(inline),
		jen.Line().Id("Observed").Op("*").Id(observed.name).Tag(map[string]string{"json": "observed,omitempty"}),
	)
	for _, s := range w.structs {
		s.write(f)
	}
	objectCopies(f, n)
	return f
}

// objectCopies writes the deep copies of the parts that all kinds have.
func objectCopies(f *jen.File, n goKind) {
	into(f, n.status, func(b *jen.Group) {
		b.Id("in").Dot("Status").Dot("DeepCopyInto").Call(jen.Op("&").Id("out").Dot("Status"))
		b.Id("out").Dot("Observed").Op("=").Id("in").Dot("Observed").Dot("DeepCopy").Call()
	})
	into(f, n.kind, func(b *jen.Group) {
		b.Id("in").Dot("ObjectMeta").Dot("DeepCopyInto").Call(jen.Op("&").Id("out").Dot("ObjectMeta"))
		b.Id("in").Dot("Spec").Dot("DeepCopyInto").Call(jen.Op("&").Id("out").Dot("Spec"))
		b.Id("in").Dot("Status").Dot("DeepCopyInto").Call(jen.Op("&").Id("out").Dot("Status"))
	})
	into(f, n.list, func(b *jen.Group) {
		b.Id("in").Dot("ListMeta").Dot("DeepCopyInto").Call(jen.Op("&").Id("out").Dot("ListMeta"))
		b.Id("out").Dot("Items").Op("=").Qual(metaPath, "CloneSlice").Call(jen.Id("in").Dot("Items"),
			jen.Func().Params(jen.Id("v").Id(n.kind)).Id(n.kind).Block(jen.Return(jen.Op("*").Id("v").Dot("DeepCopy").Call())))
	})
	for _, name := range []string{n.kind, n.list} {
		f.Comment("DeepCopyObject makes it a runtime.Object.")
		f.Func().Params(jen.Id("in").Op("*").Id(name)).Id("DeepCopyObject").Params().Qual(runtimePath, "Object").Block(
			jen.If(jen.Id("c").Op(":=").Id("in").Dot("DeepCopy").Call(), jen.Id("c").Op("!=").Nil()).Block(jen.Return(jen.Id("c"))),
			jen.Return(jen.Nil()),
		)
	}
}

// into writes DeepCopyInto and DeepCopy of a struct; parts copies what is more
// than a value.
func into(f *jen.File, name string, parts func(*jen.Group)) {
	f.Comment("DeepCopyInto copies in to out.")
	f.Func().Params(jen.Id("in").Op("*").Id(name)).Id("DeepCopyInto").Params(jen.Id("out").Op("*").Id(name)).BlockFunc(func(b *jen.Group) {
		b.Op("*").Id("out").Op("=").Op("*").Id("in")
		parts(b)
	})
	f.Comment("DeepCopy copies in; nil stays nil.")
	f.Func().Params(jen.Id("in").Op("*").Id(name)).Id("DeepCopy").Params().Op("*").Id(name).Block(
		jen.If(jen.Id("in").Op("==").Nil()).Block(jen.Return(jen.Nil())),
		jen.Id("out").Op(":=").New(jen.Id(name)),
		jen.Id("in").Dot("DeepCopyInto").Call(jen.Id("out")),
		jen.Return(jen.Id("out")),
	)
}

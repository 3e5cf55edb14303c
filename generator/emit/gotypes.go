package emit

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/dave/jennifer/jen"

	"github.com/armature-dev/armature/generator/classify"
	"github.com/armature-dev/armature/pkg/field"
)

// goWriter finds the structs that a kind needs. A shape that reads as it is
// written is one struct; others have one for the spec and one for what is
// observed.
type goWriter struct {
	r       *classify.Result
	rootT   *field.Field
	split   map[*field.Type]bool
	byType  map[side]*goStruct
	taken   map[string]bool
	structs []*goStruct
	queue   []*goStruct
}

// side is a shape as it is written (false) or observed (true).
type side struct {
	t        *field.Type
	observed bool
}

// goStruct is one struct to write.
type goStruct struct {
	side

	name    string
	comment string
	// embeds is a type of the meta package, "" for none.
	embeds string
	fields []goField
	open   bool
}

// goField is one field of a struct: its type, and how it is copied.
type goField struct {
	goName, json, comment string
	typ                   goType
	slice                 bool
}

// goType writes a type and the copy of a value of it; a nil copy means that
// assigning is enough.
type goType struct {
	typ  func() *jen.Statement
	copy func(v *jen.Statement) *jen.Statement
}

func newGoWriter(r *classify.Result) *goWriter {
	w := &goWriter{r: r, rootT: Flatten(r.Body), byType: map[side]*goStruct{}, taken: map[string]bool{}}
	w.split = splits(w.rootT)
	return w
}

// splits finds the shapes that are not observed as they are written: with
// read-only or secret parts, themselves or below.
func splits(root *field.Field) map[*field.Type]bool {
	var all []*field.Type
	seen := map[*field.Type]bool{}
	var walk func(f *field.Field)
	walk = func(f *field.Field) {
		if f == nil || seen[f.Type] || f.Kind.Scalar() {
			return
		}
		seen[f.Type] = true
		all = append(all, f.Type)
		walk(f.Elem)
		for _, c := range f.Fields {
			walk(c)
		}
	}
	walk(root)
	split := map[*field.Type]bool{}
	for changed := true; changed; {
		changed = false
		for _, t := range all {
			if !split[t] && differs(t, split) {
				split[t], changed = true, true
			}
		}
	}
	return split
}

func differs(t *field.Type, split map[*field.Type]bool) bool {
	if t.Embedded {
		return true
	}
	one := func(f *field.Field) bool {
		return f != nil && (f.Behaviours&(field.ReadOnly|field.Secret) != 0 || split[f.Type])
	}
	if one(t.Elem) {
		return true
	}
	for _, c := range t.Fields {
		if one(c) {
			return true
		}
	}
	return false
}

// root is the struct of the whole body.
func (w *goWriter) root(name string, observed bool) *goStruct {
	w.taken[name] = true
	s := &goStruct{side: side{w.rootT.Type, observed}, name: name}
	w.byType[s.side] = s
	w.structs = append(w.structs, s)
	w.queue = append(w.queue, s)
	return s
}

// run works out the fields of all structs, and of those that they need.
func (w *goWriter) run() {
	for len(w.queue) > 0 {
		s := w.queue[0]
		w.queue = w.queue[1:]
		w.fill(s)
	}
}

func (w *goWriter) fill(s *goStruct) {
	used := map[string]bool{"Extra": true}
	for _, n := range slices.Sorted(maps.Keys(s.t.Fields)) {
		f := s.t.Fields[n]
		switch {
		case s.embeds != "" && own(n),
			!s.observed && f.Behaviours.Has(field.ReadOnly),
			s.observed && f.Behaviours.Has(field.Secret):
			continue
		}
		name := exported(n)
		for i := 2; used[name] || s.embeds != "" && name == s.embeds; i++ {
			name = exported(n) + strconv.Itoa(i)
		}
		used[name] = true
		typ, slice := w.fieldType(f, s, name)
		s.fields = append(s.fields, goField{goName: name, json: n, comment: comment(f), typ: typ, slice: slice})
	}
	s.open = s.t.Elem != nil && !s.t.Embedded
}

func comment(f *field.Field) string {
	return strings.Join(append([]string{shapeText(f)}, behaviourTexts(f)...), "; ")
}

// exported is a Go name for a JSON property.
func exported(n string) string {
	var b strings.Builder
	up := true
	for _, r := range n {
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) || r > unicode.MaxASCII {
			up = true
			continue
		}
		if b.Len() == 0 && unicode.IsDigit(r) {
			b.WriteByte('N')
		}
		if up {
			r = unicode.ToUpper(r)
		}
		up = false
		b.WriteRune(r)
	}
	if b.Len() == 0 {
		return "Field"
	}
	return b.String()
}

// fieldType is the type of a property: all are optional, so scalars and
// structs are pointers.
func (w *goWriter) fieldType(f *field.Field, s *goStruct, name string) (t goType, slice bool) {
	v := w.value(f, s.observed, s.name, name, 0)
	if f.Kind == field.List || f.Kind == field.Map {
		if !f.Behaviours.Has(field.Secret) {
			return v, true
		}
	}
	return pointer(v), false
}

func pointer(v goType) goType {
	p := goType{typ: func() *jen.Statement { return jen.Op("*").Add(v.typ()) }}
	p.copy = func(x *jen.Statement) *jen.Statement { return jen.Qual(metaPath, "ClonePtr").Call(x) }
	if v.copy != nil {
		p.copy = func(x *jen.Statement) *jen.Statement { return x.Dot("DeepCopy").Call() }
	}
	return p
}

func named(pkg, name string) goType {
	return goType{typ: func() *jen.Statement {
		if pkg == "" {
			return jen.Id(name)
		}
		return jen.Qual(pkg, name)
	}}
}

// maxGoNesting bounds lists of lists of lists; recursive ones are left open.
const maxGoNesting = 6

// value is the type of a value: not a pointer.
func (w *goWriter) value(f *field.Field, observed bool, parent, name string, nesting int) goType {
	if f.Behaviours.Has(field.Secret) && !observed {
		return named(metaPath, "SecretValue")
	}
	anyJSON := named(apiextPath, "JSON")
	anyJSON.copy = func(x *jen.Statement) *jen.Statement { return jen.Qual(metaPath, "CloneJSON").Call(x) }
	switch f.Kind {
	case field.String:
		return named("", "string")
	case field.Boolean:
		return named("", "bool")
	case field.Number:
		return named("", "float64")
	case field.Integer:
		if f.Format == "int32" {
			return named("", "int32")
		}
		return named("", "int64")
	case field.Object:
		if len(f.Fields) == 0 || f.Embedded && observed {
			return anyJSON
		}
		s := w.structOf(f.Type, observed, parent, name)
		t := named("", s.name)
		t.copy = func(x *jen.Statement) *jen.Statement { return jen.Op("*").Add(x).Dot("DeepCopy").Call() }
		return t
	case field.List, field.Map:
		if f.Elem == nil || nesting > maxGoNesting {
			return anyJSON
		}
		return w.container(f, observed, parent, name, nesting)
	case field.Any:
	}
	return anyJSON
}

// container is a slice or a map. Map values that are structs are pointers:
// null says something there.
func (w *goWriter) container(f *field.Field, observed bool, parent, name string, nesting int) goType {
	elem := w.value(f.Elem, observed, parent, name, nesting+1)
	prefix, clone := jen.Index(), "CloneSlice"
	if f.Kind == field.Map {
		prefix, clone = jen.Map(jen.String()), "CloneMap"
		if f.Elem.Kind == field.Object && len(f.Elem.Fields) > 0 && !(f.Elem.Embedded && observed) {
			elem = pointer(elem)
		}
	}
	t := goType{typ: func() *jen.Statement { return jen.Add(prefix.Clone()).Add(elem.typ()) }}
	t.copy = func(x *jen.Statement) *jen.Statement {
		item := jen.Id("v")
		if elem.copy != nil {
			item = elem.copy(jen.Id("v"))
		}
		return jen.Qual(metaPath, clone).Call(x, jen.Func().Params(jen.Id("v").Add(elem.typ())).Add(elem.typ()).Block(jen.Return(item)))
	}
	return t
}

// structOf finds or names the struct of a shape.
func (w *goWriter) structOf(t *field.Type, observed bool, parent, name string) *goStruct {
	k := side{t, observed && w.split[t]}
	if s := w.byType[k]; s != nil {
		return s
	}
	base := w.r.Kind + "_" + exported(t.Name)
	if t.Name == "" {
		base = parent + "_" + name
		if !strings.Contains(parent, "_") {
			base = w.r.Kind + "_" + name
		}
	}
	suffix := ""
	if k.observed {
		base, suffix = strings.TrimSuffix(base, "_Observed"), "_Observed"
	}
	final := base + suffix
	for i := 2; w.taken[final]; i++ {
		final = base + strconv.Itoa(i) + suffix
	}
	w.taken[final] = true
	s := &goStruct{side: k, name: final, comment: "is a part of " + w.r.Kind + "."}
	w.byType[k] = s
	w.structs = append(w.structs, s)
	w.queue = append(w.queue, s)
	return s
}

// write writes the struct, its deep copy, and where it is open its JSON form.
func (s *goStruct) write(f *jen.File) {
	f.Comment(s.name + " " + s.comment)
	f.Type().Id(s.name).StructFunc(func(g *jen.Group) {
		if s.embeds != "" {
			g.Qual(metaPath, s.embeds).Tag(map[string]string{"json": ",inline"})
			g.Line()
		}
		for _, c := range s.fields {
			omit := ",omitempty"
			if c.slice {
				omit = ",omitzero"
			}
			g.Comment(c.goName + ": " + c.comment + ".")
			g.Id(c.goName).Add(c.typ.typ()).Tag(map[string]string{"json": c.json + omit})
		}
		if s.open {
			g.Comment("Extra holds the properties that are not declared.")
			g.Id("Extra").Map(jen.String()).Qual(apiextPath, "JSON").Tag(map[string]string{"json": "-"})
		}
	})
	into(f, s.name, func(b *jen.Group) {
		if s.embeds != "" {
			b.Id("in").Dot(s.embeds).Dot("DeepCopyInto").Call(jen.Op("&").Id("out").Dot(s.embeds))
		}
		for _, c := range s.fields {
			if c.typ.copy != nil {
				b.Id("out").Dot(c.goName).Op("=").Add(c.typ.copy(jen.Id("in").Dot(c.goName)))
			}
		}
		if s.open {
			b.Id("out").Dot("Extra").Op("=").Qual(metaPath, "CloneMap").Call(jen.Id("in").Dot("Extra"), jen.Qual(metaPath, "CloneJSON"))
		}
	})
	if s.open {
		s.writeOpen(f)
	}
}

func (s *goStruct) writeOpen(f *jen.File) {
	f.Comment("MarshalJSON writes the declared and the other properties.")
	f.Func().Params(jen.Id("in").Id(s.name)).Id("MarshalJSON").Params().Params(jen.Index().Byte(), jen.Error()).Block(
		jen.Type().Id("declared").Id(s.name),
		jen.Return(jen.Qual(metaPath, "MarshalOpen").Call(jen.Id("declared").Call(jen.Id("in")), jen.Id("in").Dot("Extra"))),
	)
	f.Comment("UnmarshalJSON reads the declared and the other properties.")
	f.Func().Params(jen.Id("in").Op("*").Id(s.name)).Id("UnmarshalJSON").Params(jen.Id("b").Index().Byte()).Error().Block(
		jen.Type().Id("declared").Id(s.name),
		jen.Return(jen.Qual(metaPath, "UnmarshalOpen").Call(jen.Id("b"), jen.Parens(jen.Op("*").Id("declared")).Call(jen.Id("in")), jen.Op("&").Id("in").Dot("Extra"))),
	)
}

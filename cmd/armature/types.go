package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"
	"sigs.k8s.io/yaml"

	"github.com/armature-dev/armature/generator/classify"
	genswagger "github.com/armature-dev/armature/generator/swagger"
	"github.com/armature-dev/armature/pkg/field"
)

func newTypesCommand() *cobra.Command {
	c := &cobra.Command{Use: "types", Short: "Look at the resource types that the specs describe"}
	c.AddCommand(newTypesListCommand(), newTypesShowCommand())
	return c
}

func newTypesListCommand() *cobra.Command {
	var flags specsFlags
	c := &cobra.Command{
		Use: "list", Short: "List the types and their newest stable versions", Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			specs, _, err := flags.open()
			if err != nil {
				return err
			}
			ds := &genswagger.Diagnostics{}
			index, err := genswagger.NewIndex(genswagger.NewLoader(specs), ds)
			if err != nil {
				return err
			}
			w := tabwriter.NewWriter(c.OutOrStdout(), 0, 8, 2, ' ', 0)
			for _, t := range index.Types() {
				if f, err := index.Find(genswagger.Ref{Type: t}); err == nil {
					fmt.Fprintf(w, "%s\t%s\n", f.Type, f.Version)
				}
			}
			if err := w.Flush(); err != nil {
				return fmt.Errorf("listing types: %w", err)
			}
			return report(c.ErrOrStderr(), ds, false)
		},
	}
	flags.add(c)
	return c
}

func newTypesShowCommand() *cobra.Command {
	var (
		flags  specsFlags
		output string
	)
	c := &cobra.Command{
		Use: "show TYPE[@VERSION]", Short: "Show a type's fields, their behaviours, and where each was read", Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			flags.types = args
			out, err := flags.run(nil)
			if err != nil {
				return err
			}
			failed := report(c.ErrOrStderr(), out.Diagnostics, false)
			if len(out.Kinds) == 0 {
				return errors.Join(failed, fmt.Errorf("showing %s: nothing to show", args[0]))
			}
			return show(c.OutOrStdout(), out.Kinds[0], output)
		},
	}
	flags.add(c)
	c.Flags().StringVarP(&output, "output", "o", "table", "table, json or yaml")
	return c
}

// row is one field as it is shown.
type row struct {
	Path       string           `json:"path"`
	Shape      string           `json:"shape"`
	Behaviours string           `json:"behaviours,omitempty"`
	Equality   field.Equality   `json:"equality,omitempty"`
	Keys       []string         `json:"keys,omitempty"`
	Children   string           `json:"children,omitempty"`
	Evidence   []field.Evidence `json:"evidence,omitempty"`
}

type shown struct {
	*classify.Result

	Fields []row `json:"fields"`
}

func show(w io.Writer, r *classify.Result, output string) error {
	rows := rowsOf(r.Body, "", map[*field.Type]bool{})
	switch output {
	case "table":
		return table(w, r, rows)
	case "json", "yaml":
		b, err := json.MarshalIndent(shown{Result: r, Fields: rows}, "", "  ")
		if err == nil && output == "yaml" {
			b, err = yaml.JSONToYAML(b)
		}
		if err != nil {
			return fmt.Errorf("showing %s: %w", r.Type, err)
		}
		fmt.Fprintln(w, strings.TrimRight(string(b), "\n"))
		return nil
	}
	return fmt.Errorf("showing %s: expected --output table, json or yaml, found %q", r.Type, output)
}

func table(out io.Writer, r *classify.Result, rows []row) error {
	fmt.Fprintf(out, "%s %s\nkind %s in %s\nread from %s#%s\n\n", r.Type, r.APIVersion, r.Kind, r.Group, r.File, r.Pointer)
	w := tabwriter.NewWriter(out, 0, 8, 2, ' ', 0)
	fmt.Fprintln(w, "PATH\tSHAPE\tBEHAVIOURS\tEVIDENCE")
	for _, x := range rows {
		var reasons []string
		for _, e := range x.Evidence {
			reasons = append(reasons, strings.TrimRight(fmt.Sprintf("%s: %s: %s", e.Fact, e.Source, e.Detail), ": "))
		}
		facts := slices.DeleteFunc([]string{x.Behaviours, string(x.Equality)}, func(s string) bool { return s == "" })
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", x.Path, x.Shape, strings.Join(facts, ","), strings.Join(reasons, " | "))
	}
	if err := w.Flush(); err != nil {
		return fmt.Errorf("showing %s: %w", r.Type, err)
	}
	return nil
}

// rowsOf walks a tree; a type below itself is named and not walked again.
func rowsOf(f *field.Field, path string, above map[*field.Type]bool) []row {
	if f == nil || f.Type == nil || above[f.Type] {
		return nil
	}
	above[f.Type] = true
	defer delete(above, f.Type)
	var rows []row
	add := func(c *field.Field, at string) {
		shape := string(c.Kind)
		if c.Format != "" {
			shape += " " + c.Format
		}
		if c.Embedded {
			shape += " (a resource, by id)"
		}
		rows = append(rows, row{
			Path: at, Shape: shape, Behaviours: c.Behaviours.String(), Equality: c.Equality,
			Keys: c.Keys, Children: c.Children, Evidence: c.Evidence,
		})
		rows = append(rows, rowsOf(c, at, above)...)
	}
	for _, n := range slices.Sorted(maps.Keys(f.Fields)) {
		add(f.Fields[n], strings.TrimPrefix(path+"."+n, "."))
	}
	if f.Elem != nil && !f.Embedded && !f.Elem.Kind.Scalar() {
		rows = append(rows, rowsOf(f.Elem, path+"[]", above)...)
	}
	for _, tag := range slices.Sorted(maps.Keys(f.Variants)) {
		v := *f.Variants[tag]
		v.Fields = maps.Clone(v.Fields)
		maps.DeleteFunc(v.Fields, func(n string, _ *field.Field) bool { return f.Fields[n] != nil })
		rows = append(rows, rowsOf(&field.Field{Type: &v}, path+"("+f.Discriminator+"="+tag+")", above)...)
	}
	return rows
}

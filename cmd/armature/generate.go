package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"runtime"
	"time"

	"github.com/spf13/cobra"

	"github.com/armature-dev/armature/generator"
	"github.com/armature-dev/armature/generator/emit"
	genswagger "github.com/armature-dev/armature/generator/swagger"
	"github.com/armature-dev/armature/swagger"
)

// specsFlags choose what is read.
type specsFlags struct {
	specs string
	locks string
	types []string
	all   bool
}

// defaultSpecs is where the specs are, relative to the repository's root.
const defaultSpecs = "../shared/azure-rest-api-specs"

func (f *specsFlags) add(c *cobra.Command) {
	specs := os.Getenv("SPECS")
	if specs == "" {
		specs = defaultSpecs
	}
	c.Flags().StringVar(&f.specs, "specs", specs, "checkout of azure-rest-api-specs (env SPECS)")
	c.Flags().StringVar(&f.locks, "locks", "", "folder with specs.lock.yaml, kinds.lock.yaml and overlays/ (default: the built-in ones)")
}

// open checks the specs folder and reads the locks.
func (f *specsFlags) open() (fs.FS, generator.Locks, error) {
	var lockFiles fs.FS = swagger.Files
	if f.locks != "" {
		lockFiles = os.DirFS(f.locks)
	}
	locks, err := generator.ReadLocks(lockFiles)
	if err != nil {
		return nil, locks, err
	}
	if info, err := os.Stat(f.specs); err != nil || !info.IsDir() {
		return nil, locks, fmt.Errorf("opening the specs: no folder %s; fetch them with `make specs` (or `armature specs fetch`), or name them with --specs or SPECS", f.specs)
	}
	return os.DirFS(f.specs), locks, nil
}

// run reads and classifies what the flags choose: the locked types where they
// choose none.
func (f *specsFlags) run(progress func(done, total int, armType string)) (*generator.Output, error) {
	specs, locks, err := f.open()
	if err != nil {
		return nil, err
	}
	in := generator.Input{Specs: specs, Locks: locks, All: f.all, Workers: runtime.GOMAXPROCS(0), Progress: progress}
	for _, t := range f.types {
		in.Types = append(in.Types, genswagger.ParseRef(t))
	}
	if !f.all && len(in.Types) == 0 {
		in.Types = locks.Specs.Refs()
	}
	return generator.Run(in)
}

func newGenerateCommand() *cobra.Command {
	var (
		flags               specsFlags
		out                 string
		check, strict, text bool
	)
	c := &cobra.Command{
		Use:   "generate",
		Short: "Generate CRDs, Go structs, catalog, roles, samples and reference pages from Azure's specs",
		Example: `  armature generate --specs azure-rest-api-specs --type Microsoft.Cache/redis --out my-kinds
  armature generate --specs azure-rest-api-specs --all --out all-kinds`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			output, err := flags.run(progress(c.ErrOrStderr()))
			if err != nil {
				return err
			}
			files, err := output.Emit(emit.Options{Descriptions: text})
			if err != nil {
				return err
			}
			if err := report(c.ErrOrStderr(), output.Diagnostics, strict); err != nil && (check || len(output.Kinds) == 0) {
				return err
			}
			if check {
				return compare(c.OutOrStdout(), out, files)
			}
			if err := generator.Write(out, files); err != nil {
				return err
			}
			fmt.Fprintf(c.OutOrStdout(), "%d kinds, %d files in %s\n", len(output.Kinds), len(files), out)
			return verdict(output.Diagnostics, strict)
		},
	}
	flags.add(c)
	c.Flags().StringSliceVar(&flags.types, "type", nil, "ARM type, optionally at a version: Microsoft.Cache/redis@2024-11-01 (default: the locked types)")
	c.Flags().BoolVar(&flags.all, "all", false, "every type that the specs describe, at its newest stable version")
	c.Flags().StringVar(&out, "out", ".", "folder to write to")
	c.Flags().BoolVar(&check, "check", false, "write nothing; fail if the folder is not what would be generated")
	c.Flags().BoolVar(&strict, "strict", false, "take warnings for failures")
	c.Flags().BoolVar(&text, "descriptions", false, "add upstream's descriptions to the CRDs, for your own use")
	c.MarkFlagsMutuallyExclusive("type", "all")
	return c
}

// progress tells about long runs, every two seconds.
func progress(w io.Writer) func(done, total int, armType string) {
	start, last := time.Now(), time.Now()
	return func(done, total int, armType string) {
		if time.Since(last) < 2*time.Second {
			return
		}
		last = time.Now()
		fmt.Fprintf(w, "%d of %d types after %s: %s\n", done, total, time.Since(start).Round(time.Second), armType)
	}
}

// report prints all diagnostics and returns what verdict does.
func report(w io.Writer, ds *genswagger.Diagnostics, strict bool) error {
	for _, d := range ds.Sorted() {
		fmt.Fprintln(w, d.Error())
	}
	return verdict(ds, strict)
}

func verdict(ds *genswagger.Diagnostics, strict bool) error {
	failed, warned := ds.Count(genswagger.Error), ds.Count(genswagger.Warning)
	if failed > 0 || strict && warned > 0 {
		return fmt.Errorf("generating: %d errors, %d warnings", failed, warned)
	}
	return nil
}

func compare(w io.Writer, dir string, files []emit.File) error {
	diffs, err := generator.Compare(dir, files)
	if err != nil {
		return err
	}
	for _, d := range diffs {
		fmt.Fprintln(w, d)
	}
	if len(diffs) > 0 {
		return errors.New("checking generated files: not up to date; run `go generate ./...` and commit the result")
	}
	return nil
}

package main

import (
	"fmt"

	"github.com/spf13/cobra"
	"sigs.k8s.io/yaml"

	"github.com/armature-dev/armature/generator"
	"github.com/armature-dev/armature/swagger"
)

func newSpecsCommand() *cobra.Command {
	c := &cobra.Command{Use: "specs", Short: "Fetch and pin Azure's API descriptions"}
	c.AddCommand(newSpecsFetchCommand(), newSpecsLockCommand())
	return c
}

func newSpecsFetchCommand() *cobra.Command {
	var repo, commit, out string
	c := &cobra.Command{
		Use: "fetch", Short: "Fetch the pinned commit's files of the locked types (needs git)", Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			locks, err := generator.ReadLocks(swagger.Files)
			if err != nil {
				return err
			}
			lock := locks.Specs
			if repo != "" {
				lock.Repository = repo
			}
			if commit != "" {
				lock.Commit = commit
			}
			fmt.Fprintf(c.ErrOrStderr(), "fetching %d folders of %s at %s\n", len(lock.Folders), lock.Repository, lock.Commit)
			return generator.Fetch(c.Context(), lock, out)
		},
	}
	c.Flags().StringVar(&repo, "repo", "", "git repository (default: the lock file's)")
	c.Flags().StringVar(&commit, "commit", "", "commit (default: the lock file's)")
	c.Flags().StringVar(&out, "out", ".specs", "folder to fetch to")
	return c
}

func newSpecsLockCommand() *cobra.Command {
	var flags specsFlags
	c := &cobra.Command{
		Use: "lock", Short: "Print a specs.lock.yaml for types: their versions and folders", Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			_, locks, err := flags.open()
			if err != nil {
				return err
			}
			out, err := flags.run(progress(c.ErrOrStderr()))
			if err != nil {
				return err
			}
			lock := generator.SpecsLock{Repository: locks.Specs.Repository, Commit: locks.Specs.Commit, Folders: out.Folders}
			for _, k := range out.Kinds {
				lock.Types = append(lock.Types, generator.LockedType{Type: k.Type, Version: k.APIVersion})
			}
			b, err := yaml.Marshal(lock)
			if err != nil {
				return fmt.Errorf("printing the lock: %w", err)
			}
			fmt.Fprint(c.OutOrStdout(), string(b))
			return report(c.ErrOrStderr(), out.Diagnostics, false)
		},
	}
	flags.add(c)
	c.Flags().StringSliceVar(&flags.types, "type", nil, "ARM types (default: the locked ones)")
	c.Flags().BoolVar(&flags.all, "all", false, "every type that the specs describe")
	return c
}

package main

import "github.com/spf13/cobra"

func newRootCommand() *cobra.Command {
	root := &cobra.Command{
		Use:           "armature",
		Short:         "Run Azure from Kubernetes: manager, simulator and generator in one binary",
		SilenceErrors: true,
		SilenceUsage:  true,
		Version:       version,
	}
	root.AddCommand(newGenerateCommand(), newTypesCommand(), newSpecsCommand(), newSimulateCommand(), newManagerCommand())
	return root
}

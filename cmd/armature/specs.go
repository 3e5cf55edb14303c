package main

import "github.com/spf13/cobra"

func newSpecsCommand() *cobra.Command {
	return &cobra.Command{Use: "specs", Short: "Fetch Azure's API descriptions"}
}

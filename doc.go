// Package armature is the root of the module; `go generate ./...` writes all
// generated files from the specs that SPECS names.
package armature

//go:generate go run ./cmd/armature generate --locks swagger --out .

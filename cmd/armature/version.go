package main

// version is set by the linker.
var version = "dev" //nolint:gochecknoglobals // the linker sets variables only

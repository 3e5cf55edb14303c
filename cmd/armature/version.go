package main

// version is set by the linker.
var version = "dev"

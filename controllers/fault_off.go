//go:build !plantedfaults

package controllers

// planted reports whether a fault is built in on purpose, to test the tests:
// never in a normal build.
func planted(string) bool { return false }

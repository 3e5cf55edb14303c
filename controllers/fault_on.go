//go:build plantedfaults

package controllers

import "os"

// planted reports whether the environment asks for a fault.
func planted(name string) bool { return os.Getenv("ARMATURE_PLANT_FAULT") == name }

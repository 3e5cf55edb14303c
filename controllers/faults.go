package controllers

// The faults that a build with the tag plantedfaults can have: each must turn
// the end-to-end tests red.
const (
	faultPutFromSpec = "put-from-spec"
	faultNoIfMatch   = "no-if-match"
	faultLateJournal = "late-journal"
	faultNoClaim     = "no-claim"
)

package armsim

import (
	"net/http"
	"slices"
	"strings"

	"github.com/armature-dev/armature/pkg/resource"
)

// profile is what a service was seen to do where the contract leaves a choice
// or the service departs from it. The zero value is the contract's.
type profile struct {
	// accepts: every PUT answers 202, although 200 and 201 are declared too.
	accepts bool
	// locationOnly: a 202 names a Location and no Azure-AsyncOperation.
	locationOnly bool
	// updatesAtOnce: a PUT of what exists is no operation; createsAtOnce: nor
	// is one that creates.
	updatesAtOnce, createsAtOnce bool
}

// profiles are facts from recorded traffic, by the beginning of an ARM type
// in lower case; the longest that matches counts.
func profiles() map[string]profile {
	return map[string]profile{
		"microsoft.batch/batchaccounts":           {locationOnly: true},
		"microsoft.dbformysql":                    {accepts: true},
		"microsoft.dbforpostgresql":               {accepts: true},
		"microsoft.network/dnsforwardingrulesets": {accepts: true},
		"microsoft.network/dnsresolvers":          {accepts: true},
		"microsoft.network/privatednszones":       {accepts: true},
		"microsoft.sql":                           {accepts: true},
		"microsoft.storage/storageaccounts":       {locationOnly: true, updatesAtOnce: true},
		"microsoft.web/serverfarms":               {createsAtOnce: true, updatesAtOnce: true},
		"microsoft.web/sites":                     {createsAtOnce: true, updatesAtOnce: true},
	}
}

func (s *Server) profile(d *resource.Descriptor) profile {
	for t := strings.ToLower(d.Type); t != ""; {
		if p, ok := s.profiles[t]; ok {
			return p
		}
		t = t[:max(0, strings.LastIndexByte(t, '/'))]
	}
	return profile{}
}

// manner is how a write is answered.
type manner struct {
	status int
	// lro: an operation follows, told of by the headers async and location.
	lro, async, location bool
}

// mannerOf picks, of the codes that a type declares, the one that the contract
// prefers: 201 for what is new and 200 for what was there, 202 where a
// long-running operation declares it in place of 201. Nothing is answered
// that the type does not declare.
func (s *Server) mannerOf(d *resource.Descriptor, method string, created bool) manner {
	verb, p := d.Verbs[method], s.profile(d)
	declares := func(code int) bool { return slices.Contains(verb.Codes, code) }
	m := manner{status: http.StatusOK, lro: verb.LRO, async: verb.LRO}
	if method == http.MethodPatch {
		m.location = verb.LRO
		if verb.LRO && declares(http.StatusAccepted) {
			m.status = http.StatusAccepted
		}
		return m
	}
	if created && p.createsAtOnce || !created && p.updatesAtOnce {
		m.lro, m.async = false, false
	}
	none := len(verb.Codes) == 0
	switch {
	case m.lro && declares(http.StatusAccepted) && (p.accepts || !declares(http.StatusCreated)):
		return manner{status: http.StatusAccepted, lro: true, async: !p.locationOnly, location: true}
	case created && (none || declares(http.StatusCreated)), !none && !declares(http.StatusOK) && declares(http.StatusCreated):
		m.status = http.StatusCreated
	}
	return m
}

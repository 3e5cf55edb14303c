package armsim

import (
	"time"

	"github.com/armature-dev/armature/pkg/arm"
	"github.com/armature-dev/armature/pkg/field"
)

const systemData = "systemData"

// author notes who wrote a resource and when: in systemData where the type
// has it (contract, "systemData").
func (r *record) author(principal string, now time.Time) {
	created := r.created.IsZero()
	if created {
		r.created = now
	}
	r.changed = now
	f := r.desc.Body.Fields[systemData]
	if f == nil || f.Type == nil {
		return
	}
	data, _ := r.body[systemData].(map[string]any)
	data = field.CloneObject(data)
	if data == nil {
		data = map[string]any{}
	}
	set := func(prefix string) {
		data[prefix+"By"], data[prefix+"ByType"], data[prefix+"At"] = principal, "Application", stamp(now)
	}
	if data["createdAt"] == nil {
		set("created")
	}
	set("lastModified")
	r.body[systemData] = data
}

// outsider is the author of what is changed at /_armature.
const outsider = "somebody else"

// envelope is what the resources lists of groups and subscriptions show of a
// resource; expand names what they add.
func (s *Server) envelope(r *record, expand []string) map[string]any {
	full := s.store.view(r)
	item := map[string]any{}
	for _, k := range []string{"id", "name", "type", "kind", "location", "tags", "sku", "identity", "plan", "managedBy", "zones"} {
		if v, ok := full[k]; ok {
			item[k] = v
		}
	}
	for _, e := range expand {
		switch e {
		case "createdTime":
			item[e] = stamp(r.created)
		case "changedTime":
			item[e] = stamp(r.changed)
		case stateField:
			state := arm.ProvisioningState(full)
			if state == "" {
				state = arm.Succeeded
			}
			item[e] = state
		}
	}
	return item
}

package emit

import (
	"fmt"
	"strings"

	apiext "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/armature-dev/armature/generator/classify"
	"github.com/armature-dev/armature/pkg/resource"
)

// crdFile is a CRD as people write it: without the status that the API type
// always marshals.
type crdFile struct {
	metav1.TypeMeta `json:",inline"`

	Metadata crdMeta                             `json:"metadata"`
	Spec     apiext.CustomResourceDefinitionSpec `json:"spec"`
}

type crdMeta struct {
	Name   string            `json:"name"`
	Labels map[string]string `json:"labels"`
}

// LabelAPIVersion on a CRD is the ARM API version that the kind uses.
const LabelAPIVersion = "armature.dev/arm-api-version"

// CRD writes a kind's CustomResourceDefinition.
func CRD(r *classify.Result, o Options) (File, error) {
	crd := crdFile{
		TypeMeta: metav1.TypeMeta{APIVersion: "apiextensions.k8s.io/v1", Kind: "CustomResourceDefinition"},
		Metadata: crdMeta{Name: r.CRDName(), Labels: map[string]string{LabelAPIVersion: r.APIVersion}},
		Spec: apiext.CustomResourceDefinitionSpec{
			Group: r.Group,
			Names: apiext.CustomResourceDefinitionNames{
				Kind: r.Kind, ListKind: r.Kind + "List", Plural: r.Plural, Singular: strings.ToLower(r.Kind),
				ShortNames: r.ShortNames, Categories: []string{"armature", "azure"},
			},
			Scope:    apiext.NamespaceScoped,
			Versions: []apiext.CustomResourceDefinitionVersion{version(r, o)},
		},
	}
	return yamlFile("config/crd/"+r.CRDName()+".yaml", crd)
}

func version(r *classify.Result, o Options) apiext.CustomResourceDefinitionVersion {
	spec := newSchemaWriter(r, o).spec()
	schema := apiext.JSONSchemaProps{
		Type:        "object",
		Description: fmt.Sprintf("ARM type %s, API version %s.", r.Type, r.APIVersion),
		Required:    []string{"spec"},
		Properties: map[string]apiext.JSONSchemaProps{
			"apiVersion": {Type: "string"},
			"kind":       {Type: "string"},
			"metadata":   {Type: "object"},
			"spec":       spec,
			"status":     statusSchema(r.Replicas != ""),
		},
	}
	v := apiext.CustomResourceDefinitionVersion{
		Name: resource.Version, Served: true, Storage: true,
		Schema:       &apiext.CustomResourceValidation{OpenAPIV3Schema: &schema},
		Subresources: &apiext.CustomResourceSubresources{Status: &apiext.CustomResourceSubresourceStatus{}},
		AdditionalPrinterColumns: []apiext.CustomResourceColumnDefinition{
			{Name: "Ready", Type: "string", JSONPath: `.status.conditions[?(@.type=="Ready")].status`},
			{Name: "Reason", Type: "string", JSONPath: `.status.conditions[?(@.type=="Ready")].reason`},
			{Name: "ARM-ID", Type: "string", JSONPath: ".status.resourceID", Priority: 1},
			{Name: "Age", Type: "date", JSONPath: ".metadata.creationTimestamp"},
		},
	}
	if r.Replicas != "" {
		v.Subresources.Scale = &apiext.CustomResourceSubresourceScale{
			SpecReplicasPath: ".spec." + r.Replicas, StatusReplicasPath: ".status.observed." + r.Replicas,
			LabelSelectorPath: new(".status.selector"),
		}
	}
	return v
}

func str(description string) apiext.JSONSchemaProps {
	return apiext.JSONSchemaProps{Type: "string", Description: description}
}

// open is a value of any shape.
func open(description string) apiext.JSONSchemaProps {
	return apiext.JSONSchemaProps{XPreserveUnknownFields: new(true), Description: description}
}

func openObject(description string) apiext.JSONSchemaProps {
	return apiext.JSONSchemaProps{Type: "object", XPreserveUnknownFields: new(true), Description: description}
}

func list(item apiext.JSONSchemaProps, description string) apiext.JSONSchemaProps {
	return apiext.JSONSchemaProps{
		Type: "array", Description: description, XListType: new("atomic"),
		Items: &apiext.JSONSchemaPropsOrArray{Schema: &item},
	}
}

func object(description string, required []string, properties map[string]apiext.JSONSchemaProps) apiext.JSONSchemaProps {
	return apiext.JSONSchemaProps{Type: "object", Description: description, Required: required, Properties: properties}
}

// enumOf quotes values as JSON.
func enumOf(values ...string) []apiext.JSON {
	out := make([]apiext.JSON, len(values))
	for i, v := range values {
		out[i] = apiext.JSON{Raw: fmt.Appendf(nil, "%q", v)}
	}
	return out
}

// ownProperties are the keys of a spec that are not ARM's.
func ownProperties(r *classify.Result) map[string]apiext.JSONSchemaProps {
	update, drift, deletion := str("Observe sends nothing."), str("What happens to fields of ours that others changed."), str("What deleting the object does to the resource.")
	update.Enum = enumOf("Apply", "Observe")
	drift.Enum = enumOf("Correct", "Report")
	deletion.Enum = enumOf("Delete", "Orphan", "DeleteContents")
	return map[string]apiext.JSONSchemaProps{
		"owner": object("What the resource lies in: "+ownerText(r)+". It can't be changed.", nil, map[string]apiext.JSONSchemaProps{
			"kind": str("Kind of the owner, where several are possible."), "name": str("Name of an object in the same namespace."),
			"resourceID": str("ARM ID of an owner that no object manages."),
		}),
		"azureName":  str("Name in Azure, if it isn't metadata.name. It can't be changed."),
		"resourceID": str("ARM ID of an existing resource to adopt."),
		"credential": object("Credential for this object alone.", []string{"secretName"}, map[string]apiext.JSONSchemaProps{
			"secretName": str("Secret of the same namespace."),
		}),
		"policy": object("How the object is reconciled.", nil, map[string]apiext.JSONSchemaProps{
			"update": update, "drift": drift, "deletion": deletion,
			"ignore": list(apiext.JSONSchemaProps{Type: "string"}, "Paths that are never sent or compared."),
		}),
	}
}

func ownerText(r *classify.Result) string {
	if len(r.Owners) > 0 {
		return strings.Join(r.Owners, " or ")
	}
	if r.HasScope(resource.Extension) {
		return "any resource"
	}
	return "a subscription or the tenant, by resourceID"
}

// statusSchema is what every kind reports, the observed resource open.
func statusSchema(scales bool) apiext.JSONSchemaProps {
	integer := func(format string) apiext.JSONSchemaProps {
		return apiext.JSONSchemaProps{Type: "integer", Format: format}
	}
	flag, when := apiext.JSONSchemaProps{Type: "boolean"}, apiext.JSONSchemaProps{Type: "string", Format: "date-time"}
	strings := list(apiext.JSONSchemaProps{Type: "string"}, "")
	condition := object("", []string{"type", "status", "lastTransitionTime", "reason", "message"}, map[string]apiext.JSONSchemaProps{
		"type": str(""), "status": str(""), "reason": str(""), "message": str(""),
		"lastTransitionTime": when, "observedGeneration": integer("int64"),
	})
	conditions := list(condition, "")
	conditions.XListType, conditions.XListMapKeys = new("map"), []string{"type"}
	p := map[string]apiext.JSONSchemaProps{
		"conditions": conditions, "observedGeneration": integer("int64"),
		"resourceID": str("ARM ID."), "apiVersion": str("ARM API version in use."),
		"origin": str("Created or Adopted."), "appliedHash": str(""),
		"operation": object("The operation that has not ended.", nil, map[string]apiext.JSONSchemaProps{
			"method": str(""), "token": str(""), "startedAt": when, "percent": integer(""), "attempts": integer(""), "generation": integer("int64"),
		}),
		"drift": list(object("", []string{"path"}, map[string]apiext.JSONSchemaProps{
			"path": str(""), "wanted": open(""), "found": open(""), "since": when, "corrected": flag,
		}), "Fields of ours that others changed."),
		"released": strings,
		"overridden": list(object("", []string{"path"}, map[string]apiext.JSONSchemaProps{
			"path": str(""), "sent": open(""), "settled": open(""),
		}), "Values of ours that the service turned into others."),
		"clobbered": strings, "truncated": flag,
		"observed": openObject("The resource as ARM last showed it."),
	}
	if scales {
		p["selector"] = str("Matches nothing; autoscalers ask for one.")
	}
	return apiext.JSONSchemaProps{Type: "object", Properties: p}
}

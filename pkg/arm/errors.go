package arm

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
)

// Error is what a service said when it refused, in ARM's shape.
type Error struct {
	// Status is the HTTP status; 0 for an operation that failed by itself.
	Status int `json:"-"`
	// FailureCause is the header x-ms-failure-cause: "gateway" where ARM and
	// not the provider answered.
	FailureCause string `json:"-"`

	Code           string           `json:"code,omitempty"`
	Message        string           `json:"message,omitempty"`
	Target         string           `json:"target,omitempty"`
	Details        []Error          `json:"details,omitempty"`
	AdditionalInfo []AdditionalInfo `json:"additionalInfo,omitempty"`
}

// AdditionalInfo is a typed addition to an Error: a policy's verdict, say.
type AdditionalInfo struct {
	Type string          `json:"type,omitempty"`
	Info json.RawMessage `json:"info,omitempty"`
}

// Error writes code, message and target, and those of the first details.
func (e *Error) Error() string {
	var b strings.Builder
	switch {
	case e.Code != "":
		b.WriteString(e.Code)
	case e.Status != 0:
		fmt.Fprintf(&b, "%d %s", e.Status, http.StatusText(e.Status))
	default:
		b.WriteString("Failed")
	}
	if e.Message != "" {
		b.WriteString(": " + e.Message)
	}
	if e.Target != "" {
		b.WriteString(" (target " + e.Target + ")")
	}
	for i := range e.Details {
		if i == 3 {
			fmt.Fprintf(&b, "; and %d more", len(e.Details)-i)
			break
		}
		b.WriteString("; " + e.Details[i].Error())
	}
	return b.String()
}

// HasCode reports whether e or one of its details carries one of the codes;
// case does not count.
func (e *Error) HasCode(codes ...string) bool {
	for _, c := range codes {
		if strings.EqualFold(e.Code, c) {
			return true
		}
	}
	for i := range e.Details {
		if e.Details[i].HasCode(codes...) {
			return true
		}
	}
	return false
}

// maxText bounds what of a foreign body (an HTML page) becomes a message.
const maxText = 256

// ParseError reads the error shapes that services were seen to use:
// {"error":{…}}, bare {code,message}, {Code,Message}, {"Message"},
// problem+json, and anything else as text. It never fails.
func ParseError(status int, header http.Header, body []byte) *Error {
	e := &Error{Status: status, FailureCause: header.Get(HeaderFailureCause)}
	var shape map[string]json.RawMessage
	if json.Unmarshal(body, &shape) != nil {
		e.Message = text(header, body)
		return e
	}
	inner := body
	if raw := member(shape, "error"); len(raw) > 0 && string(raw) != "null" {
		inner = raw
	}
	// Field names match without case, which covers {Code,Message}. A field of
	// the wrong type is left out, and the others are read all the same.
	if json.Unmarshal(inner, e) != nil && e.Code == "" {
		var bare map[string]json.RawMessage
		if json.Unmarshal(inner, &bare) == nil {
			inner = member(bare, "code")
		}
		e.Code = scalar(inner)
	}
	if e.Code == "" && e.Message == "" {
		e.Code, e.Message = scalar(member(shape, "title")), scalar(member(shape, "detail"))
	}
	return e
}

// member finds a property without case.
func member(m map[string]json.RawMessage, name string) json.RawMessage {
	if v, ok := m[name]; ok {
		return v
	}
	for k, v := range m {
		if strings.EqualFold(k, name) {
			return v
		}
	}
	return nil
}

// scalar is a string or number as text; "" for anything else.
func scalar(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) == nil {
		return s
	}
	var n json.Number
	if json.Unmarshal(raw, &n) == nil {
		return n.String()
	}
	return ""
}

func text(header http.Header, body []byte) string {
	if strings.Contains(header.Get("Content-Type"), "html") || len(body) == 0 {
		return ""
	}
	s := strings.ToValidUTF8(strings.TrimSpace(string(body)), "")
	if len(s) > maxText {
		s = strings.ToValidUTF8(s[:maxText], "") + "…"
	}
	return s
}

package armsim

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/armature-dev/armature/pkg/arm"
)

// fault is something that goes wrong with the next Count requests that it
// matches.
type fault struct {
	// Type is an ARM type, ID a resource ID, Method an HTTP method; empty
	// ones match all.
	Type   string `json:"type,omitempty"`
	ID     string `json:"id,omitempty"`
	Method string `json:"method,omitempty"`
	// Count is how often it happens; 0 is once, or without end where
	// Probability says that it happens to a part of the requests only.
	Count       int     `json:"count,omitempty"`
	Probability float64 `json:"probability,omitempty"`
	// Status and Code answer an error in place of doing anything.
	Status  int    `json:"status,omitempty"`
	Code    string `json:"code,omitempty"`
	Message string `json:"message,omitempty"`
	// Delay is a duration to wait first: "2s".
	Delay string `json:"delay,omitempty"`
	// Cut drops the connection before anything is done, LoseAnswer after.
	Cut        bool `json:"cut,omitempty"`
	LoseAnswer bool `json:"loseAnswer,omitempty"`
	// FailOperation lets the operation that the request starts end in Failed.
	// CancelOperation lets it end in Canceled.
	FailOperation   bool `json:"failOperation,omitempty"`
	CancelOperation bool `json:"cancelOperation,omitempty"`

	delay time.Duration
}

func (f *fault) matches(q *request) bool {
	if f.Method != "" && !strings.EqualFold(f.Method, q.method) {
		return false
	}
	if f.ID != "" && !strings.EqualFold(strings.TrimRight(f.ID, "/"), strings.TrimRight(q.path, "/")) {
		return false
	}
	if f.Type == "" {
		return true
	}
	id, err := arm.ParseID(q.path)
	return err == nil && strings.EqualFold(id.Type(), f.Type)
}

// chance is a number from 0 up to 1.
func chance() float64 {
	var b [4]byte
	_, _ = rand.Read(b[:])
	return float64(binary.BigEndian.Uint32(b[:])) / (1 << 32)
}

// takeFault uses up one occurrence of the first fault that matches.
func (s *Server) takeFault(q *request) *fault {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i, f := range s.faults {
		if !f.matches(q) || f.Probability > 0 && chance() >= f.Probability {
			continue
		}
		if f.Count == 1 {
			s.faults = slices.Delete(s.faults, i, i+1)
		}
		f.Count = max(0, f.Count-1)
		used := *f
		return &used
	}
	return nil
}

// wait waits out the delay; false where the client left before.
func (f *fault) wait(ctx context.Context) bool {
	if f.delay <= 0 {
		return true
	}
	t := time.NewTimer(f.delay)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}

func (f *fault) cuts() bool { return f != nil && f.Cut }

func (f *fault) response(retryAfter string) response {
	code, message := f.Code, f.Message
	if code == "" {
		code = strings.ReplaceAll(http.StatusText(f.Status), " ", "")
	}
	if message == "" {
		message = "A fault was injected."
	}
	resp := fail(f.Status, code, "%s", message)
	if f.Status == http.StatusTooManyRequests || f.Status >= http.StatusInternalServerError {
		resp = resp.with(arm.HeaderRetryAfter, retryAfter)
	}
	return resp
}

func (f *fault) operationError() *arm.Error {
	e := &arm.Error{Code: f.Code, Message: f.Message}
	if e.Code == "" && f.CancelOperation {
		e.Code = "OperationCanceled"
	}
	if e.Code == "" {
		e.Code = "OperationFailed"
	}
	if e.Message == "" {
		e.Message = "A fault was injected."
	}
	return e
}

// serveFaults answers GET, POST and DELETE of the faults.
func (s *Server) serveFaults(q *request) response {
	switch q.method {
	case http.MethodDelete:
		s.faults = nil
		return ok(http.StatusNoContent, nil)
	case http.MethodPost:
		added, err := readFaults(q.body)
		if err != nil {
			return fail(http.StatusBadRequest, "InvalidFault", "%v", err)
		}
		s.faults = append(s.faults, added...)
	}
	list := []fault{}
	for _, f := range s.faults {
		list = append(list, *f)
	}
	return ok(http.StatusOK, list)
}

// readFaults reads one fault or a list of them.
func readFaults(body []byte) ([]*fault, error) {
	var list []*fault
	if json.Unmarshal(body, &list) != nil {
		var one fault
		if err := json.Unmarshal(body, &one); err != nil {
			return nil, fmt.Errorf("reading faults: %w", err)
		}
		list = []*fault{&one}
	}
	for _, f := range list {
		if f == nil || f.Status != 0 && (f.Status < 400 || f.Status > 599) {
			return nil, fmt.Errorf("reading faults: expected a status from 400 to 599")
		}
		if f.Probability < 0 || f.Probability > 1 {
			return nil, fmt.Errorf("reading faults: expected a probability from 0 to 1")
		}
		if f.Probability == 0 {
			f.Count = max(1, f.Count)
		}
		if f.Delay != "" {
			d, err := time.ParseDuration(f.Delay)
			if err != nil {
				return nil, fmt.Errorf("reading faults: delay: %w", err)
			}
			f.delay = d
		}
	}
	return list, nil
}

package armsim

import (
	"time"

	"github.com/armature-dev/armature/pkg/arm"
)

// operation is one long-running change of a resource and of the children
// written with it.
type operation struct {
	id        string
	namespace string
	scope     string
	location  string
	creates   bool
	deletes   bool
	targets   []*record
	start     time.Time
	end       time.Time
	status    string
	// polls ends the operation when it has been asked for so often; 0 never.
	polls    int
	err      *arm.Error
	canceled bool
	// code and result are the final answer of the Location endpoint; show
	// makes it the resource as it is then.
	code   int
	result any
	show   *record
}

const inProgress = "InProgress"

// endless is longer than any test or session waits.
const endless = 100 * 365 * 24 * time.Hour

// poll counts a question about a running operation, which may end it.
func (s *store) poll(op *operation, now time.Time) {
	if op.status != inProgress || op.polls == 0 {
		return
	}
	op.polls--
	if op.polls == 0 {
		op.end = now
		s.settle(now)
	}
}

// What has ended is forgotten after a while, as ARM does, once there are many.
const (
	keptOperations = 1000
	keptFor        = time.Hour
)

// forget drops operations that ended long ago.
func (s *store) forget(now time.Time) {
	if len(s.ops) < 2*s.kept+keptOperations {
		return
	}
	for id, op := range s.ops {
		if op.status != inProgress && now.Sub(op.end) > keptFor {
			delete(s.ops, id)
		}
	}
	s.kept = len(s.ops)
}

// begin starts an operation on targets.
func (s *store) begin(op *operation, targets ...*record) {
	s.forget(op.start)
	op.id, op.status, op.targets = newUUID(), inProgress, targets
	for _, r := range targets {
		r.op = op
	}
	s.ops[op.id] = op
	s.running = append(s.running, op)
}

// settle ends the operations whose time has come.
func (s *store) settle(now time.Time) {
	var left []*operation
	for _, op := range s.running {
		if op.end.After(now) {
			left = append(left, op)
			continue
		}
		s.finish(op)
	}
	s.running = left
}

// finishAll ends all running operations at once.
func (s *store) finishAll(now time.Time) {
	for _, op := range s.running {
		op.end = now
		s.finish(op)
	}
	s.running = nil
}

func (s *store) finish(op *operation) {
	op.status = arm.Succeeded
	if op.err != nil {
		op.status = arm.Failed
	}
	if op.canceled {
		op.status = arm.Canceled
	}
	for _, r := range op.targets {
		if r.op != op {
			continue
		}
		r.op = nil
		if op.deletes && op.err == nil {
			if s.records[r.key] == r {
				parent := s.shownIn(r)
				s.remove(r.key)
				if parent != nil {
					s.touch(parent)
				}
			}
			continue
		}
		setState(r.desc.Body, r.body, op.status)
	}
	op.targets = nil
}

// percent is how much of the operation is done at now.
func (op *operation) percent(now time.Time) float64 {
	total := op.end.Sub(op.start)
	if op.status != inProgress || total <= 0 {
		return 100
	}
	return min(99, float64(100*now.Sub(op.start)/total))
}

package secretsync

import (
	"fmt"
	"io"
	"sync"

	"k8s.io/apimachinery/pkg/types"
)

// String is the action as a command.
func (a action) String() string {
	return [...]string{"leave", "create", "update", "replace", "delete", "leave alone", "refuse"}[a]
}

// past is the action when it has been done.
func (a action) past() string {
	return [...]string{"left", "created", "updated", "replaced", "deleted", "left alone", "refused"}[a]
}

// printer writes a line for each thing that was done. The workers share it.
type printer struct {
	mu  sync.Mutex
	out io.Writer
}

// done prints what was done, and why.
func (p *printer) done(key types.NamespacedName, d decision) {
	p.mu.Lock()
	defer p.mu.Unlock()
	// A reader that is gone is no reason to stop copying.
	_, _ = fmt.Fprintf(p.out, "%s %s: %s\n", d.action.past(), key, d.why)
}

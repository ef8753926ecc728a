// Package faults breaks the connection between some programs and the API server, on demand: a
// proxy cuts, delays, freezes and refuses their requests. Only a program whose kubeconfig leads to
// the proxy (see `lab run`) meets it; everybody else calls the API server itself.
package faults

import (
	"cmp"
	"fmt"
	"strings"
	"time"
)

// A Kind is what a fault does to the requests that it matches.
type Kind string

// The kinds of faults.
const (
	// Cut ends requests that run, and gives new ones no answer.
	Cut Kind = "cut"
	// Freeze holds back the events of watches.
	Freeze Kind = "frozen"
	// Slow lets a request wait before it is passed on.
	Slow Kind = "slow"
	// Refuse answers with an error.
	Refuse Kind = "refused"
	// Expire answers a watch from an old version with 410, as after a compaction.
	Expire Kind = "expired"
)

// Watches is the target that matches the watches of all resources.
const Watches = "watches"

// A Fault is one thing that is wrong.
type Fault struct {
	Kind Kind
	// Target is [Watches], a resource as in a Role (pods, pods/status), a path that begins with a
	// slash, with all below it, or, if empty, everything.
	Target string
	// Verb, if set, is the only one that is matched, as in a Role: list, watch, update.
	Verb string
	// Client, if set, is the name of the only program that is matched.
	Client string
	// Delay is how long a Slow request waits.
	Delay time.Duration
	// Code is what a request is Refused with.
	Code int
	// Version is the oldest that has not Expired.
	Version uint64
}

// String is how `lab status` lists the fault.
func (f Fault) String() string {
	text := string(f.Kind)
	target := cmp.Or(f.Target, "everything")
	switch f.Kind {
	case Slow:
		text += " by " + f.Delay.String()
	case Refuse:
		text += fmt.Sprintf(" with %d", f.Code)
	case Expire:
		target = fmt.Sprintf("versions before %d", f.Version)
	}
	text += ": " + target
	if f.Verb != "" {
		text += " (" + f.Verb + ")"
	}
	if f.Client != "" {
		text += " of " + f.Client
	}
	return text
}

// matches reports whether the fault is one of this request.
func (f Fault) matches(r request) bool {
	if f.Client != "" && f.Client != r.client || f.Verb != "" && f.Verb != r.verb {
		return false
	}
	switch f.Kind {
	case Freeze:
		if r.verb != watch {
			return false
		}
	case Expire:
		if r.verb != watch || r.version == 0 || r.version >= f.Version {
			return false
		}
	}
	switch {
	case f.Target == "":
		return true
	case f.Target == Watches:
		return r.verb == watch
	case strings.HasPrefix(f.Target, "/"):
		below, ok := strings.CutPrefix(r.path, strings.TrimSuffix(f.Target, "/"))
		return ok && (below == "" || below[0] == '/')
	default:
		return f.Target == r.resource
	}
}

// same reports whether the second fault takes the place of the first.
func same(a, b Fault) bool {
	return a.Kind == b.Kind && a.Target == b.Target && a.Verb == b.Verb && a.Client == b.Client
}

// isOutage reports whether nothing is to answer at all.
func (f Fault) isOutage() bool {
	return f == Fault{Kind: Cut}
}

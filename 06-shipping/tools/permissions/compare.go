package permissions

import (
	"cmp"
	"maps"
	"slices"
)

// Report is what [Compare] finds. Used and Unused together are all grants.
type Report struct {
	Used   []Finding
	Unused []Finding
	// Missing are requests that were refused, or allowed by a rule that is not
	// among those given.
	Missing []Missing
	// Early are requests that were refused although a rule allows them, and was
	// obeyed at another time. A server that has just started, or has just
	// read a new rule, refuses for a moment what it allows from then on.
	Early []Missing
	// Everybody is how many requests needed no grant, as everybody may make them.
	Everybody int
}

// Finding is a grant with the requests that it allowed.
type Finding struct {
	Grant
	Times      int
	Namespaces []string // of the requests; empty is cluster-wide
}

// Missing is a request for which a rule was missing.
type Missing struct {
	Request
	Use
	// Granted is whether the rules do allow it. It was refused all the same.
	Granted bool
}

// Exact tells whether the account was granted what it needed, and no more.
func (r Report) Exact() bool { return len(r.Unused) == 0 && len(r.Missing) == 0 }

// Compare compares what was granted with what was done.
func Compare(grants []Grant, uses map[Request]Use) Report {
	var report Report
	for _, g := range grants {
		f := find(g, uses)
		if f.Times == 0 || g.open() {
			report.Unused = append(report.Unused, f)
		} else {
			report.Used = append(report.Used, f)
		}
	}
	for _, r := range slices.SortedFunc(maps.Keys(uses), order) {
		use, granted := uses[r], covered(grants, r)
		switch {
		case use.Refused == 0 && granted:
		case use.Refused == 0 && covered(everybody, r):
			report.Everybody += use.Allowed
		case granted && covered(used(report.Used), r):
			report.Early = append(report.Early, Missing{Request: r, Use: use, Granted: true})
		default:
			report.Missing = append(report.Missing, Missing{Request: r, Use: use, Granted: granted})
		}
	}
	return report
}

func used(findings []Finding) []Grant {
	var grants []Grant
	for _, f := range findings {
		grants = append(grants, f.Grant)
	}
	return grants
}

// find finds the requests that were allowed and that the grant covers.
func find(g Grant, uses map[Request]Use) Finding {
	f := Finding{Grant: g}
	for r, use := range uses {
		if use.Allowed > 0 && g.covers(r) {
			f.Times += use.Allowed
			f.Namespaces = append(f.Namespaces, r.Namespace)
		}
	}
	return f
}

func order(a, b Request) int {
	return cmp.Or(
		cmp.Compare(a.Path, b.Path), cmp.Compare(a.Group, b.Group), cmp.Compare(a.Resource, b.Resource),
		cmp.Compare(a.Verb, b.Verb), cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name),
	)
}

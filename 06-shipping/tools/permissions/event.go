package permissions

import (
	"net/http"
	"net/url"
	"regexp"
	"time"
)

// event is what is needed here of k8s.io/apiserver/pkg/apis/audit/v1.Event.
type event struct {
	Kind, APIVersion string
	AuditID          string
	Verb, RequestURI string
	User             struct{ Username string }
	ImpersonatedUser struct{ Username string }
	ObjectRef        *struct{ APIGroup, Resource, Subresource, Namespace, Name string }
	ResponseStatus   struct {
		Code    int
		Message string
		Details struct{ Name string }
	}
	RequestReceivedTimestamp time.Time
	Annotations              map[string]string
}

// user is whose rights were asked about.
func (e event) user() string {
	if e.ImpersonatedUser.Username != "" {
		return e.ImpersonatedUser.Username
	}
	return e.User.Username
}

// request is what the authorizer was asked.
func (e event) request() Request {
	if e.ObjectRef == nil {
		path := e.RequestURI
		if parsed, err := url.ParseRequestURI(path); err == nil {
			path = parsed.Path
		}
		return Request{Verb: e.Verb, Path: path}
	}
	r := Request{Verb: e.Verb, Group: e.ObjectRef.APIGroup, Resource: e.ObjectRef.Resource, Namespace: e.ObjectRef.Namespace, Name: e.ObjectRef.Name}
	switch {
	case e.ObjectRef.Subresource != "":
		r.Resource += "/" + e.ObjectRef.Subresource
	case e.Verb == "create":
		// The log knows the name from the body, which the authorizer never sees. A
		// rule with names therefore allows no POST.
		r.Name = ""
	}
	return r
}

// answer is what the authorizer said to one question.
type answer struct {
	Request
	allowed bool
	by      string
}

// answers are all that the authorizer said about the event: mostly one.
func (e event) answers() []answer {
	first := answer{Request: e.request(), by: e.Annotations["authorization.k8s.io/reason"]}
	switch e.Annotations["authorization.k8s.io/decision"] {
	case "forbid":
		return []answer{first}
	case "allow":
		first.allowed = true
		return append([]answer{first}, e.later()...)
	default: // the request did not come that far
		return e.later()
	}
}

// cannot is how the API server words a refusal.
var cannot = regexp.MustCompile(`cannot (\S+) resource "([^"]+)" in API group "([^"]*)"(?: in the namespace "([^"]+)")?`)

// later is what the authorizer was asked besides the request itself. An apply or
// an update that makes its object needs the right to create it as well, and
// unlike a POST it has a name to ask with.
func (e event) later() []answer {
	if e.ResponseStatus.Code == http.StatusCreated && (e.Verb == "patch" || e.Verb == "update") {
		made := e.request()
		made.Verb = "create"
		return []answer{{Request: made, allowed: true}}
	}
	// A quota answers 403 as well, or a namespace that is being deleted, but in
	// other words. No rule would help against these.
	words := cannot.FindStringSubmatch(e.ResponseStatus.Message)
	if words == nil {
		return nil
	}
	return []answer{{Request: Request{
		Verb: words[1], Resource: words[2], Group: words[3], Namespace: words[4], Name: e.ResponseStatus.Details.Name,
	}}}
}

package faults

import (
	"net/http"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/util/sets"
	apirequest "k8s.io/apiserver/pkg/endpoints/request"
)

const watch = "watch"

// request is what faults know of a request.
type request struct {
	client   string // the name of the program
	path     string
	resource string // as in a Role: pods, or pods/status
	verb     string // as in a Role
	version  uint64 // where a watch begins; 0 if that is for the API server to choose
}

// resolver reads a request as the API server does.
var resolver = apirequest.RequestInfoFactory{
	APIPrefixes:          sets.NewString("api", "apis"),
	GrouplessAPIPrefixes: sets.NewString("api"),
}

func describe(r *http.Request) request {
	d := request{client: clientOf(r), path: r.URL.Path}
	info, err := resolver.NewRequestInfo(r)
	if err != nil {
		return d // the API server refuses it
	}
	d.verb, d.resource = info.Verb, info.Resource
	if info.Subresource != "" {
		d.resource += "/" + info.Subresource
	}
	// A watch that begins with a list of its own needs no past.
	if query := r.URL.Query(); d.verb == watch && query.Get("sendInitialEvents") != "true" {
		d.version, _ = strconv.ParseUint(query.Get("resourceVersion"), 10, 64)
	}
	return d
}

// clientOf returns the program's name, with which client-go begins the user agent.
func clientOf(r *http.Request) string {
	name := r.UserAgent()
	if end := strings.IndexAny(name, "/ "); end >= 0 {
		name = name[:end]
	}
	return name
}

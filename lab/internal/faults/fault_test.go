package faults

import (
	"net/http/httptest"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

func TestAFaultIsOfSomeRequests(t *testing.T) {
	for name, tc := range map[string]struct {
		fault  Fault
		method string
		url    string
		want   bool
	}{
		"everything":                    {Fault{Kind: Cut}, "GET", "/readyz", true},
		"a resource":                    {Fault{Kind: Cut, Target: "pods"}, "DELETE", "/api/v1/namespaces/a/pods/b", true},
		"another resource":              {Fault{Kind: Cut, Target: "pods"}, "GET", "/api/v1/namespaces/pods/secrets", false},
		"no subresource of it":          {Fault{Kind: Cut, Target: "pods"}, "GET", "/api/v1/namespaces/a/pods/b/log", false},
		"a subresource":                 {Fault{Kind: Cut, Target: "ats/status"}, "PUT", "/apis/x.io/v1/namespaces/a/ats/b/status", true},
		"watches":                       {Fault{Kind: Cut, Target: Watches}, "GET", "/api/v1/pods?watch=true", true},
		"a list is no watch":            {Fault{Kind: Cut, Target: Watches}, "GET", "/api/v1/pods", false},
		"a path":                        {Fault{Kind: Cut, Target: "/api/v1/secrets"}, "GET", "/api/v1/secrets?limit=1", true},
		"below a path":                  {Fault{Kind: Cut, Target: "/api/v1/"}, "GET", "/api/v1/secrets", true},
		"a path that only begins so":    {Fault{Kind: Cut, Target: "/api/v1/sec"}, "GET", "/api/v1/secrets", false},
		"a verb":                        {Fault{Kind: Refuse, Target: "pods", Verb: "list"}, "GET", "/api/v1/pods", true},
		"another verb":                  {Fault{Kind: Refuse, Target: "pods", Verb: "get"}, "GET", "/api/v1/pods", false},
		"a program":                     {Fault{Kind: Cut, Client: "first"}, "GET", "/api/v1/pods", true},
		"another program":               {Fault{Kind: Cut, Client: "fir"}, "GET", "/api/v1/pods", false},
		"what is frozen is read live":   {Fault{Kind: Freeze, Target: "pods"}, "GET", "/api/v1/pods", false},
		"what is frozen is not watched": {Fault{Kind: Freeze, Target: "pods"}, "GET", "/api/v1/pods?watch=1", true},
		"a watch from an old version":   {Fault{Kind: Expire, Version: 9}, "GET", "/api/v1/pods?watch=1&resourceVersion=8", true},
		"a watch from the oldest version that is known": {Fault{Kind: Expire, Version: 9}, "GET", "/api/v1/pods?watch=1&resourceVersion=9", false},
		"a watch from now":                {Fault{Kind: Expire, Version: 9}, "GET", "/api/v1/pods?watch=1", false},
		"a watch that begins with a list": {Fault{Kind: Expire, Version: 9}, "GET", "/api/v1/pods?watch=1&resourceVersion=8&sendInitialEvents=true", false},
		"a list of an old version":        {Fault{Kind: Expire, Version: 9}, "GET", "/api/v1/pods?resourceVersion=8", false},
	} {
		t.Run(name, func(t *testing.T) {
			r := httptest.NewRequest(tc.method, tc.url, nil)
			r.Header.Set("User-Agent", "first/v0.0.0 (linux/amd64)")
			assert.Equal(t, tc.want, tc.fault.matches(describe(r)))
		})
	}
}

func TestFaultsAreListedInWords(t *testing.T) {
	for want, fault := range map[string]Fault{
		"cut: everything":               {Kind: Cut},
		"cut: watches of first":         {Kind: Cut, Target: Watches, Client: "first"},
		"frozen: ats":                   {Kind: Freeze, Target: "ats"},
		"slow by 2s: everything":        {Kind: Slow, Delay: 2 * time.Second},
		"refused with 500: pods (list)": {Kind: Refuse, Code: 500, Target: "pods", Verb: "list"},
		"expired: versions before 9":    {Kind: Expire, Version: 9},
	} {
		assert.Equal(t, want, fault.String())
	}
}

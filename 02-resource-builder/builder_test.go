package main

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/cli-runtime/pkg/genericclioptions"
)

// TestWhatABuilderFinds has a server with the namespaces a and b, in pages of one. A name that
// is not there does not keep the others away.
func TestWhatABuilderFinds(t *testing.T) {
	twice := writeFile(t, "twice.yaml", manifest("v1", "Namespace", "b")+"---\n"+manifest("v1", "Namespace", "moon")+"---\n"+manifest("v1", "Namespace", "a"))
	tests := map[string]struct {
		files    []string
		args     []string
		selector string
		want     string   // the names of the objects
		requests []string // for them
		err      string
	}{
		"all of a type":            {args: []string{"namespaces"}, want: "a b", requests: []string{"?limit=1", "?continue=more&limit=1"}},
		"by a short name":          {args: []string{"ns"}, want: "a b", requests: []string{"?limit=1", "?continue=more&limit=1"}},
		"with a label":             {args: []string{"ns"}, selector: "app=web", want: "a b", requests: []string{"?labelSelector=app%3Dweb&limit=1", "?continue=more&labelSelector=app%3Dweb&limit=1"}},
		"a name":                   {args: []string{"ns", "b"}, want: "b", requests: []string{"/b"}},
		"a name that is not there": {args: []string{"ns", "moon", "a"}, want: "a", requests: []string{"/moon", "/a"}, err: "no moon"},
		"in a file":                {files: []string{twice}, want: "b a", requests: []string{"/b", "/moon", "/a"}, err: "no moon"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			var requests []string
			server := serve(t, discover(func(w http.ResponseWriter, r *http.Request) {
				request := strings.TrimPrefix(r.URL.RequestURI(), "/api/v1/namespaces")
				requests = append(requests, request)
				switch {
				case strings.HasPrefix(request, "?continue=more"):
					writeJSON(w, http.StatusOK, namespaceList("", "b"))
				case strings.HasPrefix(request, "?"):
					writeJSON(w, http.StatusOK, namespaceList("more", "a"))
				case request == "/moon":
					writeJSON(w, http.StatusNotFound, status(http.StatusNotFound, "NotFound", "no moon"))
				default:
					object := namespaceList("", request[1:]).Items[0]
					object.APIVersion, object.Kind = "v1", "Namespace"
					writeJSON(w, http.StatusOK, object)
				}
			}))
			kubeconfig := kubeconfigFor(t, server)
			o := &options{config: genericclioptions.NewConfigFlags(true), labelSelector: tc.selector, chunkSize: 1}
			o.config.KubeConfig = &kubeconfig
			o.files.Filenames = tc.files
			result, err := newResult(o, tc.args)
			require.NoError(t, err)
			infos, err := result.Infos()
			if tc.err == "" {
				require.NoError(t, err)
			} else {
				require.ErrorContains(t, err, tc.err)
			}
			var names []string
			for _, info := range infos {
				names = append(names, info.Name)
			}
			assert.Equal(t, tc.want, strings.Join(names, " "))
			assert.Equal(t, tc.requests, requests)
		})
	}
}

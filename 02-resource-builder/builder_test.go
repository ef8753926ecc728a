package main

import (
	"net/http"
	"path"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/cli-runtime/pkg/resource"
)

// TestWhatABuilderFinds has a server with two objects of each type, a and b, in pages of one. A
// name that is not there does not keep the others away.
func TestWhatABuilderFinds(t *testing.T) {
	file := writeFile(t, "three.yaml", manifest("v1", "Namespace", "b")+"---\n"+manifest("v1", "Namespace", "moon")+"---\n"+manifest("v1", "Pod", "a"))
	tests := map[string]struct {
		args     []string
		options  options
		want     string   // the names of the objects
		requests []string // for them
		err      string
	}{
		"all of a type": {
			args: []string{"namespaces"},
			want: "a b", requests: []string{"namespaces?limit=1", "namespaces?continue=more&limit=1"}},
		"by a short name": {
			args: []string{"ns"},
			want: "a b", requests: []string{"namespaces?limit=1", "namespaces?continue=more&limit=1"}},
		"in the namespace of the context": {
			args: []string{"pods"},
			want: "a b", requests: []string{"namespaces/default/pods?limit=1", "namespaces/default/pods?continue=more&limit=1"}},
		"in all namespaces": {
			args: []string{"pods"}, options: options{allNamespaces: true},
			want: "a b", requests: []string{"pods?limit=1", "pods?continue=more&limit=1"}},
		"with a label": {
			args: []string{"pods"}, options: options{labelSelector: "app=web"},
			want: "a b", requests: []string{"namespaces/default/pods?labelSelector=app%3Dweb&limit=1", "namespaces/default/pods?continue=more&labelSelector=app%3Dweb&limit=1"}},
		"with a field": {
			args: []string{"ns"}, options: options{fieldSelector: "metadata.name!=c"},
			want: "a b", requests: []string{"namespaces?fieldSelector=metadata.name%21%3Dc&limit=1", "namespaces?continue=more&fieldSelector=metadata.name%21%3Dc&limit=1"}},
		"names": {
			args: []string{"ns", "moon", "b"},
			want: "b", requests: []string{"namespaces/moon", "namespaces/b"}, err: "no moon"},
		"in a file": {
			options: options{files: resource.FilenameOptions{Filenames: []string{file}}},
			want:    "b a", requests: []string{"namespaces/b", "namespaces/moon", "namespaces/default/pods/a"}, err: "no moon"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			var requests []string
			server := serve(t, discover(func(w http.ResponseWriter, r *http.Request) {
				requests = append(requests, strings.TrimPrefix(r.URL.RequestURI(), "/api/v1/"))
				query, object := r.URL.Query(), path.Base(r.URL.Path)
				switch {
				case query.Get("continue") == "more":
					writeJSON(w, http.StatusOK, namespaceList("", "b"))
				case query.Has("limit"):
					writeJSON(w, http.StatusOK, namespaceList("more", "a"))
				case object == "moon":
					writeJSON(w, http.StatusNotFound, status(http.StatusNotFound, "NotFound", "no moon"))
				default:
					writeJSON(w, http.StatusOK, boat(object))
				}
			}))
			kubeconfig := kubeconfigFor(t, server)
			o := tc.options
			o.config, o.chunkSize = genericclioptions.NewConfigFlags(true), 1
			o.config.KubeConfig = &kubeconfig
			result, err := newResult(&o, tc.args)
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

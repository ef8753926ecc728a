package main

import (
	"bytes"
	"net/http"
	"path"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/cli-runtime/pkg/genericclioptions"

	"example.com/hacking-a-controller/02-resource-builder/lesson/fakeserver"
)

// first runs the program at a server that has some objects, and returns what it prints.
func first(t *testing.T, objects []map[string]any, args ...string) (stdout string, err error) {
	t.Helper()
	server := fakeserver.Start(t, func(w http.ResponseWriter, r *http.Request) {
		name := path.Base(r.URL.Path)
		for _, object := range objects {
			if object["metadata"].(map[string]any)["name"] == name {
				fakeserver.Write(w, http.StatusOK, object)
				return
			}
		}
		if len(args) > 1 {
			fakeserver.Refuse(w, http.StatusNotFound, metav1.StatusReasonNotFound, "no "+name)
			return
		}
		fakeserver.Write(w, http.StatusOK, fakeserver.List("", objects...))
	})
	config := genericclioptions.NewConfigFlags(true)
	config.APIServer = &server
	var out bytes.Buffer
	err = run(t.Context(), config, args, &out)
	return out.String(), err
}

// with returns an object with a status.
func with(apiVersion, kind, name string, status map[string]any) map[string]any {
	object := fakeserver.Object(apiVersion, kind, name)
	object["status"] = status
	return object
}

func active(name string) map[string]any {
	return with("v1", "Namespace", name, map[string]any{"phase": "Active"})
}

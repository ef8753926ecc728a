package main

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/cli-runtime/pkg/resource"

	"example.com/hacking-a-controller/02-resource-builder/cli"
)

// brokenWriter fails every write.
type brokenWriter struct{ err error }

func (w brokenWriter) Write([]byte) (int, error) { return 0, w.err }

// visitStream visits the objects of a stream, without a server.
func visitStream(stream string, out io.Writer) (found int, err error) {
	result := resource.NewLocalBuilder().Unstructured().Stream(strings.NewReader(stream), "fleet.yaml").Flatten().ContinueOnError().Do()
	return visit(result, func(object *unstructured.Unstructured) (string, error) {
		if object.GetName() == "wreck" {
			return "", errors.New("a wreck is not described")
		}
		return object.GetName() + " is afloat", nil
	}, out)
}

func TestVisit(t *testing.T) {
	documents := func(names ...string) string {
		var stream []string
		for _, name := range names {
			stream = append(stream, manifest("harbour.example.com/v1", "Boat", name))
		}
		return strings.Join(stream, "---\n")
	}
	tests := map[string]struct {
		stream string
		want   string
		found  int
		err    string
	}{
		"a sentence for each object":                             {documents("gull", "heron"), "gull is afloat\nheron is afloat\n", 2, ""},
		"no object at all":                                       {"", "", 0, ""},
		"one that cannot be described":                           {documents("gull", "wreck", "heron"), "gull is afloat\nheron is afloat\n", 3, "a wreck is not described"},
		"one that has no name, so that there is nothing to find": {documents("gull", "", "heron"), "gull is afloat\nheron is afloat\n", 2, "an object in fleet.yaml has no metadata.name, so it cannot be looked up; give it one"},
		"one that is none":                                       {documents("gull") + "---\nhello: world\n---\n" + documents("heron"), "gull is afloat\nheron is afloat\n", 2, "unable to decode \"fleet.yaml\": Object 'Kind' is missing"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			var out bytes.Buffer
			found, err := visitStream(tc.stream, &out)
			assert.Equal(t, tc.want, out.String())
			assert.Equal(t, tc.found, found)
			if tc.err == "" {
				require.NoError(t, err)
			} else {
				require.ErrorContains(t, err, tc.err)
			}
		})
	}
	t.Run("one that cannot be printed", func(t *testing.T) {
		_, err := visitStream(documents("gull"), brokenWriter{syscall.ENOSPC})
		require.EqualError(t, err, "writing the list: no space left on device")
	})
}

func TestAFullDiskIsAFailure(t *testing.T) {
	stderr, code := writeTo(t, brokenWriter{syscall.ENOSPC})
	assert.Equal(t, 1, code)
	assert.Equal(t, "error: writing the list: no space left on device\n", stderr)
}

func writeTo(t *testing.T, stdout brokenWriter) (string, int) {
	t.Helper()
	server := serve(t, discover(func(w http.ResponseWriter, _ *http.Request) {
		writeJSON(w, http.StatusOK, namespaceList("", "a", "b"))
	}))
	var stderr bytes.Buffer
	code := cli.Run(t.Context(), newCommand(), []string{"namespaces", "--kubeconfig", kubeconfigFor(t, server)}, stdout, &stderr)
	return stderr.String(), code
}

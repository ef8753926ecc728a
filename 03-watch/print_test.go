package main

import (
	"bytes"
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/watch"
)

func TestPrintText(t *testing.T) {
	var out bytes.Buffer
	report := printText(&out, "Pod")
	for _, typ := range []watch.EventType{watch.Added, watch.Modified, watch.Deleted} {
		require.NoError(t, report(change{typ, pod("a", 3)}))
	}
	assert.Equal(t, "ADDED pod a in namespace default\nMODIFIED pod a in namespace default\nDELETED pod a in namespace default\n", out.String())
}

func TestAnObjectWithoutNamespace(t *testing.T) {
	var out bytes.Buffer
	require.NoError(t, printText(&out, "Node")(change{watch.Added, &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "lab-node"}}}))
	assert.Equal(t, "ADDED node lab-node\n", out.String())
}

func TestPrintJSON(t *testing.T) {
	var out bytes.Buffer
	report := printJSON(&out, corev1.SchemeGroupVersion.WithKind("Pod"))
	require.NoError(t, report(change{watch.Added, pod("a", 3)}))
	custom := &unstructured.Unstructured{Object: map[string]any{"metadata": map[string]any{"name": "b"}}}
	require.NoError(t, report(change{watch.Deleted, custom}))

	lines := bytes.Split(bytes.TrimSpace(out.Bytes()), []byte("\n"))
	require.Len(t, lines, 2)
	assert.JSONEq(t, `{"type":"ADDED","object":{"kind":"Pod","apiVersion":"v1","metadata":{"name":"a","namespace":"default","uid":"a-1","resourceVersion":"3"},"spec":{"containers":null},"status":{}}}`, string(lines[0]))
	assert.JSONEq(t, `{"type":"DELETED","object":{"apiVersion":"v1","kind":"Pod","metadata":{"name":"b"}}}`, string(lines[1]))
}

type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }

func TestOutputThatFails(t *testing.T) {
	full := writerFunc(func([]byte) (int, error) { return 0, errors.New("no space left") })
	for name, report := range map[string]func(change) error{"text": printText(full, "Pod"), "json": printJSON(full, corev1.SchemeGroupVersion.WithKind("Pod"))} {
		require.EqualError(t, report(change{watch.Added, pod("a", 3)}), "writing the output: no space left", name)
	}
}

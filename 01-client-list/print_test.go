package main

import (
	"bytes"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func namespace(name string, phase corev1.NamespacePhase, age time.Duration) corev1.Namespace {
	return corev1.Namespace{
		ObjectMeta: metav1.ObjectMeta{Name: name, CreationTimestamp: metav1.NewTime(time.Now().Add(-age))},
		Status:     corev1.NamespaceStatus{Phase: phase},
	}
}

func TestPrint(t *testing.T) {
	twoPages := [][]corev1.Namespace{
		{namespace("default", corev1.NamespaceActive, 3*time.Hour)},
		{namespace("a-rather-long-name", corev1.NamespaceTerminating, 200*24*time.Hour), {ObjectMeta: metav1.ObjectMeta{Name: "new"}}},
	}
	tests := map[string]struct {
		output string
		pages  [][]corev1.Namespace
		want   string
	}{
		"one name per line":   {"", twoPages, "default\na-rather-long-name\nnew\n"},
		"nothing for nothing": {"", [][]corev1.Namespace{{}}, ""},
		"a table, aligned over all pages": {"wide", twoPages, "" +
			"NAME                 STATUS        AGE\n" +
			"default              Active        3h\n" +
			"a-rather-long-name   Terminating   200d\n" +
			"new                                <unknown>\n"},
		"as kubectl, when the server's clock is ahead": {"wide", [][]corev1.Namespace{{namespace("new", corev1.NamespaceActive, -time.Second/2), namespace("future", corev1.NamespaceActive, -time.Hour)}}, "" +
			"NAME     STATUS   AGE\n" +
			"new      Active   0s\n" +
			"future   Active   <invalid>\n"},
		"no header when no page came": {"wide", nil, ""},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			var out bytes.Buffer
			printer := newPrinter(tc.output, &out)
			for _, page := range tc.pages {
				require.NoError(t, printer.print(page))
			}
			require.NoError(t, printer.finish())
			assert.Equal(t, tc.want, out.String())
		})
	}
}

func TestNamesArePrintedAsTheirPageArrives(t *testing.T) {
	var out bytes.Buffer
	printer := newPrinter("", &out)
	require.NoError(t, printer.print([]corev1.Namespace{namespace("default", corev1.NamespaceActive, 0)}))
	assert.Equal(t, "default\n", out.String())
}

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"example.com/hacking-a-controller/testcluster"
)

// A script keeps a diary of what it has handled. While the server cannot be reached, ConfigMaps come,
// change and go, and etcd forgets how. In the end the diary must have what the server has.
func TestTheVersionIsGone(t *testing.T) {
	// Without its cache, the API server forwards a watch to etcd, which has nothing
	// from before a compaction.
	n := newNamespace(t, testcluster.Start(t, "watch-cache-sizes=configmaps#0"))
	proxy, through := testcluster.StartProxy(t, n.Config)
	n.server = through.Host
	n.create(t, "again", "goes", "stays", "changes")
	d := newDiary(t)
	r := start(t, n.args(d.args(t)...)...)
	d.isTrue(t, n, r.output)
	require.Len(t, events(r.stdout.String()), 4)

	// There is a trace of an object that never existed, for --names to find when it runs again.
	require.NoError(t, os.WriteFile(filepath.Join(d.dir, "never-was"), nil, 0o600))
	proxy.Refuse()
	n.delete(t, "again")
	n.delete(t, "goes")
	n.create(t, "again", "comes")
	n.patch(t, "changes", `{"data":{"x":"1"}}`)
	n.Compact(t)
	proxy.Allow()
	d.isTrue(t, n, r.output)
	assert.Equal(t, 0, r.end())

	// What was missed is reported, and nothing else: stays is not.
	var reported []string
	for _, event := range events(r.stdout.String())[4:] {
		words := strings.Fields(event)
		reported = append(reported, words[0]+" "+words[3])
	}
	assert.ElementsMatch(t, []string{"Deleted again", "Added again", "Deleted goes", "Added comes", "Updated changes", "Deleted never-was"}, reported)
}

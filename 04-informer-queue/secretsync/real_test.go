package secretsync

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"example.com/hacking-a-controller/testcluster"
)

// Each of these has an env of its own.
func TestAgainstARealServer(t *testing.T) {
	c := testcluster.Shared(t)
	for name, run := range map[string]func(*testing.T, *testcluster.Cluster){
		"each source is copied to each target":              copiesEach,
		"what stops being a source or a target is cleaned":  cleansUp,
		"copies that are edited or deleted are healed":      heals,
		"what cannot be changed is replaced":                replaces,
		"a source that is made anew is the source":          sourceMadeAnew,
		"a foreign secret is left alone, and reported once": collides,
		"a secret that says it is a copy proves nothing":    provesNothing,
		"service account tokens are not copied":             tokens,
		"a terminating namespace is left alone":             terminating,
		"a target that refuses does not stop the others":    oneBadTarget,
		"workers write side by side":                        sideBySide,
		"nothing is written when nothing differs":           nothingDiffers,
		"a resync finds what no watch reports":              resync,
		"the source namespace is no target":                 sourceIsNoTarget,
		"two with different rules do not touch one another": twoSyncers,
		"the command line runs it":                          commandLine,
		"no data is printed or recorded":                    printsNoData,
		"an error names the right that is missing":          forbidden,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			run(t, c)
		})
	}
}

func copiesEach(t *testing.T, c *testcluster.Cluster) {
	s := newEnv(t, c, "copies")
	s.source("db", "tide")
	s.create("source/private", "mine") // bears no annotation
	s.target("harbour")
	s.createNamespace("elsewhere")
	s.start()
	s.becomes(map[string]string{"harbour/db": "key=tide"})

	s.source("certificate", "wax", func(o *corev1.Secret) { o.Type = "example.com/seal"; o.Immutable = new(true) })
	s.becomes(map[string]string{"harbour/db": "key=tide", "harbour/certificate": "key=wax example.com/seal immutable"})

	s.target("coast")
	s.set("source/db", "ebb")
	s.becomes(map[string]string{
		"harbour/db": "key=ebb", "harbour/certificate": "key=wax example.com/seal immutable",
		"coast/db": "key=ebb", "coast/certificate": "key=wax example.com/seal immutable",
	})
	s.prints("created " + s.name + "-harbour/db: it is missing\n")
	s.prints("updated " + s.name + "-harbour/db: its data differs\n")

	s.patch("source/private", string(s.annotation(`""`)))
	s.patch("source/db", `{"data":{"key":null,"user":"bWU="}}`)
	s.becomes(map[string]string{
		"harbour/db": "user=me", "harbour/certificate": "key=wax example.com/seal immutable", "harbour/private": "key=mine",
		"coast/db": "user=me", "coast/certificate": "key=wax example.com/seal immutable", "coast/private": "key=mine",
	})
}

func cleansUp(t *testing.T, c *testcluster.Cluster) {
	s := newEnv(t, c, "cleans")
	for _, name := range []string{"db", "mail", "queue"} {
		s.source(name, name)
	}
	s.target("harbour")
	s.target("coast")
	s.create("harbour/own", "mine")
	s.create("coast/own", "mine")
	s.start()
	s.becomes(map[string]string{
		"harbour/db": "key=db", "harbour/mail": "key=mail", "harbour/queue": "key=queue", "harbour/own": "key=mine foreign",
		"coast/db": "key=db", "coast/mail": "key=mail", "coast/queue": "key=queue", "coast/own": "key=mine foreign",
	})
	s.delete("source/db")
	s.patch("source/mail", string(s.annotation("null")))
	s.becomes(map[string]string{
		"harbour/queue": "key=queue", "harbour/own": "key=mine foreign",
		"coast/queue": "key=queue", "coast/own": "key=mine foreign",
	})
	s.annotateNamespace("coast", "null")
	s.becomes(map[string]string{"harbour/queue": "key=queue", "harbour/own": "key=mine foreign", "coast/own": "key=mine foreign"})
	s.prints("deleted " + s.name + "-coast/queue: the namespace is not a target\n")

	s.annotateNamespace("coast", `"back"`)
	s.becomes(map[string]string{
		"harbour/queue": "key=queue", "harbour/own": "key=mine foreign",
		"coast/queue": "key=queue", "coast/own": "key=mine foreign",
	})
}

func heals(t *testing.T, c *testcluster.Cluster) {
	s := newEnv(t, c, "heals")
	s.source("db", "tide")
	s.source("mail", "post")
	s.target("harbour")
	s.start()
	whole := map[string]string{"harbour/db": "key=tide", "harbour/mail": "key=post"}
	s.becomes(whole)
	s.set("harbour/db", "forged")
	s.delete("harbour/mail")
	s.becomes(whole)
	s.patch("harbour/db", `{"metadata":{"labels":{"team":"coast"}},"data":{"more":"eA=="}}`)
	s.becomes(whole)
	healed, err := s.client.CoreV1().Secrets(s.name+"-harbour").Get(t.Context(), "db", metav1.GetOptions{})
	require.NoError(t, err)
	assert.Equal(t, "coast", healed.Labels["team"], "what others have added remains")
}

func replaces(t *testing.T, c *testcluster.Cluster) {
	s := newEnv(t, c, "replaces")
	s.source("db", "tide")
	s.source("seal", "wax", immutable)
	s.target("harbour")
	s.start()
	s.becomes(map[string]string{"harbour/db": "key=tide", "harbour/seal": "key=wax immutable"})

	s.patch("harbour/db", `{"immutable":true,"stringData":{"key":"forged"}}`)
	s.becomes(map[string]string{"harbour/db": "key=tide", "harbour/seal": "key=wax immutable"})
	s.prints("replaced " + s.name + "-harbour/db: it differs and is immutable\n")
	s.patch("source/db", `{"immutable":true}`)
	s.becomes(map[string]string{"harbour/db": "key=tide immutable", "harbour/seal": "key=wax immutable"})
}

func sourceMadeAnew(t *testing.T, c *testcluster.Cluster) {
	s := newEnv(t, c, "anew")
	s.source("db", "tide")
	s.source("seal", "wax", immutable)
	s.target("harbour")
	stop := s.start()
	s.becomes(map[string]string{"harbour/db": "key=tide", "harbour/seal": "key=wax immutable"})
	stop()

	// While it is down the sources become others of the same name.
	for _, name := range []string{"db", "seal"} {
		s.delete("source/" + name)
	}
	s.source("db", "tide")
	s.source("seal", "lead", func(o *corev1.Secret) { o.Type = "example.com/seal" })
	s.becomes(map[string]string{"harbour/db": "key=tide of an old source", "harbour/seal": "key=wax immutable of an old source"})
	s.start()
	s.becomes(map[string]string{"harbour/db": "key=tide", "harbour/seal": "key=lead example.com/seal"})
	s.prints("updated " + s.name + "-harbour/db: its source was made anew\n")
	s.prints("replaced " + s.name + "-harbour/seal: its type differs\n")
}

func terminating(t *testing.T, c *testcluster.Cluster) {
	s := newEnv(t, c, "ends")
	s.source("db", "tide")
	s.target("harbour")
	s.target("coast")
	requests := &ledger{}
	s.startWith(1, 0, requests.watch)
	s.becomes(map[string]string{"harbour/db": "key=tide", "coast/db": "key=tide"})
	// Nobody finishes a namespace in this cluster, so it stays Terminating.
	require.NoError(t, s.client.CoreV1().Namespaces().Delete(t.Context(), s.name+"-coast", metav1.DeleteOptions{}))
	s.source("new", "wave")
	s.set("source/db", "ebb")
	s.becomes(map[string]string{"harbour/db": "key=ebb", "harbour/new": "key=wave", "coast/db": "key=tide"})
	s.delete("source/db")
	s.becomes(map[string]string{"harbour/new": "key=wave", "coast/db": "key=tide of an old source"})
	stillThere := slices.DeleteFunc(firsts(requests.all()), func(w string) bool { return !strings.Contains(w, s.name+"-coast") })
	assert.Len(t, stillThere, 1, "the first copy, and no attempt after that")
}

package e2e

import (
	"archive/tar"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	postgres "example.com/hacking-a-controller/05-crd-operator/postgres/api/v1alpha1"
	"example.com/hacking-a-controller/05-crd-operator/postgres/internal/testpostgres"
)

// updates gives the operator an image that is not there, and then one that is. All members get
// it, and none while it is the primary.
func (e *env) updates(w *writer) {
	e.Helper()
	version, before := testpostgres.Find(e).Version, e.settles()
	missing := fmt.Sprintf("postgres-member:%s.9999", before.Version)
	e.restartsOperatorWith(missing)
	eventually(e, "a member waits for an image that is not there", func() error {
		var pods corev1.PodList
		if err := e.list(e.Context(), &pods); err != nil {
			return err
		}
		if !slices.ContainsFunc(pods.Items, func(p corev1.Pod) bool { return waitsForImage(&p, missing) }) {
			return errors.New("none does")
		}
		return nil
	})
	w.goesOn()

	image := "postgres-member:" + version
	e.loadAs(e, image)
	e.restartsOperatorWith(image)
	e.awaitsImage(image)
	after := e.settles()
	assert.Greater(e, after.Term, before.Term, "a term has ended with a switchover")
	for _, m := range after.Members {
		assert.Equal(e, version, m.Version, m.Name)
	}
	e.replacedNoPrimary(before, after)
}

// replacedNoPrimary reads in the events who was replaced because it is outdated, and who was the
// primary then. A machine under load may cause elections of its own, so their number is not known.
func (e *env) replacedNoPrimary(before, after postgres.PostgresClusterStatus) {
	e.Helper()
	var notes []string
	eventually(e, "there is an event of the last promotion", func() error {
		all := e.kubectl("get", "events.events.k8s.io", "--sort-by=.eventTime", "-o", `jsonpath={range .items[*]}{.note}{"\n"}{end}`)
		if !strings.Contains(all, fmt.Sprintf(" takes writes in term %d\n", after.Term)) {
			return errors.New(all)
		}
		notes = strings.Split(all, "\n")
		return nil
	})
	primary, replaced := before.Primary, 0
	for _, note := range notes {
		var promoted string
		var term int64
		if _, err := fmt.Sscanf(note, "%s takes writes in term %d", &promoted, &term); err == nil && term > before.Term {
			primary = promoted
		}
		if member, ok := strings.CutSuffix(note, " is outdated; its pod is replaced"); ok {
			replaced++
			assert.NotEqual(e, primary, member, "the primary, by the events: %q", notes)
		}
	}
	assert.NotZero(e, replaced, "by the events: %q", notes)
}

func waitsForImage(pod *corev1.Pod, image string) bool {
	containers := pod.Status.ContainerStatuses
	waits := len(containers) == 1 && containers[0].State.Waiting != nil
	return pod.Spec.Containers[0].Image == image && waits && strings.Contains(containers[0].State.Waiting.Reason, "Image")
}

// awaitsImage waits until all members have an image.
func (e *env) awaitsImage(image string) {
	e.Helper()
	eventually(e, "all members have "+image, func() error {
		var pods corev1.PodList
		if err := e.list(e.Context(), &pods); err != nil {
			return err
		}
		for _, pod := range pods.Items {
			if pod.Spec.Containers[0].Image != image {
				return fmt.Errorf("%s has %s", pod.Name, pod.Spec.Containers[0].Image)
			}
		}
		return nil
	})
}

func (e *env) restartsOperatorWith(image string) {
	e.Helper()
	e.stopOperator()
	e.image = image
	e.startOperator()
}

// loadAs loads the image of the lab under another name.
func (l *lab) loadAs(t testing.TB, name string) {
	t.Helper()
	old, err := os.Open(filepath.Join(l.home, "postgres.tar"))
	require.NoError(t, err)
	defer old.Close()
	renamed := filepath.Join(l.home, "renamed.tar")
	file, err := os.Create(renamed)
	require.NoError(t, err)
	defer file.Close()
	in, out := tar.NewReader(old), tar.NewWriter(file)
	for {
		header, err := in.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		require.NoError(t, err)
		content, err := io.ReadAll(in)
		require.NoError(t, err)
		if header.Name == "index.json" {
			content = bytes.ReplaceAll(content, []byte(l.image+`"`), []byte(name+`"`))
			header.Size = int64(len(content))
		}
		require.NoError(t, out.WriteHeader(header))
		_, err = out.Write(content)
		require.NoError(t, err)
	}
	require.NoError(t, out.Close())
	require.NoError(t, l.run("lab", "load", renamed))
}

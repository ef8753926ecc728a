//go:build try

package v1alpha1_test

import (
	"context"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	cnat "example.com/hacking-a-controller/05-crd-operator/api/cnat/v1alpha1"
	"example.com/hacking-a-controller/testcluster"
)

// What the lesson of part 3 asks the reader to write.

// theCRDHas is what can be seen without an API server: whether config/crd was generated again.
func theCRDHas(t *testing.T, text, because string) {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(crds, "cnat.programming-kubernetes.info_ats.yaml"))
	require.NoError(t, err)
	words := strings.Join(strings.Fields(string(content)), " ")
	require.True(t, strings.Contains(words, text), "%s; if at.go has it, generate the CRD again, in .workshop/5-api-tries/05-crd-operator", because)
}

// withImage is an At in an image, or without one.
func withImage(t *testing.T, name, image string) *unstructured.Unstructured {
	t.Helper()
	if image != "" {
		image = `, image: "` + image + `"`
	}
	return newAt(t, name, `{schedule: "2019-04-12T10:12:00Z", command: echo YAY`+image+`}`)
}

func imageOf(t *testing.T, at *unstructured.Unstructured) string {
	t.Helper()
	image, _, err := unstructured.NestedString(at.Object, "spec", "image")
	require.NoError(t, err)
	return image
}

func TestTryAnAtHasAnImage(t *testing.T) {
	field, found := reflect.TypeFor[cnat.AtSpec]().FieldByName("Image")
	require.True(t, found, "AtSpec has no field Image")
	require.Equal(t, "image,omitempty", field.Tag.Get("json"))
	theCRDHas(t, "image: default: busybox description:", "the schema has no image with a default and a description")
	c := testcluster.Shared(t)
	c.InstallCRDs(t, testcluster.ReadCRDs(t, crds)...)
	for name, want := range map[string]string{"": "busybox", "debian": "debian"} {
		created, err := resource(c).Create(t.Context(), withImage(t, "yay", name), dry)
		require.NoError(t, err)
		assert.Equal(t, want, imageOf(t, created))
	}
}

func TestTryAnImageHasNoSpace(t *testing.T) {
	const message = "an image has no space in it; write its name and tag, such as busybox:1.37"
	theCRDHas(t, message, "no rule of the CRD has the message")
	c := testcluster.Shared(t)
	c.InstallCRDs(t, testcluster.ReadCRDs(t, crds)...)
	for _, wrong := range []string{"busy box", " busybox", "busybox "} {
		_, err := resource(c).Create(t.Context(), withImage(t, "yay", wrong), dry)
		assert.ErrorContains(t, err, "spec.image: Invalid value: \""+wrong+"\": "+message)
	}
	for _, right := range []string{"", "busybox:1.37", "registry.example/tools/busybox@sha256:0"} {
		_, err := resource(c).Create(t.Context(), withImage(t, "yay", right), dry)
		assert.NoError(t, err, "it's refused, and is right")
	}
}

func TestTryTheImageOfAStartedAtStays(t *testing.T) {
	const message = "the image cannot be changed any more, because the command has been started; create another At"
	theCRDHas(t, message, "no rule of the CRD has the message")
	c := testcluster.Shared(t)
	c.InstallCRDs(t, testcluster.ReadCRDs(t, crds)...)
	ats := resource(c)
	patch := func(patch string, subresources ...string) error {
		_, err := ats.Patch(t.Context(), "frozen", types.MergePatchType, []byte(patch), metav1.PatchOptions{}, subresources...)
		return err
	}
	_, err := ats.Create(t.Context(), withImage(t, "frozen", ""), strictly)
	require.NoError(t, err)
	t.Cleanup(func() {
		assert.NoError(t, ats.Delete(context.WithoutCancel(t.Context()), "frozen", metav1.DeleteOptions{}))
	})
	require.NoError(t, patch(`{"spec":{"image":"debian"}}`), "an At without a phase has not been started")
	require.NoError(t, patch(`{"status":{"phase":"PENDING"}}`, "status"))
	require.NoError(t, patch(`{"spec":{"image":"busybox"}}`), "it waits")
	for _, phase := range []string{"RUNNING", "DONE"} {
		require.NoError(t, patch(`{"status":{"phase":"`+phase+`"}}`, "status"))
		assert.ErrorContains(t, patch(`{"spec":{"image":"debian"}}`), "spec.image: Forbidden: "+message, phase)
		assert.NoError(t, patch(`{"metadata":{"labels":{"phase":"`+phase+`"}}}`), "a label is none of its business")
	}
}

func TestTryAConditionIsAboutTheSpecOfNow(t *testing.T) {
	at := &cnat.At{ObjectMeta: metav1.ObjectMeta{Generation: 2}}
	reader, can := any(at).(interface{ Is(condition string) bool })
	require.True(t, can, "an At has no method Is(condition string) bool")
	assert.False(t, reader.Is("Scheduled"), "there is no condition")
	for _, tc := range []struct {
		status     metav1.ConditionStatus
		generation int64
		want       bool
	}{
		{metav1.ConditionTrue, 2, true},
		{metav1.ConditionTrue, 1, false},
		{metav1.ConditionFalse, 2, false},
		{metav1.ConditionUnknown, 2, false},
	} {
		at.Status.Conditions = []metav1.Condition{{Type: "Complete", Status: metav1.ConditionTrue, ObservedGeneration: 2}, {Type: "Scheduled", Status: tc.status, ObservedGeneration: tc.generation}}
		assert.Equal(t, tc.want, reader.Is("Scheduled"), "%s, of generation %d", tc.status, tc.generation)
	}
}

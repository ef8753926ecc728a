package provisioner

import (
	"errors"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/fake"
	corelisters "k8s.io/client-go/listers/core/v1"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/record"
)

func storage(size string) corev1.ResourceList {
	return corev1.ResourceList{corev1.ResourceStorage: resource.MustParse(size)}
}

// newBound returns a claim that has 1Gi and asks for 2Gi, and its volume.
func newBound(change ...func(*corev1.PersistentVolumeClaim, *corev1.PersistentVolume)) (*corev1.PersistentVolumeClaim, *corev1.PersistentVolume) {
	claim := newClaim()
	claim.Spec.Resources.Requests = storage("1Gi")
	volume := newVolume("pvc-1234", claim, defaultClass(), "some-node")
	volume.Status.Phase = corev1.VolumeBound
	claim.Spec.VolumeName, claim.Spec.Resources.Requests = volume.Name, storage("2Gi")
	claim.Status = corev1.PersistentVolumeClaimStatus{Phase: corev1.ClaimBound, Capacity: storage("1Gi")}
	for _, c := range change {
		c(claim, volume)
	}
	return claim, volume
}

// expectGrown waits until the claim has a capacity, and returns what was written, in order.
func expectGrown(t *testing.T, client *fake.Clientset, want string) []string {
	t.Helper()
	eventually(t, func() bool {
		claim, err := client.CoreV1().PersistentVolumeClaims("default").Get(t.Context(), "data", metav1.GetOptions{})
		return err == nil && claim.Status.Capacity.Storage().String() == want
	})
	volume, err := client.CoreV1().PersistentVolumes().Get(t.Context(), "pvc-1234", metav1.GetOptions{})
	require.NoError(t, err)
	assert.Equal(t, want, volume.Spec.Capacity.Storage().String())
	var written []string
	for _, action := range client.Actions() {
		if action.GetVerb() == "update" {
			written = append(written, action.GetResource().Resource+"/"+action.GetSubresource())
		}
	}
	return written
}

func TestAVolumeGrowsWithItsClaim(t *testing.T) {
	for name, tc := range map[string]struct {
		has     string // the volume
		want    string
		written []string
	}{
		"the volume is first":                          {"1Gi", "2Gi", []string{"persistentvolumes/", "persistentvolumeclaims/status"}},
		"one that has grown already is written once":   {"2Gi", "2Gi", []string{"persistentvolumeclaims/status"}},
		"one that is larger than the claim is not cut": {"3Gi", "3Gi", []string{"persistentvolumeclaims/status"}},
	} {
		t.Run(name, func(t *testing.T) {
			claim, volume := newBound(func(_ *corev1.PersistentVolumeClaim, v *corev1.PersistentVolume) { v.Spec.Capacity = storage(tc.has) })
			client, events := fake.NewClientset(claim, volume), record.NewFakeRecorder(100)
			startIn(t, t.TempDir(), client, events)
			expectEvent(t, events, "Normal VolumeResizeSuccessful Volume pvc-1234 has "+tc.want)
			assert.Equal(t, tc.written, expectGrown(t, client, tc.want))
		})
	}
}

func TestAVolumeThatCannotGrowIsTriedAgain(t *testing.T) {
	client, failures := fake.NewClientset(toObjects(newBound())...), 0
	client.PrependReactor("update", "*", func(action clienttesting.Action) (bool, runtime.Object, error) {
		if failures++; failures%2 == 1 { // the volume, and then the claim
			return true, nil, errors.New("the server is busy")
		}
		return false, nil, nil
	})
	startIn(t, t.TempDir(), client, record.NewFakeRecorder(100))
	written := expectGrown(t, client, "2Gi")
	assert.Equal(t, "persistentvolumeclaims/status", written[len(written)-1])
	assert.Equal(t, 0, slices.Index(written, "persistentvolumes/"))
}

func toObjects(claim *corev1.PersistentVolumeClaim, volume *corev1.PersistentVolume) []runtime.Object {
	return []runtime.Object{claim, volume}
}

func TestAClaimDoesNotGrowIf(t *testing.T) {
	for name, change := range map[string]func(*corev1.PersistentVolumeClaim, *corev1.PersistentVolume){
		"it asks for what it has": func(c *corev1.PersistentVolumeClaim, _ *corev1.PersistentVolume) {
			c.Spec.Resources.Requests = storage("1024Mi")
		},
		"it asks for less": func(c *corev1.PersistentVolumeClaim, _ *corev1.PersistentVolume) {
			c.Spec.Resources.Requests = storage("1Mi")
		},
		"it is not bound": func(c *corev1.PersistentVolumeClaim, _ *corev1.PersistentVolume) {
			c.Status.Phase = corev1.ClaimPending
		},
		"it is being deleted": func(c *corev1.PersistentVolumeClaim, _ *corev1.PersistentVolume) {
			c.DeletionTimestamp = new(metav1.Now())
		},
	} {
		t.Run(name, func(t *testing.T) {
			claim, _ := newBound(change)
			assert.False(t, toExpand(claim))
		})
	}
	claim, _ := newBound()
	assert.True(t, toExpand(claim))
}

func TestAVolumeThatIsNotOursDoesNotGrow(t *testing.T) {
	for name, tc := range map[string]struct {
		by   string
		want int // requests
	}{
		"another made it": {"another", 0},
		"we made it":      {Name, 2},
	} {
		t.Run(name, func(t *testing.T) {
			claim, volume := newBound()
			volume.Annotations[annProvisionedBy] = tc.by
			known := cache.NewIndexer(cache.MetaNamespaceKeyFunc, nil)
			require.NoError(t, known.Add(volume))
			client := fake.NewClientset(claim, volume)
			p := &provisioner{client: client, volumes: corelisters.NewPersistentVolumeLister(known), events: record.NewFakeRecorder(1)}
			require.NoError(t, p.expand(t.Context(), claim))
			assert.Len(t, client.Actions(), tc.want)
		})
	}
}

func TestTheClassOfAnOlderLabAllowsToGrow(t *testing.T) {
	for name, tc := range map[string]struct {
		before *bool
		want   bool
	}{
		"one that was not asked":             {nil, true},
		"one of a user who does not want it": {new(false), false},
	} {
		t.Run(name, func(t *testing.T) {
			class := defaultClass()
			class.AllowVolumeExpansion, class.Annotations = tc.before, nil
			client := fake.NewClientset(class)
			require.NoError(t, createClass(t.Context(), client))
			got, err := client.StorageV1().StorageClasses().Get(t.Context(), ClassName, metav1.GetOptions{})
			require.NoError(t, err)
			assert.Equal(t, tc.want, *got.AllowVolumeExpansion)
			assert.Empty(t, got.Annotations, "it is the user's choice which class is the default")
		})
	}
}

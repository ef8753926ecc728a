package settings

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/prometheus/client_golang/prometheus"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"
	metav1ac "k8s.io/client-go/applyconfigurations/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	"example.com/hacking-a-controller/05-crd-operator/api/settings/v1alpha1"
)

const (
	managedBy = "app.kubernetes.io/managed-by" // a label, for people who search
	layerKind = "SettingsLayer"

	// fieldManager is the name under which the operator owns fields.
	fieldManager = client.FieldOwner(program)

	// noVersion is one that no object has any more: it is older than all of them. An apply
	// with it creates the object, or fails with a conflict if there is one.
	noVersion = "1"
)

// driftRepairs is served with the framework's own metrics, if the manager serves any.
var driftRepairs = prometheus.NewCounter(prometheus.CounterOpts{
	Name: "settings_drift_repairs_total",
	Help: "How often a ConfigMap was restored because somebody else had changed or deleted it.",
})

func init() { metrics.Registry.MustRegister(driftRepairs) }

// desired is the ConfigMap that is wanted: all that the operator has an opinion on, and
// nothing else.
//
// It belongs to all layers, and none of them controls it. The garbage collector deletes it
// when the last of its owners is gone, even while the operator is down or when it was removed
// for good.
func desired(key types.NamespacedName, layers []*v1alpha1.SettingsLayer, data map[string]string) *corev1ac.ConfigMapApplyConfiguration {
	want := corev1ac.ConfigMap(key.Name, key.Namespace).
		WithLabels(map[string]string{managedBy: program}).
		WithData(data)
	for _, layer := range layers {
		want.WithOwnerReferences(metav1ac.OwnerReference().
			WithAPIVersion(v1alpha1.SchemeGroupVersion.String()).WithKind(layerKind).
			WithName(layer.Name).WithUID(layer.UID))
	}
	slices.SortFunc(want.OwnerReferences, byUID)
	return want
}

// delta is how a ConfigMap differs from the one that is wanted.
type delta struct {
	why           string   // in words; empty if there is no difference. It names keys, and never a value
	foreign       []string // keys that somebody else has added; a workload reads all keys, so they do harm
	immutable     bool     // it can only be replaced
	byOthers      bool     // somebody else is the cause, if every layer is as it was
	needsLiveRead bool     // undoing it does harm if the layers are those of a stale cache
}

// compare finds all differences. When we own what we want, and nothing else is there, there is
// nothing to do: an apply that changes nothing would be harmless, but it is a request.
func compare(have *corev1.ConfigMap, want *corev1ac.ConfigMapApplyConfiguration) delta {
	if have == nil {
		return delta{why: "it is missing", byOthers: true}
	}
	ours := owned(have)
	d := delta{immutable: ptr.Deref(have.Immutable, false), foreign: slices.Sorted(maps.Keys(have.BinaryData))}
	keys, differ := map[string]string{}, []string{}
	maps.Copy(keys, have.Data)
	maps.Copy(keys, want.Data)
	for _, key := range slices.Sorted(maps.Keys(keys)) {
		_, isOurs := ours.Data[key]
		_, isWanted := want.Data[key]
		switch {
		case !isOurs && !isWanted:
			d.foreign = append(d.foreign, key)
		case !isOurs: // it is new in the layers, or somebody else has set or removed it
			differ, d.byOthers = append(differ, key), true
		case !isWanted: // no layer has it any more
			differ, d.needsLiveRead = append(differ, key), true
		case have.Data[key] != want.Data[key]: // it was right before a layer changed or went
			differ = append(differ, key)
		}
	}
	label := !maps.Equal(ours.Labels, want.Labels)
	owners := !equality.Semantic.DeepEqual(ours.OwnerReferences, want.OwnerReferences)
	d.byOthers = d.byOthers || d.immutable || len(d.foreign) > 0 || label || lacksOwner(ours, want)
	// The garbage collector may just have taken an owner off, for a layer that is deleted with
	// --cascade=orphan.
	d.needsLiveRead = d.needsLiveRead || d.immutable || len(d.foreign) > 0 || owners
	switch {
	case d.immutable:
		d.why = "it is immutable"
	case len(d.foreign) > 0:
		d.why = "no layer has " + list(d.foreign)
	case len(differ) > 0:
		d.why = "not as in the layers: " + list(differ)
	case label:
		d.why = "its label differs"
	case owners:
		d.why = "its owners differ"
	}
	return d
}

// lacksOwner reports whether somebody has taken an owner off. One too many is a layer that went.
func lacksOwner(ours, want *corev1ac.ConfigMapApplyConfiguration) bool {
	return slices.ContainsFunc(want.OwnerReferences, func(owner metav1ac.OwnerReferenceApplyConfiguration) bool {
		_, found := slices.BinarySearchFunc(ours.OwnerReferences, owner, byUID)
		return !found
	})
}

// owned is what the operator owns of a ConfigMap. The server records who has set which
// field, and a field that somebody else changes is no longer ours.
func owned(have *corev1.ConfigMap) *corev1ac.ConfigMapApplyConfiguration {
	ours, err := corev1ac.ExtractConfigMap(have, program)
	if err != nil { // metadata.managedFields cannot be read
		ours = corev1ac.ConfigMap(have.Name, have.Namespace)
	}
	slices.SortFunc(ours.OwnerReferences, byUID)
	return ours
}

func byUID(a, b metav1ac.OwnerReferenceApplyConfiguration) int { return cmp.Compare(*a.UID, *b.UID) }

// marked reports whether a ConfigMap was made from layers: one of its owners is or was a
// layer.
func marked(have *corev1.ConfigMap) bool {
	return slices.ContainsFunc(have.OwnerReferences, func(owner metav1.OwnerReference) bool {
		return owner.Kind == layerKind && strings.HasPrefix(owner.APIVersion, v1alpha1.GroupName+"/")
	})
}

// list names a few keys, and counts the rest.
func list(keys []string) string {
	const few = 3
	if len(keys) <= few {
		return strings.Join(keys, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(keys[:few], ", "), len(keys)-few)
}

// act does what was decided. No write can change anything but what the decision was about:
// each has the version that was read, and fails if there is another.
func (r *Reconciler) act(ctx context.Context, o observed, d decision) error {
	switch d.action {
	case apply:
		return r.apply(ctx, o.have, d)
	case replace:
		if err := r.delete(ctx, o.have); err != nil {
			return err
		}
		return r.apply(ctx, nil, d)
	case remove:
		return r.delete(ctx, o.have)
	default:
		return nil
	}
}

// apply makes the ConfigMap what is wanted, with a server-side apply. The server sets the
// fields of the apply, takes back those that others have changed, and removes those of ours
// that are no longer in it. It does not touch what belongs to others: their labels, their
// annotations, their owners.
func (r *Reconciler) apply(ctx context.Context, have *corev1.ConfigMap, d decision) error {
	version := noVersion
	if have != nil {
		if err := r.prune(ctx, have, d.foreign); err != nil {
			return err
		}
		version = have.ResourceVersion
	}
	if err := r.Apply(ctx, d.want.WithResourceVersion(version), fieldManager, client.ForceOwnership); err != nil {
		return fmt.Errorf("applying the ConfigMap: %w", err)
	}
	return nil
}

// prune removes the keys of others, which an apply does not touch. It comes first: a key of
// theirs may leave no room for ours.
func (r *Reconciler) prune(ctx context.Context, have *corev1.ConfigMap, foreign []string) error {
	if len(foreign) == 0 {
		return nil
	}
	before := have.DeepCopy()
	have.BinaryData = nil
	for _, key := range foreign {
		delete(have.Data, key)
	}
	patch := client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})
	if err := r.Patch(ctx, have, patch, fieldManager); err != nil {
		return fmt.Errorf("removing foreign keys from the ConfigMap: %w", err)
	}
	return nil
}

func (r *Reconciler) delete(ctx context.Context, have *corev1.ConfigMap) error {
	err := r.Delete(ctx, have, client.Preconditions{UID: &have.UID, ResourceVersion: &have.ResourceVersion})
	if err != nil {
		return fmt.Errorf("deleting the ConfigMap: %w", err)
	}
	return nil
}

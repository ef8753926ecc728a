package settings

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"
	metav1ac "k8s.io/client-go/applyconfigurations/meta/v1"
	"k8s.io/utils/ptr"

	"example.com/hacking-a-controller/05-crd-operator/api/settings/v1alpha1"
)

// managedBy is the label that the ConfigMap bears, for people who search.
const managedBy = "app.kubernetes.io/managed-by"

const layerKind = "SettingsLayer"

// desired is the ConfigMap that is wanted: all that the operator has an opinion
// on, and nothing else.
//
// It belongs to all layers, and no one of them controls it. The garbage
// collector deletes it when the last of its owners is gone, even while the
// operator is down or when it was removed for good.
func desired(namespace, name string, layers []*v1alpha1.SettingsLayer, data map[string]string) *corev1ac.ConfigMapApplyConfiguration {
	want := corev1ac.ConfigMap(name, namespace).
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

// difference says in words how a ConfigMap differs from the one that is wanted.
// It is empty when there is nothing to do. An apply that changes nothing would
// be harmless, but it is a request.
//
// It names keys, and never a value.
func difference(have *corev1.ConfigMap, want *corev1ac.ConfigMapApplyConfiguration) string {
	if have == nil {
		return "it is missing"
	}
	ours := owned(have)
	keys := differentKeys(ours.Data, want.Data)
	foreign := foreignKeys(have, want)
	switch {
	case ptr.Deref(have.Immutable, false):
		return "it is immutable"
	case len(foreign) > 0:
		return "no layer has " + list(foreign)
	case len(keys) > 0:
		return "not as in the layers: " + list(keys)
	case !maps.Equal(ours.Labels, want.Labels):
		return "its label differs"
	case !equality.Semantic.DeepEqual(ours.OwnerReferences, want.OwnerReferences):
		return "its owners differ"
	default:
		return ""
	}
}

// drifted reports whether a difference comes from others, and not from a layer that
// is new, has changed or is gone. For that all layers must have been told of what
// is, and then something that they want must be gone, or something be there that
// they never wanted.
func drifted(o observed, name string, want *corev1ac.ConfigMapApplyConfiguration) bool {
	for _, layer := range o.layers {
		if layer.Status.ConfigMap != name || layer.Status.ObservedGeneration != layer.Generation {
			return false
		}
	}
	if o.have == nil {
		return true
	}
	// A value that somebody else has set is not ours any more. One that is ours, and
	// not the right one, was right before a layer went.
	ours := owned(o.have)
	for key := range want.Data {
		if _, ok := ours.Data[key]; !ok {
			return true
		}
	}
	for _, owner := range want.OwnerReferences {
		if !slices.ContainsFunc(ours.OwnerReferences, func(is metav1ac.OwnerReferenceApplyConfiguration) bool { return byUID(is, owner) == 0 }) {
			return true
		}
	}
	return ptr.Deref(o.have.Immutable, false) || len(foreignKeys(o.have, want)) > 0 || !maps.Equal(ours.Labels, want.Labels)
}

// owned is what the operator owns of a ConfigMap. The server keeps account of who
// set which field, and a field that somebody else changes is no longer ours. So
// when we own what we want, all is well.
func owned(have *corev1.ConfigMap) *corev1ac.ConfigMapApplyConfiguration {
	ours, err := corev1ac.ExtractConfigMap(have, program)
	if err != nil { // the account cannot be read
		ours = corev1ac.ConfigMap(have.Name, have.Namespace)
	}
	if ours.ObjectMetaApplyConfiguration == nil {
		ours.ObjectMetaApplyConfiguration = metav1ac.ObjectMeta()
	}
	slices.SortFunc(ours.OwnerReferences, byUID)
	return ours
}

// foreignKeys are those that somebody else has added. Whoever reads the ConfigMap
// reads all of its keys, so they do harm.
func foreignKeys(have *corev1.ConfigMap, want *corev1ac.ConfigMapApplyConfiguration) []string {
	ours := owned(have)
	keys := slices.Collect(maps.Keys(have.BinaryData))
	for key := range have.Data {
		_, isOurs := ours.Data[key]
		_, isWanted := want.Data[key]
		if !isOurs && !isWanted {
			keys = append(keys, key)
		}
	}
	slices.Sort(keys)
	return keys
}

// differentKeys are those that only one of the two has, or with another value.
func differentKeys(a, b map[string]string) []string {
	var keys []string
	for _, pair := range [][2]map[string]string{{a, b}, {b, a}} {
		for key, value := range pair[0] {
			if other, ok := pair[1][key]; !ok || other != value {
				keys = append(keys, key)
			}
		}
	}
	slices.Sort(keys)
	return slices.Compact(keys)
}

func byUID(a, b metav1ac.OwnerReferenceApplyConfiguration) int { return cmp.Compare(*a.UID, *b.UID) }

// marked reports whether a ConfigMap was made from layers: they own it, or did
// once.
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

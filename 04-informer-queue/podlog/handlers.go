package podlog

import (
	"fmt"
	"io"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/cache"
)

// handlers log each call of the informer as one line. The informer makes them one
// after the other. They must be quick, because the events that wait for them are
// kept in memory; and they must not change the pods, which belong to the cache.
func handlers(out io.Writer) cache.ResourceEventHandler {
	return cache.ResourceEventHandlerFuncs{
		AddFunc: func(obj any) {
			fmt.Fprintln(out, "onAdd:", name(obj))
		},
		UpdateFunc: func(before, after any) {
			fmt.Fprintf(out, "onUpdate: %s%s\n", name(after), remark(before.(*corev1.Pod), after.(*corev1.Pod)))
		},
		DeleteFunc: func(obj any) {
			tombstone, missed := obj.(cache.DeletedFinalStateUnknown)
			if !missed {
				fmt.Fprintln(out, "onDelete:", name(obj))
				return
			}
			// The watch missed the deletion: a new list did not have the pod. Only
			// the state in the cache is known, and it may be stale.
			fmt.Fprintf(out, "onDelete: %s (tombstone: last seen at version %s)\n",
				tombstone.Key, tombstone.Obj.(*corev1.Pod).ResourceVersion)
		},
	}
}

// remark returns what is special about an update.
func remark(before, after *corev1.Pod) string {
	switch {
	case before.ResourceVersion == after.ResourceVersion:
		return fmt.Sprintf(" (resync: still version %s)", after.ResourceVersion)
	case before.UID != after.UID:
		// Deleted and created again while there was no watch. To a cache whose keys
		// are names, that is an update.
		return " (another pod of the same name)"
	default:
		return ""
	}
}

func name(obj any) string {
	return cache.MetaObjectToName(obj.(*corev1.Pod)).String()
}

package podlog

import (
	"fmt"
	"io"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/cache"
)

// handlers log each call of the informer as one line. The informer makes them
// one after the other. They must be quick, because what waits for them waits in
// memory; and they must not change the pods, because those belong to the cache.
func handlers(out io.Writer) cache.ResourceEventHandler {
	return cache.ResourceEventHandlerFuncs{
		AddFunc: func(object any) {
			fmt.Fprintln(out, "onAdd:", name(object))
		},
		UpdateFunc: func(before, after any) {
			fmt.Fprintf(out, "onUpdate: %s%s\n", name(after), remark(before.(*corev1.Pod), after.(*corev1.Pod)))
		},
		DeleteFunc: func(object any) {
			tombstone, missed := object.(cache.DeletedFinalStateUnknown)
			if !missed {
				fmt.Fprintln(out, "onDelete:", name(object))
				return
			}
			// Nobody saw the deletion: a new list did not have the pod any more.
			// What the cache had is all that is known, and it may be old.
			fmt.Fprintf(out, "onDelete: %s (tombstone: last seen at version %s)\n",
				tombstone.Key, tombstone.Obj.(*corev1.Pod).ResourceVersion)
		},
	}
}

// remark says what is special about an update.
func remark(before, after *corev1.Pod) string {
	switch {
	case before.ResourceVersion == after.ResourceVersion:
		return fmt.Sprintf(" (resync: still version %s)", after.ResourceVersion)
	case before.UID != after.UID:
		// Deleted and created again while nobody listened. To a cache that goes
		// by names, that is an update.
		return " (another pod of the same name)"
	default:
		return ""
	}
}

func name(object any) string {
	return cache.MetaObjectToName(object.(*corev1.Pod)).String()
}

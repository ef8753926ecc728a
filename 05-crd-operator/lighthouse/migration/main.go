// Migration rewrites all objects of a CRD, so that each is stored in the version that the CRD names for
// storage, and then removes all other versions from status.storedVersions. That is what a
// StorageVersionMigration makes Kubernetes 1.37 do; this is for older clusters, and for a look inside. With
// -disown it also does what no StorageVersionMigration does: it takes a version out of managedFields.
//
// Wait a minute after the version for storage has changed. Until each API server has heard of that, and has
// ended what it was doing, it may still store the old one.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"slices"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/retry"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/config"
)

// pageSize is how many objects are read at once.
const pageSize = 200

func main() {
	name := flag.String("crd", "lighthouses.coast.example.com", "the `name` of the CRD")
	gone := flag.String("disown", "", "first take out of managedFields what was written in this `version`, which isn't served any more")
	flag.Parse()
	if flag.NArg() > 0 {
		fmt.Fprintf(os.Stderr, "error: %q isn't a flag, and all flags after it would be ignored\n", flag.Arg(0))
		os.Exit(2)
	}
	if err := run(ctrl.SetupSignalHandler(), *name, *gone); err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, name, gone string) error {
	kubeconfig, err := config.GetConfig()
	if err != nil {
		return err
	}
	kubeconfig.QPS = -1 // the API server has its own limits
	types := runtime.NewScheme()
	if err := apiextensionsv1.AddToScheme(types); err != nil {
		return err
	}
	c, err := client.New(kubeconfig, client.Options{Scheme: types})
	if err != nil {
		return err
	}
	rewritten, storage, err := migrate(ctx, c, name, gone)
	if err != nil {
		return err
	}
	fmt.Printf("%s: %d objects rewritten as %s\n", name, rewritten, storage)
	return nil
}

// migrate returns how many objects it has rewritten, and in which version.
func migrate(ctx context.Context, c client.Client, name, gone string) (rewritten int, storage string, err error) {
	crd := &apiextensionsv1.CustomResourceDefinition{}
	if err := c.Get(ctx, client.ObjectKey{Name: name}, crd); err != nil {
		return 0, "", fmt.Errorf("reading the CRD: %w", err)
	}
	for _, version := range crd.Spec.Versions {
		if version.Storage {
			storage = version.Name
		}
		if version.Name == gone && version.Served {
			return 0, "", fmt.Errorf("disowning what was written in %s: it's still served; stop that first", gone)
		}
	}
	kind := schema.GroupVersionKind{Group: crd.Spec.Group, Version: storage, Kind: crd.Spec.Names.Kind}
	if gone != "" {
		if err := disown(ctx, c, kind, gone); err != nil {
			return 0, storage, fmt.Errorf("disowning what was written in %s: %w", gone, err)
		}
	}
	if rewritten, err = rewrite(ctx, c, kind); err != nil {
		return rewritten, storage, fmt.Errorf("rewriting in %s: %w", storage, err)
	}
	return rewritten, storage, forget(ctx, c, crd, storage)
}

// rewrite writes each object with a patch that changes nothing. The API server stores it nevertheless if
// its bytes differ, and they do if they were those of another version.
func rewrite(ctx context.Context, c client.Client, kind schema.GroupVersionKind) (rewritten int, err error) {
	err = each(ctx, c, kind, func(object *metav1.PartialObjectMetadata) error {
		err := c.Patch(ctx, object, client.RawPatch(types.MergePatchType, fmt.Appendf(nil, `{"metadata":{"resourceVersion":%q}}`, object.ResourceVersion)))
		switch {
		case apierrors.IsConflict(err): // somebody has just written it
			return nil
		case err == nil:
			rewritten++
		}
		return err
	})
	return rewritten, err
}

// each reads all objects, without spec and status, and calls a function for each. One that's gone by then is no error.
func each(ctx context.Context, c client.Client, kind schema.GroupVersionKind, do func(*metav1.PartialObjectMetadata) error) error {
	page := &metav1.PartialObjectMetadataList{}
	page.SetGroupVersionKind(kind)
	for {
		if err := c.List(ctx, page, client.Limit(pageSize), client.Continue(page.Continue)); err != nil {
			return err
		}
		for i := range page.Items {
			object := &page.Items[i]
			object.SetGroupVersionKind(kind)
			if err := client.IgnoreNotFound(do(object)); err != nil {
				return fmt.Errorf("%s/%s: %w", object.Namespace, object.Name, err)
			}
		}
		if page.Continue == "" {
			return nil
		}
	}
}

// forget takes the versions out of the CRD's status that no object is stored in any more. The CRD is the
// one from before the rewrite: if another version was the one for storage meanwhile, that's a conflict.
func forget(ctx context.Context, c client.Client, crd *apiextensionsv1.CustomResourceDefinition, storage string) error {
	crd.Status.StoredVersions = []string{storage}
	err := c.Status().Update(ctx, crd)
	if apierrors.IsConflict(err) {
		return fmt.Errorf("the CRD has changed meanwhile; run this again: %w", err)
	}
	return err
}

// disown takes the entries of a version out of managedFields. Once the CRD hasn't got that version any more,
// the API server can't convert such an entry, and rejects each server-side apply of its object.
func disown(ctx context.Context, c client.Client, kind schema.GroupVersionKind, version string) error {
	return each(ctx, c, kind, func(object *metav1.PartialObjectMetadata) error {
		return retry.RetryOnConflict(retry.DefaultBackoff, func() error {
			err := disownObject(ctx, c, object, kind.Group+"/"+version)
			if apierrors.IsConflict(err) { // somebody has just written it
				if err := c.Get(ctx, client.ObjectKeyFromObject(object), object); err != nil {
					return err
				}
			}
			return err
		})
	})
}

func disownObject(ctx context.Context, c client.Client, object *metav1.PartialObjectMetadata, version string) error {
	read := object.DeepCopy()
	object.ManagedFields = slices.DeleteFunc(object.ManagedFields, func(entry metav1.ManagedFieldsEntry) bool { return entry.APIVersion == version })
	switch len(object.ManagedFields) {
	case len(read.ManagedFields):
		return nil
	case 0:
		object.ManagedFields = []metav1.ManagedFieldsEntry{{}} // that's how to say: none
	}
	return c.Patch(ctx, object, client.MergeFromWithOptions(read, client.MergeFromWithOptimisticLock{}))
}

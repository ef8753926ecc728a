package e2e

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"example.com/hacking-a-controller/05-crd-operator/postgres/plan"
	"example.com/hacking-a-controller/testcluster"
)

// deleteCluster deletes the cluster. Its pods end before its disks go, and nothing is left.
func (e *env) deleteCluster() {
	e.Helper()
	if e.Failed() {
		return // what there is will be logged
	}
	ctx, cancel := context.WithTimeout(e.Context(), testcluster.TestTimeout)
	defer cancel()
	disks, err := e.client.Watch(ctx, &corev1.PersistentVolumeClaimList{}, client.InNamespace(e.namespace), client.MatchingLabels{plan.SelectorLabel: name})
	require.NoError(e, err)
	defer disks.Stop()
	left := len(e.disks())
	require.NotZero(e, left)
	before := e.outside()

	e.kubectl("delete", "postgrescluster", name, "--wait=false")
	for event := range disks.ResultChan() {
		disk, err := meta.Accessor(event.Object)
		require.NoError(e, err)
		if disk.GetDeletionTimestamp() != nil {
			assert.Empty(e, e.pods(), "the disk of %s is deleted", disk.GetName())
		}
		if event.Type == watch.Deleted {
			left--
		}
		if left == 0 {
			break
		}
	}
	require.Zero(e, left, "disks that are left")
	eventually(e, "nothing is left", e.isGone)
	eventually(e, "no process and no port is left", func() error { return e.areGone(before) })
}

// isGone says what is left of the cluster.
func (e *env) isGone() error {
	if _, err := e.cluster(); !apierrors.IsNotFound(err) {
		return errors.Join(errors.New("the cluster is left"), err)
	}
	for _, list := range []client.ObjectList{
		&corev1.PodList{}, &corev1.PersistentVolumeClaimList{}, &corev1.ServiceList{}, &corev1.SecretList{}, &corev1.ServiceAccountList{},
		&corev1.ConfigMapList{}, &networkingv1.NetworkPolicyList{},
		&coordinationv1.LeaseList{}, &rbacv1.RoleList{}, &rbacv1.RoleBindingList{},
	} {
		if err := e.list(e.Context(), list); err != nil {
			return err
		}
		if n := meta.LenList(list); n > 0 {
			return fmt.Errorf("%T: %d are left", list, n)
		}
	}
	for _, list := range []client.ObjectList{&corev1.PodList{}, &corev1.PersistentVolumeClaimList{}} { // those of backups, too
		if err := e.client.List(e.Context(), list, client.InNamespace(e.namespace)); err != nil {
			return err
		}
		if n := meta.LenList(list); n > 0 {
			return fmt.Errorf("%T: %d are left in the namespace", list, n)
		}
	}
	folders, err := filepath.Glob(filepath.Join(e.dir(), "volumes", e.namespace+"-*"))
	if err == nil && len(folders) > 0 {
		err = fmt.Errorf("%v are left", folders)
	}
	return err
}

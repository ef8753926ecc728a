package operator

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	postgres "example.com/hacking-a-controller/05-crd-operator/postgres/api/v1alpha1"
)

// bind plays the provisioner: a disk is bound, and has what it was made with.
func (e *env) bind(name, class string) {
	e.Helper()
	disk := get(e, name, &corev1.PersistentVolumeClaim{})
	disk.Spec.StorageClassName, disk.Spec.VolumeName = &class, "volume-of-"+name
	require.NoError(e, e.Update(e.Context(), disk))
	disk.Status.Phase, disk.Status.Capacity = corev1.ClaimBound, disk.Spec.Resources.Requests
	require.NoError(e, e.Status().Update(e.Context(), disk))
}

// class makes a StorageClass, and returns its name.
func (e *env) class(suffix string, grows bool) string {
	e.Helper()
	classes := e.server.Client.StorageV1().StorageClasses()
	class, err := classes.Create(e.Context(), &storagev1.StorageClass{ObjectMeta: metav1.ObjectMeta{Name: e.namespace + suffix}, Provisioner: "example.com/none", AllowVolumeExpansion: &grows}, metav1.CreateOptions{})
	require.NoError(e, err)
	e.Cleanup(func() { assert.NoError(e, classes.Delete(context.Background(), class.Name, metav1.DeleteOptions{})) })
	return class.Name
}

func (e *env) wants(name string) string {
	e.Helper()
	return get(e, name, &corev1.PersistentVolumeClaim{}).Spec.Resources.Requests.Storage().String()
}

func TestDisksGrowWithTheSpec(t *testing.T) {
	e := newEnv(t)
	e.create(3)
	e.settle()
	e.bind("db-1", e.class("-grows", true))
	e.bind("db-2", e.class("-stays", false))
	e.recorded()
	e.want(`{"storage":"2Gi"}`)
	e.settle()
	assert.Equal(t, []string{"2Gi", "1Gi", "1Gi"}, []string{e.wants("db-1"), e.wants("db-2"), e.wants("db-3")}, "the third is not bound yet")
	events := e.recorded()
	assert.Contains(t, events, "Normal DiskGrows the disk db-1 grows from 1Gi to 2Gi")
	assert.Contains(t, events, `Warning Failed growing the disk db-2 to 2Gi: persistentvolumeclaims "db-2" is forbidden: only dynamically provisioned pvc can be resized and the storageclass that provisions the pvc must support resize`)

	disk := get(e, "db-1", &corev1.PersistentVolumeClaim{})
	disk.Status.Capacity[corev1.ResourceStorage] = resource.MustParse("2Gi")
	require.NoError(t, e.Status().Update(t.Context(), disk))
	e.until(func(c *postgres.PostgresCluster) bool { return c.Status.Members[0].Storage.String() == "2Gi" })

	e.want(`{"storage":"1Gi"}`) // which is about new ones
	e.settle()
	assert.Equal(t, "2Gi", e.wants("db-1"))
}

func TestTheDiskOfTheBackupsGrows(t *testing.T) {
	e := newEnv(t)
	e.createBackedUp(1, postgres.Delete)
	e.bind("db-backup", e.class("-grows", true))
	e.want(`{"backup":{"schedule":"@every 1h","storage":"3Gi"}}`)
	e.until(func(*postgres.PostgresCluster) bool { return e.wants("db-backup") == "3Gi" })
}

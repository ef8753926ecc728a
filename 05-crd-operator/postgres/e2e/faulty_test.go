package e2e

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"example.com/hacking-a-controller/05-crd-operator/postgres/plan"
)

// labelOff takes a pod from the sight of the operator, which finds it by its name, and puts that back.
func (c *chaos) labelOff(v victim) (func(), error) {
	ctx, cancel := c.shortly()
	defer cancel()
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: c.namespace, Name: v.name}}
	patch := fmt.Sprintf(`{"metadata":{"uid":%q,"labels":{%q:null}}}`, v.pod, plan.SelectorLabel)
	return nil, c.client.Patch(ctx, pod, client.RawPatch(types.MergePatchType, []byte(patch)))
}

// diskDeletedUnderLoad has a member cloned while 8 MB of log are written a second.
func (c *chaos) diskDeletedUnderLoad(v victim) (func(), error) {
	ctx, cancel := context.WithCancel(c.Context())
	var writing sync.WaitGroup
	writing.Go(func() {
		for ctx.Err() == nil {
			if s, err := c.superuser.dial(ctx, c.address); err == nil { // there may be no primary
				_, _ = s.query(ctx, "SET synchronous_commit = local; SELECT pg_logical_emit_message(false, 'x', repeat('x', 1000000)) FROM generate_series(1, 8)")
				s.close()
			}
			select {
			case <-ctx.Done():
			case <-time.After(time.Second): // luck: how often it writes
			}
		}
	})
	soon, short := c.shortly()
	defer short()
	disk := &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Namespace: c.namespace, Name: v.name}}
	return func() { cancel(); writing.Wait() }, c.client.Delete(soon, disk)
}

// longRead has a standby keep what the primary removes, so that it cannot go on with its log.
func (c *chaos) longRead(v victim) (func(), error) {
	pod := &corev1.Pod{}
	ctx, cancel := c.shortly()
	defer cancel()
	if err := c.client.Get(ctx, client.ObjectKey{Namespace: c.namespace, Name: v.name}, pod); err != nil {
		return nil, err
	}
	reader, err := c.superuser.dial(ctx, podAddress(pod))
	if err != nil {
		return nil, err
	}
	if _, err := reader.query(ctx, "BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT count(*) FROM lists"); err != nil {
		return reader.close, err
	}
	s, err := c.superuser.dial(ctx, c.address)
	if err != nil {
		return reader.close, err
	}
	defer s.close()
	_, err = s.query(ctx, "VACUUM lists")
	return reader.close, err
}

// backupsBroken has a file where the folder of the archive was.
func (c *chaos) backupsBroken(victim) (func(), error) {
	ctx, cancel := c.shortly()
	defer cancel()
	claim, volume := &corev1.PersistentVolumeClaim{}, &corev1.PersistentVolume{}
	if err := c.client.Get(ctx, client.ObjectKey{Namespace: c.namespace, Name: name + "-backup"}, claim); err != nil {
		return nil, err
	}
	if err := c.client.Get(ctx, client.ObjectKey{Name: claim.Spec.VolumeName}, volume); err != nil {
		return nil, err
	}
	folder := filepath.Join(volume.Spec.HostPath.Path, "wal")
	if err := os.Rename(folder, folder+".away"); err != nil {
		return nil, err
	}
	return func() {
		_ = os.RemoveAll(folder)
		_ = os.Rename(folder+".away", folder)
	}, os.WriteFile(folder, nil, 0o600)
}

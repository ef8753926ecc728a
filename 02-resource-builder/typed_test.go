package main

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"
)

// parse reads an object as the Builder does, into maps.
func parse(t *testing.T, text string) *unstructured.Unstructured {
	t.Helper()
	object := new(unstructured.Unstructured)
	require.NoError(t, yaml.Unmarshal([]byte(text), object))
	return object
}

func TestDescribeTyped(t *testing.T) {
	const (
		node       = "apiVersion: v1\nkind: Node\nmetadata: {name: ship}\n"
		pod        = "apiVersion: v1\nkind: Pod\nmetadata: {name: web, namespace: demo}\n"
		deployment = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web, namespace: demo}\n"
	)
	tests := map[string]struct{ object, want string }{
		"a namespace": {
			"{apiVersion: v1, kind: Namespace, metadata: {name: old}, status: {phase: Active}}",
			"old is currently Active"},
		"one that is being deleted": {
			"{apiVersion: v1, kind: Namespace, metadata: {name: old, deletionTimestamp: 2026-01-01T00:00:00Z}, status: {phase: Active}}",
			"old is currently Terminating"},
		"a node that is ready": {
			node + `status: {conditions: [{type: DiskPressure, status: "False"}, {type: Ready, status: "True"}]}`,
			"ship is currently Ready"},
		"a node that is silent": {
			node + `status: {conditions: [{type: DiskPressure, status: "True"}, {type: Ready, status: Unknown}]}`,
			"ship is currently NotReady"},
		"a cordoned node": {
			node + "spec: {unschedulable: true}",
			"ship is currently NotReady, and takes no new pods"},
		"a pod that runs": {
			pod + "spec: {containers: [{name: a}, {name: b}]}\nstatus: {phase: Running, containerStatuses: [{name: a, ready: true}, {name: b}]}",
			"web in namespace demo is currently Running, with 1 of 2 containers ready"},
		"a pod that no node has yet": {
			pod + "spec: {containers: [{name: a}]}\nstatus: {phase: Pending}",
			"web in namespace demo is currently Pending, with 0 of 1 containers ready"},
		"a Deployment with too few": {
			deployment + "spec: {replicas: 3}\n" + `status: {availableReplicas: 1, conditions: [{type: Progressing, status: "True"}, {type: Available, status: "False"}]}`,
			"web in namespace demo is currently Unavailable, with 1 of 3 replicas"},
		"a Deployment without a number": {
			deployment + `status: {availableReplicas: 1, conditions: [{type: Available, status: "True"}]}`,
			"web in namespace demo is currently Available, with 1 of 1 replicas"},
		"a field that is newer than the type": {
			node + "status: {new: invented}",
			"ship is currently NotReady"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := describeTyped(parse(t, tc.object))
			require.NoError(t, err)
			assert.Equal(t, tc.want, got)
		})
	}
}

func TestDescribeTypedRejects(t *testing.T) {
	tests := map[string]struct{ object, want string }{
		"a kind with a Go type, but no sentence": {
			"{apiVersion: v1, kind: ConfigMap, metadata: {name: web}}",
			"unknown type ConfigMap: there is no sentence for it; print its generic fields with --unstructured"},
		"another group's kind of a name that we use": {
			"{apiVersion: example.com/v1, kind: Deployment, metadata: {name: web}}",
			"unknown type Deployment: there is no sentence for it; print its generic fields with --unstructured"},
		"fields that are not of the type": {
			"{apiVersion: apps/v1, kind: Deployment, metadata: {name: web, namespace: demo}, spec: {replicas: three}}",
			"reading web in namespace demo as apps/v1, Kind=Deployment: "},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := describeTyped(parse(t, tc.object))
			assert.ErrorContains(t, err, tc.want)
		})
	}
}

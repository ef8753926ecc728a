package controllerruntime

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	cnat "example.com/hacking-a-controller/05-crd-operator/api/cnat/v1alpha1"
)

// Which At has the pod yay-pod? The operator needs no index for that: see atOfPod.
func Example_fieldIndexer() {
	types := runtime.NewScheme()
	if err := AddToScheme(types); err != nil {
		panic(err)
	}
	at := &cnat.At{}
	at.Namespace, at.Name, at.Status.PodName = "harbour", "yay", "yay-pod"

	podName := func(at client.Object) []string { return []string{at.(*cnat.At).Status.PodName} }
	without := fake.NewClientBuilder().WithScheme(types).WithObjects(at).Build()
	// With a manager: mgr.GetFieldIndexer().IndexField(ctx, &cnat.At{}, "status.podName", podName)
	with := fake.NewClientBuilder().WithScheme(types).WithObjects(at).WithIndex(&cnat.At{}, "status.podName", podName).Build()

	for _, c := range []client.Reader{without, with} {
		ats := &cnat.AtList{}
		err := c.List(context.Background(), ats, client.InNamespace("harbour"), client.MatchingFields{"status.podName": "yay-pod"})
		fmt.Println(len(ats.Items), err)
	}
	// Output:
	// 0 List on GroupVersionKind cnat.programming-kubernetes.info/v1alpha1, Kind=At specifies selector on field status.podName, but no index with name status.podName has been registered for GroupVersionKind cnat.programming-kubernetes.info/v1alpha1, Kind=At
	// 1 <nil>
}

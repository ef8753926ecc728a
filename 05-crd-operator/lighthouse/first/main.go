// First is an operator that keeps the lamps of each Lighthouse burning. A lamp is a pod of its
// Deployment, and prints the flash.
package main

import (
	"context"
	"fmt"
	"os"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"
)

func main() {
	ctrl.SetLogger(klog.Background()) // without one, the manager logs nothing
	if err := run(ctrl.SetupSignalHandler(), ctrl.GetConfigOrDie()); err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, config *rest.Config) error {
	manager, err := ctrl.NewManager(config, ctrl.Options{
		Metrics: server.Options{BindAddress: "0"}, // no port; by default it is 8080
	})
	if err != nil {
		return err
	}
	addToScheme(manager.GetScheme())
	// Whose changes bring the key of a Lighthouse to Reconcile.
	watched := ctrl.NewControllerManagedBy(manager).
		For(&Lighthouse{}).
		Owns(&appsv1.Deployment{})
	if err := watched.Complete(&reconciler{manager.GetClient()}); err != nil {
		return err
	}
	return manager.Start(ctx)
}

// What the operator may do, and nothing else, from which role.yaml is generated. It is tested with these rights.
// +kubebuilder:rbac:groups=coast.example.com,resources=lighthouses,verbs=list;watch
// +kubebuilder:rbac:groups=coast.example.com,resources=lighthouses/status;lighthouses/finalizers,verbs=update
// +kubebuilder:rbac:groups=apps,resources=deployments,verbs=list;watch;create;update

type reconciler struct {
	client.Client // Get reads from a cache; what writes goes to the server
}

// Reconcile makes the Deployment of one Lighthouse what its spec says, and reports how many lamps burn.
func (r *reconciler) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	log := ctrl.LoggerFrom(ctx)
	light := &Lighthouse{}
	if err := r.Get(ctx, request.NamespacedName, light); err != nil || light.DeletionTimestamp != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err) // the garbage collector deletes what it owned
	}
	log.Info("read", "spec", light.Spec)
	deployment := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: light.Namespace, Name: light.Name}}
	done, err := controllerutil.CreateOrUpdate(ctx, r.Client, deployment, func() error {
		return r.want(light, deployment)
	})
	log.Info("the Deployment", "is", done)
	if err == nil {
		err = r.report(ctx, light, deployment)
	}
	if apierrors.IsConflict(err) || apierrors.IsAlreadyExists(err) {
		return ctrl.Result{RequeueAfter: time.Second}, nil // the cache was behind: try again
	}
	return ctrl.Result{}, err
}

// want changes a Deployment to what a Lighthouse wants. All else stays.
func (r *reconciler) want(light *Lighthouse, deployment *appsv1.Deployment) error {
	if deployment.UID != "" && !metav1.IsControlledBy(deployment, light) {
		return fmt.Errorf("the Deployment %s belongs to somebody else", deployment.Name)
	}
	labels := map[string]string{"lighthouse": light.Name}
	deployment.Spec.Replicas = &light.Spec.Lamps
	deployment.Spec.Selector = &metav1.LabelSelector{MatchLabels: labels}
	deployment.Spec.Template.Labels = labels
	setLamp(&deployment.Spec.Template.Spec, light.Spec.Flash)
	return ctrl.SetControllerReference(light, deployment, r.Scheme())
}

// report writes how many lamps burn, unless the status says so already.
func (r *reconciler) report(ctx context.Context, light *Lighthouse, deployment *appsv1.Deployment) error {
	lamps, have := light.Spec.Lamps, deployment.Status
	ready := metav1.Condition{Type: "Ready", Status: metav1.ConditionFalse, Reason: "Lighting", ObservedGeneration: light.Generation}
	ready.Message = fmt.Sprintf("%d of %d lamps burn", have.ReadyReplicas, lamps)
	seen := have.ObservedGeneration == deployment.Generation // or the numbers are those of an older spec
	if seen && have.Replicas == lamps && have.UpdatedReplicas == lamps && have.ReadyReplicas == lamps {
		ready.Status, ready.Reason = metav1.ConditionTrue, "Burning"
	}
	changed := meta.SetStatusCondition(&light.Status.Conditions, ready)
	if !changed && light.Status.Burning == have.ReadyReplicas {
		return nil
	}
	light.Status.Burning = have.ReadyReplicas
	return r.Status().Update(ctx, light)
}

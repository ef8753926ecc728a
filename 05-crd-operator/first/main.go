// First is an operator on one page. It runs the command of each At when its time has
// come: once, in a pod.
//
//	PENDING ──the time has come──▶ RUNNING ──the pod has ended──▶ DONE
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"

	cnat "example.com/hacking-a-controller/05-crd-operator/api/cnat/v1alpha1"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	ctrl.SetLogger(klog.Background()) // without one, the manager logs nothing
	// Which cluster, and as whom: the kubeconfig says it.
	config, err := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(clientcmd.NewDefaultClientConfigLoadingRules(), nil).ClientConfig()
	if err == nil {
		err = run(ctx, config)
	}
	if err != nil {
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
	// A scheme says which Go type is which kind. That of client-go has pods already.
	if err := cnat.AddToScheme(manager.GetScheme()); err != nil {
		return err
	}
	r := &reconciler{manager.GetClient()}
	// An At that changes adds its key to the queue, and so does a pod that it owns.
	if err := ctrl.NewControllerManagedBy(manager).For(&cnat.At{}).Owns(&corev1.Pod{}).Complete(r); err != nil {
		return err
	}
	return manager.Start(ctx) // the informers, then the worker; returns when the context ends
}

type reconciler struct {
	client.Client // Get reads from the cache; what writes goes to the server
}

// Reconcile brings one At a step further. What it writes comes back by the watch, and
// is the reason for the next step.
func (r *reconciler) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	at := &cnat.At{}
	if err := r.Get(ctx, request.NamespacedName, at); err != nil {
		// Not found is deleted. The garbage collector deletes the pod.
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}

	switch at.Status.Phase {
	case "":
		return r.setPhase(ctx, at, cnat.Pending)

	case cnat.Pending:
		schedule, err := time.Parse(time.RFC3339, at.Spec.Schedule)
		if err != nil {
			return ctrl.Result{}, fmt.Errorf("reading the schedule: %w", err)
		}
		if wait := time.Until(schedule); wait > 0 {
			return ctrl.Result{RequeueAfter: wait}, nil
		}
		return r.setPhase(ctx, at, cnat.Running)

	case cnat.Running:
		pod := desiredPod(at)
		err := r.Get(ctx, client.ObjectKeyFromObject(pod), pod)
		if apierrors.IsNotFound(err) {
			// Whose pod it is: for Owns, and for the garbage collector.
			if err := ctrl.SetControllerReference(at, pod, r.Scheme()); err != nil {
				return ctrl.Result{}, err
			}
			err = r.Create(ctx, pod)
		}
		if err != nil {
			return ctrl.Result{}, fmt.Errorf("running the pod %s: %w", pod.Name, err)
		}
		if pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed {
			return r.setPhase(ctx, at, cnat.Done)
		}
	}
	return ctrl.Result{}, nil
}

// setPhase writes the status, which has a URL of its own: Update would not change it.
func (r *reconciler) setPhase(ctx context.Context, at *cnat.At, phase cnat.AtPhase) (ctrl.Result, error) {
	ctrl.LoggerFrom(ctx).Info("set the phase", "phase", phase)
	at.Status.Phase = phase
	if err := r.Status().Update(ctx, at); err != nil {
		return ctrl.Result{}, fmt.Errorf("writing the status: %w", err)
	}
	return ctrl.Result{}, nil
}

// desiredPod is the pod that runs the command.
func desiredPod(at *cnat.At) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: at.Namespace,
			Name:      at.Name + "-pod",
			Labels:    map[string]string{"app": at.Name},
		},
		Spec: corev1.PodSpec{
			RestartPolicy: corev1.RestartPolicyOnFailure,
			Containers: []corev1.Container{{
				Name:    "busybox",
				Image:   "busybox",
				Command: strings.Split(at.Spec.Command, " "),
			}},
		},
	}
}

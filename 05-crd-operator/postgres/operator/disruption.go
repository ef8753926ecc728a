package operator

import (
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	postgres "example.com/hacking-a-controller/05-crd-operator/postgres/api/v1alpha1"
	"example.com/hacking-a-controller/05-crd-operator/postgres/plan"
)

// setDisruptionBudget lets one member go at a time: a drain that would take a second one, such as
// the standby that is about to be the primary, waits until the first is ready again. It says how many
// have to stay, and not how many may go: for that, Kubernetes reads the scale of the cluster, and if
// the kind is too new for its discovery, it lets nobody go and does not soon look again.
//
// The only member of a cluster may go. It comes back on its disk, so nothing is lost, and nobody
// else could ever let that drain end. A member that is not ready may go in any case: it is of no use
// where it is.
func setDisruptionBudget(budget *policyv1.PodDisruptionBudget, cluster *postgres.PostgresCluster) {
	budget.Spec.MaxUnavailable, budget.Spec.MinAvailable = nil, new(intstr.FromInt32(cluster.Spec.Size-1))
	budget.Spec.Selector = &metav1.LabelSelector{MatchLabels: map[string]string{plan.SelectorLabel: cluster.Name}}
	budget.Spec.UnhealthyPodEvictionPolicy = new(policyv1.AlwaysAllow)
}

package operator

import (
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	postgres "example.com/hacking-a-controller/05-crd-operator/postgres/api/v1alpha1"
	"example.com/hacking-a-controller/05-crd-operator/postgres/plan"
)

// operatorLabels are those of a pod that the operator runs in, as a NetworkPolicy sees it.
var operatorLabels = map[string]string{"app": program}

// setNetworkPolicy lets others reach members: clients and members PostgreSQL, and the operator
// /status. Kubelets reach their own pods in any case.
func (r *Reconciler) setNetworkPolicy(policy *networkingv1.NetworkPolicy, cluster *postgres.PostgresCluster) {
	clients := []networkingv1.NetworkPolicyPeer{{PodSelector: &metav1.LabelSelector{}}} // of this namespace
	if r.ServiceType == corev1.ServiceTypeNodePort {
		clients = nil // anybody: a node port is for clients that are no pods
	}
	operator := []networkingv1.NetworkPolicyPeer{{
		NamespaceSelector: &metav1.LabelSelector{}, // any
		PodSelector:       &metav1.LabelSelector{MatchLabels: operatorLabels},
	}}
	if r.OperatorNetwork != "" {
		operator = append(operator, networkingv1.NetworkPolicyPeer{IPBlock: &networkingv1.IPBlock{CIDR: r.OperatorNetwork}})
	}
	policy.Spec = networkingv1.NetworkPolicySpec{
		PodSelector: metav1.LabelSelector{MatchLabels: map[string]string{plan.SelectorLabel: cluster.Name}},
		PolicyTypes: []networkingv1.PolicyType{networkingv1.PolicyTypeIngress},
		Ingress: []networkingv1.NetworkPolicyIngressRule{
			{From: clients, Ports: policyPort(postgresPort)},
			{From: operator, Ports: policyPort(statusPort)},
		},
	}
}

func policyPort(name string) []networkingv1.NetworkPolicyPort {
	return []networkingv1.NetworkPolicyPort{{Protocol: new(corev1.ProtocolTCP), Port: new(intstr.FromString(name))}}
}

package operator

import (
	"testing"

	"github.com/stretchr/testify/assert"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	postgres "example.com/hacking-a-controller/05-crd-operator/postgres/api/v1alpha1"
	"example.com/hacking-a-controller/05-crd-operator/postgres/plan"
)

// Nothing in the lab acts on a NetworkPolicy, so only the object is tested.
func TestWhoMayReachMembers(t *testing.T) {
	pods := []networkingv1.NetworkPolicyPeer{{PodSelector: &metav1.LabelSelector{}}}
	operator := networkingv1.NetworkPolicyPeer{
		NamespaceSelector: &metav1.LabelSelector{},
		PodSelector:       &metav1.LabelSelector{MatchLabels: map[string]string{"app": "postgres-operator"}},
	}
	outside := networkingv1.NetworkPolicyPeer{IPBlock: &networkingv1.IPBlock{CIDR: "192.0.2.0/24"}}
	for name, tc := range map[string]struct {
		options          Options
		postgres, status []networkingv1.NetworkPolicyPeer
	}{
		"all are pods":                 {Options{ServiceType: corev1.ServiceTypeClusterIP}, pods, []networkingv1.NetworkPolicyPeer{operator}},
		"clients use a node port":      {Options{ServiceType: corev1.ServiceTypeNodePort}, nil, []networkingv1.NetworkPolicyPeer{operator}},
		"the operator is not in a pod": {Options{OperatorNetwork: "192.0.2.0/24"}, pods, []networkingv1.NetworkPolicyPeer{operator, outside}},
	} {
		t.Run(name, func(t *testing.T) {
			policy := &networkingv1.NetworkPolicy{}
			(&Reconciler{Options: tc.options}).setNetworkPolicy(policy, cluster(func(*postgres.PostgresClusterSpec) {}))
			tcp, postgres, status := corev1.ProtocolTCP, intstr.FromString("postgres"), intstr.FromString("status")
			assert.Equal(t, networkingv1.NetworkPolicySpec{
				PodSelector: metav1.LabelSelector{MatchLabels: map[string]string{plan.SelectorLabel: "db"}},
				PolicyTypes: []networkingv1.PolicyType{networkingv1.PolicyTypeIngress},
				Ingress: []networkingv1.NetworkPolicyIngressRule{
					{From: tc.postgres, Ports: []networkingv1.NetworkPolicyPort{{Protocol: &tcp, Port: &postgres}}},
					{From: tc.status, Ports: []networkingv1.NetworkPolicyPort{{Protocol: &tcp, Port: &status}}},
				},
			}, policy.Spec)
		})
	}
}

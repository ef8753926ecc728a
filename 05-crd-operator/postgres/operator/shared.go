package operator

import (
	"context"
	"errors"
	"fmt"
	"slices"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	postgres "example.com/hacking-a-controller/05-crd-operator/postgres/api/v1alpha1"
	"example.com/hacking-a-controller/05-crd-operator/postgres/certificate"
	"example.com/hacking-a-controller/05-crd-operator/postgres/plan"
)

// sharedName is the name of what the pods of all members have in common.
func sharedName(cluster *postgres.PostgresCluster) string { return cluster.Name + "-member" }

// shared is an object that all members or their clients use.
type shared struct {
	name  string
	empty client.Object
	set   func(client.Object) // what is wanted of it
}

// access is what pods run with.
func access(cluster *postgres.PostgresCluster) []shared {
	name := sharedName(cluster)
	return []shared{
		{name, &corev1.ServiceAccount{}, func(client.Object) {}},
		{name, &rbacv1.Role{}, func(o client.Object) { o.(*rbacv1.Role).Rules = MemberRules(cluster) }},
		{name, &rbacv1.RoleBinding{}, func(o client.Object) {
			binding := o.(*rbacv1.RoleBinding)
			binding.RoleRef = rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: name}
			binding.Subjects = []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: cluster.Namespace, Name: name}}
		}},
	}
}

// services is what clients connect to, who may reach it, what they trust, and how many members a drain
// may take at once.
func (r *Reconciler) services(cluster *postgres.PostgresCluster) []shared {
	return []shared{
		{sharedName(cluster), &networkingv1.NetworkPolicy{}, func(o client.Object) { r.setNetworkPolicy(o.(*networkingv1.NetworkPolicy), cluster) }},
		{sharedName(cluster), &policyv1.PodDisruptionBudget{}, func(o client.Object) { setDisruptionBudget(o.(*policyv1.PodDisruptionBudget), cluster) }},
		sharedBundle(cluster, certificate.Issued{}),
		{cluster.Name, &corev1.Service{}, func(o client.Object) { r.setService(o.(*corev1.Service), cluster, plan.Primary) }},
		{cluster.Name + "-ro", &corev1.Service{}, func(o client.Object) { r.setService(o.(*corev1.Service), cluster, plan.Standby) }},
	}
}

// restoreShared makes, or restores, what members and their clients share. If that fails, people
// learn of it, and the members go on: a failover must not wait for a Service.
func (r *Reconciler) restoreShared(ctx context.Context, o observation) {
	failed := append([]error{r.issueCertificate(ctx, o.Cluster)}, r.restore(ctx, o.Cluster, append(access(o.Cluster), r.services(o.Cluster)...))...)
	var foreign []string
	for _, err := range failed {
		if theirs := foreignError(""); errors.As(err, &theirs) {
			foreign = append(foreign, string(theirs))
		}
	}
	tracker := r.trackerOf(client.ObjectKeyFromObject(o.Cluster))
	if !slices.Equal(foreign, tracker.foreign) {
		tracker.foreign, tracker.rested = foreign, plan.Observed{} // the status is to say so
	}
	r.warn(ctx, o, "Restore", errors.Join(failed...))
}

// restore makes, or restores, each of the objects. If the cache does not show one that is there,
// it is late, or the object has lost its label; then the object is read live.
func (r *Reconciler) restore(ctx context.Context, cluster *postgres.PostgresCluster, objects []shared) (failed []error) {
	for _, o := range objects {
		err := createOrUpdate(ctx, r.Client, cluster, o)
		if apierrors.IsAlreadyExists(err) {
			err = createOrUpdate(ctx, liveClient{r.Client, r.Live}, cluster, o)
		}
		if err != nil {
			failed = append(failed, fmt.Errorf("restoring the %s %s: %w", kindOf(o.empty), o.name, err))
		}
	}
	return failed
}

// liveClient reads from the API server.
type liveClient struct {
	client.Client
	live client.Reader
}

// Get reads an object.
func (c liveClient) Get(ctx context.Context, key client.ObjectKey, object client.Object, options ...client.GetOption) error {
	return c.live.Get(ctx, key, object, options...)
}

func createOrUpdate(ctx context.Context, c client.Client, cluster *postgres.PostgresCluster, o shared) error {
	want, object := objectMeta(cluster, o.name), o.empty.DeepCopyObject().(client.Object)
	object.SetNamespace(want.Namespace)
	object.SetName(want.Name)
	_, err := controllerutil.CreateOrUpdate(ctx, c, object, func() error {
		switch {
		case object.GetUID() == "":
			object.SetOwnerReferences(want.OwnerReferences)
		case !metav1.IsControlledBy(object, cluster):
			return foreignError(kindAndName(object))
		}
		addLabels(object, want.Labels)
		o.set(object)
		return nil
	})
	return err
}

// MemberRules is what an agent may do: read its cluster, and hold the cluster's Lease.
func MemberRules(cluster *postgres.PostgresCluster) []rbacv1.PolicyRule {
	return []rbacv1.PolicyRule{
		{APIGroups: []string{postgres.GroupName}, Resources: []string{"postgresclusters"}, ResourceNames: []string{cluster.Name}, Verbs: []string{"get", "list", "watch"}},
		{APIGroups: []string{coordinationv1.GroupName}, Resources: []string{"leases"}, ResourceNames: []string{cluster.Name}, Verbs: []string{"get", "update"}},
	}
}

// setService has a Service lead to all members of a role.
func (r *Reconciler) setService(service *corev1.Service, cluster *postgres.PostgresCluster, role plan.Role) {
	service.Spec.Type = r.ServiceType
	service.Spec.Selector = map[string]string{plan.SelectorLabel: cluster.Name, plan.RoleLabel: string(role)}
	if len(service.Spec.Ports) != 1 {
		service.Spec.Ports = make([]corev1.ServicePort, 1)
	}
	port := &service.Spec.Ports[0] // which the server adds a node port to
	port.Name, port.Protocol, port.Port, port.TargetPort = postgresPort, corev1.ProtocolTCP, 5432, intstr.FromString(postgresPort)
}

// makeForMembers makes what no pod can do without.
func (r *Reconciler) makeForMembers(ctx context.Context, o observation) error {
	failed := append(r.restore(ctx, o.Cluster, access(o.Cluster)), r.makeCredentials(ctx, o.Cluster), r.issueCertificate(ctx, o.Cluster))
	if err := errors.Join(failed...); err != nil {
		return err
	}
	if o.lease != nil && !metav1.IsControlledBy(o.lease, o.Cluster) {
		return foreignError(kindAndName(o.lease))
	}
	var missing []client.Object
	if o.lease == nil {
		missing = append(missing, &coordinationv1.Lease{ObjectMeta: objectMeta(o.Cluster, o.Cluster.Name)})
	}
	if o.backupDisk == nil && o.forPods().Spec.Backup != nil {
		missing = append(missing, newBackupDisk(o.Cluster))
	}
	for _, object := range missing {
		if err := r.Create(ctx, object); err != nil {
			return err // what is there by now may be somebody else's, and is observed first
		}
	}
	return nil
}

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

// setNetworkPolicy lets others reach members: clients and members PostgreSQL, and the operator
// /status. Kubelets reach their own pods in any case.
func (r *Reconciler) setNetworkPolicy(policy *networkingv1.NetworkPolicy, cluster *postgres.PostgresCluster) {
	clients := []networkingv1.NetworkPolicyPeer{{PodSelector: &metav1.LabelSelector{}}} // of this namespace
	if r.ServiceType == corev1.ServiceTypeNodePort {
		clients = nil // anybody: a node port is for clients that are no pods
	}
	operator := []networkingv1.NetworkPolicyPeer{{
		NamespaceSelector: &metav1.LabelSelector{}, // any
		PodSelector:       &metav1.LabelSelector{MatchLabels: map[string]string{"app": program}},
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

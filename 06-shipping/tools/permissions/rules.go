package permissions

import (
	"bufio"
	"errors"
	"fmt"
	"io"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	kubeyaml "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/yaml"
)

// Rules are the roles and the bindings of manifests. All other objects in these
// are passed over. The zero value has none.
type Rules struct {
	roles    map[role][]rbacv1.PolicyRule
	bindings []rbacv1.RoleBinding // a ClusterRoleBinding is one without a namespace
}

type role struct{ kind, namespace, name string }

// Read adds the objects of a file in YAML or JSON, which may hold many.
func (r *Rules) Read(file io.Reader) error {
	documents := kubeyaml.NewYAMLReader(bufio.NewReader(file))
	for {
		document, err := documents.Read()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err == nil {
			err = r.add(document)
		}
		if err != nil {
			return err
		}
	}
}

func (r *Rules) add(document []byte) error {
	var kind metav1.TypeMeta
	if err := yaml.Unmarshal(document, &kind); err != nil {
		return fmt.Errorf("reading an object: %w", err)
	}
	if kind.Kind == "List" && kind.APIVersion == "v1" { // as kubectl get -o yaml prints them
		var list struct{ Items []runtime.RawExtension }
		if err := yaml.Unmarshal(document, &list); err != nil {
			return fmt.Errorf("reading a list: %w", err)
		}
		for _, item := range list.Items {
			if err := r.add(item.Raw); err != nil {
				return err
			}
		}
		return nil
	}
	if kind.APIVersion != rbacv1.SchemeGroupVersion.String() {
		return nil
	}
	switch kind.Kind {
	case "Role", "ClusterRole":
		return r.addRole(kind.Kind, document)
	case "RoleBinding", "ClusterRoleBinding":
		return r.addBinding(kind.Kind, document)
	}
	return nil
}

func (r *Rules) addRole(kind string, document []byte) error {
	var object rbacv1.ClusterRole // has all that a Role has
	if err := yaml.UnmarshalStrict(document, &object); err != nil {
		return fmt.Errorf("reading a %s: %w", kind, err)
	}
	key := role{kind, object.Namespace, object.Name}
	if err := placed(kind, object.ObjectMeta); err != nil {
		return err
	}
	if _, twice := r.roles[key]; twice {
		return fmt.Errorf("the %s %s is there twice; give each file once", kind, object.Name)
	}
	if object.AggregationRule != nil && len(object.Rules) == 0 {
		return fmt.Errorf("the ClusterRole %[1]s gets its rules from other roles; give it as the cluster has it: kubectl get clusterrole %[1]s -o yaml", object.Name)
	}
	if r.roles == nil {
		r.roles = map[role][]rbacv1.PolicyRule{}
	}
	r.roles[key] = object.Rules
	return nil
}

func (r *Rules) addBinding(kind string, document []byte) error {
	var object rbacv1.RoleBinding // has the same fields as a ClusterRoleBinding
	if err := yaml.UnmarshalStrict(document, &object); err != nil {
		return fmt.Errorf("reading a %s: %w", kind, err)
	}
	r.bindings = append(r.bindings, object)
	return placed(kind, object.ObjectMeta)
}

// placed checks that an object says where it is, if it is somewhere.
func placed(kind string, object metav1.ObjectMeta) error {
	namespaced := kind == "Role" || kind == "RoleBinding"
	switch {
	case namespaced && object.Namespace == "":
		return fmt.Errorf("the %s %s names no namespace; give it as it is installed, from kubectl kustomize or kubectl get -o yaml", kind, object.Name)
	case !namespaced && object.Namespace != "":
		return fmt.Errorf("the %s %s names a namespace, which it cannot have", kind, object.Name)
	}
	return nil
}

// Of returns all that the account is granted, in the order of the files.
func (r *Rules) Of(account Account) ([]Grant, error) {
	var grants []Grant
	for _, binding := range r.bindings {
		if !binds(binding, account) {
			continue
		}
		key := role{kind: binding.RoleRef.Kind, name: binding.RoleRef.Name}
		if key.kind == "Role" {
			key.namespace = binding.Namespace
		}
		rules, ok := r.roles[key]
		if !ok {
			return nil, fmt.Errorf("%s is there, but its role is not; give a file that has it", words(binding))
		}
		grants = append(grants, apart(words(binding), binding.Namespace, rules)...)
	}
	return grants, nil
}

// binds tells whether the binding gives the account something that it has not
// anyway.
func binds(binding rbacv1.RoleBinding, account Account) bool {
	if _, ok := binding.Labels[ofTheCluster]; ok {
		return false
	}
	for _, subject := range binding.Subjects {
		if account.is(subject, binding.Namespace) {
			return true
		}
	}
	return false
}

// words name a binding as the API server does in its audit log.
func words(binding rbacv1.RoleBinding) string {
	kind := "RoleBinding"
	if binding.Namespace == "" {
		kind = "ClusterRoleBinding"
	}
	return fmt.Sprintf("%s %q of %s %q", kind, binding.Name, binding.RoleRef.Kind, binding.RoleRef.Name)
}

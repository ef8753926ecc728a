package permissions

import (
	"fmt"
	"slices"
	"strings"

	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/util/validation"
)

// Account is a service account.
type Account struct{ Namespace, Name string }

// ParseAccount reads NAMESPACE/NAME.
func ParseAccount(text string) (Account, error) {
	namespace, name, _ := strings.Cut(text, "/")
	if len(validation.IsDNS1123Label(namespace)) > 0 || len(validation.IsDNS1123Subdomain(name)) > 0 {
		return Account{}, fmt.Errorf("%q is not a service account; write NAMESPACE/NAME", text)
	}
	return Account{namespace, name}, nil
}

func (a Account) String() string { return a.Namespace + "/" + a.Name }

// user is the account's name as a user of the API.
func (a Account) user() string {
	return "system:serviceaccount:" + a.Namespace + ":" + a.Name
}

// groups are those that the API server puts every service account in.
func (a Account) groups() []string {
	return []string{"system:serviceaccounts", "system:serviceaccounts:" + a.Namespace, "system:authenticated"}
}

// is tells whether the subject of a binding in that namespace is the account, or
// a group that it is in.
func (a Account) is(subject rbacv1.Subject, namespace string) bool {
	switch subject.Kind {
	case rbacv1.ServiceAccountKind:
		if subject.Namespace != "" {
			namespace = subject.Namespace
		}
		return Account{namespace, subject.Name} == a
	case rbacv1.UserKind:
		return subject.Name == a.user()
	case rbacv1.GroupKind:
		return slices.Contains(a.groups(), subject.Name)
	default:
		return false
	}
}

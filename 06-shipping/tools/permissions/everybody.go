package permissions

import rbacv1 "k8s.io/api/rbac/v1"

// everybody is what each service account may do in each cluster: the API server
// itself binds these to the groups of all. Clients look around before they begin
// to work, and ask what they may do. No manifest needs to grant that.
var everybody = apart("the cluster, to everybody", "", []rbacv1.PolicyRule{{
	Verbs: []string{"get"},
	NonResourceURLs: []string{
		"/api", "/api/*", "/apis", "/apis/*", "/openapi", "/openapi/*",
		"/version", "/version/", "/healthz", "/livez", "/readyz",
		"/.well-known/openid-configuration", "/.well-known/openid-configuration/",
		"/openid/v1/jwks", "/openid/v1/jwks/",
	},
}, {
	Verbs:     []string{"create"},
	APIGroups: []string{"authorization.k8s.io"},
	Resources: []string{"selfsubjectaccessreviews", "selfsubjectrulesreviews"},
}, {
	Verbs:     []string{"create"},
	APIGroups: []string{"authentication.k8s.io"},
	Resources: []string{"selfsubjectreviews"},
}, {
	Verbs:     []string{"get", "list", "watch"},
	APIGroups: []string{"certificates.k8s.io"},
	Resources: []string{"clustertrustbundles"}, // since Kubernetes 1.37
}})

// ofTheCluster is the label of the roles and bindings that the API server makes.
const ofTheCluster = "kubernetes.io/bootstrapping"

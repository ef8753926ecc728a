// Package bundle makes what the Operator Lifecycle Manager (OLM) installs an operator from.
//
// A bundle is one version of the operator: a ClusterServiceVersion (CSV), the CRDs that it
// owns, and what else it needs. All of it follows from the manifests of an installation,
// see [ReadManifests], but for what only people know, such as a description and an icon,
// see [Base]. [New] makes a [Bundle] of the two:
//
//	Deployment                            spec.install.spec.deployments of the CSV
//	Roles that are bound to its account   spec.install.spec.permissions
//	ClusterRoles that are                 spec.install.spec.clusterPermissions
//	ServiceAccount, bindings of those     nothing: OLM creates them
//	Namespace                             an annotation: a user chooses another
//	CRDs and other kinds that OLM knows   files beside the CSV
//	any other kind                        an error, unless [Base] has a reason to leave it out
//
// A catalogue has the bundles of an operator, and which one replaces which, see [Catalog].
package bundle

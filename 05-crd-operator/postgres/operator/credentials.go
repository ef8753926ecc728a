package operator

import (
	"context"
	"crypto/rand"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"

	postgres "example.com/hacking-a-controller/05-crd-operator/postgres/api/v1alpha1"
)

// credentials are the names of the Secrets, by the roles of PostgreSQL that they are for.
func credentials(cluster *postgres.PostgresCluster) map[string]string {
	return map[string]string{
		"postgres":    cluster.Name,
		"replication": cluster.Name + "-replication",
		"app":         cluster.Name + "-app",
	}
}

// secretNames are those of all Secrets of a cluster.
func secretNames(cluster *postgres.PostgresCluster) []string {
	return append(slices.Sorted(maps.Values(credentials(cluster))), slotName(cluster, 1), slotName(cluster, 2))
}

// makeCredentials makes a Secret for each role that has none. Nobody ever reads its data.
func (r *Reconciler) makeCredentials(ctx context.Context, cluster *postgres.PostgresCluster) error {
	for role, name := range credentials(cluster) {
		secret := &corev1.Secret{
			ObjectMeta: objectMeta(cluster, name),
			Type:       corev1.SecretTypeBasicAuth,
			StringData: map[string]string{corev1.BasicAuthUsernameKey: role, corev1.BasicAuthPasswordKey: rand.Text()},
		}
		if err := r.createSecret(ctx, cluster, secret); err != nil {
			return err
		}
	}
	return nil
}

package operator

import (
	"context"
	"crypto/rand"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

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

// makeCredentials makes a Secret for each role that has none. They are never read: a program that
// may read one Secret by its name may read all that have a name to guess.
func (r *Reconciler) makeCredentials(ctx context.Context, cluster *postgres.PostgresCluster) error {
	for role, name := range credentials(cluster) {
		secret := &corev1.Secret{
			ObjectMeta: objectMeta(cluster, name),
			Type:       corev1.SecretTypeBasicAuth,
			StringData: map[string]string{corev1.BasicAuthUsernameKey: role, corev1.BasicAuthPasswordKey: rand.Text()},
		}
		if err := r.Create(ctx, secret); err != nil && !apierrors.IsAlreadyExists(err) {
			return err
		}
	}
	return nil
}

package operator

import (
	"fmt"
	"hash/fnv"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	postgres "example.com/hacking-a-controller/05-crd-operator/postgres/api/v1alpha1"
	"example.com/hacking-a-controller/05-crd-operator/postgres/plan"
)

// The names of what is in a pod.
const (
	postgresPort = "postgres"
	statusPort   = "status"
	dataVolume   = "data"
	secretVolume = "password"
	tempVolume   = "tmp"
)

// postgresUser is the user and the group of the image.
const postgresUser = 26

// maxSize is the largest size of a cluster, so the highest number of a member.
const maxSize = 7

// objectMeta is that of what belongs to a cluster and goes with it.
func objectMeta(cluster *postgres.PostgresCluster, name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{
		Namespace:       cluster.Namespace,
		Name:            name,
		Labels:          map[string]string{plan.SelectorLabel: cluster.Name},
		OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(cluster, postgres.SchemeGroupVersion.WithKind("PostgresCluster"))},
	}
}

// newDisk is the disk of a member. It outlives its pods.
func (r *Reconciler) newDisk(cluster *postgres.PostgresCluster, name string) *corev1.PersistentVolumeClaim {
	size := cluster.Spec.Storage
	if size.IsZero() {
		size = resource.MustParse("1Gi")
	}
	return &corev1.PersistentVolumeClaim{
		ObjectMeta: objectMeta(cluster, name),
		Spec: corev1.PersistentVolumeClaimSpec{
			AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
			Resources:   corev1.VolumeResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceStorage: size}},
		},
	}
}

// newPod is one run of a member. It does not restart: its UID stands for one process. Its
// finalizer keeps it until the operator has seen that this process has ended.
func (r *Reconciler) newPod(cluster *postgres.PostgresCluster, name string) *corev1.Pod {
	pod := &corev1.Pod{ObjectMeta: objectMeta(cluster, name)}
	pod.Finalizers = []string{finalizer}
	pod.Spec = corev1.PodSpec{
		ServiceAccountName:            sharedName(cluster),
		RestartPolicy:                 corev1.RestartPolicyNever,
		TerminationGracePeriodSeconds: new(int64(5)),
		NodeSelector:                  cluster.Spec.NodeSelector,
		SecurityContext: &corev1.PodSecurityContext{
			RunAsNonRoot:   new(true),
			RunAsUser:      new(int64(postgresUser)),
			RunAsGroup:     new(int64(postgresUser)),
			FSGroup:        new(int64(postgresUser)),
			SeccompProfile: &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault},
		},
		Containers: []corev1.Container{r.newContainer(cluster, name)},
		Volumes: []corev1.Volume{
			{Name: dataVolume, VolumeSource: corev1.VolumeSource{PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: name}}},
			{Name: secretVolume, VolumeSource: corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{SecretName: cluster.Name, DefaultMode: new(int32(0o440))}}},
			{Name: tempVolume, VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}},
		},
	}
	if cluster.Spec.AntiAffinity {
		pod.Spec.Affinity = &corev1.Affinity{PodAntiAffinity: &corev1.PodAntiAffinity{RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{{
			LabelSelector: &metav1.LabelSelector{MatchLabels: pod.Labels},
			TopologyKey:   corev1.LabelHostname,
		}}}}
	}
	return pod
}

func (r *Reconciler) newContainer(cluster *postgres.PostgresCluster, name string) corev1.Container {
	field := func(variable, path string) corev1.EnvVar {
		return corev1.EnvVar{Name: variable, ValueFrom: &corev1.EnvVarSource{FieldRef: &corev1.ObjectFieldSelector{FieldPath: path}}}
	}
	port := portOf(cluster, name)
	return corev1.Container{
		Name:  "postgres",
		Image: r.Image,
		Env:   []corev1.EnvVar{field("POD_UID", "metadata.uid"), field("POD_IP", "status.podIP")},
		Args: []string{
			"--cluster=" + cluster.Name, "--namespace=" + cluster.Namespace, "--name=" + name, "--uid=$(POD_UID)",
			"--address=$(POD_IP)", fmt.Sprintf("--port=%d", port), fmt.Sprintf("--status-port=%d", port+1),
			"--data=/data", "--password-file=/password/" + corev1.BasicAuthPasswordKey,
		},
		Ports: []corev1.ContainerPort{
			{Name: postgresPort, ContainerPort: port},
			{Name: statusPort, ContainerPort: port + 1},
		},
		ReadinessProbe: &corev1.Probe{
			ProbeHandler:     corev1.ProbeHandler{HTTPGet: &corev1.HTTPGetAction{Path: "/readyz", Port: intstr.FromString(statusPort)}},
			PeriodSeconds:    1,
			FailureThreshold: 2,
		},
		Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{
			corev1.ResourceCPU:    resource.MustParse("50m"),
			corev1.ResourceMemory: resource.MustParse("64Mi"),
		}},
		SecurityContext: &corev1.SecurityContext{
			AllowPrivilegeEscalation: new(false),
			ReadOnlyRootFilesystem:   new(true),
			Capabilities:             &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}},
		},
		VolumeMounts: []corev1.VolumeMount{
			{Name: dataVolume, MountPath: "/data"},
			{Name: secretVolume, MountPath: "/password", ReadOnly: true},
			{Name: tempVolume, MountPath: "/tmp"},
		},
	}
}

// portOf is where a member's PostgreSQL listens; its agent takes the next port. On some machines
// all pods of the lab share one address, so no two members have the same, and two clusters
// hardly ever.
func portOf(cluster *postgres.PostgresCluster, member string) int32 {
	hash := fnv.New32a()
	hash.Write([]byte(cluster.Namespace + "/" + cluster.Name))
	port := 20000 + 2*(maxSize+1)*int32(hash.Sum32()%600)
	for number := 1; plan.MemberName(cluster, number) != member && number <= maxSize; number++ {
		port += 2
	}
	return port
}

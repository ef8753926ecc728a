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
	ourContainer = "postgres"
	postgresPort = "postgres"
	statusPort   = "status"
	dataVolume   = "data"
	backupVolume = "backup"
	sourceVolume = "source"
	secretVolume = "secrets"
	tempVolume   = "tmp"
)

// secretsFlag is where the agent finds the passwords and certificates.
const secretsFlag = "--secrets=/secrets"

// postgresUser is the user and the group of the image.
const postgresUser = 26

// maxSize is the largest size of a cluster, so the highest number of a member.
const maxSize = 7

// objectMeta is that of what belongs to a cluster and goes with it.
func objectMeta(cluster *postgres.PostgresCluster, name string) metav1.ObjectMeta {
	meta := named(cluster, name)
	meta.Labels = map[string]string{plan.SelectorLabel: cluster.Name}
	meta.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(cluster, postgres.SchemeGroupVersion.WithKind("PostgresCluster"))}
	return meta
}

// named is where an object is to be read.
func named(cluster *postgres.PostgresCluster, name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Namespace: cluster.Namespace, Name: name}
}

// newPod is one run of a member. It does not restart: its UID stands for one process. Its
// finalizer keeps it until the operator has seen that this process has ended.
func (r *Reconciler) newPod(cluster *postgres.PostgresCluster, name string) *corev1.Pod {
	pod := &corev1.Pod{ObjectMeta: objectMeta(cluster, name)}
	pod.Finalizers = []string{finalizer}
	pod.Spec = podSpec(cluster, r.newContainer(cluster, name))
	pod.Spec.ServiceAccountName = sharedName(cluster)
	pod.Spec.Volumes = append(pod.Spec.Volumes, claimed(dataVolume, name))
	pod.Spec.Affinity = &corev1.Affinity{PodAntiAffinity: apart(cluster)}
	addBackup(pod, cluster)
	return pod
}

// claimed is a disk, as a volume of a pod.
func claimed(volume, disk string) corev1.Volume {
	return corev1.Volume{Name: volume, VolumeSource: corev1.VolumeSource{PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: disk}}}
}

// apart keeps the members of a cluster on different nodes: where there is room, or, if the spec asks
// for that, in any case.
func apart(cluster *postgres.PostgresCluster) *corev1.PodAntiAffinity {
	term := corev1.PodAffinityTerm{
		LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{plan.SelectorLabel: cluster.Name}},
		TopologyKey:   corev1.LabelHostname,
	}
	if cluster.Spec.AntiAffinity {
		return &corev1.PodAntiAffinity{RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{term}}
	}
	return &corev1.PodAntiAffinity{PreferredDuringSchedulingIgnoredDuringExecution: []corev1.WeightedPodAffinityTerm{{Weight: 100, PodAffinityTerm: term}}}
}

// podSpec is what all pods of a cluster have: one container, which runs once.
func podSpec(cluster *postgres.PostgresCluster, container corev1.Container) corev1.PodSpec {
	return corev1.PodSpec{
		RestartPolicy:                 corev1.RestartPolicyNever,
		TerminationGracePeriodSeconds: new(int64(5)),
		NodeSelector:                  cluster.Spec.NodeSelector,
		SecurityContext: &corev1.PodSecurityContext{
			RunAsNonRoot:   new(true),
			RunAsUser:      new(int64(postgresUser)),
			RunAsGroup:     new(int64(postgresUser)),
			FSGroup:        new(int64(postgresUser)),
			SeccompProfile: &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault},
			// At each mount, the default would walk through all files, and open the database to the group.
			FSGroupChangePolicy: new(corev1.FSGroupChangeOnRootMismatch),
		},
		Containers: []corev1.Container{container},
		Volumes: []corev1.Volume{
			{Name: secretVolume, VolumeSource: corev1.VolumeSource{Projected: secretFiles(cluster)}},
			{Name: tempVolume, VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}},
		},
	}
}

// secretFiles are the passwords and certificates, as an agent reads them. It is one volume, so the
// kubelet replaces all of them at once. One of the two slots is empty at first.
func secretFiles(cluster *postgres.PostgresCluster) *corev1.ProjectedVolumeSource {
	files := &corev1.ProjectedVolumeSource{DefaultMode: new(int32(0o440))}
	secret := func(name string, optional bool, items ...corev1.KeyToPath) {
		files.Sources = append(files.Sources, corev1.VolumeProjection{Secret: &corev1.SecretProjection{
			LocalObjectReference: corev1.LocalObjectReference{Name: name}, Items: items, Optional: &optional,
		}})
	}
	for _, role := range roles {
		secret(plan.SecretOf(cluster, role), false, corev1.KeyToPath{Key: corev1.BasicAuthPasswordKey, Path: role + "/password"})
	}
	for slot := 1; slot <= 2; slot++ {
		secret(slotName(cluster, slot), true,
			corev1.KeyToPath{Key: corev1.TLSCertKey, Path: fmt.Sprintf("tls/%d.crt", slot)},
			corev1.KeyToPath{Key: corev1.TLSPrivateKeyKey, Path: fmt.Sprintf("tls/%d.key", slot)})
	}
	files.Sources = append(files.Sources, corev1.VolumeProjection{ConfigMap: &corev1.ConfigMapProjection{
		LocalObjectReference: corev1.LocalObjectReference{Name: bundleName(cluster)}, Items: []corev1.KeyToPath{{Key: bundleKey, Path: bundleKey}},
	}})
	return files
}

func (r *Reconciler) newContainer(cluster *postgres.PostgresCluster, name string) corev1.Container {
	field := func(variable, path string) corev1.EnvVar {
		return corev1.EnvVar{Name: variable, ValueFrom: &corev1.EnvVarSource{FieldRef: &corev1.ObjectFieldSelector{FieldPath: path}}}
	}
	port := portOf(cluster, name)
	c := containerOf(r.Image,
		"--cluster="+cluster.Name, "--namespace="+cluster.Namespace, "--name="+name, "--uid=$(POD_UID)",
		"--address=$(POD_IP)", fmt.Sprintf("--port=%d", port), fmt.Sprintf("--status-port=%d", port+1),
		"--data=/data", secretsFlag)
	c.Env = []corev1.EnvVar{field("POD_UID", "metadata.uid"), field("POD_IP", "status.podIP")}
	c.Ports = []corev1.ContainerPort{
		{Name: postgresPort, ContainerPort: port},
		{Name: statusPort, ContainerPort: port + 1},
	}
	c.ReadinessProbe = &corev1.Probe{
		ProbeHandler:     corev1.ProbeHandler{HTTPGet: &corev1.HTTPGetAction{Path: "/readyz", Port: intstr.FromString(statusPort)}},
		PeriodSeconds:    1,
		FailureThreshold: 2,
	}
	c.VolumeMounts = append(c.VolumeMounts, corev1.VolumeMount{Name: dataVolume, MountPath: "/data"})
	return c
}

// containerOf is a container that runs the agent.
func containerOf(image string, args ...string) corev1.Container {
	return corev1.Container{
		Name:  ourContainer,
		Image: image,
		Args:  args,
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
			{Name: secretVolume, MountPath: "/secrets", ReadOnly: true},
			{Name: tempVolume, MountPath: "/tmp"},
		},
	}
}

// oursIn is the container of a pod that we asked for. A webhook may have put others before it.
func oursIn(pod *corev1.Pod) (ours corev1.Container) {
	for _, c := range pod.Spec.Containers {
		if c.Name == ourContainer {
			ours = c
		}
	}
	return ours
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

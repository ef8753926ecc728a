package main

import corev1 "k8s.io/api/core/v1"

// setLamp changes a pod to one that prints a flash every second. All else stays: the API server has
// filled in defaults, and to take them away would be a change each time.
func setLamp(pod *corev1.PodSpec, flash string) {
	pod.SecurityContext = &corev1.PodSecurityContext{
		RunAsNonRoot:   new(true),
		RunAsUser:      new(int64(65534)), // nobody
		SeccompProfile: &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault},
	}
	if len(pod.Containers) != 1 {
		pod.Containers = make([]corev1.Container, 1)
	}
	lamp := &pod.Containers[0]
	lamp.Name = "lamp"
	lamp.Image = "busybox"
	lamp.Command = []string{"sh", "-c", `trap exit TERM; while echo "$FLASH"; do sleep 1 & wait; done`}
	lamp.Env = []corev1.EnvVar{{Name: "FLASH", Value: flash}}
	lamp.SecurityContext = &corev1.SecurityContext{
		AllowPrivilegeEscalation: new(false),
		Capabilities:             &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}},
	}
}

package pods

import (
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	corev1 "k8s.io/api/core/v1"
)

func TestVolumesEnvironmentAndDownwardAPI(t *testing.T) {
	ns := newNamespace(t)
	lab.Kubectl(t, "create", "configmap", "settings", "-n", ns, "--from-literal=color=blue")
	lab.Kubectl(t, "create", "secret", "generic", "keys", "-n", ns, "--from-literal=password=hunter2")
	createPod(t, ns, "reader", `
restartPolicy: Never
containers:
- name: main
  image: busybox
  command: [sh, -c, 'cd "$LAB_ROOT/"; cat etc/settings/color; echo; cat etc/keys/password; echo; cat all/color all/name; echo; cat info/labels; echo; cat one/color; echo; echo $COLOR $NODE $POD_NAME; mkdir -p scratch/deep && echo scratch works']
  env:
  - {name: COLOR, valueFrom: {configMapKeyRef: {name: settings, key: color}}}
  - {name: NODE, valueFrom: {fieldRef: {fieldPath: spec.nodeName}}}
  - {name: POD_NAME, valueFrom: {fieldRef: {fieldPath: metadata.name}}}
  volumeMounts:
  - {name: settings, mountPath: /etc/settings, readOnly: true}
  - {name: keys, mountPath: /etc/keys}
  - {name: all, mountPath: /all}
  - {name: info, mountPath: /info}
  - {name: scratch, mountPath: /scratch}
  - {name: settings, mountPath: /one/color, subPath: color}
volumes:
- {name: settings, configMap: {name: settings}}
- {name: keys, secret: {secretName: keys}}
- {name: all, projected: {sources: [{configMap: {name: settings}}, {downwardAPI: {items: [{path: name, fieldRef: {fieldPath: metadata.name}}]}}]}}
- {name: info, downwardAPI: {items: [{path: labels, fieldRef: {fieldPath: metadata.labels}}]}}
- {name: scratch, emptyDir: {}}`)
	expectPhase(t, ns, "reader", corev1.PodSucceeded)
	expectLog(t, ns, "reader", "blue\nhunter2\nbluereader\napp=\"reader\"\nblue\nblue lab-node reader\nscratch works\n")
}

func TestServiceAccountTokenWorksFromInside(t *testing.T) {
	ns := newNamespace(t)
	createPod(t, ns, "caller", `
restartPolicy: Never
containers: [{name: main, image: "testserver:v1", args: [-in-cluster]}]`)
	expectPhase(t, ns, "caller", corev1.PodSucceeded)
	expectLog(t, ns, "caller", "200 OK", `"gitVersion": "v1.`)
}

// Where the kernel allows no view of its own, a container finds its volumes
// under $LAB_ROOT, and what needs a view is left out, as LIMITS.md says.
func TestWhatNeedsAView(t *testing.T) {
	ns := newNamespace(t)
	lab.Kubectl(t, "create", "configmap", "settings", "-n", ns, "--from-literal=color=blue")
	createPod(t, ns, "somebody", `
restartPolicy: Never
securityContext: {runAsNonRoot: true, runAsUser: 1234, seccompProfile: {type: RuntimeDefault}}
containers:
- name: main
  image: busybox
  command: [sh, -c, 'id -u; cat /etc/settings/color; (echo x > /etc/settings/color) 2> /dev/null || echo read only; echo "prefix $LAB_ROOT."']
  securityContext: {allowPrivilegeEscalation: false, capabilities: {drop: [ALL]}}
  volumeMounts: [{name: settings, mountPath: /etc/settings, readOnly: true}]
volumes: [{name: settings, configMap: {name: settings}}]`)
	expectPhase(t, ns, "somebody", corev1.PodSucceeded)
	log := lab.Kubectl(t, "logs", "somebody", "-n", ns)
	if !strings.Contains(log, "prefix .") {
		assert.Contains(t, log, strconv.Itoa(os.Geteuid())+"\n", "it runs as this user")
		return
	}
	assert.Equal(t, "1234\nblueread only\nprefix .\n", log)
}

func TestRunAsNonRoot(t *testing.T) {
	ns := newNamespace(t)
	createPod(t, ns, "root", `
restartPolicy: Never
securityContext: {runAsNonRoot: true}
containers: [{name: main, image: busybox, command: [id, -u]}]`)
	expectEvent(t, ns, "root", "Failed", "container has runAsNonRoot and image will run as root")
}

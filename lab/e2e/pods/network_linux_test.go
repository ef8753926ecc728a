package pods

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// On macOS all pods share one address.
func TestTwoPodsListenOnTheSamePort(t *testing.T) {
	ns := newNamespace(t)
	for _, name := range []string{"one", "two"} {
		createPod(t, ns, name, `
terminationGracePeriodSeconds: 1
containers:
- name: main
  image: testserver:v1
  readinessProbe: {httpGet: {path: /, port: 8080}, periodSeconds: 1}`)
	}
	one, two := expectReady(t, ns, "one"), expectReady(t, ns, "two")
	assert.NotEqual(t, one.Status.PodIP, two.Status.PodIP)
	assert.Equal(t, "one\n", get(t, one.Status.PodIP, 8080, "/"))
	assert.Equal(t, "two\n", get(t, two.Status.PodIP, 8080, "/"))
}

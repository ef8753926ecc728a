package e2e

import (
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
)

// outside is what a cluster has outside of the API.
type outside struct {
	processes processList // the agent of each member, and its PostgreSQL
	addresses []string    // where they listen
	nodePorts []int32
}

// outside finds the processes and ports of a cluster that has members.
func (e *env) outside() outside {
	e.Helper()
	var found outside
	all, err := e.processes()
	require.NoError(e, err)
	isAgent := func(p process) bool {
		return strings.Contains(p.line, "--uid=") && strings.Contains(p.line, "--namespace="+e.namespace+" ")
	}
	for _, p := range all {
		child := slices.ContainsFunc(all, func(parent process) bool { return parent.pid == p.parent && isAgent(parent) })
		if isAgent(p) || child {
			found.processes = append(found.processes, p)
		}
	}
	var pods corev1.PodList
	require.NoError(e, e.list(e.Context(), &pods))
	for _, pod := range pods.Items {
		for _, port := range pod.Spec.Containers[0].Ports {
			found.addresses = append(found.addresses, net.JoinHostPort(pod.Status.PodIP, strconv.Itoa(int(port.ContainerPort))))
		}
	}
	var services corev1.ServiceList
	require.NoError(e, e.list(e.Context(), &services))
	for _, service := range services.Items {
		found.nodePorts = append(found.nodePorts, service.Spec.Ports[0].NodePort)
	}
	require.GreaterOrEqual(e, len(found.processes), 2, "an agent and its PostgreSQL")
	require.True(e, slices.ContainsFunc(found.addresses, listens), "%v take no connections", found.addresses)
	return found
}

func (o outside) listening() []string {
	addresses := slices.Clone(o.addresses)
	for _, port := range o.nodePorts {
		addresses = append(addresses, net.JoinHostPort("127.0.0.1", strconv.Itoa(int(port))))
	}
	return addresses
}

func listens(address string) bool {
	conn, err := net.DialTimeout("tcp", address, time.Second)
	if err == nil {
		conn.Close()
	}
	return err == nil
}

// areGone says what is left of it. Another test's Service may have got a node port of it.
func (e *env) areGone(before outside) error {
	now, err := e.processes()
	if err != nil {
		return err
	}
	for _, p := range before.processes {
		if slices.Contains(now, p) {
			return fmt.Errorf("a process is left: %s", p.line)
		}
	}
	var services corev1.ServiceList
	if err := e.client.List(e.Context(), &services); err != nil {
		return err
	}
	for _, service := range services.Items {
		for _, port := range service.Spec.Ports {
			before.nodePorts = slices.DeleteFunc(before.nodePorts, func(old int32) bool { return old == port.NodePort })
		}
	}
	for _, address := range before.listening() {
		if listens(address) {
			return fmt.Errorf("%s still takes connections", address)
		}
	}
	return nil
}

package faults

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"example.com/hacking-a-controller/lab/internal/labtest"
	"example.com/hacking-a-controller/lab/internal/settings"
)

func settingsOf(t *testing.T, lab *labtest.Lab) settings.Settings {
	t.Helper()
	s, err := settings.Load(layoutOf(t, lab).Settings())
	require.NoError(t, err)
	return s
}

// upAtOnce starts labs, and returns what each has printed.
func upAtOnce(t *testing.T, labs []*labtest.Lab) []string {
	t.Helper()
	printed := make([]string, len(labs))
	var all sync.WaitGroup
	for i, lab := range labs {
		all.Go(func() {
			var err error
			printed[i], err = lab.Command(t.Context(), "up")
			assert.NoError(t, err, printed[i])
		})
	}
	all.Wait()
	return printed
}

// expectNothingInCommon compares the ports and addresses of labs that run.
func expectNothingInCommon(t *testing.T, labs []*labtest.Lab) {
	t.Helper()
	owner := map[string]int{}
	for i, lab := range labs {
		s := settingsOf(t, lab)
		has := []string{"node ports " + s.NodePorts}
		for _, port := range s.Ports {
			has = append(has, fmt.Sprintf("port %d", port))
		}
		if !s.PodCIDR.IsSingleIP() { // on macOS, all pods share one address
			has = append(has, "addresses "+s.PodCIDR.String())
		}
		for _, what := range has {
			other, taken := owner[what]
			assert.False(t, taken, "labs %d and %d both have %s", other, i, what)
			owner[what] = i
		}
	}
}

// TestSixLabsAtOnce runs in order: each subtest goes on with the labs of the one before it.
func TestSixLabsAtOnce(t *testing.T) {
	var labs []*labtest.Lab
	for range 6 {
		labs = append(labs, newLab(t))
	}
	upAtOnce(t, labs)
	if t.Failed() {
		return
	}
	one, two := labs[0], labs[1]
	t.Run("have nothing in common", func(t *testing.T) {
		expectNothingInCommon(t, labs)
		require.NoError(t, createConfigMap(t.Context(), t, one, "in-one"))
		assert.NotContains(t, two.Kubectl(t, "get", "configmaps", "-o", "name"), "in-one")
	})
	t.Run("each have a pod that listens on the same port", func(t *testing.T) {
		if settingsOf(t, one).PodCIDR.IsSingleIP() {
			return // on macOS, all pods share one address
		}
		for _, lab := range labs {
			createClaim(t, lab)
			expectNodePort(t, lab)
		}
	})
	t.Run("go on when another stops", func(t *testing.T) {
		for _, lab := range labs[2:] {
			lab.Run(t, "reset")
		}
		two.Run(t, "down")
		expectHealthy(t, one)
	})
	t.Run("give way to what runs", func(t *testing.T) {
		// As if two had been chosen for while one was down.
		content, err := os.ReadFile(layoutOf(t, one).Settings())
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(layoutOf(t, two).Settings(), content, 0o600))
		taken := settingsOf(t, one)
		printed := two.Run(t, "up")
		expectNothingInCommon(t, labs[:2])
		assert.Contains(t, printed, "port "+strconv.Itoa(taken.Ports[settings.APIServer])+" is taken by another program")
		assert.Contains(t, printed, "the node ports "+taken.NodePorts+" are another lab's")
		if !taken.PodCIDR.IsSingleIP() {
			assert.Contains(t, printed, "the pods' addresses "+taken.PodCIDR.String()+" are another lab's")
		}
		// Its pod starts again, with another address.
		two.Kubectl(t, "wait", "--for=condition=Ready", "pod/server", labtest.TimeoutFlag)
		labtest.Eventually(t, "its address is one of the new ones", func(ctx context.Context) error {
			text, err := two.Command(ctx, "kubectl", "get", "pod", "server", "-o", "jsonpath={.status.podIP}")
			if err != nil {
				return err
			}
			if ip, err := netip.ParseAddr(text); err != nil || !settingsOf(t, two).PodCIDR.Contains(ip) {
				return fmt.Errorf("it is %q", text)
			}
			return nil
		})
		expectPodRuns(t, two, "after-moving")
		two.Kubectl(t, "expose", "pod", "server", "--name=new", "--type=NodePort", "--port=18093")
		var first, last, port int
		_, err = fmt.Sscanf(settingsOf(t, two).NodePorts, "%d-%d", &first, &last)
		require.NoError(t, err)
		port, err = strconv.Atoi(two.Kubectl(t, "get", "service", "new", "-o", "jsonpath={.spec.ports[0].nodePort}"))
		require.NoError(t, err)
		assert.True(t, first <= port && port <= last, "%d is not one of %d-%d", port, first, last)

		two.Run(t, "reset")
		expectServed(t, one)
	})
}

// takeOver kills a component, and listens at its address before it does so again.
func takeOver(t *testing.T, lab *labtest.Lab, component, address string) (thief net.Listener) {
	t.Helper()
	labtest.Eventually(t, "the address of "+component+" is taken", func(context.Context) (err error) {
		if pid := state(t, lab).Components[component].PID; pid != 0 {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
		thief, err = net.Listen("tcp4", address)
		return err
	})
	return thief
}

// A program that listens where a component did is named, and the next start avoids it.
func TestAPortThatAProgramTakesWhileTheLabRuns(t *testing.T) {
	lab := startLab(t)
	address := settingsOf(t, lab).Address(settings.Scheduler)
	thief := takeOver(t, lab, settings.Scheduler, address)
	defer thief.Close()
	labtest.Eventually(t, "the status says so", func(ctx context.Context) error {
		out, err := lab.Command(ctx, "status")
		_, port, _ := net.SplitHostPort(address)
		if err == nil || !strings.Contains(out, "its port "+port+" is taken by") {
			return errors.New(out)
		}
		return nil
	})
	assert.Contains(t, lab.Run(t, "logs", "supervisor"), "(to choose other ports: lab down, then lab up)")
	lab.Run(t, "down")
	assert.Contains(t, lab.Run(t, "up"), "kube-scheduler moves to")
	expectHealthy(t, lab)
}

package main

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/klog/v2"
	"k8s.io/kubernetes/cmd/kube-scheduler/app/options"
	"k8s.io/kubernetes/pkg/scheduler/apis/config"
	"k8s.io/kubernetes/pkg/scheduler/apis/config/validation"

	"example.com/hacking-a-controller/06-shipping/controlplane/scheduler/spreadstarts"
)

func TestConfiguration(t *testing.T) {
	c, err := options.LoadConfigFromFile(klog.Background(), "config.yaml")
	require.NoError(t, err)
	require.NoError(t, validation.ValidateKubeSchedulerConfiguration(c))
	assert.Equal(t, "/etc/kubernetes/scheduler.conf", c.ClientConnection.Kubeconfig)
	assert.True(t, c.LeaderElection.LeaderElect)

	require.Len(t, c.Profiles, 2)
	stock, own := c.Profiles[0], c.Profiles[1]
	assert.Equal(t, "default-scheduler", stock.SchedulerName)
	assert.Equal(t, "spread-starts", own.SchedulerName)
	ownPlugins := own.Plugins.MultiPoint.Enabled
	last := len(ownPlugins) - 1
	assert.Equal(t, stock.Plugins.MultiPoint.Enabled, ownPlugins[:last])
	assert.Equal(t, spreadstarts.Name, ownPlugins[last].Name)

	// One point of ours is worth more than all that the others can give.
	assert.Greater(t, ownPlugins[last].Weight, 100*sumOfWeights(ownPlugins[:last]))

	for _, pc := range own.PluginConfig {
		if pc.Name == spreadstarts.Name {
			_, err := spreadstarts.New(t.Context(), pc.Args, nil)
			require.NoError(t, err)
			return
		}
	}
	assert.Fail(t, "the arguments are missing")
}

// sumOfWeights counts 1 where there is no weight, as the scheduler does, and that also for
// plug-ins that give no points.
func sumOfWeights(plugins []config.Plugin) (sum int32) {
	for _, plugin := range plugins {
		sum += max(plugin.Weight, 1)
	}
	return sum
}

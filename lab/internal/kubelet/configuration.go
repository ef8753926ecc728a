package kubelet

import (
	"fmt"
	"path/filepath"
	"time"

	"k8s.io/kubernetes/cmd/kubelet/app/options"
	"k8s.io/kubernetes/pkg/kubelet"
	kubeletconfig "k8s.io/kubernetes/pkg/kubelet/apis/config"

	"example.com/hacking-a-controller/lab/internal/component"
	"example.com/hacking-a-controller/lab/internal/layout"
	"example.com/hacking-a-controller/lab/internal/pki"
	"example.com/hacking-a-controller/lab/internal/settings"
)

// configuration is what /var/lib/kubelet/config.yaml and the flags are on a
// node: the defaults, and below what differs from them and why.
func configuration(l layout.Layout, s settings.Settings) (*options.KubeletServer, error) {
	flags := options.NewKubeletFlags()
	root, err := l.LinkKubelet()
	if err != nil {
		return nil, err
	}
	flags.RootDirectory = root
	flags.CertDirectory = l.PKI()
	flags.HostnameOverride = component.NodeName
	// cluster.RunCloud gives the node its address.
	flags.CloudProvider = "external"
	// Each minute the kubelet removes what does not run, but for the newest of each. One that was
	// created and is not yet started is the newest, and then the one before it goes, with the log
	// that kubectl logs --previous shows. On a busy machine a start takes long enough for that.
	flags.MinimumGCAge.Duration = 10 * time.Second

	c, err := options.NewKubeletConfiguration()
	if err != nil {
		return nil, fmt.Errorf("making the kubelet's configuration: %w", err)
	}
	c.ProviderID = "lab://" + component.NodeName
	// A path below the folder in which the supervisor starts the kubelet, since the kubelet takes it for a
	// pattern: with a [ in it, it would find no file.
	c.StaticPodPath = filepath.Base(l.StaticPods())
	c.PodLogsDir = l.PodLogs()
	kubelet.ContainerLogsDir = l.PodLogs() // not /var/log/containers, which is root's
	c.VolumePluginDir = l.Join("kubelet", "volume-plugins")
	c.FileCheckFrequency.Duration = time.Second

	listen(c, l, s)
	leaveTheMachineAlone(c)
	return &options.KubeletServer{KubeletFlags: *flags, KubeletConfiguration: *c}, nil
}

// listen: on loopback, with a certificate, for callers that the API server
// knows and allows.
func listen(c *kubeletconfig.KubeletConfiguration, l layout.Layout, s settings.Settings) {
	c.Address = "127.0.0.1"
	c.Port = int32(s.Ports[settings.Kubelet])
	c.ReadOnlyPort = 0
	c.TLSCertFile = l.Cert(pki.Kubelet)
	c.TLSPrivateKeyFile = l.Key(pki.Kubelet)
	c.Authentication.Anonymous.Enabled = false
	c.Authentication.Webhook.Enabled = true
	c.Authentication.X509.ClientCAFile = l.Cert(pki.CA)
	c.Authorization.Mode = kubeletconfig.KubeletAuthorizationModeWebhook
}

// leaveTheMachineAlone turns off what a kubelet does to a machine of its own.
func leaveTheMachineAlone(c *kubeletconfig.KubeletConfiguration) {
	c.MaxOpenFiles = openFiles()
	c.CgroupsPerQOS = false
	c.EnforceNodeAllocatable = nil
	c.FailSwapOn = false
	c.MakeIPTablesUtilChains = false
	c.EnableControllerAttachDetach = false
	// No pod is evicted and no image is removed because a laptop's disk is full.
	c.EvictionHard = nil
	c.ImageGCHighThresholdPercent = 100
	c.LocalStorageCapacityIsolation = false
	// An image is never pulled over a network, so there is no need to be slow.
	c.RegistryPullQPS = 0
	c.SerializeImagePulls = false
	// There is no DNS. Naming a server keeps the kubelet from warning about each
	// pod that asks for one, which is the default; the runtime ignores it.
	c.ClusterDNS = []string{"10.96.0.10"}
	c.ResolverConfig = ""
}

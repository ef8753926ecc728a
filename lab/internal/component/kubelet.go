package component

import (
	"example.com/hacking-a-controller/lab/internal/layout"
	"example.com/hacking-a-controller/lab/internal/settings"
)

// kubelet takes no flags of the real kubelet: what the lab's one is made of is
// written down in package kubelet.
func kubelet(l layout.Layout, s settings.Settings) Component {
	waitFor := serving(s)
	if s.StaticPods { // they are components whose rights come from roles: too early, they lose seconds
		waitFor = rolesExist(s)
	}
	return Component{
		Name:    settings.Kubelet,
		Listens: []int{s.Ports[settings.Kubelet], s.Ports[settings.KubeletHealth]},
		Health:  "http://" + s.Address(settings.KubeletHealth) + "/healthz",
		WaitFor: waitFor,
		Args:    []string{"--dir=" + l.Root()},
		Last:    []string{"--dir=" + l.Root(), "--end-pods"},
	}
}

package runtime

import (
	"fmt"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"

	"example.com/hacking-a-controller/lab/internal/image"
	"example.com/hacking-a-controller/lab/internal/shim"
)

// user returns who the container is to run as. Only root may really change the
// user, in a mount namespace; in a user namespace it is mapped to the person who runs the lab;
// without either, it is ignored. Supplemental groups take root.
func (s *Service) user(config *runtimeapi.ContainerConfig, img image.Image) (*shim.User, error) {
	security := config.GetLinux().GetSecurityContext()
	if security == nil {
		return nil, nil // no kubelet on Linux leaves it out
	}
	name := security.RunAsUsername
	if security.RunAsUser != nil {
		name = strconv.FormatInt(security.RunAsUser.Value, 10)
	}
	if name == "" {
		name = "0"
	}
	uid, gid, err := img.Account(name)
	if err != nil {
		return nil, err
	}
	if security.RunAsGroup != nil {
		gid = uint32(security.RunAsGroup.Value)
	} else if _, group, ok := strings.Cut(img.Config.User, ":"); ok && security.RunAsUser == nil {
		number, err := strconv.ParseUint(group, 10, 32)
		if err != nil {
			return nil, fmt.Errorf("the image runs as group %q (use runAsGroup with a number)", group)
		}
		gid = uint32(number)
	}
	user := &shim.User{UID: uid, GID: gid}
	for _, g := range security.SupplementalGroups {
		user.Groups = append(user.Groups, uint32(g))
	}
	return user, nil
}

// stopSignal returns the name of the signal that asks a container to end.
func stopSignal(config *runtimeapi.ContainerConfig, img image.Image) string {
	if config.StopSignal != runtimeapi.Signal_SIGNAL_RUNTIME_DEFAULT {
		return strings.TrimPrefix(config.StopSignal.String(), "SIGNAL_")
	}
	return img.Config.StopSignal
}

// signalNumber understands SIGTERM, TERM and 15.
func signalNumber(name string) int {
	if n, err := strconv.Atoi(name); err == nil && n > 0 {
		return n
	}
	if sig := unix.SignalNum("SIG" + strings.TrimPrefix(strings.ToUpper(name), "SIG")); sig != 0 {
		return int(sig)
	}
	return int(unix.SIGTERM)
}

package runtime

import (
	"net"
	"os"
	"slices"
	"strings"

	"example.com/hacking-a-controller/lab/internal/image"
)

// defaultPath is the PATH of an image that has none.
const defaultPath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

// markerEnv is in the environment of each process of a container, and so tells
// which those are.
const markerEnv = "LAB_CONTAINER_ID"

// MarkEnv is the only variable of the user's shell that containers get, if it is set. A script
// that starts a lab uses it to find every process that the lab has started.
const MarkEnv = "LAB_MARK"

// environment is a list of variables in which each name occurs once.
type environment []string

// set gives a variable a value, in place of the one it had.
func (e *environment) set(name, value string) {
	*e = slices.DeleteFunc(*e, func(pair string) bool { return strings.HasPrefix(pair, name+"=") })
	*e = append(*e, name+"="+value)
}

// env returns the environment of a container: the runtime's defaults, then the
// image's, then the pod's, each over the one before; last what only the lab knows.
func (s *Service) env(c *container, b *sandbox, img image.Image) []string {
	var e environment
	e.set("PATH", defaultPath)
	e.set("HOSTNAME", b.config.Hostname)
	e.set("HOME", home(c, img))
	e.set("POD_IP", s.addressOf(b.snapshot()))
	if c.config.Tty {
		e.set("TERM", "xterm")
	}
	for _, pair := range img.Config.Env {
		name, value, _ := strings.Cut(pair, "=")
		e.set(name, value)
	}
	for _, v := range c.config.Envs {
		e.set(v.Key, string(v.Value))
	}
	if host, port, err := net.SplitHostPort(s.options.APIServer); err == nil {
		e.set("KUBERNETES_SERVICE_HOST", host)
		e.set("KUBERNETES_SERVICE_PORT", port)
		e.set("KUBERNETES_SERVICE_PORT_HTTPS", port)
	}
	e.set(markerEnv, c.record.ID)
	if mark := os.Getenv(MarkEnv); mark != "" {
		e.set(MarkEnv, mark)
	}
	return e
}

// home is a place of the container's own when the files are the host's: the
// home of the person who runs the lab is not the containers' to write to.
func home(c *container, img image.Image) string {
	switch {
	case img.Builtin:
		return "/tmp"
	case c.record.User == nil || c.record.User.UID == 0:
		return "/root"
	default:
		return "/"
	}
}

package standby

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// These are the programs, and the flags of kube-apiserver that differ each time.
const (
	etcd      = "etcd"
	apiServer = "kube-apiserver"
	certDir   = "cert-dir"
)

// flags are those of an API server, and the files of certificates that they name.
type flags struct {
	args  []string
	files map[string][]byte // by their name in the folder
}

// read reads the flags of an API server, which has not started yet.
func read(args []string) (flags, error) {
	f := flags{slices.Clone(args), map[string][]byte{}}
	slices.Sort(f.args)
	entries, err := os.ReadDir(value(args, certDir))
	for _, entry := range entries {
		content, err := os.ReadFile(filepath.Join(value(args, certDir), entry.Name()))
		if err != nil {
			return f, err
		}
		f.files[entry.Name()] = content
	}
	return f, err
}

// in are the same flags for a server in another folder, and with other addresses.
func (f flags) in(dir, port, etcd string) []string {
	var args []string
	for _, arg := range f.args {
		name, value, _ := strings.Cut(strings.TrimPrefix(arg, "--"), "=")
		switch name {
		case "secure-port":
			value = port
		case "etcd-servers":
			value = etcd
		case "service-account-issuer": // it has the port, and nobody connects to it
			value = "https://127.0.0.1/"
		default:
			value = strings.Replace(value, f.dir(), dir, 1)
		}
		args = append(args, "--"+name+"="+value)
	}
	return args
}

func (f flags) dir() string { return value(f.args, certDir) }

// like says whether a server with these flags can stand in for one with others.
func (f flags) like(other flags) bool {
	return slices.Equal(f.in("", "", ""), other.in("", "", ""))
}

// value is that of the first flag with that name.
func value(args []string, name string) string {
	for _, arg := range args {
		if value, ok := strings.CutPrefix(arg, "--"+name+"="); ok {
			return value
		}
	}
	return ""
}

package runtime

import (
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"

	"example.com/hacking-a-controller/lab/internal/jsonfile"
)

// isolationFile is where a Service notes what its containers have for themselves: who looks at a
// lab from outside can't try it out.
const isolationFile = "isolation.json"

type isolationRecord struct {
	Isolation isolation
	// Why there is none.
	Why string `json:",omitempty"`
}

func (s *Service) noteIsolation(found isolation, why error) {
	record := isolationRecord{Isolation: found}
	if why != nil {
		record.Why = why.Error()
		slog.Warn("containers have no isolation", "why", why)
	}
	if err := jsonfile.Write(filepath.Join(s.options.Root, isolationFile), record); err != nil {
		slog.Error("noting the isolation of containers", "err", err)
	}
}

// restrictedUserns is the setting with which Ubuntu lets nobody mount in a user namespace.
const restrictedUserns = "kernel/apparmor_restrict_unprivileged_userns"

// Isolation says how much of its surroundings a container has for itself, by what the newest
// kubelet with this root directory has found.
func Isolation(root string) string {
	var record isolationRecord
	if err := jsonfile.Read(filepath.Join(root, isolationFile), &record); err != nil {
		return fmt.Sprintf("not known (%v)", err)
	}
	switch record.Isolation {
	case mountNamespace:
		return "its own root directory, and the user that the pod asks for (mount namespace)"
	case userNamespace:
		return "its own root directory; the user that the pod asks for is you (user namespace)"
	}
	none := "none: it sees the files of this machine, and has its volumes below $LAB_ROOT"
	if record.Why != "" {
		none += " (" + record.Why + ")"
	}
	if value, _ := os.ReadFile("/proc/sys/" + restrictedUserns); strings.TrimSpace(string(value)) == "1" {
		none += "; to allow user namespaces: sudo sysctl " + strings.ReplaceAll(restrictedUserns, "/", ".") + "=0"
	}
	return none
}

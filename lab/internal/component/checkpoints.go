package component

import (
	"encoding/json"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"

	"example.com/hacking-a-controller/lab/internal/atomicfile"
	"example.com/hacking-a-controller/lab/internal/jsonfile"
	"example.com/hacking-a-controller/lab/internal/layout"
)

// SetAsideBrokenCheckpoints gets the files out of the kubelet's way that it could not
// read: it would panic. They are those in its root directory whose names end in _state;
// with upstream's stub container manager, these hold what each pod was granted.
func SetAsideBrokenCheckpoints(l layout.Layout) error {
	root := l.Kubelet()
	names, err := fs.Glob(os.DirFS(root), "*_state")
	if err != nil {
		return err
	}
	for _, name := range names {
		var anything json.RawMessage
		err := jsonfile.Read(filepath.Join(root, name), &anything)
		sentences, err := atomicfile.SetAsideIfBroken(err, "pods are granted again what they ask for")
		if err != nil {
			return err
		}
		for _, sentence := range sentences {
			slog.Warn(sentence)
		}
	}
	return nil
}

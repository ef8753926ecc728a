// Package pods tests what pods can do in the lab, end to end: kubectl, the API
// server, the scheduler, the kubelet, the runtime and real processes.
//
// All tests share one lab, each in a namespace of its own, side by side.
package pods

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"example.com/hacking-a-controller/lab/internal/labtest"
)

// lab is started once for all tests.
var lab *labtest.Lab

func TestMain(m *testing.M) {
	// The tests wait for the cluster most of the time: more of them than there
	// are cores can do so at once.
	flag.Parse()
	if err := flag.Set("test.parallel", "8"); err != nil {
		panic(err)
	}
	code, err := run(m)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(code)
}

func run(m *testing.M) (code int, err error) {
	if lab, err = labtest.New(); err != nil {
		return 1, err
	}
	defer func() {
		if removeErr := lab.Remove(); err == nil {
			err = removeErr
		}
	}()
	out, err := lab.Command(context.Background(), "up")
	if err != nil {
		return 1, fmt.Errorf("%w\n%s", err, out)
	}
	archive := filepath.Join(filepath.Dir(lab.Dir), "testserver.tar") // which is removed with the lab
	if err := buildImage(archive); err != nil {
		return 1, err
	}
	if _, err := lab.Command(context.Background(), "load", archive); err != nil {
		return 1, err
	}
	return m.Run(), nil
}

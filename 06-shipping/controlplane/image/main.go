// Command image builds a Go program for this machine and packs it as an image that
// `lab load` takes:
//
//	GOWORK=off go -C 06-shipping/controlplane run ./image PACKAGE NAME:TAG FILE.tar
//
// PACKAGE is a program of this module (./scheduler) or of Kubernetes
// (k8s.io/kubernetes/cmd/kube-controller-manager). The program in the image is
// /usr/local/bin/kube-scheduler if the image is registry.example/kube-scheduler:v1.
// Folders and files are relative to 06-shipping/controlplane, as go -C has it. The folder of
// FILE.tar is made if it is not there.
//
// With --kubernetes FOLDER, the program is built from a copy of the module k8s.io/kubernetes,
// in which files were changed. (go build's -overlay would do without a copy, but it refuses to
// replace a file of a downloaded module.) This makes such a copy, of 115 MB:
//
//	cp -R "$(GOWORK=off go -C 06-shipping/controlplane list -m -f '{{.Dir}}' k8s.io/kubernetes)" FOLDER && chmod -R u+w FOLDER
//
// A folder that was not built from before takes minutes the first time: where a package
// lies is part of the key of Go's build cache.
//
// Go compiles with the flags of `make lab`, and this module requires the lab's versions. So what the lab
// consists of is not compiled again.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/google/go-containerregistry/pkg/name"
	"github.com/spf13/pflag"

	"example.com/hacking-a-controller/05-crd-operator/postgres/oci"
)

const usage = "GOWORK=off go -C 06-shipping/controlplane run ./image [--kubernetes FOLDER] PACKAGE NAME:TAG FILE.tar"

func main() {
	os.Exit(run(os.Args[1:], os.Stdout, os.Stderr))
}

func run(args []string, out, errOut io.Writer) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	j, err := parse(args)
	if err == nil {
		err = j.do(ctx, out, errOut)
	}
	switch {
	case errors.Is(err, pflag.ErrHelp):
		fmt.Fprintln(out, "usage:", usage)
		return 0
	case ctx.Err() != nil:
		fmt.Fprintln(errOut, "interrupted; there is no image, and what was compiled so far is kept")
		return 130
	case err != nil:
		fmt.Fprintln(errOut, err)
		return 1
	}
	return 0
}

// A job is what the command line asks for.
type job struct {
	pkg     string
	image   name.Tag
	archive string
	// kubernetes is a folder with a copy of the module k8s.io/kubernetes, if it is set.
	kubernetes string
}

func parse(args []string) (job, error) {
	flags := pflag.NewFlagSet("image", pflag.ContinueOnError)
	flags.Usage = func() {}
	kubernetes := flags.String("kubernetes", "", "a copy of the module k8s.io/kubernetes")
	if err := flags.Parse(args); err != nil {
		return job{}, err
	}
	if flags.NArg() != 3 {
		return job{}, fmt.Errorf("there are %d arguments, not 3: %s", flags.NArg(), usage)
	}
	image, err := name.NewTag(flags.Arg(1))
	if err != nil || !strings.HasSuffix(flags.Arg(1), ":"+image.TagStr()) {
		return job{}, fmt.Errorf("%q names no image; NAME:TAG is, for example, kube-scheduler:v1", flags.Arg(1))
	}
	archive, err := filepath.Abs(flags.Arg(2))
	if err != nil {
		return job{}, err
	}
	return job{pkg: flags.Arg(0), image: image, archive: archive, kubernetes: *kubernetes}, nil
}

// do builds and packs, and prints how long each phase takes.
func (j job) do(ctx context.Context, out, errOut io.Writer) error {
	start := time.Now()
	archive, err := oci.Create(j.archive)
	if err != nil {
		return err
	}
	defer archive.Close()
	b := builder{pkg: j.pkg, output: filepath.Join(archive.Work, path.Base(j.image.RepositoryStr())), errOut: errOut}
	if j.kubernetes != "" {
		if b.modfile, err = replaceKubernetes(ctx, j.kubernetes, archive.Work); err != nil {
			return fmt.Errorf("using %s as Kubernetes: %w", j.kubernetes, err)
		}
	}
	var size int64
	for _, phase := range []struct {
		name string
		do   func(context.Context) error
	}{
		{"compiling", b.compile},
		{"linking", b.link},
		{"packing", func(context.Context) (err error) { size, err = pack(b.output, j.image.String(), archive); return err }},
	} {
		began := time.Now()
		fmt.Fprintln(out, phase.name)
		if err := phase.do(ctx); err != nil {
			return fmt.Errorf("%s %s: %w", phase.name, j.pkg, err)
		}
		fmt.Fprintf(out, "%s took %.1f s\n", phase.name, time.Since(began).Seconds())
	}
	fmt.Fprintf(out, "built %s, %d MB, in %.1f s: lab/bin/lab load %s\n", j.image, size/1e6, time.Since(start).Seconds(), j.archive)
	return nil
}

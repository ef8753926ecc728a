package main

import (
	"cmp"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"strings"
	"time"
)

// archives builds the lab for each platform, packs it into bin/, and writes its digest into
// lab/released.txt.
//
// Anyone who builds it from the same sources with the same Go gets the same bytes, in any folder and on
// any system: -trimpath leaves the machine's paths out, and without cgo no C library is in it. The
// archive is the one program, zipped, and bears no date.
func archives(ctx context.Context, screen *display, start time.Time, platforms []string) error {
	if len(platforms) == 0 {
		platforms = []string{runtime.GOOS + "/" + runtime.GOARCH}
	}
	sources, err := digestOfSources()
	if err != nil {
		return err
	}
	for _, platform := range platforms {
		made := release{platform: platform, sources: sources}
		if err := archive(ctx, screen, start, &made); err != nil {
			return fmt.Errorf("an archive for %s: %w", platform, err)
		}
		screen.Clear()
		screen.Print(fmt.Sprintf("made lab/bin/%s, SHA-256 %s", made.file(), made.archive))
		if err := made.record(); err != nil {
			return err
		}
	}
	return nil
}

// archive builds and packs one, and says what its digest is.
func archive(ctx context.Context, screen *display, start time.Time, made *release) error {
	system, architecture, ok := strings.Cut(made.platform, "/")
	if !ok {
		return fmt.Errorf("%q isn't written as linux/amd64 is", made.platform)
	}
	for name, value := range map[string]string{"GOOS": system, "GOARCH": architecture, "CGO_ENABLED": "0", "GOFLAGS": "-trimpath"} {
		if err := os.Setenv(name, value); err != nil {
			return err
		}
	}
	if _, err := compiled(ctx, screen, start); err != nil {
		return err
	}
	defer os.Remove(unfinished)
	path := "bin/" + made.file()
	if err := pack(unfinished, path); err != nil {
		return err
	}
	var err error
	made.archive, err = digestOf(path)
	return err
}

// pack zips a file.
func pack(from, to string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o644)
	if err != nil {
		return err
	}
	defer out.Close()
	zipped, err := gzip.NewWriterLevel(out, gzip.BestCompression)
	if err != nil {
		return err
	}
	if _, err := io.Copy(zipped, in); err != nil {
		return err
	}
	if err := zipped.Close(); err != nil {
		return err
	}
	return out.Close()
}

// record writes a release into lab/released.txt, in place of an older one for its platform.
func (r release) record() error {
	all, err := released()
	if err != nil {
		return err
	}
	all = slices.DeleteFunc(all, func(old release) bool { return old.platform == r.platform })
	all = append(all, r)
	slices.SortFunc(all, func(a, b release) int { return cmp.Compare(a.platform, b.platform) })
	var text strings.Builder
	text.WriteString(releasedHead)
	for _, one := range all {
		fmt.Fprintf(&text, "%s %s %s\n", one.platform, one.archive, one.sources)
	}
	return os.WriteFile(releasedFile, []byte(text.String()), 0o644)
}

// releasedHead is what stands at the top of lab/released.txt.
const releasedHead = `# The archives of the lab that may be fetched in place of building it: platform, SHA-256 of the archive,
# SHA-256 of the sources. make lab-archives writes this file; see "Fetch the lab instead of compiling it" in README.md.
`

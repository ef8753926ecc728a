// Package report collects, into one archive, what another person needs to see why a lab doesn't
// work. Secrets are taken out of all that it writes.
package report

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"example.com/hacking-a-controller/lab/internal/atomicfile"
)

const (
	// partTimeout bounds the collecting of one part.
	partTimeout = 20 * time.Second
	// logLines is how many lines of each log are enough.
	logLines = 500
	// maxTail is how much of a log is read for them.
	maxTail = 1 << 20
)

// Part is one file of the archive.
type Part struct {
	Name string
	// Collect writes the content. Its error says what is missing of it.
	Collect func(ctx context.Context, out io.Writer) error
}

// Write writes the parts to an archive that only its owner can read. What can't be collected is no
// error: it is what the report is for. It is returned, and is in the archive as missing.txt.
func Write(ctx context.Context, path string, parts []Part) (missing []string, err error) {
	var archive bytes.Buffer
	compressed := gzip.NewWriter(&archive)
	files := tar.NewWriter(compressed)
	for _, p := range parts {
		content, err := p.collect(ctx)
		if err != nil {
			missing = append(missing, p.Name+": "+Redact(err.Error()))
		}
		if err := add(files, p.Name, content); err != nil {
			return nil, err
		}
	}
	err = add(files, "missing.txt", strings.Join(append(missing, ""), "\n"))
	if err = errors.Join(err, files.Close(), compressed.Close()); err != nil {
		return nil, err
	}
	return missing, atomicfile.Write(path, archive.Bytes())
}

func (p Part) collect(ctx context.Context) (string, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, partTimeout, fmt.Errorf("no answer within %s", partTimeout))
	defer cancel()
	var content bytes.Buffer
	err := p.Collect(ctx, &content)
	if err != nil && ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	return Redact(content.String()), err
}

func add(files *tar.Writer, name, content string) error {
	header := &tar.Header{Name: "lab-report/" + name, Mode: 0o600, Size: int64(len(content)), ModTime: time.Now()}
	if err := files.WriteHeader(header); err != nil {
		return err
	}
	_, err := io.WriteString(files, content)
	return err
}

// File is a part that is a file, or its last lines.
func File(name, path string) Part {
	return Part{Name: name, Collect: func(_ context.Context, out io.Writer) error { return tail(path, out) }}
}

func tail(path string, out io.Writer) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return err
	}
	begin := max(0, info.Size()-maxTail)
	data, err := io.ReadAll(io.NewSectionReader(file, begin, maxTail))
	lines := strings.SplitAfter(string(data), "\n")
	if begin > 0 {
		lines = lines[1:] // a part of a line could be a part of a secret
	}
	if lines = lines[max(0, len(lines)-logLines-1):]; err == nil {
		_, err = io.WriteString(out, strings.Join(lines, ""))
	}
	return err
}

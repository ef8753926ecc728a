package image

import (
	"bufio"
	"bytes"
	"compress/bzip2"
	"compress/gzip"
	"fmt"
	"io"

	"github.com/klauspost/compress/zstd"
)

// uncompressed reads what r gives, which may be compressed: what a file is called says little.
func uncompressed(r io.Reader) (io.Reader, error) {
	buffered := bufio.NewReader(r)
	first, _ := buffered.Peek(6)
	is := func(magic string) bool { return bytes.HasPrefix(first, []byte(magic)) }
	switch {
	case is("\x1f\x8b"):
		return gzip.NewReader(buffered)
	case is("\x28\xb5\x2f\xfd"):
		// With one goroutine, nothing has to be closed.
		return zstd.NewReader(buffered, zstd.WithDecoderConcurrency(1))
	case is("BZh"):
		return bzip2.NewReader(buffered), nil
	case is("\xfd7zXZ\x00"):
		return nil, unreadable("xz")
	case is("\x04\x22\x4d\x18"):
		return nil, unreadable("lz4")
	}
	return buffered, nil
}

// unreadable names a compression that is known, and not read.
func unreadable(compression string) error {
	return refusal(fmt.Sprintf("it is compressed with %[1]s, which the lab cannot read (unpack it first: %[1]s -d)", compression))
}

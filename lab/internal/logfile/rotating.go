package logfile

import (
	"io"

	"gopkg.in/natefinch/lumberjack.v2"
)

const (
	// maxSize is the size in megabytes from which a log is set aside.
	maxSize = 20
	// maxOld is how many of those that were set aside are kept.
	maxOld = 1
)

// Rotating returns the log at path, to be appended to. One that has grown large is set
// aside, and the one before it is deleted.
func Rotating(path string) io.WriteCloser {
	return rotating{&lumberjack.Logger{Filename: path, MaxSize: maxSize, MaxBackups: maxOld}}
}

type rotating struct{ *lumberjack.Logger }

// Write never fails: a component must not end because the disk is full and its log
// cannot be written.
func (r rotating) Write(p []byte) (int, error) {
	_, _ = r.Logger.Write(p)
	return len(p), nil
}

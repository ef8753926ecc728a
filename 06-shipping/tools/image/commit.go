package image

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"
)

// errNoClone is for sources that came without their history.
var errNoClone = errors.New("git does not know this commit; say it with --revision, and its time, in seconds since 1970, with SOURCE_DATE_EPOCH")

// commit returns the revision that is checked out, and when it was made. With
// changes that are not committed, the revision says so.
func commit(ctx context.Context, folder string) (revision string, created time.Time, err error) {
	last, err := git(ctx, folder, "log", "-1", "--format=%H %ct")
	if err != nil {
		return "", time.Time{}, err
	}
	revision, seconds, _ := strings.Cut(last, " ")
	if created, err = parseEpoch(seconds); err != nil {
		return "", time.Time{}, err
	}
	changes, err := git(ctx, folder, "status", "--porcelain")
	if changes != "" {
		revision += "-dirty"
	}
	return revision, created, err
}

func git(ctx context.Context, folder string, args ...string) (string, error) {
	command := exec.CommandContext(ctx, "git", args...)
	command.Dir = folder
	out, err := command.Output()
	if exit, failed := errors.AsType[*exec.ExitError](err); failed {
		reason, _, _ := strings.Cut(string(exit.Stderr), "\n")
		return "", fmt.Errorf("%w (%s)", errNoClone, reason)
	}
	if err != nil {
		return "", fmt.Errorf("%w (%w)", errNoClone, err)
	}
	return strings.TrimSpace(string(out)), nil
}

// sourceDate is the time that reproducible builds agree to go by, if it is set.
func sourceDate() (created time.Time, ok bool, err error) {
	text := os.Getenv("SOURCE_DATE_EPOCH")
	if text == "" {
		return time.Time{}, false, nil
	}
	if created, err = parseEpoch(text); err != nil {
		return time.Time{}, false, fmt.Errorf("SOURCE_DATE_EPOCH is %q, which is no number of seconds since 1970; correct or unset it", text)
	}
	return created, true, nil
}

func parseEpoch(text string) (time.Time, error) {
	seconds, err := strconv.ParseUint(text, 10, 33) // tar files go up to 2242
	return time.Unix(int64(seconds), 0).UTC(), err
}

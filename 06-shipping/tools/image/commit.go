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

// askGit fills in the commit and its time, unless --revision and SOURCE_DATE_EPOCH do. With changes that are not
// committed, the revision says so.
func (o *Options) askGit(ctx context.Context) error {
	epoch := os.Getenv("SOURCE_DATE_EPOCH")
	if epoch == "" || o.Revision == "" {
		last, err := git(ctx, "log", "-1", "--format=%H %ct")
		if err != nil {
			return fmt.Errorf("git does not know this commit; say it with --revision, and its time, in seconds since 1970, with SOURCE_DATE_EPOCH (%w)", err)
		}
		changes, err := git(ctx, "status", "--porcelain")
		if err != nil {
			return err
		}
		revision, committed, _ := strings.Cut(last, " ")
		if changes != "" {
			revision += "-dirty"
		}
		if o.Revision == "" {
			o.Revision = revision
		}
		if epoch == "" {
			epoch = committed
		}
	}
	seconds, err := strconv.ParseUint(epoch, 10, 33) // tar files go up to 2242
	if err != nil {
		return fmt.Errorf("SOURCE_DATE_EPOCH is %q, which is no number of seconds since 1970; correct or unset it", epoch)
	}
	o.Created = time.Unix(int64(seconds), 0).UTC()
	return nil
}

// git is what git prints. If it fails, the error is its first complaint.
func git(ctx context.Context, args ...string) (string, error) {
	out, err := exec.CommandContext(ctx, "git", args...).Output()
	if exit, failed := errors.AsType[*exec.ExitError](err); failed {
		reason, _, _ := strings.Cut(string(exit.Stderr), "\n")
		return "", errors.New(reason)
	}
	return strings.TrimSpace(string(out)), err
}

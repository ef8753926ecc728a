package atomicfile

import (
	"io/fs"
	"os"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestExplain(t *testing.T) {
	const hint = ": the disk, or your share of it, is full (free some space, then try again)"
	for name, tc := range map[string]struct {
		err  error
		want string
	}{
		"a full disk":         {syscall.ENOSPC, syscall.ENOSPC.Error() + hint},
		"a full quota":        {syscall.EDQUOT, syscall.EDQUOT.Error() + hint},
		"a full process":      {syscall.EFBIG, syscall.EFBIG.Error() + hint},
		"another file system": {syscall.EROFS, syscall.EROFS.Error()},
		"no folder":           {os.ErrNotExist, "file does not exist"},
	} {
		t.Run(name, func(t *testing.T) {
			err := explain(&fs.PathError{Op: "write", Path: "/x/record.new-123", Err: tc.err})
			require.EqualError(t, err, tc.want)
			require.ErrorIs(t, err, tc.err)
		})
	}
}

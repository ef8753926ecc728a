package member

import "golang.org/x/sys/unix"

// freeSpace is what is left on the file system of a folder, in bytes.
func freeSpace(folder string) (int64, error) {
	var s unix.Statfs_t
	if err := unix.Statfs(folder, &s); err != nil {
		return 0, err
	}
	return int64(s.Bavail) * s.Bsize, nil
}

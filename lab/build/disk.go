package main

import (
	"context"
	"fmt"
	"syscall"
)

// needed is what compiling all of the lab adds to Go's build cache, with room
// for the linker.
const needed = 4 << 30

// lowDisk warns of a disk that may not hold a first build. It returns nothing
// when there is no cause, or when the free space is not known.
func lowDisk(free uint64) string {
	if free == 0 || free >= needed {
		return ""
	}
	return fmt.Sprintf("warning: %.1f GB are free where Go keeps its build cache (go env GOCACHE), the first build needs about %.0f GB", float64(free)/(1<<30), float64(needed)/(1<<30))
}

// freeDisk is how many bytes are free for Go's build cache, 0 if not known.
func freeDisk(ctx context.Context) uint64 {
	cache, err := goOutput(ctx, "env", "GOCACHE")
	if err != nil {
		return 0
	}
	var stat syscall.Statfs_t
	if err := syscall.Statfs(cache, &stat); err != nil {
		return 0
	}
	return stat.Bavail * uint64(stat.Bsize)
}

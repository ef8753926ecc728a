package testcluster

import "runtime"

// Heap is how many bytes are in use when all garbage has been collected.
func Heap() int64 {
	runtime.GC()
	runtime.GC() // what the first one let go of
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return int64(stats.HeapAlloc)
}

package load

import (
	"math"

	"github.com/prometheus/procfs"
)

// readMachineTime reads how long all cores together have worked and rested, where there is a /proc.
func readMachineTime() procfs.CPUStat {
	proc, err := procfs.NewDefaultFS()
	if err != nil {
		return procfs.CPUStat{}
	}
	stat, err := proc.Stat()
	if err != nil {
		return procfs.CPUStat{}
	}
	return stat.CPUTotal
}

// busy is the share of the cores that worked; NaN where that is not known.
func busy(before, after procfs.CPUStat) float64 {
	rested := func(c procfs.CPUStat) float64 { return c.Idle + c.Iowait }
	total := func(c procfs.CPUStat) float64 { // the rest is part of these
		return rested(c) + c.User + c.Nice + c.System + c.IRQ + c.SoftIRQ + c.Steal
	}
	if total(after) == total(before) {
		return math.NaN()
	}
	return 1 - (rested(after)-rested(before))/(total(after)-total(before))
}

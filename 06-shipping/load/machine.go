package load

import (
	"math"
	"os"
	"strconv"
	"strings"
)

// machineTime is how long all cores together have worked and rested, in ticks since the start.
type machineTime struct{ total, idle float64 }

// readMachineTime reads it where there is a /proc.
func readMachineTime() machineTime {
	content, err := os.ReadFile("/proc/stat")
	if err != nil {
		return machineTime{}
	}
	line, _, _ := strings.Cut(string(content), "\n")
	var m machineTime
	for i, field := range strings.Fields(line)[1:] {
		ticks, _ := strconv.ParseFloat(field, 64)
		if i < 8 { // the rest is part of these
			m.total += ticks
		}
		if i == 3 || i == 4 { // idle, and waiting for a disk
			m.idle += ticks
		}
	}
	return m
}

// busySince is the share of the cores that worked.
func (m machineTime) busySince(before machineTime) float64 {
	if m.total == before.total {
		return math.NaN()
	}
	return 1 - (m.idle-before.idle)/(m.total-before.total)
}

//go:build !linux

package kubelet

// doWithoutKernelLog has nothing to do: on this system, the kubelet reads no kernel log.
func doWithoutKernelLog() {}

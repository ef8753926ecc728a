package manager

// Version and Revision say what runs. The linker sets them when an image is made.
var (
	Version  = "devel"
	Revision = "unknown"
)

package layout

// Self is the program that runs, to be started once more, even when its file was
// replaced by a newer one meanwhile.
func Self() (string, error) { return "/proc/self/exe", nil }

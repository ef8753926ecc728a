package layout

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"regexp"
	"slices"
	"strconv"

	"example.com/hacking-a-controller/lab/internal/atomicfile"
)

// format is the version of what the lab writes into its folder. It rises when an
// older lab could not go on with what a newer one has written.
const format = 1

// markerText is the README of a lab's folder. It is what the folder is known by:
// no other README begins this way. Before there was a second format to tell it from,
// the first one was not named.
const markerText = "This folder is written by the lab (format %d). To delete it, and all that runs from it: lab reset\n"

var markerPattern = regexp.MustCompile(`^This folder is written by the lab(?: \(format (\d+)\))?\. `)

const markerName = "README"

// Exists reports whether there is a lab in this folder, running or not. A folder
// that holds something else, that is not this user's alone, or has the lab of a newer
// program, is an error: nothing may be written into it.
func (l Layout) Exists() (bool, error) {
	// First the names, then the marker, which is written before anything else and
	// deleted after it: whatever is seen here has been marked.
	names, err := l.names()
	if err != nil {
		return false, err
	}
	text, err := os.ReadFile(l.Join(markerName))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return false, fmt.Errorf("finding out whose folder %s is: %w", l.root, err)
	}
	if err != nil && slices.Contains(names, markerName) { // another command has deleted all of it meanwhile
		return l.Exists()
	}
	match := markerPattern.FindSubmatch(text)
	if match == nil {
		if slices.ContainsFunc(names, l.isNoBeginning) {
			return false, fmt.Errorf("%s is not empty and was not written by the lab (choose another folder with --dir or %s)", l.root, EnvDir)
		}
		return false, checkOwner(l.root, os.Geteuid())
	}
	if written, _ := strconv.Atoi(string(match[1])); written > format {
		return false, fmt.Errorf("%s was written by a newer lab, in format %d (delete it with that lab's reset, or choose another folder with --dir or %s)", l.root, written, EnvDir)
	}
	if err := checkOwner(l.root, os.Geteuid()); err != nil {
		return false, err
	}
	return true, nil
}

// isNoBeginning: another command may be making this folder, or deleting it.
func (l Layout) isNoBeginning(name string) bool {
	return !atomicfile.IsUnfinished(name, markerName) && l.Join(name) != l.CommandLock()
}

// writeMarker never leaves half a marker: a folder that has one would be nobody's.
func (l Layout) writeMarker() error {
	if err := atomicfile.Write(l.Join(markerName), fmt.Appendf(nil, markerText, format)); err != nil {
		return fmt.Errorf("making the lab's folder: %w", err)
	}
	return nil
}

// names lists the folder; one that does not exist has nothing in it.
func (l Layout) names() ([]string, error) {
	entries, err := os.ReadDir(l.root)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("reading the lab's folder (choose another with --dir or %s): %w", EnvDir, err)
	}
	var names []string
	for _, entry := range entries {
		names = append(names, entry.Name())
	}
	return names, nil
}

package permissions

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
)

// few is how many namespaces or names a line of the report has.
const few = 3

// Write prints the report for people: what was used, then what to change.
func (r Report) Write(out io.Writer, log *Log) {
	const second = "2006-01-02 15:04:05"
	fmt.Fprintf(out, "Service account %s: %s from %s to %s.\n", log.Account, count(log.Requests, "request"), log.First.UTC().Format(second), log.Last.UTC().Format(second+" MST"))
	if r.Everybody > 0 {
		fmt.Fprintf(out, "%s needed no grant: everybody may do that.\n", count(r.Everybody, "request"))
	}
	writeFindings(out, "Granted and used", r.Used)
	writeFindings(out, "Granted and not used", r.Unused)
	writeMissing(out, "Missing", r.Missing)
	writeMissing(out, "Refused for a moment, and allowed at other times", r.Early)
	fmt.Fprintln(out, "\n"+r.verdict())
}

func (r Report) verdict() string {
	var parts []string
	if len(r.Unused) > 0 {
		parts = append(parts, "take away what was not used, or let the log show its use")
	}
	if len(r.Missing) > 0 {
		parts = append(parts, "grant what was missing, or do not ask for it")
	}
	if len(parts) == 0 {
		return "The rules grant what was used, and nothing else."
	}
	return "The rules are not what was used: " + strings.Join(parts, "; ") + "."
}

// writeFindings prints a paragraph for each binding.
func writeFindings(out io.Writer, title string, findings []Finding) {
	if len(findings) == 0 {
		return
	}
	fmt.Fprintf(out, "\n%s: %d\n", title, len(findings))
	table := tabwriter.NewWriter(out, 0, 0, 3, ' ', 0)
	defer table.Flush()
	above := ""
	for _, f := range findings {
		if heading := f.Binding + ", " + places([]string{f.Namespace}); heading != above {
			// A line without a tab ends a table's columns.
			fmt.Fprintf(table, "  %s\n", heading)
			above = heading
		}
		use := ""
		switch {
		case f.open():
			use = "\tnever in full, for its star: " + count(f.Times, "request")
		case f.Times > 0 && f.Namespace != "":
			use = "\t" + count(f.Times, "time")
		case f.Times > 0:
			use = "\t" + count(f.Times, "time") + " " + places(f.Namespaces)
		}
		fmt.Fprintf(table, "    %s\t%s%s\n", f.Rule.Verbs[0], f.what(), use)
	}
}

// writeMissing prints a line for requests that differ in name and namespace only.
func writeMissing(out io.Writer, title string, missing []Missing) {
	if len(missing) == 0 {
		return
	}
	type alike struct{ verb, what, happened, but string }
	var lines []alike
	merged := map[alike][]Missing{}
	for _, m := range missing {
		happened, but := m.words()
		line := alike{m.Verb, m.what(), happened, but}
		if merged[line] == nil {
			lines = append(lines, line)
		}
		merged[line] = append(merged[line], m)
	}
	fmt.Fprintf(out, "\n%s: %d\n", title, len(lines))
	table := tabwriter.NewWriter(out, 0, 0, 3, ' ', 0)
	defer table.Flush()
	for _, line := range lines {
		times, names, namespaces := sum(merged[line])
		fmt.Fprintf(table, "    %s\t%s\t%s %s %s%s\n", line.verb, strings.TrimSpace(line.what+" "+some(names)), line.happened, count(times, "time"), places(namespaces), line.but)
	}
}

// words say what happened to the request, and what is odd about that.
func (m Missing) words() (happened, but string) {
	switch {
	case m.Refused > 0 && m.Granted:
		return "refused", ", though these rules allow it; were they in force by then?"
	case m.Refused > 0:
		return "refused", ""
	case m.By != "":
		// RBAC: allowed by RoleBinding "a/b" of Role "c" to ServiceAccount "d"
		by, _, _ := strings.Cut(strings.TrimPrefix(m.By, "RBAC: allowed by "), " to ")
		return "allowed", " by " + by + ", which is not among these rules"
	default:
		return "allowed", ", but by none of these rules"
	}
}

// sum adds up requests of which all were refused, or none.
func sum(missing []Missing) (times int, names, namespaces []string) {
	for _, m := range missing {
		if m.Refused > 0 {
			times += m.Refused
		} else {
			times += m.Allowed
		}
		if m.Name != "" {
			names = append(names, quoted(m.Name))
		}
		namespaces = append(namespaces, m.Namespace)
	}
	return times, names, namespaces
}

// places says where something is, from the names of namespaces.
func places(namespaces []string) string {
	list := slices.Compact(slices.Sorted(slices.Values(namespaces)))
	switch {
	case len(list) == 0 || list[0] != "":
		return "in " + some(list)
	case len(list) == 1:
		return "cluster-wide"
	default:
		return "cluster-wide and in " + some(list[1:])
	}
}

func some(list []string) string {
	list = slices.Compact(slices.Sorted(slices.Values(list)))
	if more := len(list) - few; more > 0 {
		return fmt.Sprintf("%s and %d more", strings.Join(list[:few], ", "), more)
	}
	return strings.Join(list, ", ")
}

func count(n int, what string) string {
	if n != 1 {
		what += "s"
	}
	return fmt.Sprintf("%d %s", n, what)
}

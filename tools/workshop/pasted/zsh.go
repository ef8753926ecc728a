package pasted

import (
	"regexp"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// zsh's own variables: status cannot be set, and who sets path has no PATH any more.
var special = []string{"status", "path", "argv", "cdpath", "fpath", "manpath", "options", "pipestatus", "commands", "functions", "aliases"}

var (
	escaped  = regexp.MustCompile(`\\.`)
	modifier = regexp.MustCompile(`^:[aAcehlPqQrstu&]`)
)

// otherwise says what zsh, where commands are typed and with its defaults, makes of node, if
// that is not what sh does.
func otherwise(node syntax.Node) string {
	switch node := node.(type) {
	case *syntax.Comment: // "command not found: #", or one argument more
		return "zsh takes this for no comment: say it above the block"
	case *syntax.Assign:
		return variable(node.Name)
	case *syntax.WordIter:
		return variable(node.Name)
	case *syntax.CallExpr:
		for _, word := range node.Args {
			if why := pattern(word); why != "" {
				return why
			}
		}
	case *syntax.Word:
		return suffix(node.Parts)
	case *syntax.DblQuoted:
		return suffix(node.Parts)
	}
	return ""
}

func variable(name *syntax.Lit) string {
	if name != nil && slices.Contains(special, name.Value) {
		return "zsh has a variable of its own named " + name.Value + ": take another name"
	}
	return ""
}

// pattern looks at an argument: a pattern that no file matches is an error, and =name is the
// path of a program. A * in a plain path is meant as a pattern, and there are such files.
func pattern(word *syntax.Word) string {
	plain := unquoted(word)
	switch {
	case plain == "[" || plain == "=":
		return ""
	case strings.HasPrefix(plain, "="):
		return "zsh takes =name for the path of a program: quote it"
	case strings.ContainsAny(plain, "?["), strings.Contains(plain, "*") && (strings.HasPrefix(plain, "-") || strings.Contains(plain, "=")):
		return "zsh takes this for a pattern, and no file matches: quote it"
	}
	return ""
}

func unquoted(word *syntax.Word) string {
	var plain strings.Builder
	for _, part := range word.Parts {
		switch part := part.(type) {
		case *syntax.Lit:
			plain.WriteString(escaped.ReplaceAllString(part.Value, "x"))
		default: // so that what comes behind a quote is not taken for the beginning
			plain.WriteString("x")
		}
	}
	return plain.String()
}

// suffix looks behind each $name: [ would be an index, and :l a modifier ("lower case").
func suffix(parts []syntax.WordPart) string {
	for i := 1; i < len(parts); i++ {
		name, isName := parts[i-1].(*syntax.ParamExp)
		text, isText := parts[i].(*syntax.Lit)
		if isName && isText && name.Short && (strings.HasPrefix(text.Value, "[") || modifier.MatchString(text.Value)) {
			return "zsh takes what is behind $" + name.Param.Value + " for a part of it: write ${" + name.Param.Value + "}"
		}
	}
	return ""
}

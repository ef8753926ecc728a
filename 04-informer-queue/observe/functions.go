package observe

import (
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	gotemplate "text/template"
)

// functions are the two that kubectl adds to a Go template, and those of Go's that fail, or
// write <nil>, if something is missing. A function that fails takes the whole template with it.
// Here, unless strict, its result is nothing: a length of 0, and neither less nor greater.
func functions(strict bool) gotemplate.FuncMap {
	all := gotemplate.FuncMap{
		"exists":       exists,
		"base64decode": func(value any) (any, error) { return base64decode(value, strict) },
		"print":        func(values ...any) string { return fmt.Sprint(written(values)...) },
		"println":      func(values ...any) string { return fmt.Sprintln(written(values)...) },
		"printf":       func(format string, values ...any) string { return fmt.Sprintf(format, written(values)...) },
		"html":         func(values ...any) string { return gotemplate.HTMLEscaper(written(values)...) },
		"js":           func(values ...any) string { return gotemplate.JSEscaper(written(values)...) },
		"urlquery":     func(values ...any) string { return gotemplate.URLQueryEscaper(written(values)...) },
	}
	for name, nothing := range map[string]any{"index": nil, "slice": nil, "len": 0, "lt": false, "le": false, "gt": false, "ge": false} {
		all[name] = func(values ...any) (any, error) {
			result, err := builtin(name, values)
			switch missing := result == nil && err == nil || isMissing(values, err); {
			case missing && strict:
				return nil, fmt.Errorf("there is no %s", strings.TrimSpace(fmt.Sprintln(values[min(1, len(values)):]...)))
			case missing:
				return nothing, nil
			default:
				return result, err
			}
		}
	}
	return all
}

// isMissing reports whether a function fails because a value is missing, or an item is.
func isMissing(values []any, err error) bool {
	return err != nil && (slices.Contains(values, nil) || missing.MatchString(err.Error()))
}

var missing = regexp.MustCompile(`index of nil pointer|index out of range`)

// written puts an empty string where there is nothing.
func written(values []any) []any {
	values = slices.Clone(values)
	for i := range values {
		values[i] = shown(values[i])
	}
	return values
}

// builtin calls a function that Go has in its templates, and nowhere else.
func builtin(name string, values []any) (result any, err error) {
	var arguments strings.Builder
	for i := range values {
		fmt.Fprintf(&arguments, " (index . %d)", i)
	}
	t, err := gotemplate.New(name).Funcs(gotemplate.FuncMap{"result": func(value any) string { result = value; return "" }}).Parse("{{result (" + name + arguments.String() + ")}}")
	if err != nil {
		return nil, err
	}
	err = t.Execute(io.Discard, values)
	for errors.Unwrap(err) != nil { // where in this small template it failed is of no interest
		err = errors.Unwrap(err)
	}
	return result, err
}

// exists is kubectl's: whether index would find something.
func exists(item any, keys ...any) bool {
	found, err := builtin("index", append([]any{item}, keys...))
	return err == nil && found != nil
}

// base64decode is kubectl's.
func base64decode(value any, strict bool) (any, error) {
	if value == nil && !strict {
		return nil, nil
	}
	text, ok := value.(string)
	if !ok {
		return nil, fmt.Errorf("base64decode needs a string, and this is %v", value)
	}
	decoded, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		return nil, fmt.Errorf("base64 decode failed: %w", err)
	}
	return string(decoded), nil
}

package observe

import (
	"reflect"
	"regexp"
	"strings"

	"k8s.io/client-go/util/jsonpath"
)

// path is an action of a JSONPath template, in its braces, or text.
type path string

// values evaluates the path. If kubectl's evaluator finds a list too short, the path is
// evaluated step by step, and only what is missing is left out.
func (p path) values(object any) (found []reflect.Value, err error) {
	if found, err = p.find(object); !isOutOfBounds(err) {
		return found, err
	}
	head, tail := p.cutStep()
	if tail == "" {
		return p.singleStep(object)
	}
	heads, err := head.values(object)
	for i := 0; i < len(heads) && err == nil; i++ {
		var tails []reflect.Value
		tails, err = tail.values(heads[i].Interface())
		found = append(found, tails...)
	}
	return found, err
}

// find evaluates the path as kubectl does.
func (p path) find(object any) (found []reflect.Value, err error) {
	results, err := newJSONPath(string(p), true).FindResults(object)
	for _, values := range results {
		found = append(found, values...)
	}
	return found, err
}

func isOutOfBounds(err error) bool {
	return err != nil && strings.Contains(err.Error(), "array index out of bounds")
}

// sliceEnd is the 9 in {[0:9]}.
var sliceEnd = regexp.MustCompile(`^(\{\[-?\d*:)-?\d+(:\d*)?\]\}$`)

// singleStep evaluates an index, a slice, a union or a filter that misses an item: of an index
// nothing is left, of a slice what comes before, and a filter keeps other items.
func (p path) singleStep(object any) (found []reflect.Value, err error) {
	paths, objects := []path{p}, []any{object}
	switch {
	case strings.HasPrefix(string(p), "{[?("):
		items, _ := path("{[*]}").find(object)
		objects = nil
		for _, item := range items {
			objects = append(objects, []any{item.Interface()})
		}
	case strings.Contains(string(p), ","):
		paths = nil
		for one := range strings.SplitSeq(strings.Trim(string(p), "{[]}"), ",") {
			paths = append(paths, path("{["+strings.TrimSpace(one)+"]}"))
		}
	default:
		paths[0] = path(sliceEnd.ReplaceAllString(string(p), "$1$2]}"))
	}
	for _, p := range paths {
		for _, object := range objects {
			values, err := p.find(object)
			if err != nil && !isOutOfBounds(err) {
				return nil, err
			}
			found = append(found, values...)
		}
	}
	return found, nil
}

// cutStep cuts {.a[*].b[0]} into {.a} and {[*].b[0]}, and that into {[*]} and {.b[0]}. Brackets
// may also be in a string or a filter. There, the parser does not make of both parts what it
// makes of the whole.
func (p path) cutStep() (head, tail path) {
	inside := string(p[1 : len(p)-1])
	for i := 1; i < len(inside); i++ {
		head, tail = path("{"+inside[:i]+"}"), path("{"+inside[i:]+"}")
		if (inside[i] == '[' || inside[i-1] == ']') && head.isWhole() && tail.isWhole() &&
			len(head.nodes())+len(tail.nodes()) == len(p.nodes()) {
			return head, tail
		}
	}
	return p, ""
}

// isWhole reports whether the parser is content with it.
func (p path) isWhole() bool {
	_, err := jsonpath.Parse("argument", string(p))
	return err == nil
}

// keyword is range or end, if the action is one of these.
func (p path) keyword() string {
	for _, node := range p.nodes() {
		if identifier, ok := node.(*jsonpath.IdentifierNode); ok {
			return identifier.Name
		}
	}
	return ""
}

// nodes are what the parser makes of an action. Of text it makes none.
func (p path) nodes() []jsonpath.Node {
	parsed, err := jsonpath.Parse("argument", string(p))
	if err != nil || len(parsed.Root.Nodes) == 0 {
		return nil
	}
	if action, ok := parsed.Root.Nodes[0].(*jsonpath.ListNode); ok {
		return action.Nodes
	}
	return nil
}

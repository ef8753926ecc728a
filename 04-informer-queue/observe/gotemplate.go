package observe

import (
	"encoding/base64"
	"fmt"
	"reflect"
	"strings"
	gotemplate "text/template"
	"text/template/parse"
)

// parseGoTemplate knows the language of kubectl -o go-template, with its two functions: exists
// and base64decode.
func parseGoTemplate(text string, strict bool) (template, error) {
	tree := gotemplate.New("argument").Funcs(gotemplate.FuncMap{
		"exists":       func(item any, keys ...any) bool { return exists(item, keys) },
		"base64decode": func(value any) (string, error) { return base64decode(value, strict) },
		"len":          func(value any) (int, error) { return length(value, strict) },
		"index":        func(item any, keys ...any) (any, error) { return index(item, keys, strict) },
		"shown": func(value any) any {
			if value == nil {
				return ""
			}
			return value
		},
	})
	if strict {
		tree.Option("missingkey=error")
	}
	if _, err := tree.Parse(text); err != nil {
		return nil, err
	}
	for _, t := range tree.Templates() {
		showNothing(t.Root)
	}
	return func(object map[string]any) (string, error) {
		var rendered strings.Builder
		if err := tree.Execute(&rendered, object); err != nil {
			return "", fmt.Errorf("rendering the template %q: %w", text, err)
		}
		return rendered.String(), nil
	}, nil
}

// showNothing makes what is missing render as nothing: Go would write "<no
// value>". That text could as well be a value, so it cannot be taken out
// afterwards. Instead, each {{pipeline}} becomes {{pipeline | shown}}.
func showNothing(node parse.Node) {
	switch node := node.(type) {
	case *parse.ListNode:
		if node == nil { // an if without an else
			return
		}
		for _, child := range node.Nodes {
			showNothing(child)
		}
	case *parse.ActionNode:
		if len(node.Pipe.Decl) == 0 { // {{$x := .y}} writes nothing
			shown := parse.NewIdentifier("shown").SetPos(node.Pos)
			node.Pipe.Cmds = append(node.Pipe.Cmds, &parse.CommandNode{NodeType: parse.NodeCommand, Pos: node.Pos, Args: []parse.Node{shown}})
		}
	case *parse.IfNode:
		showBranches(&node.BranchNode)
	case *parse.RangeNode:
		showBranches(&node.BranchNode)
	case *parse.WithNode:
		showBranches(&node.BranchNode)
	}
}

func showBranches(node *parse.BranchNode) {
	showNothing(node.List)
	showNothing(node.ElseList)
}

// index is for keys that are not words: {{index .metadata.labels "app.kubernetes.io/name"}}.
// Unlike Go's own it takes what is missing for nothing, or, if strict, for an error.
func index(item any, keys []any, strict bool) (any, error) {
	for _, key := range keys {
		var found bool
		switch container := item.(type) {
		case map[string]any:
			name, _ := key.(string)
			item, found = container[name]
		case []any:
			if i := reflect.ValueOf(key); i.CanInt() && 0 <= i.Int() && i.Int() < int64(len(container)) {
				item, found = container[i.Int()], true
			}
		}
		if !found {
			item = nil
			if strict {
				return nil, fmt.Errorf("there is no %v", key)
			}
		}
	}
	return item, nil
}

// exists is kubectl's: whether index would find something.
func exists(item any, keys []any) bool {
	found, err := index(item, keys, true)
	return err == nil && found != nil
}

// base64decode is kubectl's, which fails where there is nothing to decode.
func base64decode(value any, strict bool) (string, error) {
	if value == nil && !strict {
		return "", nil
	}
	text, ok := value.(string)
	if !ok {
		return "", fmt.Errorf("base64decode needs a string, and this is %v", value)
	}
	decoded, err := base64.StdEncoding.DecodeString(text)
	return string(decoded), err
}

// length is for len, of which Go has one that fails where there is nothing to count.
func length(value any, strict bool) (int, error) {
	if value == nil && !strict {
		return 0, nil
	}
	switch v := reflect.ValueOf(value); v.Kind() {
	case reflect.String, reflect.Map, reflect.Slice:
		return v.Len(), nil
	default:
		return 0, fmt.Errorf("len needs a string, a list or a map, and this is %v", value)
	}
}

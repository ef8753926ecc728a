package observe

import (
	"fmt"
	"strings"
	gotemplate "text/template"
	"text/template/parse"
)

// parseGoTemplate knows the language of kubectl -o go-template: Go's, with exists and
// base64decode. What is missing renders as nothing, where kubectl writes <no value> or fails.
func parseGoTemplate(text string, strict bool) (template, error) {
	tree := gotemplate.New("argument").Funcs(functions(strict))
	if strict {
		tree.Option("missingkey=error")
	}
	if _, err := tree.Parse(text); err != nil {
		return nil, err
	}
	for _, t := range tree.Templates() {
		showNothing(t.Root)
	}
	tree.Funcs(gotemplate.FuncMap{"shown": shown}) // it is not one for users
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

func shown(value any) any {
	if value == nil {
		return ""
	}
	return value
}

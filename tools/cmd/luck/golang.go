package main

import (
	"go/ast"
	"go/constant"
	"go/parser"
	"go/token"
	"regexp"
	"strings"
	"time"
)

// The kinds of luck in tests that are written in Go. In a bubble of testing/synctest time is
// fake, so there the kinds that are about time don't count.
const (
	measure  = "a measured time is a benchmark's: a machine that is busy fails this"
	limit    = "a time-out of its own, which TEST_TIMEOUT doesn't reach: take the helper's"
	soon     = "a date a few seconds ahead is past when a busy machine gets there: take a far one, or fake time"
	fixed    = "a port of the machine may be taken: listen on port 0"
	letGo    = "a port that is chosen and let go may be taken before it is used: keep the listener, or let the program choose"
	counting = "a pid may belong to another process by now, or to a zombie: compare its start, or wait for its end"
)

// checkGo checks a test file.
func checkGo(content []byte) ([]finding, error) {
	c := goChecker{fset: token.NewFileSet()}
	file, err := parser.ParseFile(c.fset, "", content, parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	for _, declaration := range file.Decls {
		function, ok := declaration.(*ast.FuncDecl)
		if !ok || function.Body == nil {
			continue
		}
		c.fake = calls(function.Body, "synctest", "Test")
		c.letGo(function)
		c.inspect(function.Body, false)
	}
	return c.found, nil
}

// inspect checks all calls in a node. A function that is tried again and again may give each try
// a limit.
func (c *goChecker) inspect(node ast.Node, try bool) {
	ast.Inspect(node, func(inner ast.Node) bool {
		call, ok := inner.(*ast.CallExpr)
		if !ok || inner == node {
			return true
		}
		c.call(call, try)
		if selector, ok := call.Fun.(*ast.SelectorExpr); ok && waiting.MatchString(selector.Sel.Name) {
			c.inspect(call, true)
			return false
		}
		return true
	})
}

type goChecker struct {
	fset  *token.FileSet
	fake  bool // the function has fake time
	found []finding
}

func (c *goChecker) report(node ast.Node, text string) {
	c.found = append(c.found, finding{c.fset.Position(node.Pos()).Line, text})
}

var (
	comparison = regexp.MustCompile(`^(Less|Greater)(OrEqual)?f?$`)
	waiting    = regexp.MustCompile(`^(Eventually|EventuallyWithT|Never|WithTimeout|WithDeadline|PollUntilContextTimeout|After|AfterFunc)$`)
	fixedPort  = regexp.MustCompile(`^[^/]*:[1-9][0-9]*$`)
)

func (c *goChecker) call(call *ast.CallExpr, try bool) {
	selector, ok := call.Fun.(*ast.SelectorExpr)
	if !ok {
		return
	}
	of, name := nameOf(selector.X), selector.Sel.Name
	switch {
	case (of == "assert" || of == "require") && comparison.MatchString(name):
		if !c.fake && boundsTime(name, call.Args) {
			c.report(call, measure)
		}
	case waiting.MatchString(name):
		if longest, ok := longestOf(call.Args); !c.fake && (!try || of != "context") && ok && longest < time.Minute && longest >= time.Second {
			c.report(call, limit)
		}
	case name == "Add" && len(call.Args) == 1 && isNow(selector.X):
		if ahead, ok := duration(call.Args[0]); !c.fake && ok && ahead > 0 && ahead < time.Minute {
			c.report(call, soon)
		}
	case of == "net" && strings.HasPrefix(name, "Listen") && len(call.Args) > 1:
		if address, ok := call.Args[1].(*ast.BasicLit); ok && fixedPort.MatchString(strings.Trim(address.Value, "\"`")) {
			c.report(call, fixed)
		}
	case of == "syscall" && name == "Kill" && len(call.Args) == 2:
		if signal, ok := number(call.Args[1]); ok && signal == 0 {
			c.report(call, counting)
		}
	}
}

// letGo finds a function that listens, closes the listener, and returns where that was.
func (c *goChecker) letGo(function *ast.FuncDecl) {
	if function.Type.Results == nil || !calls(function.Body, "net", "Listen") {
		return
	}
	deferred := map[*ast.CallExpr]bool{}
	var closes ast.Node
	ast.Inspect(function.Body, func(node ast.Node) bool {
		switch node := node.(type) {
		case *ast.DeferStmt:
			deferred[node.Call] = true
		case *ast.FuncLit:
			return false // it is called later
		case *ast.CallExpr:
			if selector, ok := node.Fun.(*ast.SelectorExpr); ok && selector.Sel.Name == "Close" {
				closes = node
			}
		}
		return true
	})
	if closes == nil {
		return
	}
	for _, result := range function.Type.Results.List {
		if kind := nameOf(result.Type); kind == "string" || kind == "int" {
			c.report(closes, letGo)
			return
		}
	}
}

// boundsTime says whether a comparison gives a time that has passed an upper bound. A lower one holds
// on a busy machine, too.
func boundsTime(comparison string, arguments []ast.Expr) bool {
	bounded := 1 // Less(t, bounded, bound)
	if strings.HasPrefix(comparison, "Greater") {
		bounded = 2
	}
	return len(arguments) > bounded && calls(arguments[bounded], "time", "Since")
}

// longestOf returns the longest of the durations among the arguments that are written as such: a
// wait has its limit before or after its interval.
func longestOf(arguments []ast.Expr) (longest time.Duration, found bool) {
	for _, argument := range arguments {
		if d, ok := duration(argument); ok {
			longest, found = max(longest, d), true
			continue
		}
		if call, ok := argument.(*ast.CallExpr); ok {
			argument = call.Fun
		}
		if strings.Contains(strings.ToLower(nameOf(argument)), "timeout") {
			return 0, false // it is a helper's
		}
	}
	return longest, found
}

var units = map[string]time.Duration{"Nanosecond": 1, "Microsecond": time.Microsecond, "Millisecond": time.Millisecond, "Second": time.Second, "Minute": time.Minute, "Hour": time.Hour}

// duration returns the value of time.Second, 2*time.Second and the like.
func duration(e ast.Expr) (time.Duration, bool) {
	switch e := e.(type) {
	case *ast.SelectorExpr:
		unit, ok := units[e.Sel.Name]
		return unit, ok && nameOf(e.X) == "time"
	case *ast.BinaryExpr:
		for _, pair := range [][2]ast.Expr{{e.X, e.Y}, {e.Y, e.X}} {
			n, isNumber := number(pair[0])
			unit, isUnit := duration(pair[1])
			if e.Op == token.MUL && isNumber && isUnit {
				return time.Duration(n) * unit, true
			}
		}
	}
	return 0, false
}

func number(e ast.Expr) (int64, bool) {
	literal, ok := e.(*ast.BasicLit)
	if !ok || literal.Kind != token.INT {
		return 0, false
	}
	return constant.Int64Val(constant.MakeFromLiteral(literal.Value, literal.Kind, 0))
}

// isNow says whether it is time.Now(), perhaps followed by calls such as UTC().
func isNow(e ast.Expr) bool {
	call, ok := e.(*ast.CallExpr)
	if !ok {
		return false
	}
	selector, ok := call.Fun.(*ast.SelectorExpr)
	if !ok {
		return false
	}
	return nameOf(selector.X) == "time" && selector.Sel.Name == "Now" || isNow(selector.X)
}

// calls says whether a function of a package is called.
func calls(body ast.Node, pkg, name string) (found bool) {
	ast.Inspect(body, func(node ast.Node) bool {
		if selector, ok := node.(*ast.SelectorExpr); ok && nameOf(selector.X) == pkg && selector.Sel.Name == name {
			found = true
		}
		return !found
	})
	return found
}

func nameOf(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.Ident:
		return e.Name
	case *ast.SelectorExpr:
		return e.Sel.Name
	}
	return ""
}

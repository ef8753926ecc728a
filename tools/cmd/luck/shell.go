package main

import (
	"regexp"
	"strconv"
	"strings"
	"time"

	"mvdan.cc/sh/v3/syntax"

	"example.com/hacking-a-controller/tools/workshop/markdown"
)

// The kinds of luck in what a shell runs: scripts, and the blocks of lessons.
const (
	endless = "a loop that waits without an end, and says nothing then: lab await, kubectl wait, or a for loop with a last word"
	pause   = "a pause proves nothing: wait for what it is for"
	short   = "a time-out that a busy machine misses: leave it out (kubectl's default is 5m here), or give it minutes"
	taken   = "a port of the machine may be taken: let the program choose, and read which one it is"
)

// checkScript checks a shell script.
func checkScript(content []byte) ([]finding, error) {
	return checkShell(string(content), 0, true)
}

// checkLesson checks what the reader runs. A reader has one lesson at a time, and the gate gives
// each a network of its own, so that a lesson may name ports.
func checkLesson(content []byte) (found []finding, err error) {
	for _, fence := range markdown.Parse(string(content)).Fences {
		if !strings.HasPrefix(fence.Info+" ", "bash exec ") {
			continue
		}
		more, err := checkShell(fence.Code, fence.Line, false)
		if err != nil {
			return nil, err
		}
		found = append(found, more...)
	}
	return found, nil
}

// checkShell checks shell code that begins after so many lines of its file.
func checkShell(code string, before int, ports bool) (found []finding, err error) {
	file, err := syntax.NewParser(syntax.Variant(syntax.LangBash), syntax.KeepComments(true)).Parse(strings.NewReader(code), "")
	if err != nil {
		return nil, err
	}
	c := shellChecker{before: before, ports: ports}
	c.walk(file, false)
	return c.found, nil
}

type shellChecker struct {
	before int
	ports  bool
	found  []finding
}

func (c *shellChecker) report(node syntax.Node, text string) {
	c.found = append(c.found, finding{c.before + int(node.Pos().Line()), text})
}

// walk checks a node and what is in it. In a loop a pause is between two tries.
func (c *shellChecker) walk(node syntax.Node, loop bool) {
	syntax.Walk(node, func(inner syntax.Node) bool {
		switch n := inner.(type) {
		case *syntax.WhileClause:
			if inner == node {
				return true
			}
			if sleeps(n) && !bounded(n) {
				c.report(n, endless)
			}
			c.walk(n, true)
			return false
		case *syntax.ForClause:
			if inner == node {
				return true
			}
			c.walk(n, true)
			return false
		case *syntax.CallExpr:
			if !loop && isSleep(n) {
				c.report(n, pause)
			}
		case *syntax.Lit:
			c.word(n)
		}
		return true
	})
}

var (
	timeout = regexp.MustCompile(`^--timeout=([0-9]+[smh])$`)
	address = regexp.MustCompile(`(^|[^0-9.])(127\.0\.0\.1|localhost|0\.0\.0\.0|\[::1?\]):[1-9][0-9]{3,4}\b`)
)

func (c *shellChecker) word(n *syntax.Lit) {
	if match := timeout.FindStringSubmatch(n.Value); match != nil {
		// The command that has one is to fail by it, or it is too short.
		if d, err := time.ParseDuration(match[1]); err == nil && d < 2*time.Minute {
			c.report(n, short+" ("+strconv.Quote(n.Value)+")")
		}
	}
	if c.ports && address.MatchString(n.Value) {
		c.report(n, taken)
	}
}

func isSleep(call *syntax.CallExpr) bool {
	return len(call.Args) == 2 && call.Args[0].Lit() == "sleep"
}

// sleeps says whether a loop waits between its rounds.
func sleeps(loop *syntax.WhileClause) (found bool) {
	for _, statement := range loop.Do {
		syntax.Walk(statement, func(node syntax.Node) bool {
			if call, ok := node.(*syntax.CallExpr); ok && isSleep(call) {
				found = true
			}
			return !found
		})
	}
	return found
}

// bounded says whether a loop counts: its condition, or a command in it that breaks or exits,
// compares a number.
func bounded(loop *syntax.WhileClause) (found bool) {
	for _, statement := range append(append([]*syntax.Stmt{}, loop.Cond...), loop.Do...) {
		syntax.Walk(statement, func(node syntax.Node) bool {
			switch n := node.(type) {
			case *syntax.Lit:
				switch n.Value {
				case "-lt", "-le", "-gt", "-ge":
					found = true
				}
			case *syntax.ArithmCmd:
				found = true
			}
			return !found
		})
	}
	return found
}

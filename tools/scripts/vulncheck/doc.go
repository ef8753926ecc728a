// Package vulncheck holds the tests of govulncheck.sh, which need govulncheck: it takes minutes to compile.
package vulncheck

// Package lazyregexp compiles regular expressions when they are first used, so
// that the start of a program does not wait for those that it needs not.
package lazyregexp

import (
	"regexp"
	"sync"
)

// New returns a function that compiles expr in its first call and returns the
// same expression in every call. It panics if expr is invalid. The function is
// safe for concurrent use.
func New(expr string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expr) })
}

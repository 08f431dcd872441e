//go:build !wasip1

package errfmt

import "fmt"

// checkErrorf and checkPrintf do nothing. Their calls of fmt let go vet check
// the arguments of Errorf and Sprintf and of the functions that call them.
func checkErrorf(format string, args ...any) {
	if false {
		_ = fmt.Errorf(format, args...)
	}
}

func checkPrintf(format string, args ...any) {
	if false {
		_ = fmt.Sprintf(format, args...)
	}
}

// Package bind pins gobind and what its output imports. build.sh makes the
// bindings of package mobile.
package bind

import (
	_ "github.com/infer-prep/infer-prep/mobile"
	_ "golang.org/x/mobile/bind/seq"
)

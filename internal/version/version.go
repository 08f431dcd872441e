// Package version has the version of this module. Its file VERSION is the one
// place that states it: the programs, the libraries and the scripts that build
// packages read it, and TestVersions of tools/readme compares the files that
// repeat it.
package version

import (
	_ "embed"
	"strings"
)

//go:embed VERSION
var file string

// Release returns the version of the release that these sources are of or will
// become, such as "v0.1.0".
func Release() string { return "v" + strings.TrimSpace(file) }

package command

import (
	"runtime/debug"
)

// ModuleVersion returns the version of the module that was built.
func ModuleVersion() string {
	if b, ok := debug.ReadBuildInfo(); ok && b.Main.Version != "" {
		return b.Main.Version
	}
	return "(devel)"
}

package command

import (
	"runtime/debug"

	"github.com/infer-prep/infer-prep/internal/version"
)

// ModuleVersion returns the version of the module that was built, such as
// "v0.1.0". A build of a clone names the commit too, as in
// "v0.1.0+2fd11faf1b70", with ".dirty" if the clone had changes.
func ModuleVersion() string {
	b, ok := debug.ReadBuildInfo()
	if !ok {
		return version.Release()
	}
	return moduleVersion(b)
}

func moduleVersion(b *debug.BuildInfo) string {
	if b.Main.Version == version.Release() { // the commit has the release's tag
		return version.Release()
	}
	commit, dirty := "", ""
	for _, s := range b.Settings {
		switch {
		case s.Key == "vcs.revision":
			commit = "+" + s.Value[:min(12, len(s.Value))]
		case s.Key == "vcs.modified" && s.Value == "true":
			dirty = ".dirty"
		}
	}
	if commit == "" {
		return version.Release()
	}
	return version.Release() + commit + dirty
}

package command

import (
	"runtime/debug"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/internal/version"
)

func TestModuleVersion(t *testing.T) {
	release := version.Release()
	commit := debug.BuildSetting{Key: "vcs.revision", Value: "2fd11faf1b7012345678"}
	modified := func(s string) debug.BuildSetting { return debug.BuildSetting{Key: "vcs.modified", Value: s} }
	for _, c := range []struct {
		main     string
		settings []debug.BuildSetting
		want     string
	}{
		{"(devel)", nil, release},
		{"(devel)", []debug.BuildSetting{modified("true")}, release},
		{release, []debug.BuildSetting{commit, modified("false")}, release},
		{"v0.0.0-20261127000000-2fd11faf1b70", []debug.BuildSetting{commit, modified("false")}, release + "+2fd11faf1b70"},
		{"v0.0.0-20261127000000-2fd11faf1b70+dirty", []debug.BuildSetting{commit, modified("true")}, release + "+2fd11faf1b70.dirty"},
	} {
		require.Equal(t, c.want, moduleVersion(&debug.BuildInfo{Main: debug.Module{Version: c.main}, Settings: c.settings}))
	}
}

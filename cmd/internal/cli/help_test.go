package cli

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/cmd/internal/cli/command"
)

// TestHelpTexts: each text belongs to a command, and each command has one,
// except where the short description says it all.
func TestHelpTexts(t *testing.T) {
	without := []string{"man", "version", "help"}
	want := map[string]bool{}
	root := root(&command.App{}, nil)
	var walk func(c *cobra.Command)
	walk = func(c *cobra.Command) {
		name := strings.ReplaceAll(strings.TrimPrefix(c.CommandPath(), "infer-prep "), " ", "-")
		if !slices.Contains(without, name) {
			want[name+".txt"] = true
			require.NotEmpty(t, c.Long, name)
			require.NotContains(t, c.Long+c.Example, "{{")
		}
		for _, c := range c.Commands() {
			walk(c)
		}
	}
	walk(root)
	files, err := os.ReadDir("help")
	require.NoError(t, err)
	for _, f := range files {
		if name := f.Name(); strings.HasSuffix(name, ".txt") && !strings.HasPrefix(name, "part-") {
			require.True(t, want[name], "%s is of no command", name)
		}
	}
}

// TestCommands checks the names by which commands are made, and that a command
// that is made alone has the same help text.
func TestCommands(t *testing.T) {
	all := root(&command.App{}, nil)
	for _, c := range commands {
		require.Equal(t, c.name, c.make(&command.App{}).Name())
		one := root(&command.App{}, []string{c.name})
		in := func(root *cobra.Command) *cobra.Command {
			cmd, _, err := root.Find([]string{c.name})
			require.NoError(t, err)
			return cmd
		}
		require.Equal(t, in(all).UsageString(), in(one).UsageString())
		require.Equal(t, in(all).Long, in(one).Long)
	}
}

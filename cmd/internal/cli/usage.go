package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
)

// flagColumns is the width of the flags in help texts.
const flagColumns = 100

// usage prints how to call a command. It stands in for cobra's template:
// package text/template makes the linker keep every exported method of the
// program.
func usage(cmd *cobra.Command) error {
	var b strings.Builder
	groups := cmd.HasAvailableSubCommands()
	b.WriteString("Usage:")
	if cmd.Runnable() && !groups {
		b.WriteString("\n  " + cmd.UseLine())
	}
	if groups {
		b.WriteString("\n  " + cmd.CommandPath() + " [command]")
	}
	if cmd.HasExample() {
		b.WriteString("\n\nExamples:\n" + cmd.Example)
	}
	if groups {
		b.WriteString("\n\nAvailable Commands:")
		for _, c := range cmd.Commands() {
			if c.IsAvailableCommand() || c.Name() == "help" {
				fmt.Fprintf(&b, "\n  %-*s %s", c.NamePadding(), c.Name(), c.Short)
			}
		}
	}
	if cmd.HasAvailableLocalFlags() {
		b.WriteString("\n\nFlags:\n" + strings.TrimRight(cmd.LocalFlags().FlagUsagesWrapped(flagColumns), "\n"))
	}
	if cmd.HasAvailableInheritedFlags() {
		b.WriteString("\n\nGlobal Flags:\n" + strings.TrimRight(cmd.InheritedFlags().FlagUsagesWrapped(flagColumns), "\n"))
	}
	if groups {
		b.WriteString("\n\nUse \"" + cmd.CommandPath() + " [command] --help\" for more information about a command.")
	}
	_, err := fmt.Fprintln(cmd.OutOrStderr(), b.String())
	return err
}

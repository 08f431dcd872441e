package cli

import (
	"os"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"

	"github.com/infer-prep/infer-prep/cmd/internal/cli/command"
)

// manCmd writes the man pages. It is hidden, since only packagers need it.
func manCmd(a *command.App, root *cobra.Command) *cobra.Command {
	return &cobra.Command{
		Use: "man DIR", Short: "Write the man pages to DIR", Hidden: true, Args: cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			if err := os.MkdirAll(args[0], 0o777); err != nil {
				return command.FailErr("%w", err)
			}
			root.DisableAutoGenTag = true
			date := sourceDate()
			head := &doc.GenManHeader{Section: "1", Source: command.Program + " " + command.ModuleVersion(), Manual: command.Program, Date: &date}
			if err := doc.GenManTree(root, head, args[0]); err != nil {
				return command.FailErr("%w", err)
			}
			return nil
		},
	}
}

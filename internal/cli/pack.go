package cli

import (
	"strings"

	"github.com/spf13/cobra"
)

func (a *app) packCmd() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "pack",
		Short: "Pack images and other files into record files",
		Long: `Pack images and other files into record files, by several workers and in order:
the bytes do not depend on the number of workers. A pack that was interrupted or
killed goes on where it was when the same command is given again.`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				var l []string
				for _, c := range cmd.Commands() {
					l = append(l, c.Name())
				}
				return usageErr("unknown command %q, want one of %s", args[0], strings.Join(l, ", "))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(
		a.packRecordIOCmd(),
		a.packShardsCmd(),
	)
	return cmd
}

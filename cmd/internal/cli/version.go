package cli

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"time"

	"github.com/spf13/cobra"

	"github.com/infer-prep/infer-prep/cmd/internal/cli/command"
)

// sourceDate returns the date of the commit that was built, so that every build
// writes the same man pages. It returns the zero of Unix time if unknown.
func sourceDate() time.Time {
	date := time.Unix(0, 0).UTC()
	if b, ok := debug.ReadBuildInfo(); ok {
		for _, s := range b.Settings {
			if t, err := time.Parse(time.RFC3339, s.Value); s.Key == "vcs.time" && err == nil {
				date = t
			}
		}
	}
	return date
}

func versionCmd(a *command.App) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use: "version", Short: "Print the versions of the program and of the libraries it reproduces", Args: command.NoArgs,
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(*cobra.Command, []string) error {
			if asJSON {
				return a.PrintJSON(struct {
					Version    string              `json:"version"`
					Go         string              `json:"go"`
					Platform   string              `json:"platform"`
					References []command.Reference `json:"references"`
				}{command.ModuleVersion(), runtime.Version(), runtime.GOOS + "/" + runtime.GOARCH, command.References})
			}
			t := command.Table{}
			t.Row(command.Program, command.ModuleVersion())
			t.Row("Go", fmt.Sprintf("%s %s/%s", runtime.Version(), runtime.GOOS, runtime.GOARCH))
			for _, r := range command.References {
				t.Row(r.Name, r.Version)
			}
			return t.Write(a.Stdout)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON object")
	return cmd
}

package cli

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"time"

	"github.com/spf13/cobra"
)

// references are the libraries that the ops reproduce, at the versions that
// they are tested against.
var references = []reference{
	{"Pillow", "13.0.0"},
	{"OpenCV", "5.0.0.93"},
	{"torchvision", "0.29.2"},
	{"transformers", "5.23.0"},
	{"timm", "1.0.31"},
}

type reference struct {
	Name    string `json:"name"`
	Version string `json:"version"`
}

// moduleVersion returns the version of the module that was built.
func moduleVersion() string {
	if b, ok := debug.ReadBuildInfo(); ok && b.Main.Version != "" {
		return b.Main.Version
	}
	return "(devel)"
}

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

func (a *app) versionCmd() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use: "version", Short: "Print the versions of the program and of the libraries it reproduces", Args: noArgs,
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(*cobra.Command, []string) error {
			if asJSON {
				return a.printJSON(struct {
					Version    string      `json:"version"`
					Go         string      `json:"go"`
					Platform   string      `json:"platform"`
					References []reference `json:"references"`
				}{moduleVersion(), runtime.Version(), runtime.GOOS + "/" + runtime.GOARCH, references})
			}
			t := table{}
			t.row(Program, moduleVersion())
			t.row("Go", fmt.Sprintf("%s %s/%s", runtime.Version(), runtime.GOOS, runtime.GOARCH))
			for _, r := range references {
				t.row(r.Name, r.Version)
			}
			return t.write(a.stdout)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON object")
	return cmd
}

package graph

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/infer-prep/infer-prep/cmd/internal/cli/command"
	"github.com/infer-prep/infer-prep/importer"
	"github.com/infer-prep/infer-prep/importer/hf"
)

func ImportersCommand(a *command.App) *cobra.Command {
	var asJSON, coverage bool
	cmd := &cobra.Command{
		Use:   "importers",
		Short: "List the importers, or transformers' processors",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 0 {
				return command.UsageErr("importers: want no arguments, got %q", args[0])
			}
			return nil
		},
		RunE: func(*cobra.Command, []string) error {
			if coverage {
				return listCoverage(a, asJSON)
			}
			return listImporters(a, asJSON)
		},
	}
	cmd.Flags().BoolVar(&coverage, "coverage", false, "list the image and video processors of transformers that --hf imports, and the processors whose tokens of images are exact")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

// importerJSON is an importer as --json prints it.
type importerJSON struct {
	Flag     string   `json:"flag"`
	Backends []string `json:"backends,omitempty"`
	Doc      string   `json:"doc"`
}

func listImporters(a *command.App, asJSON bool) error {
	l := []importerJSON{}
	for _, i := range importer.All() {
		l = append(l, importerJSON{"--" + i.Name, slices.Sorted(maps.Keys(i.Backends)), i.Doc})
	}
	if asJSON {
		return a.PrintJSON(l)
	}
	t := command.Table{}
	t.Row("FLAG", "BACKENDS", "FILE")
	for _, i := range l {
		lines := command.Wrap(i.Doc, opWidth)
		t.Row(i.Flag, strings.Join(i.Backends, ", "), lines[0])
		for _, line := range lines[1:] {
			t.Row("", "", line)
		}
	}
	return t.Write(a.Stdout)
}

// CoverageJSON is the table of --coverage --json.
type CoverageJSON struct {
	Transformers string      `json:"transformers"`
	Exact        int         `json:"exact"` // classes that are exact in their default backend
	Classes      []classJSON `json:"classes"`
	VideosExact  int         `json:"videos_exact"` // of the video classes
	Videos       []videoJSON `json:"videos"`
	// TokensExact counts the processors whose tokens of images are exact.
	TokensExact int             `json:"tokens_exact"`
	Processors  []processorJSON `json:"processors"`
}

type classJSON struct {
	Class    string   `json:"class"`
	Backends []string `json:"backends"` // the default first
	State    string   `json:"state"`    // exact or partial
	Cases    []int    `json:"cases"`    // configurations, in the order of backends
	Reason   string   `json:"reason,omitempty"`
}

func listCoverage(a *command.App, asJSON bool) error {
	c := CoverageJSON{Transformers: hf.Version}
	for _, k := range hf.Classes() {
		state := "exact"
		if k.Partial != "" {
			state = "partial"
		} else {
			c.Exact++
		}
		c.Classes = append(c.Classes, classJSON{k.Name, k.Backends, state, k.Cases, k.Partial})
	}
	c.Videos, c.VideosExact = videoCoverage()
	c.Processors, c.TokensExact = processorCoverage()
	if asJSON {
		return a.PrintJSON(c)
	}
	t := command.Table{}
	t.Row("CLASS", "STATE", "BACKENDS: CONFIGURATIONS THAT ARE EQUAL")
	for _, k := range c.Classes {
		cells := make([]string, len(k.Backends))
		for i, backend := range k.Backends {
			if cells[i] = backend; k.State != "refused" {
				cells[i] = fmt.Sprintf("%s %d", backend, k.Cases[i])
			}
		}
		text := strings.Join(cells, ", ")
		if k.Reason != "" {
			text += ": " + k.Reason
		}
		t.Row(k.Class, k.State, text)
	}
	if err := t.Write(a.Stdout); err != nil {
		return err
	}
	if _, err := fmt.Fprintf(a.Stdout, "\ntransformers %s: %d of %d classes are exact in their default backend.\n", c.Transformers, c.Exact, len(c.Classes)); err != nil {
		return err
	}
	if err := listVideos(a, c.Videos, c.VideosExact); err != nil {
		return err
	}
	return listProcessors(a, c.Processors, c.TokensExact)
}

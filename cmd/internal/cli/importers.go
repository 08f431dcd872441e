package cli

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/infer-prep/infer-prep/importer"
	"github.com/infer-prep/infer-prep/importer/hf"
)

func (a *app) importersCmd() *cobra.Command {
	var asJSON, coverage bool
	cmd := &cobra.Command{
		Use:   "importers",
		Short: "List the importers, or transformers' image processors",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 0 {
				return usageErr("importers: want no arguments, got %q", args[0])
			}
			return nil
		},
		RunE: func(*cobra.Command, []string) error {
			if coverage {
				return a.listCoverage(asJSON)
			}
			return a.listImporters(asJSON)
		},
	}
	cmd.Flags().BoolVar(&coverage, "coverage", false, "list the image processors of transformers that --hf imports")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

// importerJSON is an importer as --json prints it.
type importerJSON struct {
	Flag     string   `json:"flag"`
	Backends []string `json:"backends,omitempty"`
	Doc      string   `json:"doc"`
}

func (a *app) listImporters(asJSON bool) error {
	l := []importerJSON{}
	for _, i := range importer.All() {
		l = append(l, importerJSON{"--" + i.Name, slices.Sorted(maps.Keys(i.Backends)), i.Doc})
	}
	if asJSON {
		return a.printJSON(l)
	}
	t := table{}
	t.row("FLAG", "BACKENDS", "FILE")
	for _, i := range l {
		lines := wrap(i.Doc, opWidth)
		t.row(i.Flag, strings.Join(i.Backends, ", "), lines[0])
		for _, line := range lines[1:] {
			t.row("", "", line)
		}
	}
	return t.write(a.stdout)
}

// coverageJSON is the table of --coverage --json.
type coverageJSON struct {
	Transformers string      `json:"transformers"`
	Exact        int         `json:"exact"` // classes that are exact in their default backend
	Classes      []classJSON `json:"classes"`
}

type classJSON struct {
	Class    string   `json:"class"`
	Backends []string `json:"backends"` // the default first
	State    string   `json:"state"`    // exact, partial or refused
	Cases    []int    `json:"cases"`    // configurations, in the order of backends
	Reason   string   `json:"reason,omitempty"`
}

func (a *app) listCoverage(asJSON bool) error {
	c := coverageJSON{Transformers: hf.Version}
	for _, k := range hf.Classes() {
		state := "exact"
		switch {
		case k.Refused != "":
			state = "refused"
		case k.Partial != "":
			state = "partial"
		default:
			c.Exact++
		}
		c.Classes = append(c.Classes, classJSON{k.Name, k.Backends, state, k.Cases, k.Refused + k.Partial})
	}
	if asJSON {
		return a.printJSON(c)
	}
	t := table{}
	t.row("CLASS", "STATE", "BACKENDS: CONFIGURATIONS THAT ARE EQUAL")
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
		t.row(k.Class, k.State, text)
	}
	if err := t.write(a.stdout); err != nil {
		return err
	}
	_, err := fmt.Fprintf(a.stdout, "\ntransformers %s: %d of %d classes are exact in their default backend.\n", c.Transformers, c.Exact, len(c.Classes))
	return err
}

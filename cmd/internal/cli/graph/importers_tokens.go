package graph

import (
	"fmt"

	"github.com/infer-prep/infer-prep/cmd/internal/cli/command"
	"github.com/infer-prep/infer-prep/importer/hf/tokens"
)

// processorJSON is a processor of --coverage --json.
type processorJSON struct {
	Class  string `json:"class"`
	State  string `json:"state"` // exact, none for a class without tokens of images, or refused
	Reason string `json:"reason,omitempty"`
}

// processorCoverage lists transformers' processors.
func processorCoverage() (l []processorJSON, exact int) {
	for _, s := range tokens.Supports() {
		state := "refused"
		switch {
		case s.Exact:
			state = "exact"
			exact++
		case s.NoTokens:
			state = "none"
		}
		l = append(l, processorJSON{s.Class, state, s.Reason})
	}
	return l, exact
}

// listProcessors writes the table of the processors below the others.
func listProcessors(a *command.App, l []processorJSON, exact int) error {
	t := command.Table{}
	t.Row("\nPROCESSOR", "TOKENS OF IMAGES", "REASON")
	none := 0
	for _, p := range l {
		t.Row(p.Class, p.State, p.Reason)
		if p.State == "none" {
			none++
		}
	}
	if err := t.Write(a.Stdout); err != nil {
		return err
	}
	_, err := fmt.Fprintf(a.Stdout, "\nThe tokens of images are exact for %d of %d processors; %d have none.\n", exact, len(l), none)
	return err
}

package graph

import (
	"fmt"

	"github.com/infer-prep/infer-prep/cmd/internal/cli/command"
	"github.com/infer-prep/infer-prep/importer/hf/video"
)

// videoJSON is a video processor of --coverage --json.
type videoJSON struct {
	Class  string `json:"class"`
	State  string `json:"state"` // exact, partial or refused
	Reason string `json:"reason,omitempty"`
}

// videoCoverage lists transformers' video processors.
func videoCoverage() (l []videoJSON, exact int) {
	for _, c := range video.Classes() {
		state := "exact"
		if c.Partial != "" {
			state = "partial"
		} else {
			exact++
		}
		l = append(l, videoJSON{c.Name, state, c.Partial})
	}
	return l, exact
}

// listVideos writes the table of the video processors below the other one.
func listVideos(a *command.App, l []videoJSON, exact int) error {
	t := command.Table{}
	t.Row("\nVIDEO CLASS", "STATE", "REASON")
	for _, v := range l {
		t.Row(v.Class, v.State, v.Reason)
	}
	if err := t.Write(a.Stdout); err != nil {
		return err
	}
	_, err := fmt.Fprintf(a.Stdout, "\nrun --video: %d of %d video classes are exact. The frames that they choose are exact for all.\n", exact, len(l))
	return err
}

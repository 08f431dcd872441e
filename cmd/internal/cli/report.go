package cli

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"

	"github.com/infer-prep/infer-prep/internal/paths"
)

// The statuses of a report's inputs.
const (
	statusDone    = "done"
	statusSkipped = "skipped"
	statusFailed  = "failed"
	statusPending = "pending" // the run ended before it
	statusEnd     = "end"     // of the last line, which has no input
)

// reportLine is a line of the file of --report.
type reportLine struct {
	Input   string   `json:"input,omitempty"`
	Name    string   `json:"name,omitempty"` // of its outputs below the output folder, with slashes
	In      string   `json:"in,omitempty"`   // the container that holds it
	Status  string   `json:"status"`
	Kind    string   `json:"kind,omitempty"` // of the error
	Why     string   `json:"why,omitempty"`
	Outputs []result `json:"outputs,omitempty"`
}

// report writes the file of --report. A nil report writes nothing.
type report struct {
	path string
	f    *os.File
	buf  bytes.Buffer
}

// newReport creates the file, or empties it.
func newReport(path string) (*report, error) {
	if path == "" {
		return nil, nil
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC|os.O_APPEND, 0o666)
	if err != nil {
		return nil, failErr("--report %w", paths.Error(path, err))
	}
	return &report{path: path, f: f}, nil
}

// add writes the line of an input.
func (r *report) add(in *input, l reportLine) error {
	if r == nil {
		return nil
	}
	l.Input, l.Name, l.In = in.path, filepath.ToSlash(in.name), in.in
	return r.write(l)
}

// end writes the lines of the inputs that have none, and the last line.
func (r *report) end(inputs []input) (err error) {
	if r == nil {
		return nil
	}
	for i := range inputs {
		if in := &inputs[i]; !in.reported {
			err = errors.Join(err, r.add(in, reportLine{Status: statusPending}))
		}
	}
	return errors.Join(err, r.write(reportLine{Status: statusEnd}))
}

// write writes a line with one call, so that a killed run leaves whole lines.
func (r *report) write(l reportLine) error {
	r.buf.Reset()
	e := json.NewEncoder(&r.buf)
	e.SetEscapeHTML(false)
	if err := e.Encode(l); err != nil {
		return err
	}
	_, err := r.f.Write(r.buf.Bytes())
	return paths.Error(r.path, err)
}

func (r *report) close() error {
	if r == nil {
		return nil
	}
	return paths.Error(r.path, r.f.Close())
}

package job

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"

	"github.com/infer-prep/infer-prep/internal/paths"
)

// reportLine is a line of a report.
type reportLine struct {
	Input   string   `json:"input,omitempty"`
	Name    string   `json:"name,omitempty"` // of its outputs below the output folder, with slashes
	In      string   `json:"in,omitempty"`   // the container that holds it
	Status  Status   `json:"status"`
	Kind    Kind     `json:"kind,omitempty"` // of the error
	Why     string   `json:"why,omitempty"`
	Outputs []Output `json:"outputs,omitempty"`
}

// report writes the file of Job.Report. A nil report writes nothing.
type report struct {
	path    string
	message func(error) string
	f       *os.File
	buf     bytes.Buffer
}

// newReport creates the file, or empties it.
func newReport(path string, message func(error) string) (*report, error) {
	if path == "" {
		return nil, nil
	}
	if message == nil {
		message = error.Error
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC|os.O_APPEND, 0o666)
	if err != nil {
		return nil, advice("%s %w", Field("Report"), paths.Error(path, err))
	}
	return &report{path: path, message: message, f: f}, nil
}

// add writes the line of a result.
func (r *report) add(x Result) error {
	if r == nil {
		return nil
	}
	l := reportLine{Input: x.Path, Name: filepath.ToSlash(x.Name), In: x.In, Status: x.Status, Kind: x.Kind, Why: x.Why, Outputs: x.Outputs}
	switch x.Status {
	case Present, Dropped:
		l.Status = Skipped
	case Failed:
		l.Why = r.message(x.Err)
	}
	return r.write(l)
}

// end writes the lines of the inputs that have none, and the last line.
func (r *report) end(inputs []File) (err error) {
	if r == nil {
		return nil
	}
	for i := range inputs {
		if in := &inputs[i]; !in.reported {
			err = errors.Join(err, r.add(Result{Path: in.Path, Name: in.Name, In: in.in, Status: Pending}))
		}
	}
	return errors.Join(err, r.write(reportLine{Status: endOfRun}))
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

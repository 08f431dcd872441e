package cli

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/infer-prep/infer-prep/codec"
	"github.com/infer-prep/infer-prep/datagraph"
	"github.com/infer-prep/infer-prep/internal/bom"
	"github.com/infer-prep/infer-prep/internal/paths"
	"github.com/infer-prep/infer-prep/internal/pipe"
	"github.com/infer-prep/infer-prep/tensor"
)

// maxLine is the longest line of run --lines, in bytes: an image of 48 MiB in
// base64.
const maxLine = 64 << 20

// maxPath is the longest path in a line, in bytes. No system has longer ones,
// and answers repeat it.
const maxPath = 32 << 10

// answer is a line that run --lines prints.
type answer struct {
	Line    int64           `json:"line"` // of the input, from 1
	ID      json.RawMessage `json:"id,omitempty"`
	Input   string          `json:"input,omitempty"` // the path, unless there is an id
	Outputs []result        `json:"outputs,omitempty"`
	Error   *answerError    `json:"error,omitempty"`
}

type answerError struct {
	Kind    string `json:"kind"`
	Message string `json:"message"`
}

// The kinds of answerError.
const (
	kindLine        = "line"        // the line is invalid
	kindMissing     = "missing"     // the file does not exist
	kindRead        = "read"        // the file cannot be read
	kindImage       = "image"       // the image is damaged, or no image
	kindUnsupported = "unsupported" // the image is valid and not supported
	kindLimit       = "limit"       // the image needs more than the limits allow
	kindGraph       = "graph"       // the graph does not apply to the image
	kindWrite       = "write"       // the output cannot be written
	kindInternal    = "internal"    // a bug
)

// errLine reports an invalid line.
var errLine = errors.New("invalid line")

// kindOf returns the kind of an outcome's error.
func kindOf(o outcome) string {
	switch err := o.err; {
	case errors.Is(err, errLine):
		return kindLine
	case o.at == kindWrite:
		return o.at
	case errors.Is(err, codec.ErrInternal):
		return kindInternal
	case errors.Is(err, codec.ErrLimit):
		return kindLimit
	case errors.Is(err, codec.ErrUnsupported):
		return kindUnsupported
	case errors.Is(err, codec.ErrFormat):
		return kindImage
	case errors.Is(err, fs.ErrNotExist):
		return kindMissing
	case o.at != "":
		return o.at
	}
	return kindGraph
}

// asked is what a line asks for, and the place of its answer.
type asked struct {
	line int64
	id   json.RawMessage
	path string
}

// checkLines checks the flags and arguments of run --lines.
func (f *runFlags) checkLines(cmd *cobra.Command, args []string, x format) error {
	toFiles := f.out != "" && f.out != "-"
	n := firstChanged(cmd, "batch-size", "last-batch", "samples-per-file", "bytes-per-file", "force", "json", "top", "softmax", "skip-existing", "files-from", "null", "keep-path", "report", "strict")
	switch {
	case len(args) > 0:
		return usageErr("--lines reads the images' paths from standard input: want no arguments")
	case n != "":
		return usageErr("--%s does not apply to --lines, which answers each line by itself", n)
	case x.shards != "" || x.numbered || x.list != "":
		return usageErr("--format %s does not apply to --lines: want a format with files of one image", x.name)
	case !toFiles && cmd.Flags().Changed("format"):
		return usageErr("--format applies to files: want -o DIR; without it the answers hold the tensors")
	}
	return nil
}

// runLines answers the lines of standard input.
func (a *app) runLines(ctx context.Context, f *runFlags, plan *datagraph.Plan, on *sessions, c columns) error {
	var to sink = &answers{columns: c}
	if f.out != "" && f.out != "-" {
		to = &imageFiles{columns: c, dir: f.out}
		defer enter(f.out)()
	}
	if err := to.ready(ctx); err != nil {
		return err
	}
	b := &batch{app: a, plan: plan, sessions: on, limits: f.limits, sink: to, jobs: f.jobs}
	b.source = b.lines
	err := b.run(ctx, func(o outcome) error {
		x := answer{Line: o.in.asked.line, ID: o.in.asked.id}
		if x.ID == nil {
			x.Input = o.in.asked.path
		}
		if o.err != nil {
			x.Error = &answerError{kindOf(o), withoutSecrets(o.err.Error())}
		} else {
			x.Outputs = o.results
		}
		return a.printLine(x) // one write, so that the reader waits for nothing
	})
	if ctx.Err() != nil {
		return &exitError{exitInterrupted, errors.New("interrupted: the lines that were begun are answered")}
	}
	return wrapFail(err)
}

// answers is a sink whose results hold the tensors.
type answers struct{ columns }

func (s *answers) ready(context.Context) error { return nil }

func (s *answers) write(_ string, out []*tensor.Tensor) (w written, err error) {
	named, results, err := s.named(out)
	if err != nil {
		return w, err
	}
	for i, n := range named {
		var b bytes.Buffer
		b.Grow(int(max(0, n.T.Size())))
		if err := tensor.WriteRaw(&b, n.T); err != nil {
			return w, err
		}
		data := b.Bytes()
		results[i].Data = &data
		w.size += int64(len(data))
	}
	w.results = results
	return w, nil
}

func (s *answers) add(o outcome) ([]outcome, error) { return []outcome{o}, nil }
func (s *answers) close() ([]outcome, error)        { return nil, nil }
func (s *answers) abort() error                     { return nil }

// lines makes an input of each line of standard input. It reads a line only
// once an input is wanted.
func (b *batch) lines(ctx context.Context) iter.Seq[*input] {
	return func(yield func(*input) bool) {
		p := pipe.Open(ctx, b.app.stdin, pipe.Stdin)
		defer p.Close()
		r := bufio.NewReaderSize(bom.NewReader(p), pipe.Buffer)
		var buf []byte
		for n := int64(1); ; n++ {
			line, err := readLine(r, &buf, maxLine)
			if err != nil && err != errLong {
				if err != io.EOF && ctx.Err() == nil {
					yield(&input{asked: asked{line: n}, err: fmt.Errorf("standard input: %w: %w", errLine, err)})
				}
				return
			}
			in := &input{asked: asked{line: n}, explicit: true}
			if err == nil {
				err = b.ask(in, line)
			}
			if err != nil {
				in.err = fmt.Errorf("%w: %w", errLine, err)
			}
			if !yield(in) {
				return
			}
		}
	}
}

// request is a line in JSON.
type request struct {
	Path  *string         `json:"path"`
	Image *[]byte         `json:"image"` // base64
	ID    json.RawMessage `json:"id"`
}

// ask sets an input by its line.
func (b *batch) ask(in *input, line []byte) error {
	var q request
	switch {
	case len(line) == 0:
		return errors.New("it is empty: want a path or a JSON object")
	case line[0] != '{':
		s := string(line)
		q.Path = &s
	default:
		err := json.Unmarshal(line, &q) // ignores unknown members
		// The id is answered with the error if it is valid.
		if len(q.ID) > 0 && (q.ID[0] == '"' || q.ID[0] == '-' || '0' <= q.ID[0] && q.ID[0] <= '9') {
			in.asked.id = q.ID
		} else if err == nil && q.ID != nil {
			err = fmt.Errorf("the id %.40s: want a string or a number", q.ID)
		}
		if err != nil {
			return err
		}
	}
	switch {
	case (q.Path == nil) == (q.Image == nil):
		return errors.New(`want "path" or "image"`)
	case q.Path != nil:
		if len(*q.Path) > maxPath {
			return fmt.Errorf("the path has %d bytes, the limit is %d", len(*q.Path), maxPath)
		}
		in.asked.path, in.path = *q.Path, *q.Path
		switch {
		case in.path == "":
			return errors.New("the path is empty")
		case in.path == pipe.Stdin:
			return errors.New("the path is -, and standard input has the lines")
		}
		if in.path = paths.TrimFile(in.path); paths.IsURI(in.path) {
			in.uri, in.path = in.path, paths.Shown(in.path)
			in.name = filepath.FromSlash(keptURI(in.uri))
		} else {
			in.name = keptPath(in.path)
		}
		return nil
	}
	in.path = fmt.Sprintf("line %d", in.asked.line)
	in.name = fmt.Sprintf("line-%d", in.asked.line)
	if id := in.asked.id; id != nil {
		in.name = string(id)
		if id[0] == '"' {
			if err := json.Unmarshal(id, &in.name); err != nil {
				return err
			}
		}
		if in.name = safeName(in.name); in.name == "" {
			return errors.New("the id is empty")
		}
	}
	in.held, in.data = true, *q.Image
	size, limit := int64(len(in.data)), b.limits.Bytes
	if limit > 0 && size > limit {
		in.data = nil
		in.err = fmt.Errorf("%s: %w", in.path, tooLarge(size, limit))
		return nil
	}
	b.held.take(size)
	in.release = func() { b.held.give(size) }
	return nil
}

// errLong reports a line above the limit.
var errLong = fmt.Errorf("it has more than %d bytes, the limit of a line; name a file instead", maxLine)

// readLine reads a line of at most limit bytes, without its end. It skips a
// longer one, which is an errLong. The line is valid until the next call, which
// reuses buf.
func readLine(r *bufio.Reader, buf *[]byte, limit int) ([]byte, error) {
	const keep = 1 << 20
	line := (*buf)[:0]
	if cap(line) > keep { // one long line must not hold its memory
		line = nil
	}
	long, any := false, false
	for {
		part, err := r.ReadSlice('\n')
		any = any || len(part) > 0
		if long = long || len(line)+len(part) > limit+2; !long { // two for \r\n
			line = append(line, part...)
		} else {
			line = nil
		}
		if err == bufio.ErrBufferFull {
			continue
		}
		if err != nil && (err != io.EOF || !any) {
			return nil, err
		}
		*buf = line
		line = bytes.TrimSuffix(bytes.TrimSuffix(line, []byte("\n")), []byte("\r"))
		if long || len(line) > limit {
			return nil, errLong
		}
		return line, nil
	}
}

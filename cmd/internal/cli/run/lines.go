package run

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"sync"

	"github.com/spf13/cobra"

	"github.com/infer-prep/infer-prep/cmd/internal/cli/command"
	"github.com/infer-prep/infer-prep/internal/bom"
	"github.com/infer-prep/infer-prep/internal/paths"
	"github.com/infer-prep/infer-prep/internal/pipe"
	"github.com/infer-prep/infer-prep/job"
	"github.com/infer-prep/infer-prep/tensor"
)

// MaxLine is the longest line of run --lines, in bytes: an image of 48 MiB in
// base64.
const MaxLine = 64 << 20

// MaxPath is the longest path in a line, in bytes. No system has longer ones,
// and answers repeat it.
const MaxPath = 32 << 10

// answer is a line that run --lines prints.
type answer struct {
	Line    int64           `json:"line"` // of the input, from 1
	ID      json.RawMessage `json:"id,omitempty"`
	Input   string          `json:"input,omitempty"` // the path, unless there is an id
	Outputs []answerOutput  `json:"outputs,omitempty"`
	Error   *AnswerError    `json:"error,omitempty"`
}

// answerOutput is an output with its elements in row-major order,
// little-endian.
type answerOutput struct {
	job.Output
	Data *[]byte `json:"data,omitempty"`
}

type AnswerError struct {
	Kind    job.Kind `json:"kind"`
	Message string   `json:"message"`
}

// kindLine is the kind of an invalid line, besides those of job.
const kindLine job.Kind = "line"

// errLine reports an invalid line.
var errLine = errors.New("invalid line")

// asked is what a line asks for, and the place of its answer.
type asked struct {
	line int64
	id   json.RawMessage
	path string
}

// checkLines checks the flags and arguments of run --lines.
func (f *runFlags) checkLines(cmd *cobra.Command, args []string) error {
	x := f.format
	n := command.FirstChanged(cmd, "batch-size", "last-batch", "samples-per-file", "bytes-per-file", "force", "json", "top", "softmax", "skip-existing", "files-from", "null", "keep-path", "report", "strict")
	switch {
	case len(args) > 0:
		return command.UsageErr("--lines reads the images' paths from standard input: want no arguments")
	case n != "":
		return command.UsageErr("--%s does not apply to --lines, which answers each line by itself", n)
	case x.Shards || x.Numbered || x.List != "":
		return command.UsageErr("--format %s does not apply to --lines: want a format with files of one image", x.Name)
	case (f.out == "" || f.out == "-") && cmd.Flags().Changed("format"):
		return command.UsageErr("--format applies to files: want -o DIR; without it the answers hold the tensors")
	}
	return nil
}

// runLines answers the lines of standard input.
func runLines(ctx context.Context, a *command.App, f *runFlags, j *job.Job) error {
	l := &lineReader{stdin: a.Stdin}
	j.Stream = l.inputs
	j.OnResult = func(x job.Result) error {
		y, err := l.next().answer(x)
		if err != nil {
			return err
		}
		return a.PrintLine(y) // one write, so that the reader waits for nothing
	}
	_, err := j.Run(ctx)
	switch {
	case ctx.Err() != nil:
		return &command.ExitError{Status: command.ExitInterrupted, Err: errors.New("interrupted: the lines that were begun are answered")}
	case errors.Is(err, job.ErrImages), errors.Is(err, job.ErrNoImages):
		return nil
	case err != nil:
		return jobErr(err)
	}
	return nil
}

// answer returns the answer of a line with a result.
func (q asked) answer(x job.Result) (answer, error) {
	y := answer{Line: q.line, ID: q.id}
	if y.ID == nil {
		y.Input = q.path
	}
	if x.Err != nil {
		y.Error = &AnswerError{x.Kind, command.WithoutSecrets(x.Err.Error())}
		if errors.Is(x.Err, errLine) {
			y.Error.Kind = kindLine
		}
		return y, nil
	}
	for i, o := range x.Outputs {
		p := answerOutput{Output: o}
		if x.Tensors != nil {
			var b bytes.Buffer
			b.Grow(int(max(0, x.Tensors[i].Size())))
			if err := tensor.WriteRaw(&b, x.Tensors[i]); err != nil {
				return y, err
			}
			data := b.Bytes()
			p.Data = &data
		}
		y.Outputs = append(y.Outputs, p)
	}
	return y, nil
}

// lineReader makes an input of each line of standard input. It keeps what the
// lines ask for until their results arrive, which are in the same order.
type lineReader struct {
	stdin io.Reader

	mu    sync.Mutex
	asked []asked
}

func (l *lineReader) add(q asked) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.asked = append(l.asked, q)
}

// next removes the first line.
func (l *lineReader) next() asked {
	l.mu.Lock()
	defer l.mu.Unlock()
	q := l.asked[0]
	l.asked = l.asked[1:]
	return q
}

// inputs makes the inputs. It reads a line only once an input is wanted.
func (l *lineReader) inputs(ctx context.Context) iter.Seq[job.Input] {
	return func(yield func(job.Input) bool) {
		p := pipe.Open(ctx, l.stdin, pipe.Stdin)
		defer p.Close()
		r := bufio.NewReaderSize(bom.NewReader(p), pipe.Buffer)
		var buf []byte
		for n := int64(1); ; n++ {
			line, err := readLine(r, &buf, MaxLine)
			if err != nil && err != errLong {
				if err != io.EOF && ctx.Err() == nil {
					l.add(asked{line: n})
					yield(job.Input{Err: fmt.Errorf("standard input: %w: %w", errLine, err)})
				}
				return
			}
			q := asked{line: n}
			var in job.Input
			if err == nil {
				in, err = q.parse(line)
			}
			if err != nil {
				in.Err = fmt.Errorf("%w: %w", errLine, err)
			}
			l.add(q)
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

// parse returns the input of a line, and completes what it asks for.
func (q *asked) parse(line []byte) (in job.Input, err error) {
	var r request
	switch {
	case len(line) == 0:
		return in, errors.New("it is empty: want a path or a JSON object")
	case line[0] != '{':
		s := string(line)
		r.Path = &s
	default:
		err := json.Unmarshal(line, &r) // ignores unknown members
		// The id is answered with the error if it is valid.
		if len(r.ID) > 0 && (r.ID[0] == '"' || r.ID[0] == '-' || '0' <= r.ID[0] && r.ID[0] <= '9') {
			q.id = r.ID
		} else if err == nil && r.ID != nil {
			err = fmt.Errorf("the id %.40s: want a string or a number", r.ID)
		}
		if err != nil {
			return in, err
		}
	}
	switch {
	case (r.Path == nil) == (r.Image == nil):
		return in, errors.New(`want "path" or "image"`)
	case r.Path == nil:
		in.Path, in.Data = fmt.Sprintf("line %d", q.line), *r.Image
		if in.Data == nil {
			in.Data = []byte{}
		}
		in.Name, err = q.name()
		return in, err
	case len(*r.Path) > MaxPath:
		return in, fmt.Errorf("the path has %d bytes, the limit is %d", len(*r.Path), MaxPath)
	}
	switch q.path = *r.Path; q.path {
	case "":
		return in, errors.New("the path is empty")
	case pipe.Stdin:
		return in, errors.New("the path is -, and standard input has the lines")
	}
	in.Path = q.path
	return in, nil
}

// name returns the name of the outputs of an image that a line holds.
func (q *asked) name() (string, error) {
	if q.id == nil {
		return fmt.Sprintf("line-%d", q.line), nil
	}
	name := string(q.id)
	if q.id[0] == '"' {
		if err := json.Unmarshal(q.id, &name); err != nil {
			return "", err
		}
	}
	if name = paths.Safe(name); name == "" {
		return "", errors.New("the id is empty")
	}
	return name, nil
}

// errLong reports a line above the limit.
var errLong = fmt.Errorf("it has more than %d bytes, the limit of a line; name a file instead", MaxLine)

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

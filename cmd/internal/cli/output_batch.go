package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"
	"slices"

	"github.com/infer-prep/infer-prep/datagraph"
	"github.com/infer-prep/infer-prep/tensor"
)

// The values of --last-batch.
const (
	lastShort = "short"
	lastPad   = "pad"
	lastDrop  = "drop"
)

// batches is a sink that joins the outputs of several images and hands them to
// another sink as if they were those of one image.
type batches struct {
	to    sink
	files *imageFiles // to, unless it writes to standard output
	*columns
	rules []datagraph.Batching // of the outputs
	count int                  // images of a batch
	last  string
	limit int64 // bytes of a batch; 0 means no limit
	force bool  // replace older batches

	waiting []outcome // of the next batch
	bytes   int64     // of their tensors
	number  int       // of the next batch
	tensors []*tensor.Tensor
}

func (b *batches) ready() error {
	if err := b.to.ready(); err != nil || b.files == nil {
		return err
	}
	return newSeries(b.files.dir, "batch-", b.force)
}

// write copies the tensors.
func (b *batches) write(_ string, out []*tensor.Tensor) (w written, err error) {
	if _, w.results, err = b.named(out); err != nil {
		return w, err
	}
	for i := range b.names {
		t := out[i].Clone()
		w.tensors = append(w.tensors, t)
		w.size += t.Size()
	}
	return w, nil
}

func (b *batches) add(o outcome) ([]outcome, error) {
	for i, r := range b.rules {
		list := []*tensor.Tensor{o.tensors[i]}
		if len(b.waiting) > 0 {
			list = slices.Insert(list, 0, b.waiting[0].tensors[i])
		}
		if _, err := r.Shape(list); err != nil {
			if len(list) > 1 {
				err = fmt.Errorf("the output %s is %v, in the batch of %s it is %v: rule %v needs equal sizes", b.names[i], list[1].Desc, b.waiting[0].in.path, list[0].Desc, r.Rule)
			}
			o.err = fmt.Errorf("%s: %w", o.in.path, err)
			return []outcome{o}, nil
		}
	}
	b.waiting = append(b.waiting, o)
	b.bytes += o.size
	if err := b.fits(b.bytes); err != nil {
		return nil, err
	}
	if len(b.waiting) < b.count {
		return nil, nil
	}
	return b.flush(0)
}

func (b *batches) fits(bytes int64) error {
	if b.limit > 0 && bytes > b.limit {
		return fmt.Errorf("a batch of %s needs more than %d bytes: want a smaller --batch-size or a larger --limit-bytes", plural(len(b.waiting), "image"), b.limit)
	}
	return nil
}

// flush writes the batch. The last image stands padding times more in it.
func (b *batches) flush(padding int) ([]outcome, error) {
	name := fmt.Sprintf("batch-%06d", b.number)
	if b.tensors == nil {
		for range b.rules {
			b.tensors = append(b.tensors, &tensor.Tensor{})
		}
	}
	lines := make([]imageLine, len(b.waiting)+padding)
	var files []string
	if b.files != nil {
		if b.format.numbered {
			b.files.numbers[name] = b.number
		}
		files = b.files.files(name)
	}
	for k := range lines {
		o := &b.waiting[min(k, len(b.waiting)-1)]
		lines[k] = imageLine{Input: o.in.path, Outputs: slices.Clone(o.results)}
		if k >= len(b.waiting) {
			lines[k] = imageLine{Padding: true, Outputs: lines[k].Outputs}
		}
	}
	bytes := int64(0)
	for i, r := range b.rules {
		list := make([]*tensor.Tensor, len(lines))
		row := 0
		for k := range lines {
			list[k] = b.waiting[min(k, len(b.waiting)-1)].tensors[i]
			at, n := row, 1
			x := &lines[k].Outputs[i]
			x.Row = &at
			if r.Rule == datagraph.BatchConcat {
				n = list[k].Shape.At(0)
				x.Rows = &n
			}
			row += n
			if files != nil {
				x.File = files[min(i, len(files)-1)]
			}
		}
		d, err := r.Shape(list)
		if err != nil {
			return nil, err
		}
		bytes += d.Size()
		if err := b.fits(bytes); err != nil {
			return nil, err
		}
		if err := b.tensors[i].Reset(d); err != nil {
			return nil, err
		}
		if err := r.Fill(b.tensors[i], list); err != nil {
			return nil, err
		}
	}
	o, err := outcome{in: &input{name: name, path: name}}, error(nil)
	if b.files != nil {
		o.written, err = b.files.writeWith(name, b.tensors, newFile{filepath.Join(b.files.dir, name+".jsonl"), func(w io.Writer) error {
			return b.list(w, lines)
		}})
	} else {
		o.written, err = b.to.write(name, b.tensors)
	}
	if err == nil {
		_, err = b.to.add(o)
	}
	if err != nil {
		return nil, err
	}
	done := b.waiting
	for k := range done {
		done[k].written = written{results: lines[k].Outputs}
	}
	b.waiting, b.bytes = nil, 0
	b.number++
	return done, nil
}

// imageLine is a line of --json, and of the list of a batch's images.
type imageLine struct {
	Input   string   `json:"input,omitempty"`
	Padding bool     `json:"padding,omitempty"` // not an image
	Dropped bool     `json:"dropped,omitempty"` // in no batch
	Outputs []result `json:"outputs"`
}

// list writes the list of a batch's images. Its paths are relative to the
// folder of the list.
func (b *batches) list(w io.Writer, lines []imageLine) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	for _, l := range lines {
		l.Outputs = slices.Clone(l.Outputs)
		for i := range l.Outputs {
			p, err := filepath.Rel(b.files.dir, l.Outputs[i].File)
			if err != nil {
				return err
			}
			l.Outputs[i].File = filepath.ToSlash(p)
		}
		if err := e.Encode(l); err != nil {
			return err
		}
	}
	return nil
}

func (b *batches) close() (done []outcome, err error) {
	switch {
	case len(b.waiting) == 0:
	case b.last == lastDrop:
		done = b.waiting
		for k := range done {
			done[k].dropped, done[k].written = true, written{results: []result{}}
		}
	default:
		padding := 0
		if b.last == lastPad {
			padding = b.count - len(b.waiting)
		}
		if done, err = b.flush(padding); err != nil {
			return nil, err
		}
	}
	b.waiting = nil
	rest, err := b.to.close()
	return append(done, rest...), err
}

func (b *batches) abort() error { return b.to.abort() }

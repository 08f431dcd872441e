package job

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/infer-prep/infer-prep/datagraph"
	"github.com/infer-prep/infer-prep/internal/newfile"
	"github.com/infer-prep/infer-prep/internal/paths"
	"github.com/infer-prep/infer-prep/store"
	"github.com/infer-prep/infer-prep/tensor"
)

// batches is a sink that joins the outputs of several images and hands them to
// another sink as if they were those of one image.
type batches struct {
	to    sink
	files *imageFiles // to, unless that writes a stream
	*columns
	rules []datagraph.Batching // of the outputs
	count int                  // images of a batch
	last  string
	limit int64 // bytes of a batch; 0 means no limit
	force bool  // replace older batches
	// resume continues the batches of an earlier run.
	resume bool

	ctx     context.Context // of ready
	waiting []outcome       // of the next batch
	bytes   int64           // of their tensors
	number  int             // of the next batch
	tensors []*tensor.Tensor
}

func (b *batches) ready(ctx context.Context) error {
	b.ctx = ctx
	if err := b.to.ready(ctx); err != nil || b.files == nil || b.resume {
		return err
	}
	return newSeries(ctx, b.files.dir, "batch-", b.force)
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
	if o.existed {
		return []outcome{o}, nil
	}
	for i, r := range b.rules {
		list := []*tensor.Tensor{o.tensors[i]}
		if len(b.waiting) > 0 {
			list = slices.Insert(list, 0, b.waiting[0].tensors[i])
		}
		if _, err := r.Shape(list); err != nil {
			if len(list) > 1 {
				err = fmt.Errorf("the output %s is %v, in the batch of %s it is %v: rule %v needs equal sizes", b.names[i], list[1].Desc, b.waiting[0].in.Path, list[0].Desc, r.Rule)
			}
			o.err = fmt.Errorf("%s: %w", o.in.Path, err)
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

// fits refuses a batch of more bytes than the limit.
func (b *batches) fits(bytes int64) error {
	if b.limit > 0 && bytes > b.limit {
		return advice("the batch with %s needs more than %d bytes: want a smaller %s or a larger %s", b.waiting[len(b.waiting)-1].in.Path, b.limit, fieldBatchSize, Field("Limits.Bytes"))
	}
	return nil
}

// flush writes the batch. The last image stands padding times more in it.
func (b *batches) flush(padding int) ([]outcome, error) {
	images := b.waiting
	for range padding {
		images = append(images, b.waiting[len(b.waiting)-1])
	}
	if err := b.join(images); err != nil {
		return nil, err
	}
	name := batchName(b.number)
	o := outcome{in: &File{Name: name, Path: name}}
	done := b.waiting
	var err error
	if b.files == nil {
		o.written, err = b.to.write(name, b.tensors)
	} else {
		if b.format.Numbered {
			b.files.numbers[name] = b.number
		}
		lines := b.lines(images, b.files.files(name))
		o.written, err = b.files.writeWith(name, b.tensors, newfile.File{Path: paths.Join(b.files.dir, name+".jsonl"), Write: func(w io.Writer) error {
			return b.list(w, lines)
		}})
		for k := range done {
			done[k].results = lines[k].Outputs
		}
	}
	if err == nil && o.upload != nil {
		err = o.upload(b.ctx)
	}
	if err == nil {
		_, err = b.to.add(o)
	}
	if err != nil {
		return nil, err
	}
	for k := range done {
		done[k].written = written{results: done[k].results}
	}
	b.waiting, b.bytes = nil, 0
	b.number++
	return done, nil
}

// join forms the batch's tensors.
func (b *batches) join(images []outcome) error {
	if b.tensors == nil {
		for range b.rules {
			b.tensors = append(b.tensors, &tensor.Tensor{})
		}
	}
	bytes := int64(0)
	for i, r := range b.rules {
		var list []*tensor.Tensor
		for _, o := range images {
			list = append(list, o.tensors[i])
		}
		d, err := r.Shape(list)
		if err == nil {
			bytes += d.Size()
			err = b.fits(bytes)
		}
		if err == nil {
			err = b.tensors[i].Reset(d)
		}
		if err == nil {
			err = r.Fill(b.tensors[i], list)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// lines describes the images of a batch in files. Those after the waiting ones
// are padding.
func (b *batches) lines(images []outcome, files []string) []imageLine {
	lines := make([]imageLine, len(images))
	for k, o := range images {
		lines[k] = imageLine{Padding: k >= len(b.waiting), Outputs: slices.Clone(o.results)}
		if !lines[k].Padding {
			lines[k].Input = o.in.Path
		}
	}
	for i, r := range b.rules {
		row := 0
		for k, o := range images {
			first, rows := row, 1
			x := &lines[k].Outputs[i]
			x.File, x.Row = files[min(i, len(files)-1)], &first
			if !r.Rule.Stacks() {
				rows = o.tensors[i].Shape.At(0)
				x.Rows = &rows
			}
			row += rows
		}
	}
	return lines
}

// imageLine is a line of the list of a batch's images.
type imageLine struct {
	Input   string   `json:"input,omitempty"`
	Padding bool     `json:"padding,omitempty"` // not an image
	Outputs []Output `json:"outputs"`
}

// list writes the list of a batch's images. Its paths are relative to the
// folder of the list.
func (b *batches) list(w io.Writer, lines []imageLine) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	for _, l := range lines {
		l.Outputs = slices.Clone(l.Outputs)
		for i := range l.Outputs {
			p, err := paths.Rel(b.files.dir, l.Outputs[i].File)
			if err != nil {
				return err
			}
			l.Outputs[i].File = p
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
	case b.last == LastDrop:
		done = b.waiting
		for k := range done {
			done[k].dropped, done[k].written = true, written{results: []Output{}}
		}
	default:
		padding := 0
		if b.last == LastPad {
			padding = b.count - len(b.waiting)
			last := b.waiting[len(b.waiting)-1].size
			if err := b.fits(b.bytes + int64(padding)*last); err != nil { // before the memory is needed
				return nil, err
			}
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

func batchName(number int) string { return fmt.Sprintf("batch-%06d", number) }

// earlier finds the batches of an earlier run and returns the paths of their
// images. The next batch is the first one that is missing or not full. It
// removes the files of a batch that is not full.
func (b *batches) earlier() (digests, error) {
	listed := digests{}
	for ; ; b.number++ {
		name := batchName(b.number)
		list := paths.Join(b.files.dir, name+".jsonl")
		images, files, err := readList(b.ctx, list)
		if errors.Is(err, fs.ErrNotExist) {
			return listed, nil
		}
		if err != nil {
			return nil, err
		}
		later, err := paths.Exists(b.ctx, paths.Join(b.files.dir, batchName(b.number+1)+".jsonl"))
		if err != nil {
			return nil, err
		}
		if len(images) > b.count || later && len(images) < b.count {
			return nil, advice("%s lists %s, but %s is %d: want the same number, or %s instead of %s", list, plural(len(images), "image"), fieldBatchSize, b.count, fieldForce, fieldExisting)
		}
		for _, f := range files {
			if _, err := store.URI.Stat(b.ctx, paths.StoreName(f)); err != nil {
				return nil, fmt.Errorf("%s lists a missing file: %w", list, paths.Error(f, err))
			}
		}
		if len(images) < b.count && paths.IsURI(list) {
			return listed, nil // the next batch replaces its files
		}
		if len(images) < b.count {
			for _, f := range append([]string{list}, files...) {
				if err := os.Remove(f); err != nil {
					return nil, paths.Error(f, err)
				}
			}
			return listed, nil
		}
		for _, p := range images {
			listed.add(p)
		}
		if _, err := b.to.add(outcome{in: &File{Name: name, Path: name}}); err != nil {
			return nil, err
		}
	}
}

// readList reads the list of a batch: the paths of its images, and its files.
func readList(ctx context.Context, path string) (images, files []string, err error) {
	f, err := paths.Open(ctx, path)
	if err != nil {
		return nil, nil, err
	}
	defer f.Close()
	d := json.NewDecoder(f)
	for {
		var l imageLine
		if err := d.Decode(&l); err == io.EOF {
			return images, files, nil
		} else if err != nil {
			return nil, nil, fmt.Errorf("%s: not a list of images: %w", path, err)
		}
		if !l.Padding {
			images = append(images, l.Input)
		}
		for _, o := range l.Outputs {
			local := filepath.FromSlash(o.File)
			if !filepath.IsLocal(local) {
				return nil, nil, fmt.Errorf("%s: not a list of images: the file %q is outside", path, o.File)
			}
			if file := paths.Join(store.Dir(path), local); !slices.Contains(files, file) {
				files = append(files, file)
			}
		}
	}
}

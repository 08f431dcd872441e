package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/infer-prep/infer-prep/datagraph"
	"github.com/infer-prep/infer-prep/internal/newfile"
	"github.com/infer-prep/infer-prep/internal/paths"
	"github.com/infer-prep/infer-prep/records"
	"github.com/infer-prep/infer-prep/store"
	"github.com/infer-prep/infer-prep/tensor"
)

// format is a way to write tensors to files.
type format struct {
	name, ext string
	// many reports that one file holds all outputs of an image, with their
	// names.
	many bool
	// no lists the types that the format cannot hold.
	no    []tensor.DType
	write func(w io.Writer, ts []tensor.Named) error

	named    bool // files contain the tensors' names, so --name applies
	numbered bool // images are numbered
	// file returns the path of output i of an image below the output folder.
	// nil means the default, the image's name with ext.
	file func(s *imageFiles, image string, i int) string
	// input refuses invalid names of the model's inputs. line returns an
	// image's line in the file named list, or refuses the image.
	input func(name string) error
	list  string
	line  func(s *imageFiles, image string, files []string) (string, error)
	// stream reports that files can follow one another on standard output.
	stream bool
	// shards is the format of record files that hold many images, with their
	// index if index is true. key returns an image's key by its name, with
	// slashes; nil means the name. record returns an image's record.
	shards string
	index  bool
	key    func(name string) string
	record func(key string, ts []tensor.Named) (records.Record, error)
	// prepare changes the graph for the format.
	prepare func(f *runFlags, g *datagraph.Graph) error
}

var formats = slices.Concat([]format{
	{name: "npy", ext: ".npy", stream: true, no: []tensor.DType{tensor.BFloat16, tensor.Bytes}, write: func(w io.Writer, ts []tensor.Named) error {
		return tensor.WriteNPY(w, ts[0].T)
	}},
	{name: "npz", ext: ".npz", many: true, named: true, no: []tensor.DType{tensor.BFloat16, tensor.Bytes}, write: tensor.WriteNPZ},
	{name: "raw", ext: ".raw", stream: true, write: func(w io.Writer, ts []tensor.Named) error {
		return tensor.WriteRaw(w, ts[0].T)
	}},
	{name: "pb", ext: ".pb", named: true, write: func(w io.Writer, ts []tensor.Named) error {
		return tensor.WriteTensorProto(w, ts[0].Name, ts[0].T)
	}},
	{name: "safetensors", ext: ".safetensors", many: true, named: true, no: []tensor.DType{tensor.Bytes}, write: func(w io.Writer, ts []tensor.Named) error {
		return tensor.WriteSafetensors(w, ts, nil)
	}},
}, modelFormats, shardFormats)

// formatNames lists the values of --format.
func formatNames() []string {
	var l []string
	for _, f := range formats {
		l = append(l, f.name)
	}
	return l
}

// sink is the writing half of a run. The workers call write; the goroutine that
// receives the outcomes calls the other methods.
type sink interface {
	// ready creates what the sink writes to and checks that it is writable. ctx
	// bounds all writing to a store.
	ready(ctx context.Context) error
	// write takes an image's outputs on a worker. They are valid until it
	// returns. Files of one image are written here.
	write(name string, out []*tensor.Tensor) (written, error)
	// add takes the outcome of an image that write took without an error, in
	// the order of the inputs. It returns the outcomes that are final now:
	// files of several images are written here, and their outcomes wait for the
	// file. A returned outcome can have an error, which fails its image only;
	// the other error ends the run.
	add(o outcome) ([]outcome, error)
	// close writes the rest after the last outcome and returns the outcomes
	// that were still waiting.
	close() ([]outcome, error)
	// abort discards what is incomplete, of a run that ended early.
	abort() error
}

// newSink returns the sink that the flags ask for. rules are the batch rules of
// the outputs.
func (f *runFlags) newSink(a *app, c columns, rules []datagraph.Batching) (sink, error) {
	stdout := f.out == "-"
	if c.format.shards != "" {
		s := &shards{
			columns: c, dir: f.out, files: runStore{store.URI, f.out}, stream: stdout, force: f.force,
			count: f.samples, size: int64(f.bytes), keys: digests{},
		}
		if stdout {
			s.files = stdoutFile{store.Local, a.stdout}
		}
		return s, nil
	}
	b := &batches{rules: rules, count: f.batchSize, last: f.last, limit: f.limits.Bytes, force: f.force, resume: f.existing != ""}
	if stdout {
		if !c.format.many && len(c.names) > 1 {
			return nil, usageErr("-o -: a file of --format %s holds one output, the graph has %s: want --format npz or safetensors", c.format.name, orList(c.names))
		}
		s := &standardOutput{columns: c, w: a.stdout}
		b.to, b.columns = s, &s.columns
	} else {
		s := &imageFiles{columns: c, dir: f.out, numbers: map[string]int{}, force: f.force}
		b.to, b.columns, b.files = s, &s.columns, s
	}
	if f.batchSize == 0 {
		return b.to, nil
	}
	return b, nil
}

// newSeries refuses a folder with numbered files of an earlier run, or removes
// them if force is true: the new series could be shorter. Their names consist
// of prefix, digits and, if ext is not empty, one of its extensions.
func newSeries(ctx context.Context, dir, prefix string, force bool, ext ...string) error {
	entries, err := store.ListNames(ctx, store.URI, paths.StoreName(dir))
	if paths.IsURI(dir) && paths.IsMissing(err) {
		err = nil // a store creates folders with their first file
	}
	if err != nil {
		return failErr("cannot read the output folder: %w", paths.Error(dir, err))
	}
	for _, e := range entries {
		name, ok := strings.CutPrefix(e.Base, prefix)
		rest := strings.TrimLeft(name, "0123456789")
		if !ok || rest == name || rest != "" && rest[0] != '.' || len(ext) > 0 && !slices.Contains(ext, rest) {
			continue
		}
		path := paths.Join(dir, e.Base)
		if paths.IsURI(dir) {
			return failErr("%s is from an earlier run, and files of a store are not removed: want another folder", path)
		}
		if !force {
			return failErr("%s is from an earlier run: want another folder, or --force to remove it and all others like it", path)
		}
		if err := os.RemoveAll(path); err != nil {
			return failErr("cannot remove %w", paths.Error(path, err))
		}
	}
	return nil
}

// readyStore checks that a folder of a store can hold new files, as far as that
// is known without creating one.
func readyStore(ctx context.Context, dir string) error {
	f, err := store.URI.Create(ctx, paths.Join(dir, newfile.RunPrefix+"check"+newfile.Suffix))
	if err == nil {
		err = f.Abort()
	}
	if errors.Is(err, errors.ErrUnsupported) {
		return usageErr("-o %s: the store is only read: want a folder, or a URI of a store that takes files", dir)
	}
	if err != nil {
		return failErr("cannot write to the output folder: %w", paths.Error(dir, err))
	}
	return nil
}

// written is what a sink knows of an image's outputs.
type written struct {
	results []result
	// The other fields hold what write prepared for add.
	tensors []*tensor.Tensor // copies
	record  records.Record
	key     string // of the record
	data    []byte
	size    int64 // of these, in bytes

	best []prediction // the image's best classes, for standard output

	// upload, if not nil, writes the files to a store, without the outputs'
	// memory.
	upload func(ctx context.Context) error
}

// columns are the outputs of an image and the way to write them.
type columns struct {
	format  format
	names   []string // of the outputs, in order
	inputs  []string // the model's input for each output
	batch   bool     // write batches of one image
	joined  []bool   // whether batches concatenate an output
	renamed bool     // --name was given
}

// imageFiles is a sink that writes files for each image below a folder.
type imageFiles struct {
	columns
	dir     string
	fold    bool // dir's file system ignores case; set by ready
	mu      sync.RWMutex
	numbers map[string]int // of images, by name
	force   bool           // remove numbered folders of an earlier run
	late    bool           // some images are numbered while the run goes on
	lines   []string       // of the list
}

// files returns the output files of an image: one for each output, or one for
// all.
func (s *imageFiles) files(name string) []string {
	if s.format.file != nil {
		if s.format.numbered && s.numberOf(name) < 0 {
			return nil // not an image
		}
		var l []string
		for i := range s.names {
			l = append(l, paths.Join(s.dir, s.format.file(s, name, i)))
		}
		return l
	}
	if s.format.many || len(s.names) == 1 {
		return []string{paths.Join(s.dir, name+s.format.ext)}
	}
	var l []string
	for _, o := range s.names {
		l = append(l, paths.Join(s.dir, name+"."+o+s.format.ext))
	}
	return l
}

// result is an output as --json prints it.
type result struct {
	Name  string `json:"name"`
	Input string `json:"input,omitempty"` // the model's name of it, if different
	File  string `json:"file,omitempty"`
	// Row is the image's first row in the tensor of a batch, or its number in a
	// shard. Rows is the number of its rows in a batch that concatenates.
	Row   *int         `json:"row,omitempty"`
	Rows  *int         `json:"rows,omitempty"`
	DType tensor.DType `json:"dtype"`
	Shape tensor.Shape `json:"shape"`
	// Data are the elements in row-major order, little-endian, of run --lines.
	Data *[]byte `json:"data,omitempty"`
}

// named returns the tensors to write, with the names in files, and a result for
// each.
func (c *columns) named(out []*tensor.Tensor) ([]tensor.Named, []result, error) {
	var named []tensor.Named
	var results []result
	for i, o := range c.names {
		t := out[i]
		if c.batch && !c.joined[i] {
			var err error
			if t, err = batched(t); err != nil {
				return nil, nil, err
			}
		}
		named = append(named, tensor.Named{Name: c.inputs[i], T: t})
		r := result{Name: o, DType: t.DType, Shape: t.Shape}
		if c.inputs[i] != o {
			r.Input = c.inputs[i]
		}
		results = append(results, r)
	}
	return named, results, nil
}

// write writes all outputs of an image or none.
func (s *imageFiles) write(name string, out []*tensor.Tensor) (written, error) {
	return s.writeWith(name, out)
}

// writeWith is write with more files, which appear last.
func (s *imageFiles) writeWith(name string, out []*tensor.Tensor, more ...newfile.File) (w written, err error) {
	files := s.files(name)
	if s.format.line != nil {
		if _, err := s.format.line(s, name, files); err != nil {
			return w, err
		}
	}
	named, results, err := s.named(out)
	if err != nil {
		return w, err
	}
	var list []newfile.File
	for i, f := range files {
		part := named
		if len(files) > 1 {
			part = named[i : i+1]
		}
		list = append(list, newfile.File{Path: f, Write: func(w io.Writer) error { return s.format.write(w, part) }})
	}
	for i := range results {
		results[i].File = files[min(i, len(files)-1)]
	}
	list = append(list, more...)
	if !paths.IsURI(s.dir) {
		return written{results: results}, newfile.WriteAll(list)
	}
	w.results = results
	for i := range list { // the outputs are valid only until write returns
		var b bytes.Buffer
		if err := list[i].Write(&b); err != nil {
			return w, err
		}
		list[i].Write = func(w io.Writer) error {
			_, err := w.Write(b.Bytes())
			return err
		}
	}
	w.upload = func(ctx context.Context) error { return newfile.Put(ctx, list) }
	return w, nil
}

// batched returns t with an axis of 1 in front.
func batched(t *tensor.Tensor) (*tensor.Tensor, error) {
	if t.DType == tensor.Bytes {
		return t, nil
	}
	if t.Shape.Rank() == tensor.MaxRank {
		return nil, fmt.Errorf("%v has no room for a batch axis", t.Desc)
	}
	v := *t
	v.Layout = tensor.NoLayout
	v.Shape = tensor.Dims(append([]int{1}, t.Shape.Slice()...)...)
	copy(v.Strides[1:], t.Strides[:])
	return &v, nil
}

// ready creates the output folder and checks that it is writable.
func (s *imageFiles) ready(ctx context.Context) (err error) {
	if s.fold, err = readyFolder(ctx, s.dir); err == nil && s.format.numbered {
		err = newSeries(ctx, s.dir, numberedFolder, s.force)
	}
	return err
}

// readyFolder creates an output folder and checks that it is writable. fold
// reports whether its file system ignores case.
func readyFolder(ctx context.Context, dir string) (fold bool, err error) {
	if paths.IsURI(dir) {
		return false, readyStore(ctx, dir)
	}
	if err = os.MkdirAll(dir, 0o777); err == nil {
		var temp string
		if temp, err = newfile.WriteTemp(dir, newfile.RunPrefix, func(io.Writer) error { return nil }); err == nil {
			_, upper := os.Lstat(filepath.Join(dir, strings.ToUpper(filepath.Base(temp))))
			fold = upper == nil
			err = os.Remove(temp)
		}
	}
	if err != nil {
		return false, failErr("cannot write to the output folder: %w", paths.Error(dir, err))
	}
	return fold, nil
}

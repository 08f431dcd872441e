// Package kaldi reads the objects of Kaldi's archives and scripts. Columns:
// key, data. Reference: kaldi_native_io.
package kaldi

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"sort"
	"strconv"
	"strings"
	"sync"

	"github.com/infer-prep/infer-prep/dataset"
	"github.com/infer-prep/infer-prep/dataset/internal/files"
	"github.com/infer-prep/infer-prep/dataset/internal/lines"
	"github.com/infer-prep/infer-prep/records/kaldi"
	"github.com/infer-prep/infer-prep/store"
	"github.com/infer-prep/infer-prep/tensor"
)

// Kaldi reads the objects of scripts (scp) and archives (ark), all of one type.
//
// Columns: key (bytes: UTF-8 text) and data. The type determines data:
//
//	matrix      float32 or float64 (rows, columns)
//	vector      float32 or float64 (n)
//	int_vector  int32 (n)
//	wave        int16 or uint8 (samples, channels), as stored
//	file        bytes: the file that a script names without an offset, such as
//	            a WAV or FLAC file, or a wave of an archive as a WAV file
//
// Open reads a script's lines, or the keys and headers of an archive once. It
// keeps the key and some 100 bytes of every object. Objects are read from the
// files on demand; at most 16 files of each script stay open. The Key is the
// file and the object's offset in it, "feats.ark@1234", followed by the
// script's range if it has one.
//
// Paths in scripts are relative to the process's working directory and may lead
// anywhere, as in Kaldi. A line that is a command is refused.
//
// Reference: kaldi_native_io 1.23.0's SequentialFloatMatrixReader and similar
// readers have the same keys and values in the order of the files. Files that
// match a pattern are sorted by name here.
type Kaldi struct {
	// Files are names and patterns of files, as in package textfile. A name
	// that ends in .scp is a script, any other an archive.
	Files []string `json:"files"`
	// Type is matrix, vector, int_vector, wave or file. Default matrix.
	Type string `json:"type"`
	// DType is the type of data; of files bytes. Matrices and vectors of
	// another type are converted. Default float32.
	DType tensor.DType `json:"dtype"`
}

func init() {
	dataset.Register(dataset.Info{
		Name: "kaldi", Version: 1, New: func() dataset.Node { return New() },
		Doc: "the objects of Kaldi's scripts and archives",
	})
}

// New returns a source of float32 matrices.
func New(files ...string) *Kaldi {
	return &Kaldi{Files: append([]string{}, files...), Type: "matrix", DType: tensor.Float32}
}

// Validate requires files, a known type and a dtype that fits it.
func (o *Kaldi) Validate() error {
	_, _, err := o.parse()
	return err
}

func (o *Kaldi) parse() (d tensor.Desc, options kaldi.Options, err error) {
	if len(o.Files) == 0 {
		return d, options, fmt.Errorf("%w: no files, want 1 or more", dataset.ErrParam)
	}
	n := tensor.Unknown
	ok := false
	d.DType = o.DType
	switch o.Type {
	case "matrix":
		d.Shape, options.Type = tensor.Dims(n, n), kaldi.Matrix
		ok = o.DType == tensor.Float32 || o.DType == tensor.Float64
	case "vector":
		d.Shape, options.Type = tensor.Dims(n), kaldi.Vector
		ok = o.DType == tensor.Float32 || o.DType == tensor.Float64
	case "int_vector":
		d.Shape, options.Type = tensor.Dims(n), kaldi.IntVector
		ok = o.DType == tensor.Int32
	case "wave":
		d.Shape, options.Type = tensor.Dims(n, n), kaldi.Wave
		ok = o.DType == tensor.Int16 || o.DType == tensor.Uint8
	case "file":
		d, options.Type = tensor.Encoded(), kaldi.Wave
		ok = o.DType == tensor.Bytes
	default:
		return d, options, fmt.Errorf("%w: type %q, want matrix, vector, int_vector, wave or file", dataset.ErrParam, o.Type)
	}
	if !ok {
		return d, options, fmt.Errorf("%w: dtype %v of type %s, want float32 or float64 for matrix and vector, int32 for int_vector, int16 or uint8 for wave, bytes for file", dataset.ErrParam, o.DType, o.Type)
	}
	if options.Type == kaldi.Matrix || options.Type == kaldi.Vector {
		options.DType = o.DType
	}
	return d, options, nil
}

// Open finds the objects.
func (o *Kaldi) Open(ctx context.Context, files store.Opener) (dataset.Data, error) {
	desc, options, err := o.parse()
	if err != nil {
		return nil, fmt.Errorf("kaldi: %w", err)
	}
	names, err := lines.Expand(ctx, files, o.Files)
	if err != nil {
		return nil, fmt.Errorf("kaldi: %w", err)
	}
	r := &rows{store: files, desc: desc, starts: []int64{0}}
	for _, name := range names {
		options.Name = name
		open := archive
		if strings.HasSuffix(store.Path(name), ".scp") {
			open = kaldi.OpenScript
		}
		s, err := open(ctx, files, name, options)
		if err != nil {
			return nil, errors.Join(fmt.Errorf("%w: %w", dataset.ErrData, err), r.Close())
		}
		r.scripts = append(r.scripts, s)
		r.starts = append(r.starts, r.Len()+int64(s.Len()))
	}
	return r, nil
}

// archive returns a script of all objects of an archive.
func archive(ctx context.Context, opener store.Opener, name string, o kaldi.Options) (*kaldi.Script, error) {
	f, err := opener.Open(ctx, name)
	if err != nil {
		return nil, err
	}
	in := io.Reader(io.NewSectionReader(f, 0, f.Size()))
	if b := store.MappedBytes(f); b != nil {
		in = bytes.NewReader(b)
	}
	r := kaldi.NewReader(in, o)
	var l []kaldi.Entry
	for {
		h, err := r.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, errors.Join(err, f.Close())
		}
		l = append(l, kaldi.Entry{Key: h.Key, Path: name, Offset: h.Offset, Number: len(l) + 1})
	}
	if err := f.Close(); err != nil {
		return nil, err
	}
	return kaldi.NewScript(opener, l, o)
}

// rows is the opened scripts.
type rows struct {
	store   store.Opener
	stamps  sync.Map // of strings, by the path of an archive; see Stamp
	desc    tensor.Desc
	scripts []*kaldi.Script
	starts  []int64 // the first row of each script, and the number of rows
}

// Columns returns key and data.
func (r *rows) Columns() []dataset.Column {
	return []dataset.Column{{Name: "key", Desc: tensor.Encoded()}, {Name: "data", Desc: r.desc}}
}

// Len returns the number of objects.
func (r *rows) Len() int64 { return r.starts[len(r.starts)-1] }

// Shards returns the first row of each script.
func (r *rows) Shards() []int64 { return slices.Clone(r.starts[:len(r.starts)-1]) }

// place returns an object's file, offset and range.
func place(e kaldi.Entry) string {
	s := e.Path + "@" + strconv.FormatInt(e.Offset, 10)
	if e.Range != nil {
		s += e.Range.String()
	}
	return s
}

// Keys yields the key and the place of each object.
func (r *rows) Keys(yield func(string) bool) {
	for _, s := range r.scripts {
		for i := range s.Len() {
			e := s.Entry(i)
			if !yield(e.Key + " " + place(e)) {
				return
			}
		}
	}
}

// Read reads an object.
func (r *rows) Read(ctx context.Context, i int64, s *dataset.Sample) error {
	if err := files.Check(ctx, i, r.Len()); err != nil {
		return fmt.Errorf("kaldi: %w", err)
	}
	k := sort.Search(len(r.scripts), func(k int) bool { return r.starts[k+1] > i })
	script, n := r.scripts[k], int(i-r.starts[k])
	e := script.Entry(n)
	s.Key = place(e)
	copy(s.Column("key").Bytes(len(e.Key)), e.Key)
	v := s.Column("data")
	if r.desc.DType == tensor.Bytes {
		return r.file(ctx, s.Key, script, n, v)
	}
	err := script.ReadTo(ctx, n, func(d tensor.Desc) (*tensor.Tensor, error) {
		if !r.desc.Matches(d) {
			return nil, fmt.Errorf("%q: %v, want %v", e.Key, d, r.desc)
		}
		return &v.Tensor, v.Reset(d) // into the sample's own memory
	})
	if err != nil {
		return fmt.Errorf("kaldi: %w: %s: %w", dataset.ErrData, s.Key, err)
	}
	return nil
}

// file reads an entry as a file.
func (r *rows) file(ctx context.Context, key string, script *kaldi.Script, n int, v *dataset.Value) error {
	if e := script.Entry(n); e.Offset == 0 && e.Range == nil {
		if err := files.Read(ctx, r.store, v, e.Path); err != nil {
			return fmt.Errorf("kaldi: %w", err)
		}
		return nil
	}
	b, err := script.Raw(ctx, n)
	if err != nil {
		return fmt.Errorf("kaldi: %w: %s: %w", dataset.ErrData, key, err)
	}
	copy(v.Bytes(len(b)), b)
	return nil
}

// Stamp implements dataset.Stamped.
//
// It looks an archive up once, since a script opens it once, after its stamp.
func (r *rows) Stamp(ctx context.Context, i int64, b []byte) ([]byte, error) {
	if err := files.Check(ctx, i, r.Len()); err != nil {
		return nil, fmt.Errorf("kaldi: %w", err)
	}
	k := sort.Search(len(r.scripts), func(k int) bool { return r.starts[k+1] > i })
	e := r.scripts[k].Entry(int(i - r.starts[k]))
	stamp, ok := r.stamps.Load(e.Path)
	if !ok {
		s, err := files.Stamp(ctx, r.store, nil, e.Path)
		if err != nil {
			return nil, fmt.Errorf("kaldi: %w", err)
		}
		stamp, _ = r.stamps.LoadOrStore(e.Path, string(s))
	}
	return append(b, stamp.(string)...), nil
}

// Close closes the files.
func (r *rows) Close() error {
	var errs []error
	for _, s := range r.scripts {
		errs = append(errs, s.Close())
	}
	return errors.Join(errs...)
}

package job

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"github.com/infer-prep/infer-prep/internal/paths"
	"github.com/infer-prep/infer-prep/records"
	"github.com/infer-prep/infer-prep/records/tfexample"
	"github.com/infer-prep/infer-prep/records/webdataset"
	"github.com/infer-prep/infer-prep/store"
	"github.com/infer-prep/infer-prep/tensor"
)

// shardFormat writes record files, in the format of package records that has
// the same name.
type shardFormat struct {
	// record returns an image's record.
	record func(key string, ts []tensor.Named) (records.Record, error)
	// key returns an image's key by its name, with slashes. nil means the name.
	key   func(name string) string
	index bool // a shard has an index
}

// shardFormats are the formats whose files hold the outputs of many images.
var shardFormats = []Format{
	{
		Name: "webdataset", Ext: ".tar", Shards: true, many: true, Named: true, no: []tensor.DType{tensor.BFloat16},
		shards: &shardFormat{record: webdatasetRecord, key: webdataset.ImageKey},
	},
	{
		Name: "recordio", Ext: ".rec", Shards: true, many: true, Named: true, no: []tensor.DType{tensor.Bytes},
		shards: &shardFormat{record: safetensorsRecord, index: true},
	},
	{
		Name: "tfrecord", Ext: ".tfrecord", Shards: true, many: true, Named: true,
		shards: &shardFormat{record: exampleRecord},
		input: func(name string) error {
			if !utf8.ValidString(name) || name == records.KeyField || strings.HasSuffix(name, shapeFeature) || strings.HasSuffix(name, dtypeFeature) {
				return fmt.Errorf("not a valid name of a feature")
			}
			return nil
		},
	},
}

func webdatasetRecord(key string, ts []tensor.Named) (r records.Record, err error) {
	r.Key = key
	for _, t := range ts {
		r.Fields = append(r.Fields, records.Field{Name: t.Name, Value: *t.T.Clone()})
	}
	return r, nil
}

// safetensorsRecord returns a record with a safetensors file.
func safetensorsRecord(key string, ts []tensor.Named) (r records.Record, err error) {
	var b bytes.Buffer
	err = tensor.WriteSafetensors(&b, ts, map[string]string{"key": key})
	r.AddBytes("data", b.Bytes())
	return r, err
}

// The features of an output besides its elements.
const shapeFeature, dtypeFeature = "/shape", "/dtype"

// exampleRecord returns a record with a tf.train.Example.
func exampleRecord(key string, ts []tensor.Named) (r records.Record, err error) {
	if !utf8.ValidString(key) {
		return r, fmt.Errorf("the name %q is not UTF-8, which the format needs", key)
	}
	text := func(name, s string) tfexample.Feature {
		return tfexample.Feature{Name: name, Kind: tfexample.Bytes, Bytes: [][]byte{[]byte(s)}}
	}
	l := []tfexample.Feature{text(records.KeyField, key)}
	for _, t := range ts {
		var b bytes.Buffer
		if err := tensor.WriteRaw(&b, t.T); err != nil {
			return r, err
		}
		shape := tfexample.Feature{Name: t.Name + shapeFeature, Kind: tfexample.Int64}
		for _, n := range t.T.Shape.Slice() {
			shape.Ints = append(shape.Ints, int64(n))
		}
		l = append(l, tfexample.Feature{Name: t.Name, Kind: tfexample.Bytes, Bytes: [][]byte{b.Bytes()}}, shape, text(t.Name+dtypeFeature, t.T.DType.String()))
	}
	r.AddBytes("data", tfexample.Append(nil, l))
	return r, nil
}

// shards is a sink that writes the outputs of many images into each file.
type shards struct {
	columns
	dir    string
	files  store.Opener // that creates the shards, in dir
	stream bool         // one shard without end, to Sink.Writer
	force  bool         // replace older shards
	count  int          // samples of a shard
	size   int64        // bytes after which a shard ends

	ctx     context.Context // of ready
	w       records.Writer  // nil without a shard
	name    string
	number  int       // of the next shard
	samples int       // in the shard
	bytes   int64     // in the shard
	waiting []outcome // in the shard
	keys    digests   // of all samples
}

func (s *shards) ready(ctx context.Context) error {
	s.ctx = ctx
	if s.stream {
		return nil
	}
	if _, err := readyFolder(ctx, s.dir); err != nil {
		return err
	}
	ext := []string{s.format.Ext}
	if s.format.shards.index {
		ext = append(ext, ".idx")
	}
	return newSeries(ctx, s.dir, "data-", s.force, ext...)
}

// write encodes the sample.
func (s *shards) write(name string, out []*tensor.Tensor) (w written, err error) {
	var named []tensor.Named
	if named, w.results, err = s.named(out); err != nil {
		return w, err
	}
	w.key = filepath.ToSlash(name)
	if s.format.shards.key != nil {
		w.key = s.format.shards.key(w.key)
	}
	if w.record, err = s.format.shards.record(w.key, named); err != nil {
		return w, err
	}
	for _, f := range w.record.Fields {
		w.size += int64(len(f.Value.Data))
	}
	return w, nil
}

func (s *shards) add(o outcome) ([]outcome, error) {
	fail := func(err error) ([]outcome, error) {
		o.err = fmt.Errorf("%s: %w", o.in.Path, err)
		return []outcome{o}, nil
	}
	if !s.keys.add(o.key) { // a reader could not tell them apart, or would join them
		return fail(fmt.Errorf("its key %q is already that of an earlier image", o.key))
	}
	if s.w == nil {
		if err := s.open(); err != nil {
			return nil, err
		}
	}
	o.record.Offset = -1
	if err := s.w.Write(&o.record); errors.Is(err, records.ErrField) {
		return fail(err)
	} else if err != nil {
		return nil, s.cannot(err)
	}
	row := s.samples
	for i := range o.results {
		o.results[i].File, o.results[i].Row = paths.Join(s.dir, s.name), &row
	}
	s.samples++
	s.bytes += o.size
	o.written = written{results: o.results}
	if s.stream {
		return []outcome{o}, nil
	}
	s.waiting = append(s.waiting, o)
	if s.samples < s.count && s.bytes < s.size {
		return nil, nil
	}
	return s.finish()
}

func (s *shards) open() error {
	s.name = fmt.Sprintf("data-%05d%s", s.number, s.format.Ext)
	f, err := records.Lookup(s.format.Name)
	if err != nil {
		return err
	}
	if s.w, err = f.Create(s.ctx, s.files, s.name, records.WriteOptions{Index: s.format.shards.index && !s.stream}); err != nil {
		s.w = nil
		return s.cannot(err)
	}
	return nil
}

func (s *shards) cannot(err error) error {
	if e, ok := errors.AsType[*FieldError](err); ok { // without the names of a shard
		return e
	}
	return fmt.Errorf("cannot write %w", paths.Error(paths.Join(s.dir, s.name), err))
}

// finish makes the shard appear under its name. Its samples are final.
func (s *shards) finish() ([]outcome, error) {
	w := s.w
	s.w = nil
	if s.samples == 0 && !s.stream { // its samples failed
		return nil, w.Abort()
	}
	if err := w.Close(); err != nil {
		return nil, s.cannot(err)
	}
	done := s.waiting
	s.waiting, s.samples, s.bytes = nil, 0, 0
	s.number++
	return done, nil
}

func (s *shards) close() ([]outcome, error) {
	if s.w == nil {
		return nil, nil
	}
	return s.finish()
}

func (s *shards) abort() error {
	if s.w == nil {
		return nil
	}
	return s.w.Abort()
}

package pack

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"
	"syscall"
	"time"

	"github.com/infer-prep/infer-prep/codec"
	"github.com/infer-prep/infer-prep/recordio"
	"github.com/infer-prep/infer-prep/recordio/imagerecord"
	"github.com/infer-prep/infer-prep/records"
	"github.com/infer-prep/infer-prep/records/webdataset"
	"github.com/infer-prep/infer-prep/store"
)

// The kinds of bad samples.
const (
	BadMissing     = "missing"     // a file does not exist
	BadChanged     = "changed"     // a file has another size, time or version than in the plan
	BadOutside     = "outside"     // a path leads out of the input's folder
	BadImage       = "image"       // the image is damaged, or no image
	BadUnsupported = "unsupported" // the image is valid and not supported
	BadLimit       = "limit"       // a file or image is larger than the limits allow
	BadGraph       = "graph"       // the graph does not apply to the image
	BadSample      = "sample"      // the sample has an invalid name, field or label
	BadDuplicate   = "duplicate"   // its key is that of an earlier sample of the shard
	BadInternal    = "internal"    // a bug, please report it
)

// errChanged is the reason of BadChanged.
var errChanged = errors.New("changed since the plan was made")

// Record is a sample of a plan as it is packed, or the reason why it cannot be.
// Its fields are plain values, so that engines can send it to other processes
// and sort it by Position.
type Record struct {
	Shard    int
	Position int64
	// Data is the encoded sample, for WriteShard only. It is empty if the
	// sample is bad.
	Data []byte
	// Path is the sample's first file.
	Path string
	// Bad is the kind of a bad sample, such as BadMissing, or "". Why is then
	// the reason. Both depend on the input alone.
	Bad, Why string
}

// planWorker is what one goroutine needs to process images.
type planWorker struct {
	images images
	packed []byte // an image
	tar    bytes.Buffer
}

// badError is an error that makes a sample bad.
type badError struct {
	kind string
	err  error
}

func (e *badError) Error() string { return e.err.Error() }
func (e *badError) Unwrap() error { return e.err }

func badf(kind, format string, args ...any) error {
	return &badError{kind, fmt.Errorf(format, args...)}
}

// Record reads and processes a sample. A bad sample is a Record with Bad set.
// An error means that the input cannot be read at present, and that another
// attempt may succeed: a store that does not answer, refused credentials, a
// broken disk, or ctx. Record is safe for concurrent use; the caller owns the
// result.
func (p *Plan) Record(ctx context.Context, e *Entry) (Record, error) {
	w, ok := p.workers.Get().(*planWorker)
	if !ok {
		w = &planWorker{images: images{o: &p.Image}}
	}
	r := Record{Shard: e.Shard, Position: e.Position}
	if len(e.Files) == 0 {
		return r, fmt.Errorf("pack: plan: position %d: an entry without files", e.Position)
	}
	r.Path = e.Files[0].Path
	var err error
	if r.Data, err = p.record(ctx, w, e); err == nil {
		p.workers.Put(w)
		return r, nil
	}
	if ctx.Err() != nil {
		return r, ctx.Err()
	}
	r.Data = nil
	var bad *badError
	if !errors.As(err, &bad) {
		return r, fmt.Errorf("pack: plan: %s: %w", r.Path, err)
	}
	r.Bad, r.Why = bad.kind, reason(bad.err).Error()
	return r, nil
}

func (p *Plan) record(ctx context.Context, w *planWorker, e *Entry) ([]byte, error) {
	labels := e.Labels
	if p.Output == PlanRecordIO {
		b, err := p.process(ctx, w, e)
		if err != nil {
			return nil, err
		}
		if len(labels) > 1 && !p.PackLabels {
			labels = labels[:1]
		}
		if len(labels) == 0 {
			labels = []float32{0}
		}
		r := imagerecord.Record{Labels: labels, ID: e.Number, Content: b}
		if r.ID > 1<<63-1 {
			return nil, badf(BadSample, "number %d: want at most 2^63-1", r.ID)
		}
		data := r.Append(make([]byte, 0, len(b)+imagerecord.HeadSize+4*len(labels)))
		if len(data) > recordio.MaxRecord {
			return nil, badf(BadLimit, "a record of %d bytes: want at most %d", len(data), recordio.MaxRecord)
		}
		return data, nil
	}
	s, err := p.sample(ctx, w, e)
	if err != nil {
		return nil, err
	}
	// The key in front, for the index.
	w.tar.Reset()
	w.tar.Write(binary.AppendUvarint(nil, uint64(len(s.Key))))
	w.tar.WriteString(s.Key)
	t, err := webdataset.NewTarWriter(&w.tar, webdataset.TarOptions{})
	if err == nil {
		err = t.Write(s)
	}
	switch {
	case errors.Is(err, records.ErrTooLarge):
		return nil, &badError{BadLimit, err}
	case err != nil:
		return nil, &badError{BadSample, err}
	}
	return bytes.Clone(w.tar.Bytes()), nil
}

// sample returns the sample of a tar shard.
func (p *Plan) sample(ctx context.Context, w *planWorker, e *Entry) (*webdataset.Sample, error) {
	name := path.Clean("/" + e.Files[0].Path)[1:]
	if p.graph != nil {
		return p.tensors(ctx, w, e, name)
	}
	if p.FileSamples {
		s := &webdataset.Sample{}
		for i := range e.Files {
			key, ext, ok := webdataset.KeyExt(e.Files[i].Path)
			if !ok {
				return nil, badf(BadSample, "%w: want a name with a dot", ErrSample)
			}
			b, err := p.read(ctx, &e.Files[i], nil, maxField)
			if err != nil {
				return nil, err
			}
			s.Key = key
			s.Fields = append(s.Fields, webdataset.Field{Ext: ext, Data: b})
		}
		return s, nil
	}
	key, ext, err := imageKey(name, e.Labels, p.Image.Encoding)
	if err != nil {
		return nil, &badError{BadSample, err}
	}
	b, err := p.process(ctx, w, e)
	if err != nil {
		return nil, err
	}
	s := &webdataset.Sample{Key: key, Fields: []webdataset.Field{{Ext: ext, Data: b}}}
	if len(e.Labels) > 0 {
		s.Fields = append(s.Fields, labelsOf(e.Labels))
	}
	return s, nil
}

// tensors runs the graph.
func (p *Plan) tensors(ctx context.Context, w *planWorker, e *Entry, name string) (*webdataset.Sample, error) {
	var err error
	if w.images.file, err = p.read(ctx, &e.Files[0], w.images.file[:0], p.Image.Limits.Bytes); err != nil {
		return nil, err
	}
	s, err := p.graph.sample(ctx, webdataset.ImageKey(name), w.images.file)
	if err != nil {
		return nil, err
	}
	if len(e.Labels) > 0 {
		f := labelsOf(e.Labels)
		if _, ok := s.Get(f.Ext); ok {
			return nil, badf(BadSample, "%w: the graph's outputs have the name of the labels, %q", ErrSample, f.Ext)
		}
		s.Fields = append(s.Fields, f)
	}
	return s, nil
}

// process returns the packed form of an entry's image, valid until w's next.
func (p *Plan) process(ctx context.Context, w *planWorker, e *Entry) (b []byte, err error) {
	m := &w.images
	limit := p.Image.Limits.Bytes
	if p.Output == PlanShards && p.Image.Encoding == PassThrough {
		limit = maxField // as pack shards
	}
	if m.file, err = p.read(ctx, &e.Files[0], m.file[:0], limit); err != nil {
		return nil, err
	}
	if p.Image.Encoding == PassThrough {
		if !p.Image.Fast {
			return m.file, nil
		}
		w.packed = m.unchanged(w.packed[:0])
		return w.packed, nil
	}
	if b, err = m.encode(w.packed[:0]); err != nil {
		return nil, &badError{badKind(err, BadImage), err}
	}
	w.packed = b
	return b, nil
}

// read reads a file into b if its capacity suffices, else into new memory.
func (p *Plan) read(ctx context.Context, f *EntryFile, b []byte, limit int64) ([]byte, error) {
	name := below(p.Root, f.Path)
	if f.Size >= 0 && f.Modified != 0 && store.IsLocal(p.files, name) {
		i, err := p.folder.Stat(ctx, name)
		if err == nil && (i.Size != f.Size || i.Modified.UnixNano() != f.Modified) {
			err = changed(f, i.Size, i.Modified)
		}
		if err != nil {
			return b, readError(err)
		}
	}
	o, err := p.folder.Open(ctx, name)
	if err != nil {
		return b, readError(err)
	}
	size := o.Size()
	var modified time.Time
	version := ""
	if d, ok := o.(store.Described); ok {
		modified, version = d.Modified(), d.Version()
	}
	switch {
	case f.Size >= 0 && size != f.Size:
		err = changed(f, size, time.Time{})
	case f.Size >= 0 && f.Modified != 0 && !modified.IsZero() && modified.Unix() != f.Modified/1e9:
		// HTTP's headers have whole seconds, listings more.
		err = changed(f, size, modified)
	case f.Version != 0 && version != "" && digestVersion(version) != f.Version:
		err = badf(BadChanged, "%w: another version (ETag) than in the plan", errChanged)
	case limit > 0 && size > limit:
		err = badf(BadLimit, "%w: a file of %d bytes: the limit is %d", codec.ErrBytes, size, limit)
	default:
		b, err = store.ReadAll(o, b)
	}
	if cerr := o.Close(); err == nil {
		err = cerr
	}
	return b, readError(err)
}

func changed(f *EntryFile, size int64, modified time.Time) error {
	if size != f.Size {
		return badf(BadChanged, "%w: %d bytes: the plan has %d", errChanged, size, f.Size)
	}
	return badf(BadChanged, "%w: modified at %s: the plan has %s", errChanged, modified.UTC().Format(time.RFC3339Nano), time.Unix(0, f.Modified).UTC().Format(time.RFC3339Nano))
}

// readError makes the errors that are permanent those of a bad sample.
func readError(err error) error {
	var bad *badError
	switch {
	case err == nil || errors.As(err, &bad):
		return err
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR), errors.Is(err, syscall.ENAMETOOLONG), errors.Is(err, syscall.EINVAL):
		// Without the path, and in the same words on every store.
		return &badError{BadMissing, errors.New("no such file")}
	case errors.Is(err, store.ErrOutside):
		return &badError{BadOutside, store.ErrOutside}
	case strings.HasSuffix(err.Error(), "want a regular file"):
		return &badError{BadMissing, errors.New("not a regular file")}
	}
	return err
}

// badKind returns the kind of an error of processing, other if it has none of
// its own.
func badKind(err error, other string) string {
	switch {
	case errors.Is(err, codec.ErrInternal):
		return BadInternal
	case errors.Is(err, codec.ErrLimit):
		return BadLimit
	case errors.Is(err, codec.ErrUnsupported):
		return BadUnsupported
	case errors.Is(err, codec.ErrFormat):
		return BadImage
	}
	return other
}

// Package mxnet registers MXNet's record files as formats of package records:
// recordio, with records of plain bytes, and imagerecord, with images and
// labels. Packages recordio and imagerecord read and write the same files
// without package records. docs/format/records.md says how fields and keys map
// between formats.
package mxnet

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/infer-prep/infer-prep/recordio"
	"github.com/infer-prep/infer-prep/recordio/imagerecord"
	"github.com/infer-prep/infer-prep/records"
	"github.com/infer-prep/infer-prep/store"
	"github.com/infer-prep/infer-prep/tensor"
)

// The names of the formats.
const (
	Raw   = "recordio"
	Image = "imagerecord"
)

func init() {
	records.Register(records.Format{
		Name: Raw, Doc: "MXNet's record files: any bytes",
		Match: isRecordIO,
		Open:  opener(false), Stream: streamer(false), Create: creator(false), Index: index(false), Verify: verify,
	})
	records.Register(records.Format{
		Name: Image, Doc: "MXNet's record files of images with labels",
		Match: isImages, Refines: Raw,
		Open: opener(true), Stream: streamer(true), Create: creator(true), Index: index(true), Verify: verify,
	})
}

const partHead = 8 // magic, kind and length

func isRecordIO(name string, head []byte) bool {
	if len(head) == 0 {
		return strings.HasSuffix(name, ".rec")
	}
	return len(head) >= partHead && binary.LittleEndian.Uint32(head) == recordio.Magic
}

// isImages reports whether the first record has an image of a type that
// imageName knows, at the place of an image record's content.
func isImages(name string, head []byte) bool {
	if len(head) < partHead+imagerecord.HeadSize || !isRecordIO(name, head) {
		return false
	}
	length := int(binary.LittleEndian.Uint32(head[4:]) & recordio.MaxRecord)
	flag := binary.LittleEndian.Uint32(head[partHead:])
	head = head[partHead:min(len(head), partHead+length)]
	at := imagerecord.HeadSize + 4*int64(flag)
	return at < int64(len(head)) && imageName(head[at:]) != unknown
}

// unknown is the name of the field for bytes of an unknown image type.
const unknown = "data"

// imageName returns the usual extension of files that begin like b.
func imageName(b []byte) string {
	has := func(at int, s string) bool { return len(b) >= at+len(s) && string(b[at:at+len(s)]) == s }
	switch {
	case has(0, "\xff\xd8\xff"):
		return "jpg"
	case has(0, "\x89PNG\r\n\x1a\n"):
		return "png"
	case has(0, "GIF87a"), has(0, "GIF89a"):
		return "gif"
	case has(0, "RIFF") && has(8, "WEBP"):
		return "webp"
	case has(0, "II*\x00"), has(0, "MM\x00*"):
		return "tiff"
	case has(0, "BM"):
		return "bmp"
	}
	return unknown
}

// IndexName returns the name of a file's index, with .idx in place of .rec.
func IndexName(name string) string { return store.Beside(name, ".rec", ".idx") }

// SumsName returns the name of a file's checksums.
func SumsName(name string) string { return store.Beside(name, "", ".sums") }

// readBeside reads an optional file.
func readBeside(ctx context.Context, o store.Opener, name string, read func(io.Reader) error) (found bool, err error) {
	f, err := o.Open(ctx, name)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	return true, errors.Join(read(io.NewSectionReader(f, 0, f.Size())), f.Close())
}

// readIndex reads a file's index, sorted by offset. It returns nil if the file
// has no index.
func readIndex(ctx context.Context, o store.Opener, name string) (l []recordio.Entry, found bool, err error) {
	found, err = readBeside(ctx, o, IndexName(name), func(r io.Reader) (err error) {
		l, err = recordio.ReadIndex(IndexName(name), r)
		return err
	})
	slices.SortStableFunc(l, func(a, b recordio.Entry) int { return int(min(1, max(-1, a.Offset-b.Offset))) })
	return l, found, err
}

func opener(images bool) func(context.Context, store.Opener, []string, records.ReadOptions) (records.Reader, error) {
	return func(ctx context.Context, o store.Opener, files []string, options records.ReadOptions) (records.Reader, error) {
		if err := records.CheckFiles("recordio", files); err != nil {
			return nil, err
		}
		var count int64
		return records.Concat(ctx, files, func(name string) (records.Reader, error) {
			return open(ctx, o, name, images, &count, options)
		})
	}
}

// streamer reads without an index beside: keys are the records' numbers, or the
// images' ids.
func streamer(images bool) func(io.Reader, string, records.ReadOptions) (records.Reader, error) {
	return func(in io.Reader, name string, options records.ReadOptions) (records.Reader, error) {
		x := &reader{name: name, o: options, images: images, count: new(int64)}
		x.differs = x.damage
		x.r = recordio.NewReader(in, x.options())
		return x, nil
	}
}

// options returns the options of the records' framing.
func (x *reader) options() recordio.Options {
	return recordio.Options{Name: x.name, Lenient: x.o.Lenient, Limit: int(min(x.o.Limit, recordio.MaxRecord))}
}

func open(ctx context.Context, o store.Opener, name string, images bool, count *int64, options records.ReadOptions) (*reader, error) {
	x := &reader{name: name, o: options, images: images, count: count}
	x.differs = x.damage
	var err error
	if !images {
		if x.index, x.indexed, err = readIndex(ctx, o, name); err != nil {
			return nil, err
		}
	}
	if x.file, err = o.Open(ctx, name); err != nil {
		return nil, err
	}
	if r, b := store.NewReader(x.file); b != nil {
		x.r = recordio.NewBytes(b, x.options())
	} else {
		x.r = recordio.NewReader(r, x.options())
	}
	return x, nil
}

type reader struct {
	name    string
	o       records.ReadOptions
	images  bool
	count   *int64     // of the records of all files
	file    store.File // nil for a stream
	r       *recordio.Reader
	indexed bool
	index   []recordio.Entry  // not yet reached
	differs func(error) error // called where file and index differ
	places  int64             // number of damaged places passed to OnSkip
	bytes   int64
	end     int64 // of the last record
	image   imagerecord.Record
	label   tensor.Tensor
}

func (x *reader) Close() error {
	if x.file == nil {
		return nil
	}
	return x.file.Close()
}

// format returns the name of the reader's format.
func (x *reader) format() string {
	if x.images {
		return Image
	}
	return Raw
}

// damage passes an error to OnSkip in a lenient reader, and returns it in
// others.
func (x *reader) damage(err error) error {
	if !x.o.Lenient {
		return err
	}
	if x.o.OnSkip != nil {
		x.o.OnSkip(err)
	}
	return nil
}

// reportSkipped reports the damage that the reader skipped before the last
// record.
func (x *reader) reportSkipped() {
	s := x.r.Skipped()
	if s.Places == x.places {
		return
	}
	if x.places == 0 && s.First != nil {
		_ = x.damage(s.First) // only a lenient reader skips anything
	} else {
		_ = x.damage(records.Corruptf(x.format(), x.name, x.end, "%d bytes are left out", s.Bytes-x.bytes))
	}
	x.places, x.bytes = s.Places, s.Bytes
}

func (x *reader) Next(r *records.Record) error {
	for {
		b, err := x.r.Next()
		x.reportSkipped()
		if err == io.EOF && x.indexed {
			if _, err := x.key(end); err != nil {
				return err
			}
		}
		if err != nil {
			return err
		}
		x.end = x.r.End()
		at := x.r.Offset()
		number := *x.count
		if !x.images {
			key := number
			if x.indexed {
				if key, err = x.key(at); err != nil {
					return err
				}
			}
			*x.count++
			r.Reset(strconv.FormatInt(key, 10), x.name, at)
			r.AddBytes(unknown, b)
			return nil
		}
		if err := x.image.Parse(b); err != nil {
			if err = x.damage(records.Corruptf(x.format(), x.name, at, "%s", strings.TrimPrefix(err.Error(), "imagerecord: "))); err != nil {
				return err
			}
			continue
		}
		*x.count++
		r.Reset(strconv.FormatUint(x.image.ID, 10), x.name, at)
		return x.fields(r, b)
	}
}

// end is an offset after all records.
const end = math.MaxInt64

// key returns the index's key of the record at an offset. Entries for offsets
// before it are damage.
func (x *reader) key(at int64) (int64, error) {
	damage := func(at int64, format string, args ...any) error {
		return x.differs(records.Corruptf(x.format(), x.name, at, format, args...))
	}
	for len(x.index) > 0 && x.index[0].Offset < at {
		e := x.index[0]
		x.index = x.index[1:]
		if err := damage(e.Offset, "no record, the index has one with the key %d", e.Key); err != nil {
			return 0, err
		}
	}
	if at == end {
		return 0, nil
	}
	if len(x.index) == 0 || x.index[0].Offset != at {
		return *x.count, damage(at, "a record that is not in the index")
	}
	e := x.index[0]
	x.index = x.index[1:]
	return e.Key, nil
}

// The fields of an image record other than label and content.
const (
	headLabel = "head_label"
	id2       = "id2"
)

func (x *reader) fields(r *records.Record, b []byte) error {
	m := &x.image
	d := tensor.Desc{DType: tensor.Float32}
	if m.Listed {
		d.Shape = tensor.Dims(len(m.Labels))
	}
	if err := x.label.Reset(d); err != nil {
		return err
	}
	copy(tensor.View[float32](&x.label), m.Labels)
	r.Fields = append(r.Fields, records.Field{Name: "label", Value: x.label})
	if bits := b[4:8]; m.Listed && !bytes.Equal(bits, make([]byte, 4)) {
		r.Fields = append(r.Fields, records.Field{Name: headLabel, Value: tensor.Tensor{
			Desc: tensor.Desc{DType: tensor.Float32}, Data: binary.NativeEndian.AppendUint32(tensor.Alloc(4)[:0], binary.LittleEndian.Uint32(bits)),
		}})
	}
	if m.ID2 != 0 {
		r.AddInt(id2, int64(m.ID2))
	}
	r.AddBytes(imageName(m.Content), m.Content)
	return nil
}

// index writes the index, and the checksums on request.
func index(images bool) func(context.Context, store.Opener, []string, records.IndexOptions) ([]string, error) {
	return func(ctx context.Context, o store.Opener, files []string, options records.IndexOptions) (written []string, err error) {
		if err := records.CheckFiles("recordio", files); err != nil {
			return nil, err
		}
		for _, name := range files {
			s, err := stream(ctx, o, name)
			if err != nil {
				return written, err
			}
			l, err := indexFile(ctx, o, s, name, images, options)
			if err = errors.Join(err, s.Close()); err != nil {
				return written, err
			}
			written = append(written, l...)
		}
		return written, nil
	}
}

func stream(ctx context.Context, o store.Opener, name string) (*recordio.Stream, error) {
	info, err := o.Stat(ctx, name)
	if err != nil {
		return nil, err
	}
	return recordio.NewStream(ctx, o, []store.Info{info}, 4)
}

func indexFile(ctx context.Context, o store.Opener, s *recordio.Stream, name string, images bool, options records.IndexOptions) (written []string, err error) {
	p := recordio.Options{Name: name, Limit: int(min(options.Limit, recordio.MaxRecord))}
	entries, err := s.Index(p)
	if err != nil {
		return nil, err
	}
	if len(entries) == 0 {
		return nil, fmt.Errorf("recordio: %s: no records, and an index wants one at least", store.Redact(name))
	}
	if images {
		x, err := s.Indexed(entries, p)
		if err != nil {
			return nil, err
		}
		var b recordio.Buffer
		var m imagerecord.Record
		for i := range entries {
			record, _, err := x.Record(i, &b)
			if err != nil {
				return nil, err
			}
			if err = m.Parse(record); err == nil && int64(m.ID) < 0 {
				err = fmt.Errorf("id %d, an index has numbers up to 2^63-1", m.ID)
			}
			if err == nil {
				err = ctx.Err()
			}
			if err != nil {
				return nil, fmt.Errorf("imagerecord: %s: at byte %d: %w", store.Redact(name), entries[i].Offset, err)
			}
			entries[i].Key = int64(m.ID)
		}
	}
	var text []byte
	for _, e := range entries {
		text, _ = e.AppendText(text)
	}
	if err := put(ctx, o, IndexName(name), text); err != nil {
		return nil, err
	}
	written = append(written, IndexName(name))
	if !options.Sums {
		return written, nil
	}
	sums, err := s.Sums(p)
	if err != nil {
		return written, err
	}
	text = text[:0]
	for _, e := range sums {
		text, _ = e.AppendText(text)
	}
	if err := put(ctx, o, SumsName(name), text); err != nil {
		return written, err
	}
	return append(written, SumsName(name)), nil
}

func put(ctx context.Context, o store.Opener, name string, b []byte) error {
	w, err := store.NewWriter(ctx, o, name)
	if err != nil {
		return err
	}
	if _, err := w.Write(b); err != nil {
		return errors.Join(err, w.Abort())
	}
	return w.Close()
}

// verify compares files with their indexes and checksums.
func verify(ctx context.Context, o store.Opener, files []string, options records.ReadOptions, bad func(error)) (beside []string, err error) {
	if err := records.CheckFiles("recordio", files); err != nil {
		return nil, err
	}
	for _, name := range files {
		l, err := verifyFile(ctx, o, name, options, bad)
		beside = append(beside, l...)
		if err != nil {
			return beside, err
		}
	}
	return beside, nil
}

func verifyFile(ctx context.Context, o store.Opener, name string, options records.ReadOptions, bad func(error)) (beside []string, err error) {
	var sums []recordio.Sum
	summed, err := readBeside(ctx, o, SumsName(name), func(r io.Reader) (err error) {
		sums, err = recordio.ReadSums(SumsName(name), r)
		return err
	})
	if errors.Is(err, records.ErrCorrupt) {
		bad(err)
		summed = false
	} else if err != nil {
		return nil, err
	}
	_, indexed, err := readIndex(ctx, o, name)
	if errors.Is(err, records.ErrCorrupt) {
		bad(err)
	} else if err != nil {
		return nil, err
	} else if indexed {
		beside = append(beside, IndexName(name))
		p := options
		p.Lenient, p.OnSkip = true, nil // reading reports damage of the file itself
		var count int64
		r, err := open(ctx, o, name, false, &count, p)
		if err != nil {
			return beside, err
		}
		r.differs = func(err error) error { bad(err); return ctx.Err() }
		var record records.Record
		for err == nil {
			err = r.Next(&record)
		}
		if err == io.EOF {
			err = nil
		}
		if err = errors.Join(err, r.Close()); err != nil {
			return beside, err
		}
	}
	if !summed {
		return beside, nil
	}
	beside = append(beside, SumsName(name))
	s, err := stream(ctx, o, name)
	if err != nil {
		return beside, err
	}
	err = s.Verify(sums, recordio.Options{Name: name, Limit: int(min(options.Limit, recordio.MaxRecord))}, func(c *records.CorruptionError) { bad(c) })
	return beside, errors.Join(err, s.Close())
}

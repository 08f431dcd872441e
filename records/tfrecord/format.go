package tfrecord

import (
	"context"
	"encoding/binary"
	"io"
	"strconv"
	"strings"

	"github.com/infer-prep/infer-prep/records"
	"github.com/infer-prep/infer-prep/store"
)

const formatName = "tfrecord"

func init() {
	records.Register(records.Format{
		Name: formatName, Doc: "TensorFlow's record files: any bytes",
		Match: Match, Open: openRecords, Stream: streamRecords, Create: createRecords,
	})
}

// Match reports whether start, the first bytes of a file, begins with the head
// of a record. Without bytes it reports whether the name ends in .tfrecord or
// .tfrecords.
func Match(name string, start []byte) bool {
	if len(start) == 0 {
		return strings.HasSuffix(name, ".tfrecord") || strings.HasSuffix(name, ".tfrecords")
	}
	return len(start) >= head && binary.LittleEndian.Uint32(start[8:]) == masked(start[:8])
}

// Head returns the beginning of the first record's data, and its length, of a
// file that Match accepts.
func Head(start []byte) (data []byte, length uint64) {
	if len(start) < head {
		return nil, 0
	}
	length = binary.LittleEndian.Uint64(start)
	data = start[head:]
	return data[:min(uint64(len(data)), length)], length
}

func openRecords(ctx context.Context, o store.Opener, files []string, options records.ReadOptions) (records.Reader, error) {
	return Concat(ctx, o, files, options, addRaw)
}

func streamRecords(in io.Reader, name string, options records.ReadOptions) (records.Reader, error) {
	return Stream(in, name, options, addRaw), nil
}

func addRaw(r *records.Record, _ int64, b []byte) error {
	r.AddBytes("data", b)
	return nil
}

// Stream reads in as one records.Reader, as Concat reads a file.
func Stream(in io.Reader, name string, options records.ReadOptions, add func(r *records.Record, number int64, data []byte) error) records.Reader {
	return &formatReader{
		name: name, file: io.NopCloser(nil), count: new(int64), add: add,
		r: NewReader(in, Options{Name: name, Limit: options.Limit}),
	}
}

// Concat opens files as one records.Reader. The key of a record is its number
// over all files; add adds the fields of a record's data to it.
func Concat(ctx context.Context, o store.Opener, files []string, options records.ReadOptions, add func(r *records.Record, number int64, data []byte) error) (records.Reader, error) {
	if err := records.CheckFiles(formatName, files); err != nil {
		return nil, err
	}
	var count int64
	return records.Concat(ctx, files, func(name string) (records.Reader, error) {
		f, err := o.Open(ctx, name)
		if err != nil {
			return nil, err
		}
		x := &formatReader{name: name, file: f, count: &count, add: add}
		o := Options{Name: name, Limit: options.Limit}
		if in, b := store.NewReader(f); b != nil {
			x.r = NewBytes(b, o)
		} else {
			x.r = NewReader(in, o)
		}
		return x, nil
	})
}

type formatReader struct {
	name  string
	file  io.Closer
	r     *Reader
	count *int64 // of the records of all files
	add   func(*records.Record, int64, []byte) error
}

func (x *formatReader) Next(r *records.Record) error {
	b, err := x.r.Next()
	if err != nil {
		return err
	}
	number := *x.count
	*x.count++
	r.Reset(strconv.FormatInt(number, 10), x.name, x.r.Offset())
	return x.add(r, number, b)
}

func (x *formatReader) Close() error { return x.file.Close() }

// FormatWriter is a records.Writer of a format on top of TFRecord.
type FormatWriter struct {
	out    *store.Writer
	w      *Writer
	number int64
	notes  records.Notes
	data   func(r *records.Record, number int64, notes *records.Notes) ([]byte, error)
}

// CreateFormat creates a file and returns its FormatWriter. It calls data for
// the data of each record.
func CreateFormat(ctx context.Context, o store.Opener, format, name string, options records.WriteOptions, data func(r *records.Record, number int64, notes *records.Notes) ([]byte, error)) (*FormatWriter, error) {
	if err := options.CheckSingleFile(format, name, false); err != nil {
		return nil, err
	}
	out, err := store.NewWriter(ctx, o, name)
	if err != nil {
		return nil, err
	}
	return &FormatWriter{out: out, w: NewWriter(out, 0), notes: records.Notes{OnNote: options.OnNote}, data: data}, nil
}

// Write writes a record.
func (x *FormatWriter) Write(r *records.Record) error {
	b, err := x.data(r, x.number, &x.notes)
	if err == nil {
		err = x.w.Write(b)
	}
	if err == nil {
		x.number++
	}
	return err
}

// Close makes the file appear under its name.
func (x *FormatWriter) Close() error { return x.out.Close() }

// Abort discards the file.
func (x *FormatWriter) Abort() error { return x.out.Abort() }

func createRecords(ctx context.Context, o store.Opener, name string, options records.WriteOptions) (records.Writer, error) {
	return CreateFormat(ctx, o, formatName, name, options, func(r *records.Record, number int64, notes *records.Notes) ([]byte, error) {
		b, err := records.RawBytes(formatName, r)
		if err == nil && r.Key != strconv.FormatInt(number, 10) {
			notes.Addf("%s: keys are replaced by the records' numbers", formatName)
		}
		return b, err
	})
}

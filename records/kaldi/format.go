package kaldi

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/infer-prep/infer-prep/internal/sorts"
	"github.com/infer-prep/infer-prep/records"
	"github.com/infer-prep/infer-prep/store"
	"github.com/infer-prep/infer-prep/tensor"
)

const (
	formatName = "kaldi"
	dataField  = "data" // matrices and vectors
	waveField  = "wav"  // a wave file, unchanged
)

func init() {
	records.Register(records.Format{
		Name: formatName, Doc: "Kaldi's archives (.ark) and scripts (.scp): matrices, vectors, waves",
		Match: isFormat, Open: openFormat, Stream: streamFormat, Create: createFormat, Index: indexFormat, Verify: verifyFormat,
	})
}

func isScript(name string) bool { return strings.HasSuffix(store.Path(name), ".scp") }

// isFormat reports whether the name ends in .ark or .scp, or the file begins
// with a key and the mark of a binary object or a wave.
func isFormat(name string, head []byte) bool {
	if strings.HasSuffix(name, ".ark") || isScript(name) {
		return true
	}
	key, object, ok := bytes.Cut(head, []byte(" "))
	return ok && utf8.Valid(key) && CheckKey(string(key)) == nil &&
		(bytes.HasPrefix(object, []byte("\x00B")) || bytes.HasPrefix(object, []byte("RIFF")))
}

func openFormat(ctx context.Context, o store.Opener, files []string, options records.ReadOptions) (records.Reader, error) {
	if err := records.CheckFiles("kaldi", files); err != nil {
		return nil, err
	}
	p := Options{Limit: options.Limit}
	return records.Concat(ctx, files, func(name string) (records.Reader, error) {
		if isScript(name) {
			s, err := OpenScript(ctx, o, name, p)
			if err != nil {
				return nil, err
			}
			return &scriptRecords{ctx: ctx, s: s}, nil
		}
		f, err := o.Open(ctx, name)
		if err != nil {
			return nil, err
		}
		return newArchive(section(f, 0), f, name, p), nil
	})
}

// streamFormat reads an archive. A script names other files by their place, so
// that a stream of it is read as an archive, and refused.
func streamFormat(in io.Reader, name string, options records.ReadOptions) (records.Reader, error) {
	return newArchive(in, io.NopCloser(nil), name, Options{Limit: options.Limit}), nil
}

func newArchive(in io.Reader, file io.Closer, name string, p Options) *archive {
	p.Name = name
	return &archive{name: name, file: file, r: NewReader(in, p)}
}

// archive reads the records of an archive.
type archive struct {
	name string
	file io.Closer
	r    *Reader
	t    tensor.Tensor
}

func (x *archive) Next(r *records.Record) error {
	h, err := x.r.Next()
	if err != nil {
		return err
	}
	// The key and a blank precede the object.
	r.Reset(h.Key, x.name, h.Offset-int64(len(h.Key))-1)
	if h.Form == RIFF {
		b, err := x.r.Raw()
		if err == nil {
			r.AddBytes(waveField, b)
		}
		return err
	}
	if err := x.r.ReadTo(&x.t); err != nil {
		return err
	}
	r.Fields = append(r.Fields, records.Field{Name: dataField, Value: x.t})
	return nil
}

func (x *archive) Close() error { return x.file.Close() }

// scriptRecords reads the records of a script.
type scriptRecords struct {
	ctx context.Context
	s   *Script
	i   int
}

func (x *scriptRecords) Next(r *records.Record) error {
	if x.i == x.s.Len() {
		return io.EOF
	}
	e := x.s.Entry(x.i)
	r.Reset(e.Key, e.Path, e.Offset)
	err := x.s.with(x.ctx, x.i, func(o *Reader, e Entry) error {
		if err := x.s.checkRange(o, e); err != nil {
			return err
		}
		if o.h.Form == RIFF {
			b, err := o.Raw()
			if err == nil {
				r.AddBytes(waveField, b)
			}
			return err
		}
		t, err := o.Read()
		if err == nil && e.Range != nil {
			whole := t
			t = &tensor.Tensor{}
			err = e.Range.apply(whole, t)
		}
		if err == nil {
			r.Fields = append(r.Fields, records.Field{Name: dataField, Value: *t})
		}
		return err
	})
	x.i++
	return err
}

func (x *scriptRecords) Close() error { return x.s.Close() }

// ScriptName returns the name of an archive's script: .scp in place of .ark.
func ScriptName(archive string) string { return store.Beside(archive, ".ark", ".scp") }

func createFormat(ctx context.Context, o store.Opener, name string, options records.WriteOptions) (records.Writer, error) {
	if err := options.CheckSingleFile(formatName, name, true); err != nil {
		return nil, err
	}
	if isScript(name) {
		return nil, fmt.Errorf("kaldi: %s: want the name of an archive (.ark), whose script is its index", store.Redact(name))
	}
	x := &formatWriter{}
	var err error
	if x.out, err = store.NewWriter(ctx, o, name); err != nil {
		return nil, err
	}
	p := WriterOptions{Name: name}
	if options.Index {
		if x.script, err = store.NewWriter(ctx, o, ScriptName(name)); err != nil {
			return nil, errors.Join(err, x.out.Abort())
		}
		p.Script = x.script
	}
	x.w = NewWriter(x.out, p)
	return x, nil
}

type formatWriter struct {
	out, script *store.Writer // script is nil without one
	w           *Writer
}

func (x *formatWriter) Write(r *records.Record) error {
	if err := CheckKey(r.Key); err != nil {
		return r.FieldErrorf(formatName, "", "%s", strings.TrimPrefix(err.Error(), "kaldi: "))
	}
	if len(r.Fields) != 1 {
		var names []string
		for _, f := range r.Fields {
			names = append(names, f.Name)
		}
		return r.FieldErrorf(formatName, "", "fields %s; want one, %s or %s (drop the others)", strings.Join(names, ", "), dataField, waveField)
	}
	f := &r.Fields[0]
	v := &f.Value
	switch {
	case f.Name == waveField && v.DType == tensor.Bytes:
		if err := wholeWave(v.Data); err != nil {
			return r.FieldErrorf(formatName, f.Name, "%s", strings.TrimPrefix(err.Error(), "kaldi: "))
		}
		return x.w.WriteRaw(r.Key, v.Data)
	case f.Name != dataField:
		return r.FieldErrorf(formatName, f.Name, "want %s, or a wave called %s (rename it?)", dataField, waveField)
	}
	before := x.w.Offset()
	err := x.w.Write(r.Key, v)
	if err != nil && x.w.Offset() == before && x.w.err == nil { // refused
		return r.FieldErrorf(formatName, f.Name, "%s", strings.TrimPrefix(err.Error(), "kaldi: "))
	}
	return err
}

// wholeWave reports whether the bytes are exactly one wave.
func wholeWave(b []byte) error {
	r := &Reader{}
	r.reset(bytes.NewReader(b), Options{Limit: int64(len(b)) + 1})
	if err := r.object(); err != nil {
		return err
	}
	if r.h.Form != RIFF {
		return fmt.Errorf("a %v, want a wave", r.h.Type)
	}
	order := binary.ByteOrder(binary.LittleEndian)
	if r.big {
		order = binary.BigEndian
	}
	if slices.Contains(streamSizes, order.Uint32(b[4:])) {
		return errors.New("a wave whose header does not have its length, which would go on through the entries behind it")
	}
	if err := r.pass(); err != nil {
		return err
	}
	if r.at != int64(len(b)) {
		return fmt.Errorf("a wave that ends at byte %d of %d", r.at, len(b))
	}
	return nil
}

func (x *formatWriter) Close() error {
	err := x.out.Close()
	if x.script == nil {
		return err
	}
	if err != nil {
		return errors.Join(err, x.script.Abort())
	}
	return x.script.Close()
}

func (x *formatWriter) Abort() error {
	err := x.out.Abort()
	if x.script != nil {
		err = errors.Join(err, x.script.Abort())
	}
	return err
}

// indexFormat writes the scripts of archives.
func indexFormat(ctx context.Context, o store.Opener, files []string, options records.IndexOptions) (written []string, err error) {
	if options.Sums {
		return nil, fmt.Errorf("kaldi: %s: %w: a file of sums", store.RedactAll(files), records.ErrOption)
	}
	if err := records.CheckFiles("kaldi", files); err != nil {
		return nil, err
	}
	for _, name := range files {
		if isScript(name) {
			return written, fmt.Errorf("kaldi: %s: a script is an index itself, want an archive", store.Redact(name))
		}
		f, err := o.Open(ctx, name)
		if err != nil {
			return written, err
		}
		err = scriptOf(ctx, o, f, name, options)
		if err = errors.Join(err, f.Close()); err != nil {
			return written, err
		}
		written = append(written, ScriptName(name))
	}
	return written, nil
}

func scriptOf(ctx context.Context, o store.Opener, f store.File, name string, options records.IndexOptions) error {
	w, err := store.NewWriter(ctx, o, ScriptName(name))
	if err != nil {
		return err
	}
	r := NewReader(section(f, 0), Options{Name: name, Limit: options.Limit})
	for {
		h, err := r.Next()
		if err == io.EOF {
			return w.Close()
		}
		var line string
		if err == nil {
			line, err = Entry{Key: h.Key, Path: name, Offset: h.Offset}.Line()
		}
		if err == nil {
			_, err = w.WriteString(line + "\n")
		}
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return errors.Join(err, w.Abort())
		}
	}
}

// verifyFormat compares archives with the scripts beside them. Each line of a
// script that names the archive must have an object with its key there, and
// each object must have a line.
func verifyFormat(ctx context.Context, o store.Opener, files []string, options records.ReadOptions, bad func(error)) (beside []string, err error) {
	if err := records.CheckFiles("kaldi", files); err != nil {
		return nil, err
	}
	for _, name := range files {
		if isScript(name) {
			continue // reading a script reads the archives that it names
		}
		f, err := o.Open(ctx, ScriptName(name))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return beside, err
		}
		// Do not run commands: they belong to other archives.
		never := func(string) (io.ReadCloser, error) { return nil, ErrPipe }
		l, err := ReadScript(io.NewSectionReader(f, 0, f.Size()), Options{Name: ScriptName(name), Run: never})
		err2 := f.Close()
		if errors.Is(err, records.ErrCorrupt) {
			beside = append(beside, ScriptName(name))
			bad(err)
			continue
		}
		if err = errors.Join(err, err2); err != nil {
			return beside, err
		}
		what, err := compareScript(ctx, o, name, l, options, bad)
		beside = append(beside, what)
		if err != nil {
			return beside, err
		}
	}
	return beside, nil
}

// names reports whether the path of a script's line is the archive's. The path
// may be relative to another folder, or that of a folder from which archive and
// script were moved together: then the last parts are equal, and the path leads
// to no other file.
func names(ctx context.Context, o store.Opener, e Entry, archive string, info store.Info) bool {
	archive = store.Path(archive)
	switch {
	case e.Path == "":
		return false // a command
	case path.Clean(e.Path) == path.Clean(archive):
		return true
	case path.Base(filepath.ToSlash(e.Path)) != path.Base(filepath.ToSlash(archive)):
		return false
	}
	other, err := o.Stat(ctx, e.Path)
	return errors.Is(err, fs.ErrNotExist) || err == nil && other.Size == info.Size && other.Modified.Equal(info.Modified)
}

// compareScript compares an archive with the lines of its script. what names
// the script and says how much of it was compared.
func compareScript(ctx context.Context, o store.Opener, name string, l []Entry, options records.ReadOptions, bad func(error)) (what string, err error) {
	what = ScriptName(name)
	info, err := o.Stat(ctx, name)
	if err != nil {
		return what, err
	}
	own := map[string]bool{} // by path
	lines := map[int64][]Entry{}
	others := 0
	for _, e := range l {
		ok, known := own[e.Path]
		if !known {
			ok = names(ctx, o, e, name, info)
			own[e.Path] = ok
		}
		if ok {
			lines[e.Offset] = append(lines[e.Offset], e)
		} else {
			others++
		}
	}
	f, err := o.Open(ctx, name)
	if err != nil {
		return what, err
	}
	var first Header // without a line
	missing, count := 0, 0
	r := NewReader(section(f, 0), Options{Name: name, Limit: options.Limit})
	for err == nil {
		var h Header
		if h, err = r.Next(); err != nil {
			break
		}
		count++
		if len(lines[h.Offset]) == 0 {
			if missing++; missing == 1 {
				first = h
			}
		}
		for _, e := range lines[h.Offset] {
			if e.Key != h.Key {
				bad(corrupt(name, e.Offset, e.Key, "the key is %q, line %d of the script has another", h.Key, e.Number))
			}
		}
		delete(lines, h.Offset)
		err = ctx.Err()
	}
	// Reading the archive reports its errors. What follows them is unknown.
	whole := err == io.EOF
	end := r.Offset()
	if err = errors.Join(ctx.Err(), f.Close()); err != nil {
		return what, err
	}
	what += fmt.Sprintf(" (%d of %s", count-missing, plural(count, "record", "records"))
	if others > 0 {
		what += "; " + plural(others, "line names another file", "lines name other files")
	}
	if !whole {
		what += fmt.Sprintf("; nothing from byte %d on", end)
	}
	what += ")"
	var wrong []Entry
	for _, at := range lines {
		wrong = append(wrong, at...)
	}
	sorts.Func(wrong, func(a, b Entry) int { return a.Number - b.Number })
	for _, e := range wrong {
		if whole || e.Offset < end {
			bad(corrupt(name, e.Offset, e.Key, "no object, line %d of the script has one there", e.Number))
		}
	}
	if missing > 0 {
		also := ""
		if missing > 1 {
			also = fmt.Sprintf(", nor %s", plural(missing-1, "other", "others"))
		}
		bad(fmt.Errorf("kaldi: %s: no line has the record %q at byte %d of %s%s: want one for each of the %d records", store.Redact(ScriptName(name)), first.Key, first.Offset, store.Redact(name), also, count))
	}
	return what, nil
}

// plural returns a number with a noun in its form.
func plural(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprint(n, " ", many)
}

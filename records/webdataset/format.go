package webdataset

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/infer-prep/infer-prep/records"
	"github.com/infer-prep/infer-prep/store"
	"github.com/infer-prep/infer-prep/tensor"
)

const formatName = "webdataset"

func init() {
	records.Register(records.Format{
		Name: formatName, Doc: "webdataset's shards: samples in tar files (.tar, .tar.gz, .tgz, .tar.zst)",
		Match: isFormat, Open: openFormat, Stream: streamFormat, Create: createFormat, Index: indexFormat, Verify: verifyFormat,
	})
}

func isFormat(name string, head []byte) bool {
	named := namesShards(name)
	const magicAt = 257
	switch {
	case len(head) == 0:
		return named
	case len(head) == block && string(head[magicAt:magicAt+5]) == "ustar":
		return true
	}
	// Archives from before 1988 have no magic. No other format is compressed.
	return compressed(head) || named && len(head) == block
}

// namesShards reports whether a name, or each name of a pattern with braces, is
// that of a shard.
func namesShards(name string) bool {
	if isShard(baseName(name)) {
		return true
	}
	if !strings.Contains(name, "{") {
		return false
	}
	l, err := Expand(name, nil)
	return err == nil && !slices.ContainsFunc(l, func(s string) bool { return !isShard(baseName(s)) })
}

// Field names and keys are escaped. Characters that a tar file or webdataset's
// rules cannot hold become % and two hexadecimal digits per byte. unescape and
// escape are inverse for all names of a shard. A name that contains such text
// by chance is therefore preserved.

// maxEscaped is the length of the longest name that is unescaped.
const maxEscaped = 1024

// isShard reports whether a file's name, without its folder, is that of a
// shard.
func isShard(base string) bool {
	if strings.HasPrefix(base, ".") {
		return false
	}
	for _, end := range []string{".tar", ".tar.gz", ".tgz", ".tar.zst", ".tar.bz2", ".tar.xz"} {
		if strings.HasSuffix(base, end) {
			return true
		}
	}
	return false
}

// forbidden reports the runes to escape.
type forbidden func(r rune, s string) bool

// inKey forbids dots in the last part of the path.
func inKey(r rune, _ string) bool { return r == '.' }

// inField forbids slashes and upper case.
func inField(r rune, s string) bool { return r == '/' || lower(s) != s }

// full escapes all percent signs and all forbidden runes.
func (bad forbidden) full(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		c := s[i : i+n]
		if r == '%' || bad(r, c) {
			for k := range n {
				fmt.Fprintf(&b, "%%%02x", c[k])
			}
		} else {
			b.WriteString(c)
		}
		i += n
	}
	return b.String()
}

func (bad forbidden) any(s string) bool {
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		if bad(r, s[i:i+n]) {
			return true
		}
		i += n
	}
	return false
}

// needs reports whether s must be escaped.
func (bad forbidden) needs(s string) bool { return bad.any(s) || bad.unescape(s) != s }

func (bad forbidden) escape(s string) string {
	if !bad.needs(s) {
		return s
	}
	return bad.full(s)
}

func (bad forbidden) unescape(t string) string {
	if !strings.Contains(t, "%") || len(t) > maxEscaped {
		return t
	}
	var b []byte
	for i := 0; i < len(t); i++ {
		if t[i] == '%' && i+2 < len(t) {
			if n, err := strconv.ParseUint(t[i+1:i+3], 16, 8); err == nil {
				b = append(b, byte(n))
				i += 2
				continue
			}
		}
		b = append(b, t[i])
	}
	s := string(b)
	// Undo only what escape produces. s is shorter than t, so this ends.
	if s != t && bad.full(s) == t && bad.needs(s) {
		return s
	}
	return t
}

func escapeKey(key string) string {
	i := strings.LastIndexByte(key, '/') + 1
	return key[:i] + forbidden(inKey).escape(key[i:])
}

func unescapeKey(key string) string {
	i := strings.LastIndexByte(key, '/') + 1
	return key[:i] + forbidden(inKey).unescape(key[i:])
}

func escapeField(name string) string  { return forbidden(inField).escape(name) }
func unescapeField(ext string) string { return forbidden(inField).unescape(ext) }

// isText reports whether a field's name alone says that it is text.
func isText(ext string) bool {
	return ext == "txt" || ext == "json" || strings.HasSuffix(ext, ".json")
}

// same is a writer that compares its input with expected bytes.
type same struct{ rest []byte }

var errOther = errors.New("other bytes")

func (w *same) Write(b []byte) (int, error) {
	rest, ok := bytes.CutPrefix(w.rest, b)
	if !ok {
		return 0, errOther
	}
	w.rest = rest
	return len(b), nil
}

// decode returns the field of a member: an array for .npy, an int64 for .cls,
// text for .txt, and bytes for all others. If encode would not restore the
// member, the field is bytes and its name is the whole extension.
func decode(ext string, data []byte) records.Field {
	base, end := "", ext
	if i := strings.LastIndexByte(ext, '.'); i >= 0 {
		base, end = ext[:i], ext[i+1:]
	}
	name := unescapeField(base)
	if base == "" {
		name = end
	}
	if ext == "."+end || base == end { // encode returns neither
		return literal(ext, data)
	}
	switch end {
	case "npy":
		t, err := tensor.ReadNPY(bytes.NewReader(data), int64(len(data)))
		if err != nil || t.DType == tensor.Int64 && t.Shape.Rank() == 0 {
			break
		}
		w := &same{data}
		if tensor.WriteNPY(w, t) == nil && len(w.rest) == 0 {
			return records.Field{Name: name, Value: *t}
		}
	case "cls":
		if n, err := strconv.ParseInt(string(data[:min(len(data), 24)]), 10, 64); err == nil && strconv.FormatInt(n, 10) == string(data) {
			var r records.Record
			r.AddInt(name, n)
			return r.Fields[0]
		}
	case "txt":
		if base != "" && utf8.Valid(data) && !isText(name) {
			f := literal("", data)
			f.Name, f.Text = name, true
			return f
		}
	case "bin":
		if base != "" {
			if f := decode(base, data); f.Value.DType != tensor.Bytes || f.Name != name {
				f = literal("", data)
				f.Name = name
				return f
			}
		}
	}
	return literal(ext, data)
}

func literal(ext string, data []byte) records.Field {
	return records.Field{
		Name: unescapeField(ext), Value: tensor.Tensor{Desc: tensor.Encoded(), Data: data},
		Text: isText(ext) && utf8.Valid(data),
	}
}

// decodeAll returns the fields of a sample. All fields that would have one name
// keep their whole extension: seg.npy and seg.txt.
func decodeAll(fields []records.Field, members []Field) []records.Field {
	from := len(fields)
	for _, m := range members {
		fields = append(fields, decode(m.Ext, m.Data))
	}
	l := fields[from:]
	if !sharedName(l) {
		return fields
	}
	// A whole extension can be the name of another field, which then keeps its
	// own. Members have different extensions, so this ends.
	owner := make(map[string]int, len(l)) // the first field that would have a name
	whole := make([]bool, len(l))
	var claim func(i int)
	claim = func(i int) {
		k, taken := owner[l[i].Name]
		if !taken {
			owner[l[i].Name] = i
			return
		}
		for _, n := range []int{i, k} {
			if !whole[n] {
				whole[n] = true
				l[n].Name = unescapeField(members[n].Ext)
				claim(n)
			}
		}
	}
	for i := range l {
		claim(i)
	}
	return fields
}

// sharedName reports whether two fields have one name.
func sharedName(l []records.Field) bool {
	if len(l) <= fewFields {
		for i := range l {
			for k := range l[:i] {
				if l[i].Name == l[k].Name {
					return true
				}
			}
		}
		return false
	}
	names := make(map[string]bool, len(l))
	for _, f := range l {
		names[f.Name] = true
	}
	return len(names) < len(l)
}

// typedEnd returns the end of a typed field's extension.
func typedEnd(f *records.Field) string {
	v := &f.Value
	switch {
	case v.DType == tensor.Int64 && v.Shape.Rank() == 0:
		return "cls"
	case v.DType != tensor.Bytes:
		return "npy"
	case f.Text && !isText(f.Name) && utf8.Valid(v.Data):
		return "txt"
	}
	return ""
}

// encode returns the member of a field. whole means that the field's name is
// the whole extension. If the field cannot be encoded, what is the reason.
func encode(f *records.Field, whole bool) (m Field, what string) {
	v := &f.Value
	m.Ext = escapeField(f.Name)
	if len(m.Ext) > maxEscaped {
		return m, fmt.Sprintf("a name of %d bytes, want at most %d", len(m.Ext), maxEscaped)
	}
	end := typedEnd(f)
	switch end {
	case "":
		m.Data = v.Data
		if back := decode(m.Ext, v.Data); !whole && (back.Value.DType != tensor.Bytes || back.Name != f.Name) {
			m.Ext += ".bin"
		}
		return m, ""
	case "cls":
		m.Data = strconv.AppendInt(nil, tensor.View[int64](v)[0], 10)
	case "npy":
		var b bytes.Buffer
		if err := tensor.WriteNPY(&b, v); err != nil {
			return m, fmt.Sprintf("%v, which NumPy's format does not hold", v.Desc)
		}
		m.Data = b.Bytes()
	case "txt":
		m.Data = v.Data
	}
	if f.Name == "" {
		return m, "no name"
	}
	if f.Name != end && !whole {
		m.Ext += "." + end
	}
	return m, ""
}

// encodeAll returns the members of a record.
func encodeAll(members []Field, r *records.Record) ([]Field, error) {
	members = members[:0]
	any := false
	for i := range r.Fields {
		f := &r.Fields[i]
		m, what := encode(f, isWhole(f))
		if what != "" {
			return nil, r.FieldErrorf(formatName, f.Name, "%s", what)
		}
		any = any || isWhole(f)
		members = append(members, m)
	}
	// Whether a name with such an end is the whole extension depends on the
	// other fields.
	wrong := any
	for again := any; again; {
		again, wrong = false, false
		for i, back := range decodeAll(nil, members) {
			f := &r.Fields[i]
			if back.Name == f.Name && typedEnd(&back) == typedEnd(f) {
				continue
			}
			wrong = true
			m, _ := encode(f, false)
			again = again || m.Ext != members[i].Ext
			members[i] = m
		}
	}
	for i := range r.Fields {
		if wrong { // each field is valid alone, but no shard has this combination
			members[i], _ = encode(&r.Fields[i], false)
		}
	}
	return members, nil
}

// isWhole reports whether a field's name may be a whole extension, as decodeAll
// keeps it for a duplicate name.
func isWhole(f *records.Field) bool {
	end := typedEnd(f)
	if end == "" {
		end = "bin"
	}
	return strings.HasSuffix(f.Name, "."+end)
}

func openFormat(ctx context.Context, o store.Opener, files []string, options records.ReadOptions) (records.Reader, error) {
	shards, err := formatShards(ctx, o, files)
	if err != nil {
		return nil, err
	}
	return records.Concat(ctx, shards, func(name string) (records.Reader, error) {
		r, err := Open(ctx, o, name, Options{Lenient: options.Lenient, Limit: options.Limit})
		if err != nil {
			return nil, err
		}
		return &formatReader{Reader: r, options: options}, nil
	})
}

func streamFormat(in io.Reader, name string, options records.ReadOptions) (records.Reader, error) {
	r, err := NewReader(in, Options{Name: name, Lenient: options.Lenient, Limit: options.Limit})
	if err != nil {
		return nil, err
	}
	return &formatReader{Reader: r, options: options}, nil
}

func formatShards(ctx context.Context, o store.Opener, files []string) ([]string, error) {
	if err := records.CheckFiles(formatName, files); err != nil {
		return nil, err
	}
	var shards []string
	for _, s := range files {
		// A file with this literal name takes precedence over the pattern.
		if i, err := o.Stat(ctx, s); err == nil && !i.Folder {
			shards = append(shards, s)
			continue
		}
		more, err := Shards(ctx, o, s, nil)
		if err != nil {
			return nil, err
		}
		shards = append(shards, more...)
	}
	return shards, nil
}

type formatReader struct {
	*Reader
	options records.ReadOptions
	ended   bool
}

func (x *formatReader) Next(r *records.Record) error {
	s, err := x.Reader.Next()
	if err == io.EOF && !x.ended {
		x.ended = true
		x.end()
	}
	if err != nil {
		return err
	}
	r.Reset(unescapeKey(s.Key), s.Shard, s.Offset)
	r.Fields = decodeAll(r.Fields, s.Fields)
	return nil
}

// end reports what is in no record.
func (x *formatReader) end() {
	if d := x.Dropped(); d.First != nil && x.options.OnSkip != nil {
		x.options.OnSkip(d.First)
	}
	i, name := x.Ignored(), store.Redact(x.o.Name)
	switch {
	case x.options.OnNote == nil || i.Members == 0:
	case i.Members == 1:
		x.options.OnNote(fmt.Sprintf("webdataset: %s: 1 member is in no sample: %s", name, i.First))
	default:
		x.options.OnNote(fmt.Sprintf("webdataset: %s: %d members are in no sample, such as %s", name, i.Members, i.First))
	}
}

func createFormat(ctx context.Context, o store.Opener, name string, options records.WriteOptions) (records.Writer, error) {
	one := !strings.Contains(name, "%")
	if one && (options.Count != 0 || options.Size != 0) {
		return nil, fmt.Errorf("webdataset: %s: %w: a number of samples or bytes for each shard wants a name with a place for the shard's number, such as data-%%06d.tar", store.Redact(name), records.ErrOption)
	}
	w, err := NewWriter(ctx, o, name, WriterOptions{One: one, Count: options.Count, Size: options.Size, Index: options.Index})
	if err != nil {
		return nil, err
	}
	return &formatWriter{w: w}, nil
}

// NewSample returns the sample that holds a record: names that a shard cannot
// hold are escaped, arrays are in NumPy's format and numbers are text, as
// package records writes them. Fields of bytes are those of r. A field that no
// shard can hold is a records.FieldError.
func NewSample(r *records.Record) (*Sample, error) {
	s := &Sample{}
	return s, s.set(r)
}

func (s *Sample) set(r *records.Record) error {
	members, err := encodeAll(s.Fields, r)
	if err == nil {
		*s = Sample{Key: escapeKey(r.Key), Fields: members}
	}
	return err
}

// ImageKey returns the key of an image's sample: its name without the
// extension, which begins at the last dot. A name that is nothing but an
// extension keeps it.
func ImageKey(name string) string {
	if key := strings.TrimSuffix(name, path.Ext(name)); key != "" && !strings.HasSuffix(key, "/") {
		return key
	}
	return name // .jpg
}

type formatWriter struct {
	w *Writer
	s Sample
}

func (x *formatWriter) Write(r *records.Record) error {
	if err := x.s.set(r); err != nil {
		return err
	}
	err := x.w.Write(&x.s)
	if errors.Is(err, ErrName) {
		return r.FieldErrorf(formatName, "", "%s", strings.TrimPrefix(err.Error(), "webdataset: "))
	}
	return err
}

func (x *formatWriter) Close() error { return x.w.Close() }

func (x *formatWriter) Abort() error { return x.w.Abort() }

func indexFormat(ctx context.Context, o store.Opener, files []string, options records.IndexOptions) (written []string, err error) {
	if options.Sums {
		return nil, fmt.Errorf("webdataset: %s: %w: a file of sums; the index has them", store.RedactAll(files), records.ErrOption)
	}
	shards, err := formatShards(ctx, o, files)
	if err != nil {
		return nil, err
	}
	for _, s := range shards {
		x, err := MakeIndex(ctx, o, s, Options{Limit: options.Limit})
		if err == nil {
			err = SaveIndex(ctx, o, s, x)
		}
		if err != nil {
			return written, err
		}
		written = append(written, IndexName(s))
	}
	return written, nil
}

func verifyFormat(ctx context.Context, o store.Opener, files []string, options records.ReadOptions, bad func(error)) (beside []string, err error) {
	shards, err := formatShards(ctx, o, files)
	if err != nil {
		return nil, err
	}
	for _, s := range shards {
		what, err := verifyShard(ctx, o, s, options, bad)
		if what != "" {
			beside = append(beside, what)
		}
		if err != nil {
			return beside, err
		}
	}
	return beside, nil
}

// verifyShard compares a shard with its index, sample by sample. what describes
// the index, and is empty without one.
func verifyShard(ctx context.Context, o store.Opener, shard string, options records.ReadOptions, bad func(error)) (what string, err error) {
	p := Options{Limit: options.Limit}
	index, changed, err := loadIndex(ctx, o, shard)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	what = IndexName(shard)
	switch {
	case errors.Is(err, ErrStale), errors.Is(err, records.ErrCorrupt):
		bad(err)
		return what, nil
	case err != nil:
		return what, err
	}
	x, err := index.Open(ctx, o, shard, p)
	if err != nil {
		return what, err
	}
	damaged := false
	for i := range x.Len() {
		_, err := x.Sample(i)
		if errors.Is(err, records.ErrCorrupt) {
			damaged = true
			bad(err)
			err = nil
		}
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return what, errors.Join(err, x.Close())
		}
	}
	if err := x.Close(); err != nil || damaged {
		return what, err
	}
	// Check the bytes between the samples. Reading the shard reports other
	// damage there.
	err = Verify(ctx, o, shard, p)
	switch {
	case errors.Is(err, records.ErrCorrupt):
		bad(err)
		err = nil
	case err == nil && !changed.IsZero():
		what += " (the time of the shard changed, its bytes did not)"
	}
	return what, err
}

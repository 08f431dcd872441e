package webdataset

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/klauspost/compress/zstd"
	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/internal/hexdoc"
	"github.com/infer-prep/infer-prep/internal/short"
	"github.com/infer-prep/infer-prep/records"
	"github.com/infer-prep/infer-prep/store"
)

var (
	root  = filepath.Join("..", "..")
	tests = filepath.Join(root, "testdata", "webdataset")
)

// golden is the output of webdataset 1.0.2 for the same input
// (testdata/gen/records/webdataset_shards.py).
type golden struct {
	Shards    map[string]json.RawMessage
	Splits    [][3]*string
	Variables map[string]string
	Patterns  [][2]json.RawMessage
}

func expected(t testing.TB) (g golden) {
	b, err := os.ReadFile(filepath.Join(tests, "expected.json"))
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(b, &g))
	return g
}

func file(t testing.TB, name string) []byte {
	b, err := os.ReadFile(filepath.Join(tests, name))
	require.NoError(t, err)
	return b
}

func readAll(r *Reader) (l []*Sample, err error) {
	for {
		s, err := r.Next()
		if err != nil {
			return l, err
		}
		l = append(l, s.Clone())
	}
}

func readBytes(b []byte, o Options) ([]*Sample, error) {
	r, err := NewBytes(b, o)
	if err != nil {
		return nil, err
	}
	return readAll(r)
}

// digests returns samples in the form of the golden file.
func digests(l []*Sample) string {
	all := [][2]any{}
	for _, s := range l {
		fields := [][3]any{}
		for _, f := range s.Fields {
			d := sha256.Sum256(f.Data)
			fields = append(fields, [3]any{f.Ext, len(f.Data), hex.EncodeToString(d[:8])})
		}
		all = append(all, [2]any{s.Key, fields})
	}
	b, _ := json.Marshal(all)
	return string(b)
}

func sample(key string, fields ...string) *Sample {
	s := &Sample{Key: key}
	for i := 0; i < len(fields); i += 2 {
		s.Fields = append(s.Fields, Field{fields[i], []byte(fields[i+1])})
	}
	return s
}

func write(t testing.TB, o TarOptions, samples ...*Sample) []byte {
	var b bytes.Buffer
	w, err := NewTarWriter(&b, o)
	require.NoError(t, err)
	for _, s := range samples {
		require.EqualValues(t, b.Len(), w.Offset())
		require.NoError(t, w.Write(s))
	}
	require.NoError(t, w.Close())
	require.Error(t, w.Write(samples[0]))
	return b.Bytes()
}

// plain returns samples without shard and offset.
func plain(l []*Sample) []*Sample {
	m := []*Sample{}
	for _, s := range l {
		c := *s
		c.Shard, c.Offset = "", 0
		m = append(m, &c)
	}
	return m
}

func pack(t testing.TB, how string, b []byte) []byte {
	var z bytes.Buffer
	var w io.WriteCloser = gzip.NewWriter(&z)
	if how == "zstd" {
		var err error
		w, err = zstd.NewWriter(&z, zstd.WithEncoderConcurrency(1))
		require.NoError(t, err)
	}
	_, err := w.Write(b)
	require.NoError(t, err)
	require.NoError(t, w.Close())
	return z.Bytes()
}

// TestShards compares keys, fields and order with webdataset's.
func TestShards(t *testing.T) {
	g := expected(t)
	require.GreaterOrEqual(t, len(g.Shards), 8)
	for name, want := range g.Shards {
		t.Run(name, func(t *testing.T) {
			b := file(t, name)
			readers := map[string]func() (*Reader, error){
				"bytes":  func() (*Reader, error) { return NewBytes(b, Options{}) },
				"reader": func() (*Reader, error) { return NewReader(iotest.HalfReader(bytes.NewReader(b)), Options{}) },
				"opener": func() (*Reader, error) {
					return Open(context.Background(), store.Local, filepath.Join(tests, name), Options{})
				},
			}
			if filepath.Ext(name) == ".tar" {
				for _, how := range []string{"gzip", "zstd"} {
					readers[how] = func() (*Reader, error) { return NewBytes(pack(t, how, b), Options{}) }
				}
			}
			for how, open := range readers {
				r, err := open()
				require.NoError(t, err)
				got, err := readAll(r)
				require.Equal(t, io.EOF, err, how)
				require.JSONEq(t, string(want), digests(got), how)
				require.NoError(t, r.Close())
				_, err = r.Next()
				require.ErrorContains(t, err, "closed")
			}
		})
	}
	r, err := NewBytes(file(t, "names.tar"), Options{})
	require.NoError(t, err)
	_, err = readAll(r)
	require.Equal(t, io.EOF, err)
	require.Equal(t, Ignored{8, "noext (a name without a key)"}, r.Ignored(), "noext, .hidden.txt, __meta__/a.json, __meta__, ____/b.txt, and two links and a device")
}

// TestKeyExt compares all cases with webdataset's base_plus_ext.
func TestKeyExt(t *testing.T) {
	for _, c := range expected(t).Splits {
		key, ext, ok := KeyExt(*c[0])
		require.Equal(t, c[1] != nil, ok, "%q", *c[0])
		if ok {
			require.Equal(t, *c[1], key, "%q", *c[0])
			require.Equal(t, *c[2], ext, "%q", *c[0])
		}
	}
	// webdataset's tar_file_iterator skips these names and no others.
	for name, want := range map[string]bool{
		"__meta__/a.json": false, "__a.b__": false, "__.__/x.y": false, "____/b.txt": false, "___/b.txt": true, "__a/b.txt": true, "a__/b.txt": true, "x/__a__/b.txt": true,
		"__a__.json": true, "__a__\n/b.txt": true, "__.__\n": false,
	} {
		_, _, ok := KeyExt(name)
		require.Equal(t, want, ok, name)
	}
	_, ext, ok := KeyExt("a.\xffB")
	require.True(t, ok)
	require.Equal(t, "\xffb", ext)
}

// TestExpand compares all cases with webdataset's expand_urls.
func TestExpand(t *testing.T) {
	g := expected(t)
	env := func(name string) (string, bool) { v, ok := g.Variables[name]; return v, ok }
	for _, c := range g.Patterns {
		var p string
		var want []string
		require.NoError(t, json.Unmarshal(c[0], &p))
		require.NoError(t, json.Unmarshal(c[1], &want))
		got, err := Expand(p, env)
		if want == nil {
			require.ErrorIs(t, err, ErrPattern, "%q", p)
			continue
		}
		require.NoError(t, err, "%q", p)
		require.Equal(t, want, got, "%q", p)
	}
	for _, p := range []string{
		"{0..9999999999}", strings.Repeat("{a,b}", 40), strings.Repeat("{", 1000) + strings.Repeat("}", 1000), "{1..99999999999999999999}", "{1..2..99999999999999999999}",
		strings.Repeat("{0..999},", 1100),
	} {
		if strings.HasSuffix(p, ",") {
			p = "{" + p + "}"
		}
		_, err := Expand(p, nil)
		require.ErrorIs(t, err, ErrPattern, "%.40q", p)
	}
	_, err := Expand("${A}", nil)
	require.ErrorIs(t, err, ErrPattern)
	_, err = Expand("${A}", func(string) (string, bool) { return "${A}", true })
	require.ErrorContains(t, err, "circle")
	_, err = Expand("${A}", func(string) (string, bool) { return strings.Repeat("${A}", 1000), true })
	require.ErrorIs(t, err, ErrPattern)
}

// TestWriterBytes compares the written bytes with those of webdataset's
// TarWriter.
func TestWriterBytes(t *testing.T) {
	b := file(t, "writer.tar")
	l, err := readBytes(b, Options{})
	require.Equal(t, io.EOF, err)
	require.Len(t, l, 5)
	require.Equal(t, hex.Dump(b), hex.Dump(write(t, TarOptions{ModTime: 1_700_000_000}, l...)))
	// Fields are sorted by name.
	l[0].Fields[0], l[0].Fields[2] = l[0].Fields[2], l[0].Fields[0]
	require.Equal(t, b, write(t, TarOptions{ModTime: 1_700_000_000}, l...))
}

func TestUSTAR(t *testing.T) {
	long := strings.Repeat("d/", 60) + "k"
	l := []*Sample{sample(long, "cls", "1", "txt", "2"), sample("a/"+strings.Repeat("n", 95), "x", ""), sample("a/"+strings.Repeat("n", 98), "x", "")}
	b := write(t, TarOptions{USTAR: true, User: "u", Group: "g", Mode: 0o600}, l...)
	got, err := readBytes(b, Options{})
	require.Equal(t, io.EOF, err)
	require.Equal(t, plain(l), plain(got))
	require.NotContains(t, string(b), "PaxHeader")
	require.Len(t, b, record)
	w, err := NewTarWriter(io.Discard, TarOptions{USTAR: true})
	require.NoError(t, err)
	for _, key := range []string{strings.Repeat("n", 100), "ü", strings.Repeat("p", 156) + "/n", "/" + strings.Repeat("n", 99)} {
		require.ErrorIs(t, w.Write(sample(key, "x", "")), ErrName, key)
	}
	require.NoError(t, w.Write(sample(strings.Repeat("p", 155)+"/n", "x", "")))
	for _, o := range []TarOptions{{User: strings.Repeat("u", 33)}, {Group: "ü"}, {Mode: 0o10000}, {ModTime: -1}, {ModTime: 1 << 33}} {
		_, err := NewTarWriter(io.Discard, o)
		require.Error(t, err)
	}
}

func TestWriteErrors(t *testing.T) {
	w, err := NewTarWriter(io.Discard, TarOptions{})
	require.NoError(t, err)
	require.NoError(t, w.Write(sample("a", "txt", "")))
	for _, s := range []*Sample{
		sample("a", "cls", ""), sample("b"), sample("b", "x", "", "x", ""), sample("b", "X", ""), sample("b", "x/y", ""), sample("b.c", "x", ""), sample("", "x", ""), sample("__b__/c", "x", ""),
		sample("b", "__key__", ""), sample("b\x00", "x", ""), sample("b", "x\x00", ""), sample(strings.Repeat("b", 1<<20), "x", ""), sample("d.e/", "x", ""),
	} {
		require.ErrorIs(t, w.Write(s), ErrName, "%.20q", s.Key)
	}
	require.EqualValues(t, 512, w.Offset(), "nothing was written")
	for _, s := range []*Sample{sample("b/", "x", ""), sample("b\xff", "\xfe", "1"), sample("b", "", "empty"), sample("\n", "x\n", ""), sample(strings.Repeat("é", 99), "x", "")} {
		got, err := readBytes(write(t, TarOptions{}, s), Options{})
		require.Equal(t, io.EOF, err)
		require.Equal(t, digests([]*Sample{s}), digests(got))
		require.Equal(t, s.Key, got[0].Key)
	}
	for n := range 12 {
		w, err := NewTarWriter(&limited{n: n * 100}, TarOptions{})
		require.NoError(t, err)
		err = w.Write(sample("a", "txt", "abc"))
		if n < 11 {
			require.ErrorIs(t, err, io.ErrShortWrite)
			require.Equal(t, err, w.Write(sample("b", "txt", "")))
		}
		require.ErrorIs(t, w.Close(), io.ErrShortWrite)
	}
}

type limited struct{ n int }

func (l *limited) Write(b []byte) (int, error) {
	n := min(len(b), l.n)
	l.n -= n
	return n, nil
}

var three = []*Sample{sample("a", "cls", "1", "txt", "first"), sample("b", "txt", strings.Repeat("x", 600)), sample("c", "json", "{}", "txt", "")}

// TestEveryTruncation tests that a shard that is truncated anywhere is an
// error, after exactly the samples that are known to be complete.
func TestEveryTruncation(t *testing.T) {
	step := short.Step(t, 7)
	long := append([]*Sample{sample(strings.Repeat("l", 120), "txt", "long")}, three...)
	for name, l := range map[string][]*Sample{"ustar": three, "pax": long} {
		b := write(t, TarOptions{}, l...)
		r, err := NewBytes(b, Options{})
		require.NoError(t, err)
		x, err := r.index(context.Background())
		require.NoError(t, err)
		end := int(x.Entries[len(x.Entries)-1].Offset + x.Entries[len(x.Entries)-1].Size)
		for n := 0; n < len(b); n += step {
			if n > end+2*block+1 {
				n = min(n+99, len(b)-1) // only zeros follow
			}
			want := 0
			for want < len(l) && (want < len(l)-1 && n >= int(x.Entries[want+1].Offset)+block || n >= end+2*block) {
				want++
			}
			for how, open := range map[string]func() (*Reader, error){
				"bytes":  func() (*Reader, error) { return NewBytes(b[:n], Options{Name: "f"}) },
				"reader": func() (*Reader, error) { return NewReader(bytes.NewReader(b[:n]), Options{Name: "f"}) },
			} {
				r, err := open()
				require.NoError(t, err)
				got, err := readAll(r)
				if n >= end+2*block {
					require.Equal(t, io.EOF, err)
				} else {
					var e *records.CorruptionError
					require.ErrorAs(t, err, &e, "%s %s %d", name, how, n)
					require.Equal(t, "f", e.File)
					require.LessOrEqual(t, e.Offset, int64(n))
				}
				require.Equal(t, plain(l[:want]), plain(got), "%s %s %d", name, how, n)
				_, again := r.Next()
				require.Equal(t, err, again)
			}
			r, err := NewBytes(b[:n], Options{Lenient: true})
			require.NoError(t, err)
			got, err := readAll(r)
			require.Equal(t, io.EOF, err)
			require.Equal(t, plain(l[:want]), plain(got))
			if d := r.Dropped(); n < end+2*block {
				require.ErrorIs(t, d.First, records.ErrCorrupt)
				require.EqualValues(t, len(d.Keys), d.Samples)
			} else {
				require.Zero(t, d)
			}
		}
	}
}

// TestEveryFlip changes every bit. A changed bit of a header is an error. A
// changed bit of data changes that field alone. The index detects every changed
// bit of a sample.
func TestEveryFlip(t *testing.T) {
	l := append([]*Sample{sample(strings.Repeat("l", 120), "txt", "long")}, three...)
	b := write(t, TarOptions{}, l...)
	r, err := NewBytes(b, Options{})
	require.NoError(t, err)
	x, err := r.index(context.Background())
	require.NoError(t, err)
	name := filepath.Join(t.TempDir(), "a.tar")
	// Find the data, the padding, and the text of extended headers.
	inert, named := map[int]bool{}, map[int]bool{}
	for at := 0; at < len(b); {
		size, ok := number(b[at+124 : at+136])
		require.True(t, ok)
		if b[at] == 0 {
			break
		}
		for k := at + block; k < at+block+int(size+-size&(block-1)); k++ {
			inert[k], named[k] = true, b[at+156] == 'x'
		}
		for k := at + 148; k < at+156; k++ {
			inert[k] = true // zeros and blanks after the checksum are equivalent
		}
		at += block + int(size+-size&(block-1))
	}
	quiet := 0
	step := short.Step(t, 7)
	end := int(x.Entries[len(l)-1].Offset + x.Entries[len(l)-1].Size)
	for at := 0; at < len(b); at++ {
		if at > end+block {
			at = min(at+99, len(b)-1) // zeros after the end are equivalent
		}
		for bit := at % step; bit < 8; bit += step {
			c := bytes.Clone(b)
			c[at] ^= 1 << bit
			got, err := readBytes(c, Options{})
			if err != io.EOF {
				require.ErrorIs(t, err, records.ErrCorrupt, "%d", at)
				require.LessOrEqual(t, len(got), len(l))
				for i, s := range plain(got) {
					if int(x.Entries[i].Offset+x.Entries[i].Size) <= at {
						require.Equal(t, digests(l[i:i+1]), digests([]*Sample{s}))
					}
				}
				continue
			}
			quiet++
			require.True(t, inert[at], "byte %d", at)
			if named[at] {
				continue // a long name has no checksum; the index detects the change
			}
			changed := 0
			for i, s := range plain(got) {
				if i < len(l) && digests([]*Sample{s}) != digests(l[i:i+1]) {
					changed++
				}
			}
			require.Len(t, got, len(l))
			require.LessOrEqual(t, changed, 1)
		}
	}
	require.NotZero(t, quiet)
	ctx := context.Background()
	require.NoError(t, os.WriteFile(name, b, 0o644))
	y, err := MakeIndex(ctx, store.Local, name, Options{})
	require.NoError(t, err)
	require.Equal(t, x.Entries, y.Entries)
	for at := 0; at < len(b); at += 7 {
		c := bytes.Clone(b)
		c[at] ^= 1 << (at % 8)
		f := &memory{files: map[string][]byte{"s": c}}
		y.Modified = whole(f.time())
		require.NoError(t, SaveIndex(ctx, f, "s", y))
		require.ErrorIs(t, Verify(ctx, f, "s", Options{}), records.ErrCorrupt, at)
	}
}

// TestPacked tests compressed shards. Every truncation is an error; a changed
// bit is an error or changes nothing.
func TestPacked(t *testing.T) {
	l := three
	b := write(t, TarOptions{}, l...)
	for _, how := range []string{"gzip", "zstd"} {
		z := pack(t, how, b)
		for n := range z {
			got, err := readBytes(z[:n], Options{Name: "f"})
			require.ErrorIs(t, err, records.ErrCorrupt, "%s %d", how, n)
			require.Equal(t, plain(l[:len(got)]), plain(got))
		}
		for at := range z {
			for bit := range 8 {
				c := bytes.Clone(z)
				c[at] ^= 1 << bit
				if got, err := readBytes(c, Options{}); err == io.EOF {
					require.Equal(t, plain(l), plain(got), "%s %d", how, at)
				} else {
					require.ErrorIs(t, err, records.ErrCorrupt, "%s %d", how, at)
				}
			}
		}
		_, err := readBytes(append(bytes.Clone(z), "garbage"...), Options{})
		require.ErrorIs(t, err, records.ErrCorrupt, how)
		gone := errors.New("gone")
		for n := 0; n < len(z); n += 5 {
			r, err := NewReader(io.MultiReader(bytes.NewReader(z[:n]), iotest.ErrReader(gone)), Options{})
			if err == nil {
				_, err = readAll(r)
			}
			require.ErrorIs(t, err, gone, "%s %d", how, n)
		}
	}
	_, err := NewBytes([]byte("\xfd7zXZ\x00"), Options{})
	require.ErrorIs(t, err, records.ErrUnsupported)
	require.ErrorContains(t, err, "xz")
	for _, name := range []string{"a.tar.xz", "a-%d.tar.bz2"} {
		_, err = NewWriter(context.Background(), &memory{}, name, WriterOptions{One: name == "a.tar.xz"})
		require.ErrorIs(t, err, records.ErrUnsupported, name)
	}
}

// TestStrict tests content that valid shards do not have.
func TestStrict(t *testing.T) {
	b := write(t, TarOptions{}, three...)
	member := func(name, data string) []byte { // accepts any name
		w, err := NewTarWriter(io.Discard, TarOptions{})
		require.NoError(t, err)
		w.head(name, len(data))
		return append(append(bytes.Clone(w.buf), data...), zeros[:-len(data)&(block-1)]...)
	}
	special := func(kind byte, name, data string) []byte {
		w, err := NewTarWriter(io.Discard, TarOptions{})
		require.NoError(t, err)
		w.header("", name, int64(len(data)), kind, TarOptions{})
		return append(append(bytes.Clone(w.buf), data...), zeros[:-len(data)&(block-1)]...)
	}
	end := make([]byte, 2*block)
	for what, c := range map[string][]byte{
		"not a tar":        []byte(strings.Repeat("no tar ", 100)),
		"ends without":     {},
		"something stands": append(bytes.Clone(b), b...),
		"two fields":       bytes.Join([][]byte{member("a.txt", "1"), member("a.TXT", "2"), end}, nil),
		"no name for":      bytes.Join([][]byte{member("a.__key__", "1"), end}, nil),
		"sparse":           bytes.Join([][]byte{special('S', "a.txt", ""), end}, nil),
		"GNU.sparse":       bytes.Join([][]byte{special('x', "p", "22 GNU.sparse.major=1\n"), member("a.txt", ""), end}, nil),
		"extended header":  bytes.Join([][]byte{special('x', "p", "9 path=a\n"[:8]+"x"), member("a.txt", ""), end}, nil),
		"for all members":  bytes.Join([][]byte{special('g', "p", "12 path=a.b\n"), end}, nil),
		"between the":      bytes.Join([][]byte{special('x', "p", "12 path=a.b\n"), end}, nil),
		"no number":        bytes.Join([][]byte{special('x', "p", "11 size=-1\n"), member("a.txt", ""), end}, nil),
		"at most":          bytes.Join([][]byte{special('L', "p", strings.Repeat("n", maxName+1)), member("a.txt", ""), end}, nil),
	} {
		_, err := readBytes(c, Options{Name: "f"})
		kind := map[string]error{"sparse": records.ErrUnsupported, "GNU.sparse": records.ErrUnsupported, "at most": records.ErrTooLarge}[what]
		if kind == nil {
			kind = records.ErrCorrupt
		} else {
			require.NotErrorIs(t, err, records.ErrCorrupt, what)
		}
		require.ErrorIs(t, err, kind, what)
		what = strings.TrimPrefix(what, "GNU.")
		require.ErrorContains(t, err, what)
		require.ErrorContains(t, err, "f: at byte")
	}
	// A size larger than the file takes no memory.
	c := special('0', "a.txt", "")
	copy(c[124:], "\x80\x00\x00\x00\x00\x00\x00\x00\x3f\x00\x00\x00")
	copy(c[148:], "        ")
	sum := 0
	for _, x := range c {
		sum += int(x)
	}
	copy(c[148:], fmt.Sprintf("%06o\x00", sum))
	r, err := NewReader(bytes.NewReader(c), Options{})
	require.NoError(t, err)
	_, err = readAll(r)
	require.ErrorIs(t, err, records.ErrCorrupt)
	// The limit applies to a sample.
	got, err := readBytes(b, Options{Limit: 599})
	require.ErrorIs(t, err, records.ErrTooLarge)
	require.Len(t, got, 1)
	_, err = readBytes(b, Options{Limit: 600})
	require.Equal(t, io.EOF, err)
	_, err = readBytes(b, Options{Limit: 5})
	require.ErrorIs(t, err, records.ErrTooLarge)
	gone := errors.New("gone")
	for n := 0; n < 6*block; n += 50 {
		r, err := NewReader(io.MultiReader(bytes.NewReader(b[:n]), iotest.ErrReader(gone)), Options{})
		if err == nil {
			_, err = readAll(r)
		}
		require.ErrorIs(t, err, gone)
	}
}

func FuzzReader(f *testing.F) {
	// Seeds are short: they have no more zeros at the end than required.
	cut := func(b []byte) []byte { return b[:len(bytes.TrimRight(b, "\x00"))&^(block-1)+3*block] }
	f.Add(cut(file(f, "interleaved.tar")))
	f.Add(cut(write(f, TarOptions{}, sample(strings.Repeat("l", 120), "txt", ""))))
	f.Add(file(f, "writer.tar.bz2"))
	b := cut(write(f, TarOptions{}, three...))
	f.Add(b)
	f.Add(pack(f, "gzip", b))
	f.Add(pack(f, "zstd", b))
	for _, name := range []string{"gnu.tar", "pax.tar", "ustar.tar"} {
		f.Add(cut(file(f, name)))
		f.Add(pack(f, "gzip", file(f, name)))
		f.Add(pack(f, "zstd", file(f, name)))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		one, err1 := readBytes(b, Options{Limit: 1 << 20})
		var two []*Sample
		r, err2 := NewReader(iotest.OneByteReader(bytes.NewReader(b)), Options{Limit: 1 << 20})
		if err2 == nil {
			two, err2 = readAll(r)
			require.NoError(t, r.Close())
		}
		require.Equal(t, one, two)
		require.Equal(t, err1 == io.EOF, err2 == io.EOF)
	})
}

func FuzzExpand(f *testing.F) {
	for _, c := range expected(f).Patterns {
		var p string
		require.NoError(f, json.Unmarshal(c[0], &p))
		f.Add(p)
	}
	f.Fuzz(func(t *testing.T, p string) {
		_, err := Expand(p, func(string) (string, bool) { return "v", true })
		if err != nil {
			require.ErrorIs(t, err, ErrPattern)
		}
	})
}

func FuzzIndex(f *testing.F) {
	b, err := (&Index{Size: 10240, Entries: []Entry{{"a", 0, 1024, 1}, {"b\n", 1024, 512, 2}}}).AppendText(nil)
	require.NoError(f, err)
	f.Add(b)
	f.Fuzz(func(t *testing.T, b []byte) {
		x, err := ReadIndex("i", bytes.NewReader(b))
		if err != nil {
			require.ErrorIs(t, err, records.ErrCorrupt)
			return
		}
		again, err := x.AppendText(nil)
		require.NoError(t, err)
		y, err := ReadIndex("i", bytes.NewReader(again))
		require.NoError(t, err)
		require.Equal(t, x, y)
	})
}

// TestFormat writes the example of docs/format/webdataset.md and reads it.
func TestFormat(t *testing.T) {
	b := hexdoc.Read(t, root, "webdataset")
	s := sample("a", "cls", "7", "txt", "hi")
	want := write(t, TarOptions{}, s)
	b = append(b, make([]byte, max(0, len(want)-len(b)))...)
	require.Equal(t, hex.Dump(want), hex.Dump(b))
	got, err := readBytes(b, Options{})
	require.Equal(t, io.EOF, err)
	require.Equal(t, plain([]*Sample{s}), plain(got))
	// Compare the index too.
	r, err := NewBytes(want, Options{})
	require.NoError(t, err)
	x, err := r.index(context.Background())
	require.NoError(t, err)
	x.Modified = time.Unix(1_700_000_000, 0)
	text, err := x.AppendText(nil)
	require.NoError(t, err)
	doc, err := os.ReadFile(filepath.Join(root, "docs", "format", "webdataset.md"))
	require.NoError(t, err)
	require.Contains(t, string(doc), "```\n"+string(text)+"```\n")
}

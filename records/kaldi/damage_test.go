package kaldi

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/records"
	"github.com/infer-prep/infer-prep/store"
	"github.com/infer-prep/infer-prep/tensor"
)

// entry returns an archive of the one entry that f writes.
func entry(t testing.TB, text bool, f func(w *Writer) error) []byte {
	var b bytes.Buffer
	require.NoError(t, f(NewWriter(&b, WriterOptions{Text: text})))
	return b.Bytes()
}

// small returns three entries of each kind of object.
func small(t testing.TB) map[string][][]byte {
	m := matrix(t, 2, 3, 1, -2, 3.5, 0.25, 1e9, -6)
	d := &tensor.Tensor{}
	require.NoError(t, d.Reset(tensor.Desc{DType: tensor.Float64, Shape: tensor.Dims(2)}))
	copy(tensor.View[float64](d), []float64{0.1, -7})
	high := matrix(t, 9, 1, 1, 2, 3, 4, 5, 6, 7, 8, 9)
	v := ints(t, 7, -1, 300)
	s := &tensor.Tensor{}
	require.NoError(t, s.Reset(tensor.Desc{DType: tensor.Int16, Shape: tensor.Dims(3, 2)}))
	copy(tensor.View[int16](s), []int16{1, -1, 30000, 77, 12, -5})
	u := &tensor.Tensor{}
	require.NoError(t, u.Reset(tensor.Desc{DType: tensor.Uint8, Shape: tensor.Dims(5, 1)}))
	copy(u.Data, []byte{1, 2, 3, 254, 255})
	l := map[string][][]byte{}
	for _, key := range []string{"utt1", "b", "größe"} {
		for name, f := range map[string]func(w *Writer) error{
			"matrix": func(w *Writer) error { return w.Write(key, m) },
			"vector": func(w *Writer) error { return w.Write(key, d) },
			"ints":   func(w *Writer) error { return w.Write(key, v) },
		} {
			l[name] = append(l[name], entry(t, false, f))
			l[name+" text"] = append(l[name+" text"], entry(t, true, f))
		}
		l["CM"] = append(l["CM"], entry(t, false, func(w *Writer) error { return w.WriteCompressed(key, high, Automatic) }))
		l["CM2"] = append(l["CM2"], entry(t, false, func(w *Writer) error { return w.WriteCompressed(key, m, Automatic) }))
		l["CM3"] = append(l["CM3"], entry(t, false, func(w *Writer) error { return w.WriteCompressed(key, m, OneByteZeroOne) }))
		l["wave"] = append(l["wave"], entry(t, false, func(w *Writer) error { return w.WriteWave(key, s, 8000) }))
		l["wave8"] = append(l["wave8"], entry(t, false, func(w *Writer) error { return w.WriteWave(key, u, 8000) }))
	}
	return l
}

// TestEveryDamage truncates archives everywhere and changes every bit. A
// truncation returns the entries before it, then an error. A changed bit is an
// error or changes one entry; in a length or a type it may also move the start
// of the next entry.
func TestEveryDamage(t *testing.T) {
	show := func(l []object) (s []string) {
		for _, x := range l {
			s = append(s, fmt.Sprintf("%s %v %v %d %v %x", x.h.Key, x.h.Type, x.h.Form, x.h.Rate, x.t.Desc, x.t.Data))
		}
		return s
	}
	flips, found, keys, lost := 0, 0, 0, 0
	for name, entries := range small(t) {
		b := bytes.Join(entries, nil)
		starts := []int{0}
		for _, e := range entries {
			starts = append(starts, starts[len(starts)-1]+len(e))
		}
		record := func(at int) (k int) {
			for at >= starts[k+1] {
				k++
			}
			return k
		}
		all, err := readAll(NewReader(bytes.NewReader(b), Options{}))
		require.Equal(t, io.EOF, err)
		want := show(all)
		require.Len(t, want, len(entries))
		inputs := func(b []byte) []io.Reader {
			return []io.Reader{bytes.NewReader(b), plain{bytes.NewReader(b)}}
		}
		for n := range b {
			for _, in := range inputs(b[:n]) {
				r := NewReader(in, Options{Name: "f"})
				got, err := readAll(r)
				k := record(n)
				require.Equal(t, want[:k], append([]string{}, show(got)...), "%s: %d bytes", name, n)
				if n == starts[k] {
					require.Equal(t, io.EOF, err)
					continue
				}
				var e *records.CorruptionError
				require.ErrorAs(t, err, &e, "%s: %d bytes", name, n)
				require.Equal(t, "f", e.File)
				require.GreaterOrEqual(t, e.Offset, int64(starts[k]))
				require.LessOrEqual(t, e.Offset, int64(n))
				_, again := r.Next()
				require.Equal(t, err, again)
			}
			// Read only the headers.
			for _, in := range inputs(b[:n]) {
				r := NewReader(in, Options{})
				var err error
				k := -1
				for ; err == nil; k++ {
					_, err = r.Next()
				}
				require.GreaterOrEqual(t, k, record(n))
				if n != starts[record(n)] {
					require.ErrorIs(t, err, records.ErrCorrupt, "%s: %d bytes", name, n)
				} else {
					require.Equal(t, io.EOF, err)
				}
			}
		}
		for at := range b {
			k := record(at)
			for bit := range 8 {
				x := bytes.Clone(b)
				x[at] ^= 1 << bit
				where := fmt.Sprintf("%s: bit %d of byte %d, entry %d", name, bit, at, k)
				var texts []string
				for _, in := range inputs(x) {
					l, err := readAll(NewReader(in, Options{Limit: 1 << 20}))
					got := show(l)
					texts = append(texts, fmt.Sprint(got, err == io.EOF))
					require.Equal(t, want[:k], append([]string{}, got[:k]...), where)
					if err == io.EOF {
						// An object of another length may end within a later
						// entry's key. Nothing in the file distinguishes that
						// from a valid file.
						j := len(want) - (len(got) - (k + 1)) // index of the entry that follows
						require.GreaterOrEqual(t, j, k+1, where)
						if j > k+1 {
							lost++
						}
						if j < len(want) && got[k+1] != want[j] {
							a, b := l[k+1].h.Key, all[j].h.Key
							require.True(t, strings.HasSuffix(a, b) || strings.HasSuffix(b, a), where)
							require.Equal(t, strings.TrimPrefix(want[j], b), strings.TrimPrefix(got[k+1], a), where)
							keys++
							got[k+1] = want[j]
						}
						require.Equal(t, want[j:], append([]string{}, got[k+1:]...), where)
						continue
					}
					require.LessOrEqual(t, len(got), k+1, where)
					require.True(t, errors.Is(err, records.ErrCorrupt) || errors.Is(err, records.ErrTooLarge) || errors.Is(err, records.ErrUnsupported), "%s: %v", where, err)
				}
				require.Equal(t, texts[0], texts[1], where)
				flips++
				if strings.HasSuffix(texts[0], "false") {
					found++
				}
			}
		}
	}
	t.Logf("%d of %d changed bits found; %d are lengths or types that end within a later key, %d of them behind other entries", found, flips, keys/2, lost/2)
}

func TestReadErrors(t *testing.T) {
	le := func(n uint32) string { return string([]byte{4, byte(n), byte(n >> 8), byte(n >> 16), byte(n >> 24)}) }
	raw := func(n uint32) string { return le(n)[1:] }
	wav := func(riff uint32, rest string) string { return "RIFF" + raw(riff) + "WAVE" + rest }
	format := "fmt \x10\x00\x00\x00\x01\x00\x01\x00\x40\x1f\x00\x00\x80\x3e\x00\x00\x02\x00\x10\x00"
	for name, c := range map[string]struct {
		object string
		o      Options
		want   error
		text   string
	}{
		"rows without columns": {"\x00BFM " + le(3) + le(0), Options{}, records.ErrCorrupt, "3 x 0"},
		"negative":             {"\x00BFM " + le(1<<31) + le(1), Options{}, records.ErrCorrupt, "number of rows"},
		"negative vector":      {"\x00B" + le(1<<31), Options{}, records.ErrCorrupt, "-2147483648 numbers"},
		"negative compressed":  {"\x00BCM2 " + raw(0) + raw(0) + raw(1<<31) + raw(1), Options{}, records.ErrCorrupt, "-2147483648 x 1"},
		"size of a size":       {"\x00BFM \x08" + raw(1) + le(1), Options{}, records.ErrCorrupt, "number of rows"},
		"huge":                 {"\x00BDM " + le(math.MaxInt32) + le(math.MaxInt32), Options{}, records.ErrTooLarge, ""},
		"limit":                {"\x00BFV " + le(1000), Options{Limit: 3999}, records.ErrTooLarge, "4000 bytes"},
		"limit of CM":          {"\x00BCM3 " + raw(0) + raw(0) + raw(10) + raw(10), Options{Limit: 399}, records.ErrTooLarge, "400 bytes"},
		"claimed":              {"\x00BFV " + le(100<<20), Options{}, records.ErrCorrupt, "the file ends"},
		"token":                {"\x00BXM " + le(1) + le(1), Options{}, records.ErrCorrupt, `"XM "`},
		"long token":           {"\x00BMatrix ", Options{}, records.ErrCorrupt, `"Matri"`},
		"marker":               {"\x00CFM ", Options{}, records.ErrCorrupt, "want 00 42"},
		"type":                 {"\x00BFV " + le(0), Options{Type: Matrix}, records.ErrCorrupt, "a vector, want a matrix"},
		"pickle":               {"PKL\x01\x00", Options{}, records.ErrUnsupported, "PKL"},
		"numpy":                {"NPY\x01\x00", Options{}, records.ErrUnsupported, "NPY"},
		"audio":                {"AUDIO\x01", Options{}, records.ErrUnsupported, "AUDI"},
		"flac":                 {"fLaC\x01", Options{}, records.ErrUnsupported, "fLaC"},
		"ragged":               {" [\n 1 2\n 3 ]\n", Options{}, records.ErrCorrupt, "row 1 has 1"},
		"vector of lines":      {" [ 1 2\n 3 4 ]\n", Options{Type: Vector}, records.ErrCorrupt, "a line ends within a vector"},
		"words":                {" [ 1 x ]\n", Options{}, records.ErrCorrupt, `"x" is no number`},
		"hexadecimal":          {" [ 0x1p3 ]\n", Options{}, records.ErrCorrupt, "0x1p3"},
		"overflow":             {" [ 1e39 ]\n", Options{}, records.ErrCorrupt, "of 32 bits"},
		"nested":               {" [ [ 1 ]\n", Options{}, records.ErrCorrupt, "bracket within"},
		"behind":               {" [ 1 ] 2\n", Options{}, records.ErrCorrupt, "behind the bracket"},
		"no int":               {"1 2.5\n", Options{}, records.ErrCorrupt, `"2.5" is no int32`},
		"int32":                {"2147483648\n", Options{}, records.ErrCorrupt, "no int32"},
		"many digits":          {strings.Repeat("1", 100) + "\n", Options{}, records.ErrCorrupt, "no number"},
		"text limit":           {" [ 1 2 3 ]\n", Options{Limit: 8}, records.ErrTooLarge, ""},
		"RIFF":                 {"RIFZ", Options{}, records.ErrCorrupt, "RIFZ"},
		"AVI":                  {"RIFF" + raw(4) + "AVI ", Options{}, records.ErrCorrupt, "AVI"},
		"no format":            {wav(12, "data"+raw(0)), Options{}, records.ErrCorrupt, "data before fmt"},
		"short format":         {wav(30, "fmt "+raw(4)+"xxxx"), Options{}, records.ErrCorrupt, "16 or more"},
		"odd data":             {wav(39, format+"data"+raw(3)+"abc"), Options{}, records.ErrCorrupt, "2 at a time"},
		"RIFF too short":       {wav(36, format+"data"+raw(4)+"abcd"), Options{}, records.ErrCorrupt, "begin at 44"},
		"float wave":           {wav(36, strings.Replace(format, "\x01\x00\x01", "\x03\x00\x01", 1)), Options{}, records.ErrUnsupported, "format 3"},
		"no channels":          {wav(36, strings.Replace(format, "\x01\x00\x01", "\x01\x00\x00", 1)), Options{}, records.ErrCorrupt, "0 channels"},
	} {
		r := NewReader(plain{strings.NewReader("key " + c.object)}, c.o)
		_, err := r.Next()
		if err == nil {
			_, err = r.Read()
		}
		require.ErrorIs(t, err, c.want, name)
		require.ErrorContains(t, err, c.text, name)
		require.ErrorContains(t, err, `"key"`, name)
	}
	for name, b := range map[string]string{"control": "a\x01 ", "UTF-8": "a\xff ", "long": strings.Repeat("a", maxKey+1), "cut": "abc"} {
		_, err := NewReader(strings.NewReader(b), Options{}).Next()
		require.ErrorIs(t, err, records.ErrCorrupt, name)
	}
	gone := errors.New("gone")
	for name, entries := range small(t) {
		for n := range entries[0] {
			_, err := readAll(NewReader(io.MultiReader(bytes.NewReader(entries[0][:n]), iotest.ErrReader(gone)), Options{}))
			require.ErrorIs(t, err, gone, "%s: %d", name, n)
		}
	}
	_, err := NewReader(strings.NewReader(""), Options{DType: tensor.Int8}).Next()
	require.ErrorContains(t, err, "int8")
	_, err = NewReader(strings.NewReader(""), Options{Type: 9}).Next()
	require.ErrorContains(t, err, "type(9)")
	r := NewReader(strings.NewReader("k 1\n"), Options{})
	_, err = r.Read()
	require.ErrorIs(t, err, errRead)
	_, err = r.Next()
	require.NoError(t, err)
	_, err = r.Read()
	require.NoError(t, err)
	_, err = r.Raw()
	require.ErrorIs(t, err, errRead)
}

// TestForms reads objects that Kaldi's readers accept and its writers do not
// write.
func TestForms(t *testing.T) {
	floats := func(b string, o Options) []float32 {
		l, err := readAll(NewReader(strings.NewReader(b), o))
		require.Equal(t, io.EOF, err, b)
		require.Len(t, l, 1)
		return tensor.View[float32](l[0].t)
	}
	inf := float32(math.Inf(1))
	require.Equal(t, []float32{1, 2, 3, 4}, floats("\n k [ 1 2; 3 4 ]\r\n\n", Options{}))
	require.Equal(t, []float32{inf, -inf, inf, 1e-3}, floats("k [ inf -INF infinity +1E-3 ]\n", Options{}))
	require.Empty(t, floats("k []\n", Options{Type: Matrix}))
	l, err := readAll(NewReader(strings.NewReader("k\nm [ 1 2 ]\n"), Options{Type: IntVector}))
	require.Equal(t, io.EOF, err)
	require.Len(t, l, 2)
	require.Equal(t, tensor.Dims(0), l[0].h.Shape)
	require.Equal(t, []int32{1, 2}, tensor.View[int32](l[1].t))
	l, err = readAll(NewReader(strings.NewReader("k [ 1 2 ]\n"), Options{Type: Matrix, DType: tensor.Float64}))
	require.Equal(t, io.EOF, err)
	require.Equal(t, "float64 (1, 2)", l[0].t.String())

	format := "fmt \x10\x00\x00\x00\x01\x00\x01\x00\x40\x1f\x00\x00\x80\x3e\x00\x00\x02\x00\x10\x00"
	long := "fmt \x28\x00\x00\x00\xfe\xff" + format[10:] + "\x16\x00\x10\x00\x04\x00\x00\x00\x01\x00" + pcmID
	rifx := "RIFX\x00\x00\x00\x28WAVEfmt \x00\x00\x00\x10\x00\x01\x00\x01\x00\x00\x1f\x40\x00\x00\x3e\x80\x00\x02\x00\x10data\x00\x00\x00\x04\x00\x01\x00\x02"
	data := "\x01\x00\x02\x00"
	for name, c := range map[string]struct {
		wave string
		last bool // it extends to the end of the file
	}{
		"chunks":     {"RIFF\x3e\x00\x00\x00WAVE" + "LIST\x01\x00\x00\x00x\x00" + format + "data\x04\x00\x00\x00" + data + "LIST\x04\x00\x00\x00abcd", false},
		"extensible": {"RIFF\x40\x00\x00\x00WAVE" + long + "data\x04\x00\x00\x00" + data, false},
		"one short":  {"RIFF\x27\x00\x00\x00WAVE" + format + "data\x04\x00\x00\x00" + data, false},
		"big-endian": {rifx, false},
		"stream":     {"RIFF\xff\xff\xff\xffWAVE" + format + "data\xff\xff\xff\xff" + data, true},
		"SoX":        {"RIFF\x24\xf0\xff\x7fWAVE" + format + "data\x00\xf0\xff\x7f" + data, true},
	} {
		for k := range 2 {
			b := "k " + c.wave
			if !c.last {
				b += "n 5\n"
			}
			var in io.Reader = strings.NewReader(b)
			if k == 1 {
				in = plain{in}
			}
			r := NewReader(in, Options{})
			h, err := r.Next()
			require.NoError(t, err, name)
			require.Equal(t, Header{Key: "k", Offset: 2, Type: Wave, Form: RIFF, DType: tensor.Int16, Shape: tensor.Dims(2, 1), Rate: 8000}, h, name)
			x, err := r.Read()
			require.NoError(t, err, name)
			require.Equal(t, []int16{1, 2}, tensor.View[int16](x), name)
			h, err = r.Next()
			if c.last {
				require.Equal(t, io.EOF, err, name)
			} else {
				require.NoError(t, err, name)
				require.Equal(t, "n", h.Key)
			}
		}

		// Read parts of the wave, from a file and from a stream without
		// seeking.
		ctx := context.Background()
		b := "k " + c.wave
		if !c.last {
			b += "n 5\n"
		}
		pipe := func(string) (io.ReadCloser, error) { return io.NopCloser(plain{strings.NewReader(b[2:])}), nil }
		s, err := NewScript(newMemory(map[string][]byte{"f": []byte(b)}), []Entry{
			{Key: "k", Path: "f", Offset: 2}, {Key: "k", Command: "x"}, {Key: "n", Path: "f", Offset: int64(len(b) - 2)}, {Key: "k", Path: "f", Offset: 2, Range: &Range{Rows: Span{All: true}, Cols: Span{All: true}}},
		}, Options{Name: "scp", Run: pipe})
		require.NoError(t, err)
		for i := range 2 {
			raw, err := s.Raw(ctx, i)
			require.NoError(t, err, name)
			require.Equal(t, c.wave, string(raw), name)
			for from := range 3 {
				for to := from; to <= 2; to++ {
					x, err := s.Samples(ctx, i, from, to)
					require.NoError(t, err, name)
					require.Equal(t, tensor.Dims(to-from, 1), x.Shape)
					require.Equal(t, []int16{1, 2}[from:to], append([]int16{}, tensor.View[int16](x)...), name)
				}
			}
			for _, at := range [][2]int{{-1, 1}, {1, 3}, {2, 1}} {
				_, err = s.Samples(ctx, i, at[0], at[1])
				require.ErrorContains(t, err, "of 2")
			}
		}
		_, err = s.Raw(ctx, 3)
		require.ErrorContains(t, err, "no bytes of its own")
		_, err = s.Samples(ctx, 3, 0, 1)
		require.ErrorContains(t, err, "want all of a wave")
		if !c.last {
			_, err = s.Samples(ctx, 2, 0, 1)
			require.ErrorContains(t, err, "want all of a wave")
		}
		require.NoError(t, s.Close())
	}
}

func TestWriteErrors(t *testing.T) {
	w := NewWriter(io.Discard, WriterOptions{})
	m := matrix(t, 1, 1, 1)
	for _, key := range []string{"", "a b", "a\tb", "a\nb", "\x00", "a\xff", strings.Repeat("k", maxKey+1)} {
		require.Error(t, w.Write(key, m), "%q", key)
	}
	require.Error(t, w.Write("k", tensor.FromBytes([]byte("x"))))
	require.Error(t, w.Write("k", matrix(t, 0, 3)))
	require.Error(t, w.WriteCompressed("k", ints(t, 1), Automatic))
	require.ErrorContains(t, w.WriteCompressed("k", m, 8), "method 8")
	require.ErrorContains(t, w.WriteCompressed("k", matrix(t, 2, 2, 1, 2, 3, float32(math.NaN())), TwoByteAuto), "NaN at row 1, column 1")
	require.ErrorContains(t, w.WriteCompressed("k", matrix(t, 1, 2, -3e38, 3e38), OneByteAuto), "difference")
	require.Error(t, NewWriter(io.Discard, WriterOptions{Text: true}).WriteCompressed("k", m, Automatic))
	require.Error(t, w.WriteWave("k", m, 8000))
	require.Error(t, NewWriter(io.Discard, WriterOptions{Script: io.Discard, Name: "a|b"}).Write("k", m))
	require.Zero(t, w.Offset())
	var b bytes.Buffer
	require.NoError(t, NewWriter(&b, WriterOptions{}).WriteCompressed("k", matrix(t, 0, 0), SpeechFeature))
	require.Equal(t, "k \x00BCM "+strings.Repeat("\x00", 16), b.String())
	l, err := readAll(NewReader(&b, Options{}))
	require.Equal(t, io.EOF, err)
	require.Equal(t, "float32 (0, 0)", l[0].t.String())
	gone := errors.New("gone")
	w = NewWriter(failing{gone}, WriterOptions{})
	require.ErrorIs(t, w.Write("k", m), gone)
	require.ErrorIs(t, w.Write("k", m), gone)
	require.ErrorIs(t, NewWriter(failing{nil}, WriterOptions{}).Write("k", m), io.ErrShortWrite)
}

type failing struct{ err error }

func (f failing) Write(b []byte) (int, error) { return len(b) - 1, f.err }

// memory is a store of files in memory.
type memory struct {
	store.Opener
	files map[string][]byte
	mu    *sync.Mutex
	open  map[string]int
}

type memoryFile struct {
	*bytes.Reader
	m    memory
	name string
}

func (m memory) Open(_ context.Context, name string) (store.File, error) {
	b, ok := m.files[name]
	if !ok {
		return nil, fmt.Errorf("%s: %w", name, fs.ErrNotExist)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.open[name]++
	return memoryFile{bytes.NewReader(b), m, name}, nil
}

func (f memoryFile) Close() error {
	f.m.mu.Lock()
	defer f.m.mu.Unlock()
	if f.m.open[f.name]--; f.m.open[f.name] < 0 {
		return errors.New("closed twice")
	}
	return nil
}

func newMemory(files map[string][]byte) memory {
	return memory{files: files, mu: &sync.Mutex{}, open: map[string]int{}}
}

func TestScript(t *testing.T) {
	ctx := context.Background()
	e := load(t)
	m := newMemory(map[string][]byte{"float.ark": file(t, "float.ark"), "float.scp": file(t, "float.scp")})
	s, err := OpenScript(ctx, m, "float.scp", Options{})
	require.NoError(t, err)
	n := 0
	for i := s.Len() - 1; i >= 0; i-- { // in reverse order
		want := e.Rows[i]
		require.Equal(t, want.Key, s.Entry(i).Key)
		h, err := s.Header(ctx, i)
		require.NoError(t, err)
		x, err := s.Read(ctx, i)
		require.NoError(t, err)
		require.Equal(t, want.SHA256, digest(x))
		require.Equal(t, h.Shape, x.Shape)
		require.Equal(t, want.Key, h.Key)
		require.Equal(t, s.Entry(i).Offset, h.Offset)
		j, ok := s.Find(want.Key)
		require.True(t, ok)
		require.Equal(t, i, j)
		n++
	}
	require.Equal(t, 18, n)
	_, ok := s.Find("none")
	require.False(t, ok)
	_, err = s.Read(ctx, n)
	require.Error(t, err)

	// Kaldi accepts or refuses these ranges.
	i, _ := s.Find("columns")
	line, err := s.Entry(i).Line()
	require.NoError(t, err)
	for _, c := range e.Ranges {
		l, err := ReadScript(strings.NewReader(line+c.Range+"\n"), Options{})
		var x *tensor.Tensor
		if err == nil {
			r, err2 := NewScript(m, l, Options{Name: "range.scp"})
			require.NoError(t, err2)
			h, err2 := r.Header(ctx, 0)
			x, err = r.Read(ctx, 0)
			require.Equal(t, err, err2)
			if err == nil {
				require.Equal(t, h.Shape, x.Shape)
			}
			require.NoError(t, r.Close())
		}
		if c.Refused {
			require.Error(t, err, c.Range)
			continue
		}
		require.NoError(t, err, c.Range)
		require.Equal(t, c.Shape, x.Shape.Slice(), c.Range)
		require.Equal(t, c.SHA256, digest(x), c.Range)
	}
	require.NoError(t, s.Close())
	require.Equal(t, 0, m.open["float.ark"]+m.open["float.scp"])
}

func TestScriptFiles(t *testing.T) {
	ctx := context.Background()
	files := map[string][]byte{}
	var script strings.Builder
	for i := range 3 * maxOpen {
		name := fmt.Sprintf("%d.ark", i)
		files[name] = entry(t, false, func(w *Writer) error { return w.Write("k", matrix(t, 1, 2, float32(i), 1)) })
		fmt.Fprintf(&script, "k%d %s:2[:,0:0]\n", i, name)
	}
	files["vector"] = []byte("[ 5 6 7 8 ]\n")
	files["cut"] = files["1.ark"][:10]
	fmt.Fprintf(&script, "v vector[1:2]\nc cut:2\nend cut:10\nnone none:5\nints 1.ark:2\n")
	files["s"] = []byte(script.String())
	m := newMemory(files)
	s, err := OpenScript(ctx, m, "s", Options{})
	require.NoError(t, err)
	var wait sync.WaitGroup
	errs := make([]error, 4)
	for g := range errs {
		wait.Add(1)
		go func() {
			defer wait.Done()
			for i := range 6 * maxOpen {
				i = (i*(2*g+1) + g) % (3 * maxOpen)
				x, err := s.Read(ctx, i)
				if err == nil && (len(x.Data) != 4 || tensor.View[float32](x)[0] != float32(i)) {
					err = fmt.Errorf("entry %d: %v", i, x.Data)
				}
				if err != nil {
					errs[g] = err
				}
			}
		}()
	}
	wait.Wait()
	require.NoError(t, errors.Join(errs...))
	i, _ := s.Find("v")
	x, err := s.Read(ctx, i)
	require.NoError(t, err)
	require.Equal(t, []float32{6, 7}, tensor.View[float32](x))
	for key, want := range map[string]error{"c": records.ErrCorrupt, "end": records.ErrCorrupt, "none": fs.ErrNotExist} {
		i, _ := s.Find(key)
		_, err := s.Read(ctx, i)
		require.ErrorIs(t, err, want, key)
	}
	require.NoError(t, s.Close())
	require.NoError(t, s.Close())
	for name, n := range m.open {
		require.Zero(t, n, name)
	}
}

func TestPipe(t *testing.T) {
	const script = "a x.ark:5\nb copy-feats x.ark - |\n"
	_, err := ReadScript(strings.NewReader(script), Options{Name: "s.scp"})
	var e *PipeError
	require.ErrorAs(t, err, &e)
	require.Equal(t, PipeError{"s.scp", 2, "b", "copy-feats x.ark -"}, *e)
	require.ErrorIs(t, err, ErrPipe)
	require.ErrorContains(t, err, `s.scp: line 2: "b"`)
	_, err = NewScript(nil, []Entry{{Key: "a", Command: "x"}}, Options{})
	require.ErrorIs(t, err, ErrPipe)

	closed := false
	o := Options{Run: func(command string) (io.ReadCloser, error) {
		if command != "copy-feats x.ark -" {
			return nil, fs.ErrPermission
		}
		return closer{strings.NewReader("[ 1 2 ]\n"), &closed}, nil
	}}
	l, err := ReadScript(strings.NewReader(script+"c other |\n"), o)
	require.NoError(t, err)
	s, err := NewScript(nil, l, o)
	require.NoError(t, err)
	x, err := s.Read(context.Background(), 1)
	require.NoError(t, err)
	require.Equal(t, []float32{1, 2}, tensor.View[float32](x))
	require.True(t, closed)
	_, err = s.Read(context.Background(), 2)
	require.ErrorIs(t, err, fs.ErrPermission)
}

type closer struct {
	io.Reader
	closed *bool
}

func (c closer) Close() error {
	*c.closed = true
	return nil
}

func TestEntries(t *testing.T) {
	for line, want := range map[string]Entry{
		"k a.ark":                {Key: "k", Path: "a.ark"},
		" k\t a.ark:12 \r":       {Key: "k", Path: "a.ark", Offset: 12},
		`k c:\a b.ark:12[0:3]`:   {Key: "k", Path: `c:\a b.ark`, Offset: 12, Range: &Range{Span{First: 0, Last: 3}, Span{All: true}}},
		"k a:[:,1:2]":            {Key: "k", Path: "a:", Range: &Range{Span{All: true}, Span{First: 1, Last: 2}}},
		"k sox a.wav - | cat |":  {Key: "k", Command: "sox a.wav - | cat"},
		"k cat x |[0:1]":         {Key: "k", Command: "cat x", Range: &Range{Span{First: 0, Last: 1}, Span{All: true}}},
		"k s3://bucket/x.ark:77": {Key: "k", Path: "s3://bucket/x.ark", Offset: 77},
		"k a[0:1]:0":             {Key: "k", Path: "a[0:1]"},
	} {
		e, err := ParseEntry(line)
		require.NoError(t, err, line)
		require.Equal(t, want, e, line)
		back, err := e.Line()
		require.NoError(t, err)
		e, err = ParseEntry(back)
		require.NoError(t, err)
		require.Equal(t, want, e, line)
	}
	for _, line := range []string{"", "k", "k -", "k |", "k | cat", "k a|b", "k ark:a", "k b,t,scp:a", "k a.ark [0:1]", "k a[0:1][0:1]", "k a]", "k a[1]", "k [0:1]",
		"k a:99999999999999999999", "k a[0:99999999999]", "k a\nb c", "k a\x00b", "k :5"} {
		_, err := ParseEntry(line)
		require.Error(t, err, "%q", line)
	}
	for _, e := range []Entry{{}, {Key: "k"}, {Key: "k", Path: " a"}, {Key: "k", Path: "a\nb"}, {Key: "k", Path: "a", Offset: -1}} {
		_, err := e.Line()
		require.Error(t, err, "%+v", e)
	}
	for _, text := range []string{"a b\nk", "a b\n\nc d\n", "a b\nk\n", "a " + strings.Repeat("x", maxLine) + "\n"} {
		_, err := ReadScript(strings.NewReader(text), Options{Name: "s"})
		require.ErrorIs(t, err, records.ErrCorrupt)
	}
	_, err := ReadScript(strings.NewReader("a b\n"), Options{Limit: 3})
	require.ErrorIs(t, err, records.ErrTooLarge)
}

func TestCMVN(t *testing.T) {
	l, err := readAll(NewReader(bytes.NewReader(file(t, "cmvn.ark")), Options{}))
	require.Equal(t, io.EOF, err)
	c, err := ParseCMVN(l[0].t)
	require.NoError(t, err)
	require.Equal(t, 90.0, c.Frames)
	require.Len(t, c.Sums, 13)
	require.Len(t, c.Squares, 13)
	s, err := readAll(NewReader(bytes.NewReader(file(t, "float.ark")), Options{DType: tensor.Float64}))
	require.Equal(t, io.EOF, err)
	x := tensor.View[float64](s[15].t)
	mean, variance := c.Mean(), c.Variance()
	for i := range 13 {
		var sum, square float64
		for y := range 90 {
			sum += x[13*y+i]
			square += (x[13*y+i] - mean[i]) * (x[13*y+i] - mean[i])
		}
		require.InDelta(t, sum/90, mean[i], 1e-9)
		require.InDelta(t, square/90, variance[i], 1e-9)
	}
	f := matrix(t, 2, 2, 6, 2, 18, 0)
	c, err = ParseCMVN(f)
	require.NoError(t, err)
	require.Equal(t, CMVN{2, []float64{6}, []float64{18}}, c)
	require.Equal(t, []float64{1e-20}, c.Variance())
	_, err = ParseCMVN(matrix(t, 1, 4))
	require.Error(t, err)
}

func FuzzReader(f *testing.F) {
	for _, entries := range small(f) {
		f.Add(bytes.Join(entries, nil), byte(0))
	}
	for _, c := range others() {
		if len(c[0]) < 200 {
			f.Add([]byte("k0 "+c[0]+"k1 "+c[0]), byte(0))
		}
	}
	for _, name := range []string{"float.ark", "float_text.ark", "method2.ark", "kaldiio_wave.ark", "pickle.ark"} {
		f.Add(file(f, name), byte(5))
	}
	f.Fuzz(func(t *testing.T, b []byte, mode byte) {
		o := Options{Limit: 1 << 16, Type: Type(mode % 5), DType: []tensor.DType{tensor.Invalid, tensor.Float32, tensor.Float64}[mode/5%3]}
		got, err := readAll(NewReader(bytes.NewReader(b), o))
		again, err2 := readAll(NewReader(plain{bytes.NewReader(b)}, o))
		require.Equal(t, len(got), len(again))
		require.Equal(t, err == io.EOF, err2 == io.EOF)
		for i, x := range got {
			require.LessOrEqual(t, len(x.t.Data), 1<<16)
			require.Equal(t, x.h, again[i].h)
			require.Equal(t, x.t.Data, again[i].t.Data)
		}
		// Raw skips the same bytes as Read, and its objects can be written to
		// another archive.
		r := NewReader(bytes.NewReader(b), o)
		var out bytes.Buffer
		w := NewWriter(&out, WriterOptions{})
		for _, x := range got {
			h, err := r.Next()
			require.NoError(t, err)
			require.Equal(t, x.h, h)
			raw, err := r.Raw()
			require.NoError(t, err)
			if CheckKey(h.Key) == nil {
				require.NoError(t, w.WriteRaw(h.Key, raw))
			}
		}
		n := 0
		for _, x := range got {
			if CheckKey(x.h.Key) == nil {
				n++
			}
		}
		if last := len(got) - 1; last >= 0 && got[last].h.Form == RIFF || bytes.Contains(b, []byte("RIF")) {
			return // a wave that extends to the end of the file absorbs later entries
		}
		again, err = readAll(NewReader(&out, o))
		require.Equal(t, io.EOF, err)
		require.Len(t, again, n)
	})
}

func FuzzEntry(f *testing.F) {
	for _, s := range []string{"k a.ark:12[0:3,1:2]", "k cat |", "k a:5:0", "k a[:]", "0 ]:0", "k a|:0"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		e, err := ParseEntry(s)
		if err != nil {
			return
		}
		line, err := e.Line()
		require.NoError(t, err)
		back, err := ParseEntry(line)
		require.NoError(t, err)
		require.Equal(t, e, back)
	})
}

func FuzzCompress(f *testing.F) {
	f.Add([]byte{0, 0, 128, 63, 0, 0, 0, 64, 1, 2, 3, 4, 0, 0, 64, 192}, byte(2))
	f.Fuzz(func(t *testing.T, b []byte, mode byte) {
		n := len(b) / 4
		cols := int(mode/8)%4 + 1
		rows := n / cols
		if rows == 0 {
			return
		}
		x := matrix(t, rows, cols, make([]float32, rows*cols)...)
		copy(x.Data, b)
		var out bytes.Buffer
		if NewWriter(&out, WriterOptions{}).WriteCompressed("k", x, Method(mode%8)) != nil {
			return
		}
		l, err := readAll(NewReader(&out, Options{}))
		require.Equal(t, io.EOF, err)
		require.Equal(t, x.Shape, l[0].t.Shape)
	})
}

// TestLarge reads objects larger than the buffer from local files: only
// headers, all objects, and single objects by position.
func TestLarge(t *testing.T) {
	ctx := context.Background()
	path := filepath.Join(t.TempDir(), "large.ark")
	var b, script bytes.Buffer
	w := NewWriter(&b, WriterOptions{Script: &script, Name: path})
	var want []*tensor.Tensor
	for i := range 5 {
		x := matrix(t, 300+i, 70)
		for j, v := 0, tensor.View[float32](x); j < len(v); j++ {
			v[j] = float32(j % (1000 + i))
		}
		want = append(want, x)
		require.NoError(t, w.Write(fmt.Sprint("k", i), x))
	}
	require.NoError(t, os.WriteFile(path, b.Bytes(), 0o644))
	require.NoError(t, os.WriteFile(path+".scp", script.Bytes(), 0o644))
	for _, in := range []io.Reader{bytes.NewReader(b.Bytes()), plain{bytes.NewReader(b.Bytes())}} {
		r := NewReader(in, Options{})
		for i, x := range want {
			h, err := r.Next()
			require.NoError(t, err)
			require.Equal(t, x.Shape, h.Shape)
			if i%2 == 1 {
				got, err := r.Read()
				require.NoError(t, err)
				require.Equal(t, x.Data, got.Data)
			}
		}
		_, err := r.Next()
		require.Equal(t, io.EOF, err)
	}
	for _, in := range []io.Reader{bytes.NewReader(b.Bytes()[:b.Len()-1]), plain{bytes.NewReader(b.Bytes()[:b.Len()-1])}} {
		r := NewReader(in, Options{})
		for range want {
			_, err := r.Next()
			require.NoError(t, err)
		}
		_, err := r.Next()
		require.ErrorIs(t, err, records.ErrCorrupt)
	}
	s, err := OpenScript(ctx, store.Local, path+".scp", Options{})
	require.NoError(t, err)
	for _, i := range []int{3, 0, 4, 1, 2} {
		h, err := s.Header(ctx, i)
		require.NoError(t, err)
		require.Equal(t, want[i].Shape, h.Shape)
		got, err := s.Read(ctx, i)
		require.NoError(t, err)
		require.Equal(t, want[i].Data, got.Data)
	}
	require.NoError(t, s.Close())
	_, err = OpenScript(ctx, store.Local, path+".none", Options{})
	require.ErrorIs(t, err, fs.ErrNotExist)
	require.Equal(t, "CM2 binary matrix type(9) form(9)", fmt.Sprint(CM2, Binary, Matrix, Type(9), Form(9)))
}

// TestScriptDamage changes and truncates a script, which has no checksum. A
// truncation within a line is an error. A changed bit is an error, changes one
// line, or splits or joins lines, which their number shows.
func TestScriptDamage(t *testing.T) {
	text := []byte("utt1 a.ark:12\ngröße /b/c.ark:7[0:9,1:2]\nd e.ark\n")
	read := func(b []byte) (l []string, err error) {
		entries, err := ReadScript(bytes.NewReader(b), Options{Name: "s"})
		for _, e := range entries {
			line, err := e.Line()
			require.NoError(t, err)
			l = append(l, line+"\n")
		}
		return l, err
	}
	want, err := read(text)
	require.NoError(t, err)
	require.Equal(t, string(text), strings.Join(want, ""))
	for n := range text {
		l, err := read(text[:n])
		if n > 0 && text[n-1] != '\n' {
			require.ErrorIs(t, err, records.ErrCorrupt, n)
			continue
		}
		require.NoError(t, err)
		require.Equal(t, string(text[:n]), strings.Join(l, ""))
	}
	merged := 0
	for at := range text {
		k := bytes.Count(text[:at], []byte("\n"))
		for bit := range 8 {
			b := bytes.Clone(text)
			b[at] ^= 1 << bit
			l, err := read(b)
			if err != nil {
				require.True(t, errors.Is(err, records.ErrCorrupt) || errors.Is(err, ErrPipe), "byte %d bit %d: %v", at, bit, err)
				continue
			}
			if len(l) != len(want) {
				require.True(t, text[at] == '\n' || b[at] == '\n', "byte %d bit %d", at, bit)
				merged++
				continue
			}
			l[k] = want[k]
			require.Equal(t, want, l, "byte %d bit %d", at, bit)
		}
	}
	t.Logf("%d of %d changed bits divide or join lines", merged, 8*len(text))
}

func FuzzScript(f *testing.F) {
	for _, name := range []string{"float.scp", "kaldiio.scp"} {
		f.Add(file(f, name))
	}
	f.Add([]byte("k a.ark:12[0:3,1:2]\nb c d:4\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		l, err := ReadScript(bytes.NewReader(b), Options{Name: "s"})
		if err != nil {
			return
		}
		var out []byte
		for _, e := range l {
			line, err := e.Line()
			require.NoError(t, err)
			out = append(append(out, line...), '\n')
		}
		again, err := ReadScript(bytes.NewReader(out), Options{Name: "s"})
		require.NoError(t, err)
		require.Equal(t, l, again)
	})
}

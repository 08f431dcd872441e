package records_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/internal/short"
	"github.com/infer-prep/infer-prep/recordio"
	"github.com/infer-prep/infer-prep/recordio/imagerecord"
	"github.com/infer-prep/infer-prep/records"
	_ "github.com/infer-prep/infer-prep/records/all"
	"github.com/infer-prep/infer-prep/records/kaldi"
	"github.com/infer-prep/infer-prep/records/tfexample"
	"github.com/infer-prep/infer-prep/records/tfrecord"
	"github.com/infer-prep/infer-prep/records/webdataset"
	"github.com/infer-prep/infer-prep/store"
	"github.com/infer-prep/infer-prep/tensor"
)

const (
	jpg  = "\xff\xd8\xff\xe0 an image"
	png  = "\x89PNG\r\n\x1a\n another"
	wave = "RIFF\x2a\x00\x00\x00WAVEfmt \x10\x00\x00\x00\x01\x00\x01\x00\x40\x1f\x00\x00\x80\x3e\x00\x00\x02\x00\x10\x00data\x06\x00\x00\x00\x01\x00\x02\x00\x03\x00"
)

func floats(t testing.TB, v []float32, dims ...int) *tensor.Tensor {
	t.Helper()
	x, err := tensor.New(tensor.Desc{DType: tensor.Float32, Shape: tensor.Dims(dims...)})
	require.NoError(t, err)
	copy(tensor.View[float32](x), v)
	return x
}

// rawFile returns RecordIO with arbitrary bytes, including the magic word, and
// an empty record.
func rawFile(t testing.TB) []byte {
	var b bytes.Buffer
	w, err := recordio.NewWriter(&b, 0)
	require.NoError(t, err)
	for _, s := range []string{"first", "abcd\x0a\x23\xd7\xceef", "", "the last"} {
		require.NoError(t, w.Write([]byte(s)))
	}
	return b.Bytes()
}

// imageFile returns image records with every feature of the format.
func imageFile(t testing.TB) []byte {
	var b bytes.Buffer
	w, err := recordio.NewWriter(&b, 0)
	require.NoError(t, err)
	for i, m := range []imagerecord.Record{
		{ID: 7, Labels: []float32{3}, Content: []byte(jpg)},
		{ID: 8, Labels: []float32{0.1}, Content: []byte(png)},
		{ID: 1 << 63, ID2: math.MaxUint64, Labels: []float32{1, -2.5}, Content: []byte("of no known type")},
		{ID: 9, Labels: []float32{4}, Listed: true, Content: []byte(jpg)},
		{ID: 10, Labels: []float32{float32(math.NaN()), float32(math.Inf(-1)), float32(math.Copysign(0, -1))}},
		{ID: 11, Labels: []float32{0}, Content: []byte(jpg)},
	} {
		r := m.Append(nil)
		switch i {
		case 2: // a label in the head in addition to the list
			copy(r[4:], "\x00\x00\x80\x3f")
		case 4: // the payload of a NaN
			copy(r[imagerecord.HeadSize:], "\x01\x02\xa0\x7f")
		}
		require.NoError(t, w.Write(r))
	}
	return b.Bytes()
}

func rawTF(t testing.TB) []byte {
	var b bytes.Buffer
	w := tfrecord.NewWriter(&b, 0)
	for _, s := range []string{"first", "", "\x00\x01\x02"} {
		require.NoError(t, w.Write([]byte(s)))
	}
	return b.Bytes()
}

func exampleFile(t testing.TB) []byte {
	var b bytes.Buffer
	w := tfrecord.NewWriter(&b, 0)
	for _, l := range [][]tfexample.Feature{
		{
			{Name: "image/encoded", Kind: tfexample.Bytes, Bytes: [][]byte{[]byte(jpg)}},
			{Name: "image/class/label", Kind: tfexample.Int64, Ints: []int64{-3}},
			{Name: "image/Box", Kind: tfexample.Float, Floats: []float32{0.5, float32(math.NaN())}},
			{Name: "names", Kind: tfexample.Bytes, Bytes: [][]byte{[]byte("a"), nil, []byte("c"), {4}, {5}, {6}, {7}, {8}, {9}, {10}, {11}, {12}}},
			{Name: "none", Kind: tfexample.Bytes},
			{Name: "no floats", Kind: tfexample.Float},
			{Name: "no ints", Kind: tfexample.Int64},
			{Name: "ints", Kind: tfexample.Int64, Ints: []int64{math.MinInt64, 0, math.MaxInt64}},
			{Name: "one", Kind: tfexample.Float, Floats: []float32{1}},
			// A shard's members with these names would be decoded.
			{Name: "cls", Kind: tfexample.Bytes, Bytes: [][]byte{[]byte("7")}},
			{Name: "x.npy", Kind: tfexample.Bytes, Bytes: [][]byte{npy(t)}},
			{Name: "caption.txt", Kind: tfexample.Bytes, Bytes: [][]byte{[]byte("text")}},
			{Name: "a%2fb", Kind: tfexample.Bytes, Bytes: [][]byte{[]byte("text")}},
			{Name: "größe", Kind: tfexample.Int64, Ints: []int64{1, 2}},
		},
		{{Name: "key", Kind: tfexample.Int64, Ints: []int64{1}}, {Name: "__key__", Kind: tfexample.Bytes, Bytes: [][]byte{[]byte("a/b.c")}}},
	} {
		require.NoError(t, w.Write(tfexample.Append(nil, l)))
	}
	return b.Bytes()
}

func npy(t testing.TB) []byte {
	var b bytes.Buffer
	require.NoError(t, tensor.WriteNPY(&b, floats(t, []float32{1, 2}, 2)))
	return b.Bytes()
}

func shardFile(t testing.TB) []byte {
	var b bytes.Buffer
	w, err := webdataset.NewTarWriter(&b, webdataset.TarOptions{})
	require.NoError(t, err)
	x := string(npy(t))
	for _, s := range [][]string{ // key, then extension and data
		{"train/0001", "cls", "7", "jpg", jpg},
		{"7", "cls", "-8", "json", `{"a": 1}`, "seg.png", png, "txt", "text"},
		{"100%", "cls", "07", "label.npy", x, "x.cls", "7\n", "caption.txt", "a caption", "bad.txt", "\xff", "notes.json", "{}"},
		{"a%2eb", "npy", x, "npy.npy", x, "broken.npy", x[:20], "cls.txt", "1", "txt.txt", "1", "json.txt", "1", "x.bin", "1", "cls.bin", "1", "bin", ""},
		{"größe", "a%2fb", "1", "100%", "1", "%25", "", "a%252fb", "", "", "1"},
		{"8", "caption.txt", "1", "caption.cls", "1", "seg.npy", x, "seg.txt", "1", "seg.npy.txt", "1", "x.npy.npy", x, "jpg", ""},
	} {
		sample := webdataset.Sample{Key: s[0]}
		for i := 1; i < len(s); i += 2 {
			sample.Fields = append(sample.Fields, webdataset.Field{Ext: s[i], Data: []byte(s[i+1])})
		}
		require.NoError(t, w.Write(&sample))
	}
	require.NoError(t, w.Close())
	return b.Bytes()
}

func kaldiFile(t testing.TB) []byte {
	var b bytes.Buffer
	w := kaldi.NewWriter(&b, kaldi.WriterOptions{})
	require.NoError(t, w.Write("utt-1", floats(t, []float32{1, 2, 3, 4, 5, float32(math.NaN())}, 2, 3)))
	require.NoError(t, w.Write("sp0.9-utt-2", floats(t, []float32{1}, 1)))
	d, err := tensor.New(tensor.Desc{DType: tensor.Float64, Shape: tensor.Dims(1, 2)})
	require.NoError(t, err)
	require.NoError(t, w.Write("double", d))
	n, err := tensor.New(tensor.Desc{DType: tensor.Int32, Shape: tensor.Dims(3)})
	require.NoError(t, err)
	require.NoError(t, w.Write("größe/numbers", n))
	require.NoError(t, w.WriteRaw("wave", []byte(wave)))
	return b.Bytes()
}

// ends maps formats to the extensions of their files.
var ends = map[string]string{
	"recordio": ".rec", "imagerecord": ".rec", "tfrecord": ".tfrecord", "tfexample": ".tfrecord", "webdataset": ".tar", "kaldi": ".ark",
}

func files(t testing.TB) map[string][]byte {
	return map[string][]byte{
		"recordio": rawFile(t), "imagerecord": imageFile(t), "tfrecord": rawTF(t), "tfexample": exampleFile(t), "webdataset": shardFile(t), "kaldi": kaldiFile(t),
	}
}

// convert reads one file and writes another. It returns the notes of the last
// conversion.
func convert(t testing.TB, from, in, to, out string) (notes []string, err error) {
	t.Helper()
	f, err := records.Lookup(from)
	require.NoError(t, err)
	g, err := records.Lookup(to)
	require.NoError(t, err)
	r, err := f.Open(t.Context(), store.Local, []string{in}, records.ReadOptions{})
	require.NoError(t, err)
	defer func() { require.NoError(t, r.Close()) }()
	w, err := g.Create(t.Context(), store.Local, out, records.WriteOptions{OnNote: func(s string) { notes = append(notes, s) }})
	require.NoError(t, err)
	var x records.Record
	for {
		err := r.Next(&x)
		if err == io.EOF {
			return notes, w.Close()
		}
		require.NoError(t, err)
		if err := w.Write(&x); err != nil {
			require.NoError(t, w.Abort())
			_, there := os.Stat(out)
			require.ErrorIs(t, there, os.ErrNotExist)
			return notes, err
		}
	}
}

// TestPairs converts a file of each format into each and back: the same bytes,
// or an ErrField that names record and field.
func TestPairs(t *testing.T) {
	// These conversions are refused, by from and to, with words of the error.
	refused := map[string]string{
		"recordio kaldi": `field "data": bytes, want a matrix`, "recordio imagerecord": `no label`,
		"tfrecord kaldi": `field "data": bytes, want a matrix`, "tfrecord imagerecord": `no label`,
		"imagerecord recordio": `record "7": field "label": want one field, data`, "imagerecord tfrecord": `field "label"`,
		"imagerecord tfexample": `record "9": field "label": float32 (1,)`, "imagerecord kaldi": `fields label, jpg; want one`,
		"tfexample recordio": `field "a%2fb": want one field, data`, "tfexample tfrecord": `field "a%2fb"`, "tfexample imagerecord": `field "caption.txt": bytes beside the content "a%2fb", want`,
		"tfexample kaldi":     `want one`,
		"webdataset recordio": `record "train/0001": field "cls"`, "webdataset tfrecord": `field "cls"`, "webdataset kaldi": `fields cls, jpg`,
		"webdataset imagerecord": `record "7": field "seg.png"`,
		"kaldi recordio":         `record "utt-1": field "data": float32 (2, 3), want bytes`, "kaldi tfrecord": `want bytes`, "kaldi imagerecord": `no label`, "kaldi tfexample": `field "data": float32 (2, 3)`,
	}
	all := files(t)
	for from, b := range all {
		for to := range all {
			t.Run(from+" "+to, func(t *testing.T) {
				dir := t.TempDir()
				in, between, back := filepath.Join(dir, "in"+ends[from]), filepath.Join(dir, "between"+ends[to]), filepath.Join(dir, "back"+ends[from])
				require.NoError(t, os.WriteFile(in, b, 0o666))
				want := b
				notes, err := convert(t, from, in, to, between)
				if want := refused[from+" "+to]; want != "" {
					require.ErrorIs(t, err, records.ErrField)
					require.ErrorContains(t, err, want)
					require.ErrorContains(t, err, in)
					return
				}
				require.NoError(t, err)
				_, err = convert(t, to, between, from, back)
				require.NoError(t, err)
				if from == "webdataset" && to == "tfexample" { // tfexample has bytes, but no text
					in, back, to = between, filepath.Join(dir, "back"+ends[to]), from
					_, err := convert(t, from, filepath.Join(dir, "back"+ends[from]), "tfexample", back)
					require.NoError(t, err)
					want, err = os.ReadFile(in)
					require.NoError(t, err)
					between = filepath.Join(dir, "back"+ends[from])
				}
				got, err := os.ReadFile(back)
				require.NoError(t, err)
				if !bytes.Equal(want, got) {
					require.Equal(t, strings.ReplaceAll(fmt.Sprintf("%q", want), `\x00`, ""), strings.ReplaceAll(fmt.Sprintf("%q", got), `\x00`, ""))
				}
				require.Empty(t, notes)

				f, err := records.Detect(t.Context(), store.Local, between)
				require.NoError(t, err)
				if to == "tfrecord" && from == "tfrecord" || to != "tfrecord" && to != "recordio" {
					require.Equal(t, to, f.Name)
				}
			})
		}
	}
}

// Labels of shards become labels of image records, and keys become ids or
// numbers.
func TestLabels(t *testing.T) {
	for name, c := range map[string]struct {
		key    string
		fields []records.Field
		want   imagerecord.Record
		err    string
		notes  []string
	}{
		"cls":         {"7", []records.Field{intField("cls", 3)}, imagerecord.Record{ID: 7, Labels: []float32{3}}, "", nil},
		"text":        {"7", []records.Field{bytesField("cls", "3\n")}, imagerecord.Record{ID: 7, Labels: []float32{3}}, "", nil},
		"json":        {"7", []records.Field{bytesField("json", "-2.5")}, imagerecord.Record{ID: 7, Labels: []float32{-2.5}}, "", nil},
		"json list":   {"7", []records.Field{bytesField("json", "[1, 2.5]")}, imagerecord.Record{ID: 7, Labels: []float32{1, 2.5}, Listed: true}, "", nil},
		"key":         {"cat", []records.Field{intField("cls", 3)}, imagerecord.Record{ID: 0, Labels: []float32{3}}, "", []string{"imagerecord: keys are replaced by the records' numbers"}},
		"zeros":       {"0007", []records.Field{intField("cls", 3)}, imagerecord.Record{ID: 0, Labels: []float32{3}}, "", []string{"imagerecord: keys are replaced by the records' numbers"}},
		"inexact":     {"7", []records.Field{intField("cls", 1<<24+1)}, imagerecord.Record{}, `field "cls": 1.6777217e+07, want a number`, nil},
		"large":       {"7", []records.Field{intField("cls", math.MaxInt64)}, imagerecord.Record{}, `field "cls": 9.2`, nil},
		"inexact too": {"7", []records.Field{bytesField("cls", "0.1")}, imagerecord.Record{}, `field "cls": "0.1", want a number`, nil},
		"object":      {"7", []records.Field{bytesField("json", `{"label": 1}`)}, imagerecord.Record{}, `field "json"`, nil},
		"two":         {"7", []records.Field{intField("cls", 3), bytesField("mask", png)}, imagerecord.Record{}, `field "jpg": bytes beside the content "mask"`, []string{`imagerecord: the field "mask" will be read as "png", by its first bytes`}},
	} {
		t.Run(name, func(t *testing.T) {
			f, err := records.Lookup("imagerecord")
			require.NoError(t, err)
			out := filepath.Join(t.TempDir(), "a.rec")
			var notes []string
			w, err := f.Create(t.Context(), store.Local, out, records.WriteOptions{OnNote: func(s string) { notes = append(notes, s) }})
			require.NoError(t, err)
			err = w.Write(&records.Record{Key: c.key, Fields: append(c.fields, bytesField("jpg", jpg))})
			require.Equal(t, c.notes, notes)
			if c.err != "" {
				require.ErrorIs(t, err, records.ErrField)
				require.ErrorContains(t, err, c.err)
				require.NoError(t, w.Abort())
				return
			}
			require.NoError(t, err)
			require.NoError(t, w.Close())
			b, err := os.ReadFile(out)
			require.NoError(t, err)
			record, err := recordio.NewBytes(b, recordio.Options{}).Next()
			require.NoError(t, err)
			var got imagerecord.Record
			require.NoError(t, got.Parse(record))
			c.want.Content = []byte(jpg)
			require.Equal(t, c.want, got)
		})
	}
	// If the first key is an id, all keys must be.
	f, err := records.Lookup("imagerecord")
	require.NoError(t, err)
	w, err := f.Create(t.Context(), store.Local, filepath.Join(t.TempDir(), "a.rec"), records.WriteOptions{})
	require.NoError(t, err)
	fields := []records.Field{intField("cls", 1), bytesField("jpg", jpg)}
	require.NoError(t, w.Write(&records.Record{Key: "5", Fields: fields}))
	require.ErrorIs(t, w.Write(&records.Record{Key: "cat", Fields: fields}), records.ErrField)
	require.NoError(t, w.Abort())
}

func bytesField(name, data string) records.Field {
	var r records.Record
	r.AddBytes(name, []byte(data))
	return r.Fields[0]
}

func intField(name string, v int64) records.Field {
	var r records.Record
	r.AddInt(name, v)
	return r.Fields[0]
}

// Each of these fields is one that some format cannot hold.
func TestMisfits(t *testing.T) {
	half, err := tensor.New(tensor.Desc{DType: tensor.BFloat16})
	require.NoError(t, err)
	for _, c := range []struct {
		format string
		key    string
		fields []records.Field
		want   string
	}{
		{"webdataset", "a", []records.Field{{Name: "x", Value: *half}}, `webdataset: in: at byte 5: record "a": field "x": bfloat16 (), which NumPy`},
		{"webdataset", "", []records.Field{bytesField("x", "")}, `record ""`},
		{"webdataset", "a", []records.Field{intField("", 1)}, `no name`},
		{"webdataset", "a", []records.Field{bytesField("__key__", "")}, "invalid name"},
		{"webdataset", "a", []records.Field{bytesField(strings.Repeat("x", 2000), "")}, "a name of 2000 bytes"},
		{"webdataset", "a", nil, "no fields"},
		{"webdataset", "__a__/b", []records.Field{bytesField("x", "")}, "invalid name"},
		{"tfexample", "a", []records.Field{{Name: "x", Value: *half}}, `field "x": bfloat16`},
		{"tfexample", "a", []records.Field{{Name: "x", Value: *floats(t, nil, 2, 3)}}, `field "x": float32 (2, 3)`},
		{"tfexample", "a", []records.Field{{Name: "x[0]", Value: *floats(t, nil, 2)}}, `field "x[0]"`},
		{"tfexample", "a", []records.Field{bytesField("x[0]", "")}, `1 elements of a list`},
		{"tfexample", "a", []records.Field{bytesField("x[0]", ""), bytesField("x[2]", "")}, `2 elements of a list`},
		{"tfexample", "a", []records.Field{bytesField("x[]", "1")}, `field "x[]"`},
		{"tfexample", "a", []records.Field{bytesField("x", "1"), bytesField("x[]", "")}, `"x" stands twice`},
		{"tfexample", "a", []records.Field{bytesField("\xff", "1")}, `no UTF-8`},
		{"tfexample", "\xff", []records.Field{bytesField("x", "1")}, `the key is no UTF-8`},
		{"tfexample", "a", []records.Field{bytesField("__key__", "1")}, `__key__`},
		{"kaldi", "a b", []records.Field{bytesField("wav", wave)}, `"a b" is no key`},
		{"kaldi", "a", []records.Field{bytesField("wav", wave+"more")}, `field "wav": a wave that ends at byte 50 of 54`},
		{"kaldi", "a", []records.Field{bytesField("wav", wave[:20])}, `field "wav"`},
		{"kaldi", "a", []records.Field{bytesField("wav", wave[:4]+"\xff\xff\xff\xff"+wave[8:40]+"\xff\xff\xff\xff"+wave[44:])}, `does not have its length`},
		{"kaldi", "a", []records.Field{{Name: "data", Value: *half}}, `field "data": bfloat16`},
		{"kaldi", "a", []records.Field{{Name: "x", Value: *floats(t, nil, 2, 3)}}, `field "x": want data`},
		{"recordio", "a", []records.Field{bytesField("x", "")}, `field "x": want one field, data`},
		{"recordio", "a", nil, "0 fields data"},
		{"tfrecord", "a", []records.Field{bytesField("data", ""), bytesField("data", "")}, "2 fields data"},
		{"imagerecord", "a", []records.Field{intField("label", 1)}, "no image"},
		{"imagerecord", "a", []records.Field{bytesField("jpg", jpg)}, "no label"},
		{"imagerecord", "a", []records.Field{bytesField("jpg", jpg), {Name: "label", Value: *floats(t, nil, 0)}}, `field "label": float32 (0,)`},
		{"imagerecord", "a", []records.Field{bytesField("jpg", jpg), intField("label", 1), intField("weight", 1)}, `field "weight": int64 () beside the content "jpg", want one label`},
	} {
		t.Run(c.format+" "+c.want, func(t *testing.T) {
			f, err := records.Lookup(c.format)
			require.NoError(t, err)
			dir := t.TempDir()
			w, err := f.Create(t.Context(), store.Local, filepath.Join(dir, "a"+ends[c.format]), records.WriteOptions{})
			require.NoError(t, err)
			err = w.Write(&records.Record{Key: c.key, Fields: c.fields, File: "in", Offset: 5})
			require.ErrorIs(t, err, records.ErrField)
			var e *records.FieldError
			require.True(t, errors.As(err, &e))
			require.Equal(t, "in", e.File)
			require.ErrorContains(t, err, c.want)
			require.NoError(t, w.Abort())
			l, err := os.ReadDir(dir)
			require.NoError(t, err)
			require.Empty(t, l)
		})
	}
}

// A long file takes no more memory per record than a short one.
func TestMemoryIsFlat(t *testing.T) {
	for from, b := range map[string][]byte{"imagerecord": imageFile(t), "recordio": rawFile(t), "kaldi": kaldiFile(t)} {
		for to := range ends {
			dir := t.TempDir()
			per := func(times int) float64 {
				in := filepath.Join(dir, fmt.Sprint(times)+ends[from])
				require.NoError(t, os.WriteFile(in, bytes.Repeat(b, times), 0o666))
				refused := false
				n := testing.AllocsPerRun(1, func() {
					_, err := convert(t, from, in, to, filepath.Join(dir, "out"+fmt.Sprint(times)+ends[to]))
					refused = err != nil
				})
				if refused {
					return 0
				}
				return n
			}
			// 160 more records cost at most twice as much as 80 more: the cost
			// per record does not grow.
			a, b, c := per(20), per(100), per(260)
			// The garbage collector empties pools, which adds allocations:
			// the least of several runs counts.
			for range 3 {
				if math.Abs(2*(b-a)-(c-b)) <= 0.02*c+50 {
					break
				}
				a, b, c = min(a, per(20)), min(b, per(100)), min(c, per(260))
			}
			require.InDelta(t, 2*(b-a), c-b, 0.02*c+50, "%s to %s: %v, %v, %v allocations", from, to, a, b, c)
		}
	}
}

// The example of docs/format/records.md has the members of a shard.
func TestShardOfImages(t *testing.T) {
	doc, err := os.ReadFile(filepath.Join("..", "docs", "format", "records.md"))
	require.NoError(t, err)
	var b bytes.Buffer
	w, err := recordio.NewWriter(&b, 0)
	require.NoError(t, err)
	m := imagerecord.Record{ID: 7, ID2: 1, Labels: []float32{0.5, 2}, Content: []byte(jpg)}
	require.NoError(t, w.Write(m.Append(nil)))
	dir := t.TempDir()
	in, out := filepath.Join(dir, "images.rec"), filepath.Join(dir, "images.tar")
	require.NoError(t, os.WriteFile(in, b.Bytes(), 0o666))
	notes, err := convert(t, "imagerecord", in, "webdataset", out)
	require.NoError(t, err)
	require.Empty(t, notes)
	r, err := webdataset.Open(t.Context(), store.Local, out, webdataset.Options{})
	require.NoError(t, err)
	s, err := r.Next()
	require.NoError(t, err)
	var want []string
	for _, line := range regexp.MustCompile(`(?m)^(7\.\S+)  `).FindAllStringSubmatch(string(doc), -1) {
		want = append(want, line[1])
	}
	var got []string
	for _, f := range s.Fields {
		got = append(got, s.Key+"."+f.Ext)
	}
	require.Equal(t, want, got)
	require.Equal(t, "1", string(s.Fields[0].Data))
	require.NoError(t, r.Close())
}

func TestDetect(t *testing.T) {
	dir := t.TempDir()
	for name, b := range files(t) {
		for _, file := range []string{"named" + ends[name], "unnamed-" + name} {
			path := filepath.Join(dir, file)
			require.NoError(t, os.WriteFile(path, b, 0o666))
			f, err := records.Detect(t.Context(), store.Local, path)
			require.NoError(t, err, path)
			require.Equal(t, name, f.Name, path)
		}
	}
	for name, want := range map[string]string{
		"a.rec": "recordio", "a.tfrecord": "tfrecord", "a.tfrecords": "tfrecord", "a-{0..3}.tar": "webdataset", "a.tar.gz": "webdataset", "./b.tgz": "webdataset", "a-%d.tar.zst": "webdataset", "a.scp": "kaldi", "a.ark": "kaldi",
	} {
		f, err := records.DetectByName(name)
		require.NoError(t, err, name)
		require.Equal(t, want, f.Name, name)
		path := filepath.Join(dir, "empty"+filepath.Ext(name))
		require.NoError(t, os.WriteFile(path, nil, 0o666))
		f, err = records.Detect(t.Context(), store.Local, path)
		if !strings.HasSuffix(name, ".gz") && !strings.HasSuffix(name, ".zst") {
			require.NoError(t, err, name)
			require.Equal(t, want, f.Name, name)
		}
	}
	_, err := records.DetectByName("a.txt")
	require.ErrorIs(t, err, records.ErrUnknown)
	require.ErrorContains(t, err, "want one of imagerecord, kaldi, mds, mindrecord, recordio, tfexample, tfrecord, webdataset")
	_, err = records.Lookup("mxnet")
	require.ErrorIs(t, err, records.ErrUnknown)
	_, err = records.Detect(t.Context(), store.Local, filepath.Join(dir, "missing.txt"))
	require.ErrorIs(t, err, os.ErrNotExist)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "text"), []byte("a text of some length"), 0o666))
	_, err = records.Detect(t.Context(), store.Local, filepath.Join(dir, "text"))
	require.ErrorIs(t, err, records.ErrUnknown)
	_, err = records.Detect(t.Context(), store.Local, dir)
	require.ErrorContains(t, err, "a folder")
}

// TestStreams: a stream has the records of the file, and every truncation of
// the file is damage in both.
func TestStreams(t *testing.T) {
	step := short.Step(t, 5)
	read := func(r records.Reader, err error) (l []string, _ error) {
		if err != nil {
			return nil, err
		}
		defer func() { require.NoError(t, r.Close()) }()
		var x records.Record
		for {
			if err := r.Next(&x); err != nil {
				if err == io.EOF {
					err = nil
				}
				return l, err
			}
			s := fmt.Sprintf("%q %d", x.Key, x.Offset)
			for _, f := range x.Fields {
				s += fmt.Sprintf(" %q %v %v %q", f.Name, f.Text, f.Value.Desc, f.Value.Data)
			}
			l = append(l, s)
		}
	}
	for name, b := range files(t) {
		f, err := records.Lookup(name)
		require.NoError(t, err)
		// A key of a RecordIO file is that of its index, which no stream has.
		for n := len(b); n >= 0; n -= step * (1 + len(b)/200) {
			path := filepath.Join(t.TempDir(), "x")
			require.NoError(t, os.WriteFile(path, b[:n], 0o666))
			want, fileErr := read(f.Open(t.Context(), store.Local, []string{path}, records.ReadOptions{}))
			// The stream gives one byte a time and cannot seek.
			got, err := read(f.Stream(iotest.OneByteReader(bytes.NewReader(b[:n])), path, records.ReadOptions{}))
			require.Equal(t, want, got, "%s: %d bytes", name, n)
			require.Equal(t, fileErr == nil, err == nil, "%s: %d bytes: %v and %v", name, n, fileErr, err)
			require.Equal(t, errors.Is(fileErr, records.ErrCorrupt), errors.Is(err, records.ErrCorrupt))
		}
		x, err := records.DetectHead("-", b[:min(len(b), records.HeadSize)])
		require.NoError(t, err)
		require.Equal(t, name, x.Name)
	}
}

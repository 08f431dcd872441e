package webdataset

import (
	"archive/tar"
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/dataset"
	"github.com/infer-prep/infer-prep/dataset/sourcetest"
	"github.com/infer-prep/infer-prep/records"
	"github.com/infer-prep/infer-prep/records/webdataset"
	"github.com/infer-prep/infer-prep/store"
	"github.com/infer-prep/infer-prep/tensor"
	"github.com/infer-prep/infer-prep/tensor/npz"
)

func npy(t *testing.T, rows int) []byte {
	a, err := tensor.New(tensor.Desc{DType: tensor.Float32, Shape: tensor.Dims(rows, 2)})
	require.NoError(t, err)
	for i := range tensor.View[float32](a) {
		tensor.View[float32](a)[i] = float32(rows) + float32(i)/8
	}
	var b bytes.Buffer
	require.NoError(t, tensor.WriteNPY(&b, a))
	return b.Bytes()
}

// shards writes two shards of three samples each.
func shards(t *testing.T) (dir string) {
	dir = t.TempDir()
	for shard := range 2 {
		var l []*webdataset.Sample
		for i := range 3 {
			image := webdataset.Field{Ext: "jpg", Data: fmt.Appendf(nil, "image %d %d", shard, i)}
			if i == 1 {
				image.Ext = "png"
			}
			l = append(l, &webdataset.Sample{Key: fmt.Sprintf("s/%d%d", shard, i), Fields: []webdataset.Field{
				{Ext: "txt", Data: []byte("grüße")}, image, {Ext: "cls", Data: fmt.Appendf(nil, " %d\n", 10*shard+i-5)}, {Ext: "feat.npy", Data: npy(t, i)},
			}})
		}
		write(t, filepath.Join(dir, fmt.Sprintf("%03d.tar", shard)), l...)
	}
	return dir
}

// TestLinks: members that webdataset skips are counted in a warning.
func TestLinks(t *testing.T) {
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, h := range []tar.Header{
		{Name: "a.jpg", Typeflag: tar.TypeReg, Size: 1}, {Name: "a.cls", Typeflag: tar.TypeReg, Size: 1}, {Name: "d/", Typeflag: tar.TypeDir},
		{Name: "b.jpg", Typeflag: tar.TypeLink, Linkname: "a.jpg"}, {Name: "c.jpg", Typeflag: tar.TypeSymlink, Linkname: "a.jpg"}, {Name: "README", Typeflag: tar.TypeReg, Size: 1},
	} {
		require.NoError(t, w.WriteHeader(&h))
		_, err := w.Write([]byte("1")[:h.Size])
		require.NoError(t, err)
	}
	require.NoError(t, w.Close())
	name := filepath.Join(t.TempDir(), "x.tar")
	require.NoError(t, os.WriteFile(name, b.Bytes(), 0o600))
	var warnings []string
	o := dataset.Options{OnWarning: func(err error) { warnings = append(warnings, err.Error()) }}
	built, err := dataset.Build(t.Context(), dataset.From(New(name)), o)
	require.NoError(t, err)
	require.EqualValues(t, 1, built.Len())
	require.NoError(t, built.Close())
	require.Equal(t, []string{"dataset: webdataset: members of the shards that are in no sample: 3, the first is " + name + ": b.jpg (a hard link)"}, warnings)
}

func write(t *testing.T, name string, l ...*webdataset.Sample) {
	var b bytes.Buffer
	w, err := webdataset.NewTarWriter(&b, webdataset.TarOptions{})
	require.NoError(t, err)
	for _, s := range l {
		require.NoError(t, w.Write(s))
	}
	require.NoError(t, w.Close())
	require.NoError(t, os.WriteFile(name, b.Bytes(), 0o600))
}

func index(t *testing.T, name string) {
	x, err := webdataset.MakeIndex(context.Background(), store.Local, name, webdataset.Options{})
	require.NoError(t, err)
	require.NoError(t, webdataset.SaveIndex(context.Background(), store.Local, name, x))
}

func all(shards ...string) *WebDataset {
	return &WebDataset{
		Shards: shards, ColumnNames: []string{"image", "label", "text", "features"},
		Fields: [][]string{{"jpg", "png", "jpeg"}, {"cls"}, {"txt"}, {"feat.npy"}}, ColumnTypes: []string{"bytes", "int", "text", "npy:float32:2"},
	}
}

func TestWebDataset(t *testing.T) {
	dir := shards(t)
	for indexed, list := range [][]string{{filepath.ToSlash(dir) + "/{000..001}.tar"}, {filepath.ToSlash(dir) + "/*.tar"}, {filepath.ToSlash(dir) + "/000.tar", filepath.ToSlash(dir) + "/001.tar"}} {
		o := all(list...)
		sourcetest.Spec(t, o)
		sourcetest.Run(t, o)
		samples := sourcetest.Samples(t, o)
		require.Len(t, samples, 6)
		for k, s := range samples {
			shard, i := k/3, k%3
			require.Equal(t, fmt.Sprintf("%s/%03d.tar@s/%d%d", filepath.ToSlash(dir), shard, shard, i), s.Key)
			require.Equal(t, fmt.Sprintf("image %d %d", shard, i), string(s.Values[0].Data))
			require.Equal(t, int64(10*shard+i-5), tensor.View[int64](&s.Values[1].Tensor)[0])
			require.Equal(t, "grüße", string(s.Values[2].Data))
			require.Equal(t, tensor.Desc{DType: tensor.Float32, Shape: tensor.Dims(i, 2)}, s.Values[3].Desc)
			if i > 0 {
				require.Equal(t, float32(i)+0.125, tensor.View[float32](&s.Values[3].Tensor)[1])
			}
		}
		if indexed < 2 { // none, one and two of them have an index
			index(t, filepath.Join(dir, fmt.Sprintf("%03d.tar", indexed)))
		}
	}
	sourcetest.Spec(t, New("a.tar"))
	require.NoError(t, New("a.tar").Validate())
}

func TestParameters(t *testing.T) {
	for what, change := range map[string]func(*WebDataset){
		"no shards":                func(o *WebDataset) { o.Shards = []string{} },
		"0 columns":                func(o *WebDataset) { o.ColumnNames = []string{} },
		"want as many of each":     func(o *WebDataset) { o.Fields = o.Fields[:1] },
		"distinct non-empty names": func(o *WebDataset) { o.ColumnNames[1] = "image" },
		"lower-case names":         func(o *WebDataset) { o.Fields[0] = []string{"JPG"} },
		"want at least one":        func(o *WebDataset) { o.Fields[0] = nil },
		`type "npy:bytes:1"`:       func(o *WebDataset) { o.ColumnTypes[0] = "npy:bytes:1" },
		`type "npy:float32:9"`:     func(o *WebDataset) { o.ColumnTypes[0] = "npy:float32:9" },
		`type "npy:float32"`:       func(o *WebDataset) { o.ColumnTypes[0] = "npy:float32" },
		`type "npz:float32:2"`:     func(o *WebDataset) { o.ColumnTypes[0] = "npz:float32:2" },
		`type "npz::float32:2"`:    func(o *WebDataset) { o.ColumnTypes[0] = "npz::float32:2" },
		"want the type npz:NAME": func(o *WebDataset) {
			o.Fields[0], o.ColumnTypes[0] = []string{"npy", "mat.npz"}, "npy:float32:2"
		},
		"want the type npy:DTYPE": func(o *WebDataset) { o.Fields[0], o.ColumnTypes[0] = []string{"npy"}, "npz:a:float32:2" },
		"tensors (.ten)":          func(o *WebDataset) { o.Fields[0], o.ColumnTypes[0] = []string{"x.ten"}, "npy:float32:2" },
		"a pickle (.pyd)":         func(o *WebDataset) { o.Fields[0], o.ColumnTypes[0] = []string{"pyd"}, "npy:float32:2" },
		"a pickle (.pkl)":         func(o *WebDataset) { o.Fields[0], o.ColumnTypes[0] = []string{"pkl"}, "npz:a:float32:2" },
		`type "json"`:             func(o *WebDataset) { o.ColumnTypes[0] = "json" },
	} {
		o := New("a.tar")
		change(o)
		err := o.Validate()
		require.ErrorIs(t, err, dataset.ErrParam, what)
		require.ErrorContains(t, err, what)
		_, err = o.Open(t.Context(), store.Local)
		require.ErrorIs(t, err, dataset.ErrParam, what)
	}
}

// TestBad reads samples that do not match the columns.
func TestBad(t *testing.T) {
	sample := func(fields ...string) *webdataset.Sample {
		s := &webdataset.Sample{Key: "k"}
		for i := 0; i < len(fields); i += 2 {
			s.Fields = append(s.Fields, webdataset.Field{Ext: fields[i], Data: []byte(fields[i+1])})
		}
		return s
	}
	name := filepath.ToSlash(filepath.Join(t.TempDir(), "s.tar"))
	good := string(npy(t, 1))
	write(t, name, sample("jpg", "", "cls", "1", "txt", "", "feat.npy", good))
	for want, s := range map[string]*webdataset.Sample{
		"no field jpg or png or jpeg for the column image, it has cls, gif": sample("cls", "1", "gif", ""),
		`field cls: "one", want a decimal number`:                           sample("jpg", "", "cls", "one"),
		`field cls: "1.5", want a decimal number`:                           sample("jpg", "", "cls", "1.5"),
		"field txt: invalid UTF-8, want text":                               sample("jpg", "", "cls", "1", "txt", "\xff"),
		"field feat.npy: 1 bytes after the array":                           sample("jpg", "", "cls", "1", "txt", "", "feat.npy", good+"x"),
		"field feat.npy: ":                                                  sample("jpg", "", "cls", "1", "txt", "", "feat.npy", good[:len(good)-1]),
	} {
		write(t, name, s)
		d, err := all(name).Open(t.Context(), store.Local)
		require.NoError(t, err)
		err = d.(dataset.Rows).Read(t.Context(), 0, dataset.NewSample(d.Columns()))
		require.ErrorIs(t, err, dataset.ErrData)
		require.ErrorContains(t, err, name+`: sample "k": `+want)
		require.NoError(t, d.Close())
	}
	write(t, name, sample("jpg", "", "cls", "1", "txt", "", "feat.npy", good))
	o := all(name)
	o.ColumnTypes[3] = "npy:float64:2"
	d, err := o.Open(t.Context(), store.Local)
	require.NoError(t, err)
	require.ErrorContains(t, d.(dataset.Rows).Read(t.Context(), 0, dataset.NewSample(d.Columns())), "an array float32")
	require.NoError(t, d.Close())
}

// TestNPZ reads arrays of NumPy archives; fields that are refused as arrays are
// still bytes.
func TestNPZ(t *testing.T) {
	array := func(d tensor.DType, n int, v byte) *tensor.Tensor {
		x, err := tensor.New(tensor.Desc{DType: d, Shape: tensor.Dims(n)})
		require.NoError(t, err)
		for i := range x.Data {
			x.Data[i] = v
		}
		return x
	}
	var b bytes.Buffer
	require.NoError(t, npz.Write(&b, []tensor.Named{{Name: "a", T: array(tensor.Uint8, 2, 1)}, {Name: "b:c", T: array(tensor.Uint8, 3, 2)}}))
	name := filepath.ToSlash(filepath.Join(t.TempDir(), "s.tar"))
	write(t, name, &webdataset.Sample{Key: "k", Fields: []webdataset.Field{{Ext: "mat.npz", Data: b.Bytes()}, {Ext: "pyd", Data: []byte("N.")}, {Ext: "ten", Data: []byte("~TenBin~")}}})
	read := func(types ...string) (*dataset.Sample, error) {
		o := &WebDataset{Shards: []string{name}, ColumnNames: []string{"x", "y", "z"}, Fields: [][]string{{"mat.npz"}, {"pyd"}, {"ten"}}, ColumnTypes: append(types, "bytes", "bytes")}
		d, err := o.Open(t.Context(), store.Local)
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, d.Close()) })
		s := dataset.NewSample(d.Columns())
		return s, d.(dataset.Rows).Read(t.Context(), 0, s)
	}
	s, err := read("npz:a:uint8:1")
	require.NoError(t, err)
	require.Equal(t, []byte{1, 1}, s.Values[0].Tensor.Data)
	require.Equal(t, "N.", string(s.Values[1].Data))
	require.Equal(t, "~TenBin~", string(s.Values[2].Data))
	s, err = read("npz:b:c:uint8:1")
	require.NoError(t, err)
	require.Equal(t, []byte{2, 2, 2}, s.Values[0].Tensor.Data)
	for typ, want := range map[string]string{
		"npz:b:uint8:1":   `field mat.npz: no array "b", it has a, b:c`,
		"npz:a:float32:1": "field mat.npz: an array uint8 (2,), want float32",
	} {
		_, err = read(typ)
		require.ErrorIs(t, err, dataset.ErrData)
		require.ErrorContains(t, err, want)
	}
	write(t, name, &webdataset.Sample{Key: "k", Fields: []webdataset.Field{{Ext: "mat.npz", Data: b.Bytes()[:b.Len()-1]}}})
	_, err = read("npz:a:uint8:1")
	require.ErrorIs(t, err, tensor.ErrFormat)
}

// TestShards opens shards that are missing, truncated or damaged.
func TestShards(t *testing.T) {
	dir := shards(t)
	name := filepath.Join(dir, "000.tar")
	open := func(list string) error {
		d, err := New(filepath.ToSlash(list)).Open(t.Context(), store.Local)
		if err == nil {
			require.NoError(t, d.Close())
		}
		return err
	}
	require.ErrorIs(t, open(filepath.Join(dir, "none*.tar")), os.ErrNotExist)
	require.ErrorIs(t, open(filepath.Join(dir, "none.tar")), os.ErrNotExist)
	require.ErrorIs(t, open(dir+"/{0"), webdataset.ErrPattern)
	require.ErrorContains(t, open("pipe:true"), "pipes")

	b, err := os.ReadFile(name)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "cut.tar"), b[:len(b)/2], 0o600))
	require.ErrorIs(t, open(filepath.Join(dir, "cut.tar")), records.ErrCorrupt)
	// With an index a changed byte of data is detected, in its sample alone.
	at := bytes.Index(b, []byte("image 0 1"))
	then := time.Unix(1_700_000_000, 0)
	require.NoError(t, os.Chtimes(name, then, then))
	index(t, name)
	b[at] ^= 1
	require.NoError(t, os.WriteFile(name, b, 0o600))
	require.NoError(t, os.Chtimes(name, then, then))
	d, err := New(filepath.ToSlash(name)).Open(t.Context(), store.Local)
	require.NoError(t, err)
	defer d.Close()
	s := dataset.NewSample(d.Columns())
	require.NoError(t, d.(dataset.Rows).Read(t.Context(), 0, s))
	require.ErrorIs(t, d.(dataset.Rows).Read(t.Context(), 1, s), records.ErrCorrupt)
	require.NoError(t, d.(dataset.Rows).Read(t.Context(), 2, s))
}

func TestStore(t *testing.T) {
	dir := shards(t)
	for _, pattern := range []string{"/*.tar", "/{000..001}.tar"} {
		sourcetest.Store(t, dir, func(dir string) dataset.Source { return all(filepath.ToSlash(dir) + pattern) })
	}
}

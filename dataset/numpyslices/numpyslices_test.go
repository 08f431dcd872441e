package numpyslices

import (
	"bytes"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/datagraph"
	"github.com/infer-prep/infer-prep/dataset"
	"github.com/infer-prep/infer-prep/dataset/sourcetest"
	"github.com/infer-prep/infer-prep/pullpipe"
	"github.com/infer-prep/infer-prep/store"
	_ "github.com/infer-prep/infer-prep/store/httpstore"
	"github.com/infer-prep/infer-prep/tensor"
	"github.com/infer-prep/infer-prep/transforms"
)

const testdata = "../../testdata/datasets/numpyslices/"

func TestAsReferences(t *testing.T) {
	t.Logf("MindSpore: %d rows", sourcetest.Golden(t, testdata+"mindspore.json"))
}

func TestAllocs(t *testing.T) { require.Zero(t, sourcetest.Allocs(t, New(testdata+"all.npz"))) }

func TestValidate(t *testing.T) {
	for _, o := range []*NumpySlices{
		New(), New("x.bin"), {Files: []string{"a.npy"}, Names: []string{""}, MaxBytes: 1}, {Files: []string{"a.npy", "b.npy"}, Names: []string{"a", "a"}, MaxBytes: 1},
		{Files: []string{"a.npy"}},
	} {
		require.ErrorIs(t, o.Validate(), dataset.ErrParam, "%+v", o)
	}
}

func npy(t testing.TB, d tensor.DType, shape ...int) []byte {
	a, err := tensor.New(tensor.Desc{DType: d, Shape: tensor.Dims(shape...)})
	require.NoError(t, err)
	var b bytes.Buffer
	require.NoError(t, tensor.WriteNPY(&b, a))
	return b.Bytes()
}

func TestBadFiles(t *testing.T) {
	whole := npy(t, tensor.Uint8, 3, 2)
	for _, c := range []struct {
		name   string
		files  [][]byte
		change func(o *NumpySlices)
		kind   error
		want   string
	}{
		{"cut", [][]byte{whole[:len(whole)-1]}, nil, dataset.ErrData, "0.npy"},
		{"more", [][]byte{append(bytes.Clone(whole), 1)}, nil, dataset.ErrData, "data after the array, at byte 134"},
		{"a scalar", [][]byte{npy(t, tensor.Uint8)}, nil, dataset.ErrData, "column_0 is a scalar"},
		{"other lengths", [][]byte{whole, npy(t, tensor.Uint8, 2, 2)}, nil, dataset.ErrData, "column_1 has 2 rows, want 3 as column_0"},
		{"too few names", [][]byte{whole, whole}, func(o *NumpySlices) { o.Names = []string{"a"} }, dataset.ErrParam, "1 names, want 2"},
		{"too large", [][]byte{whole, whole}, func(o *NumpySlices) { o.MaxBytes = 11 }, tensor.ErrLimit, "1.npy"},
		{"claims", [][]byte{bytes.Replace(whole, []byte("(3, 2)"), []byte("(3000000000000, 2)"), 1)}, nil, dataset.ErrData, "0.npy"},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			o := New()
			for i, b := range c.files {
				o.Files = append(o.Files, filepath.Join(dir, string(rune('0'+i))+".npy"))
				require.NoError(t, os.WriteFile(o.Files[i], b, 0o600))
			}
			if c.change != nil {
				c.change(o)
			}
			_, err := o.Open(t.Context(), store.Local)
			require.ErrorIs(t, err, c.kind)
			require.ErrorContains(t, err, c.want)
		})
	}
	_, err := New("none.npy").Open(t.Context(), store.Local)
	require.ErrorIs(t, err, os.ErrNotExist)
	bad := filepath.Join(t.TempDir(), "bad.npz")
	require.NoError(t, os.WriteFile(bad, whole, 0o600))
	_, err = New(bad).Open(t.Context(), store.Local)
	require.ErrorIs(t, err, dataset.ErrData)
}

// TestLayouts resizes rows that have a layout. Rows without one, and rows of a
// type that the op does not take, are errors of Build.
func TestLayouts(t *testing.T) {
	resize := transforms.NewResize(2, 3)
	for _, c := range []struct {
		dtype  tensor.DType
		layout tensor.Layout
		want   string
		err    string
	}{
		{tensor.Uint8, tensor.HWC, "uint8 HWC (2, 3, 3)", ""},
		{tensor.Float32, tensor.HWC, "float32 HWC (2, 3, 3)", ""},
		{tensor.Uint8, tensor.NoLayout, "", "column \"image\": it is uint8 (8, 6, 3), want uint8 HWC (?, ?, 3)"},
		{tensor.Float64, tensor.HWC, "", "invalid input"},
	} {
		file := filepath.Join(t.TempDir(), "a.npy")
		require.NoError(t, os.WriteFile(file, npy(t, c.dtype, 2, 8, 6, 3), 0o600))
		o := New(file)
		o.Names, o.Layouts = []string{"image"}, []tensor.Layout{c.layout}
		g := datagraph.New(resize)
		g.Inputs[0].Desc = tensor.Image(c.dtype, tensor.HWC, tensor.Unknown, tensor.Unknown, 3)
		b, err := dataset.Build(t.Context(), dataset.From(o).Map(g), dataset.Options{})
		if c.err != "" {
			require.ErrorContains(t, err, c.err)
			continue
		}
		require.NoError(t, err)
		require.Equal(t, c.want, b.Columns()[0].Desc.String())
		p, err := pullpipe.New(b, nil)
		require.NoError(t, err)
		s, err := p.Next(t.Context())
		require.NoError(t, err)
		require.Equal(t, c.want, s.Values[0].Desc.String())
		require.NoError(t, errors.Join(p.Close(), b.Close()))
	}
	o := New(testdata + "image.npy")
	for _, c := range []struct {
		layouts []tensor.Layout
		want    string
	}{{[]tensor.Layout{tensor.HWC}, "layout HWC of column_0, whose rows have 2 axes, want three"}, {make([]tensor.Layout, 2), "2 layouts, want 1"}} {
		o.Layouts = c.layouts
		_, err := o.Open(t.Context(), store.Local)
		require.ErrorIs(t, err, dataset.ErrParam)
		require.ErrorContains(t, err, c.want)
	}
}

func FuzzOpen(f *testing.F) {
	for _, name := range []string{"all.npz", "image.npy"} {
		b, err := os.ReadFile(testdata + name)
		require.NoError(f, err)
		f.Add(b, name == "all.npz")
	}
	f.Fuzz(func(t *testing.T, b []byte, npz bool) {
		name := filepath.Join(t.TempDir(), "a.npy")
		if npz {
			name = name[:len(name)-1] + "z"
		}
		require.NoError(t, os.WriteFile(name, b, 0o600))
		o := New(name)
		o.MaxBytes = 1 << 20
		d, err := o.Open(t.Context(), store.Local)
		if err != nil {
			require.ErrorIs(t, err, dataset.ErrData)
			return
		}
		r := d.(dataset.Rows)
		s := dataset.NewSample(d.Columns())
		for i := range min(r.Len(), 100) {
			require.NoError(t, r.Read(t.Context(), i, s))
		}
	})
}

func TestStore(t *testing.T) {
	for _, name := range []string{"all.npz", "image.npy"} {
		sourcetest.Store(t, testdata, func(dir string) dataset.Source { return New(dir + "/" + name) })
	}
}

func keys(d dataset.Data) (l []string) {
	d.(dataset.Keyed).Keys(func(k string) bool { l = append(l, k); return true })
	return l
}

// TestPresigned reads files by URLs whose query is not part of the name.
func TestPresigned(t *testing.T) {
	server := httptest.NewServer(http.FileServer(http.Dir(testdata)))
	defer server.Close()
	for _, name := range []string{"all.npz", "image.npy"} {
		o := New(server.URL + "/" + name + "?X-Amz-Signature=secret")
		require.NoError(t, o.Validate())
		d, err := o.Open(t.Context(), store.URI)
		require.NoError(t, err)
		local, err := New(testdata+name).Open(t.Context(), store.Local)
		require.NoError(t, err)
		got, want := d.(dataset.Rows), local.(dataset.Rows)
		require.Equal(t, want.Len(), got.Len())
		a, b := dataset.NewSample(d.Columns()), dataset.NewSample(local.Columns())
		for i := range want.Len() {
			require.NoError(t, got.Read(t.Context(), i, a))
			require.NoError(t, want.Read(t.Context(), i, b))
			require.Equal(t, b.Values, a.Values)
		}
		again, err := New(server.URL+"/"+name+"?X-Amz-Signature=other").Open(t.Context(), store.URI)
		require.NoError(t, err)
		require.Equal(t, keys(d), keys(again), "a run resumes with URLs that were signed again")
		for _, d := range []dataset.Data{d, local, again} {
			require.NoError(t, d.Close())
		}
	}
	require.NotContains(t, New("http://h/a.bin?X-Amz-Signature=secret").Validate().Error(), "secret")
}

package kaldi

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/dataset"
	"github.com/infer-prep/infer-prep/dataset/sourcetest"
	"github.com/infer-prep/infer-prep/records"
	"github.com/infer-prep/infer-prep/records/kaldi"
	"github.com/infer-prep/infer-prep/store"
	"github.com/infer-prep/infer-prep/tensor"
)

func object(t *testing.T, d tensor.DType, dims ...int) *tensor.Tensor {
	x, err := tensor.New(tensor.Desc{DType: d, Shape: tensor.Dims(dims...)})
	require.NoError(t, err)
	for i := range x.Data {
		x.Data[i] = byte(i % 64) // no NaN
	}
	return x
}

// writeFiles writes an archive of four objects and a script of them, the last
// first.
func writeFiles(t *testing.T, write func(w *kaldi.Writer, key string, i int) error) (ark, scp string) {
	dir := t.TempDir()
	ark, scp = filepath.Join(dir, "a.ark"), filepath.Join(dir, "a.scp")
	var b, script bytes.Buffer
	w := kaldi.NewWriter(&b, kaldi.WriterOptions{Script: &script, Name: ark})
	for i := range 4 {
		require.NoError(t, write(w, fmt.Sprintf("größe-%d", i), i))
	}
	require.NoError(t, os.WriteFile(ark, b.Bytes(), 0o600))
	lines := bytes.SplitAfter(bytes.Clone(script.Bytes()), []byte("\n"))
	require.Len(t, lines, 5)
	script.Reset()
	for i := range 4 {
		script.Write(lines[3-i])
	}
	require.NoError(t, os.WriteFile(scp, script.Bytes(), 0o600))
	return ark, scp
}

func TestKaldi(t *testing.T) {
	for kind, c := range map[string]struct {
		dtype tensor.DType
		data  func(i int) *tensor.Tensor
	}{
		"matrix":     {tensor.Float32, func(i int) *tensor.Tensor { return object(t, tensor.Float32, 3, i+1) }},
		"vector":     {tensor.Float64, func(i int) *tensor.Tensor { return object(t, tensor.Float64, i) }},
		"int_vector": {tensor.Int32, func(i int) *tensor.Tensor { return object(t, tensor.Int32, 5-i) }},
		"wave":       {tensor.Int16, func(i int) *tensor.Tensor { return object(t, tensor.Int16, 10*i+1, 2) }},
	} {
		t.Run(kind, func(t *testing.T) {
			ark, scp := writeFiles(t, func(w *kaldi.Writer, key string, i int) error {
				if kind == "wave" {
					return w.WriteWave(key, c.data(i), 8000)
				}
				return w.Write(key, c.data(i))
			})
			for _, names := range [][]string{{ark}, {scp}, {filepath.Join(filepath.Dir(ark), "a.*")}} {
				o := New(names...)
				o.Type, o.DType = kind, c.dtype
				sourcetest.Spec(t, o)
				sourcetest.Run(t, o)
				all := sourcetest.Samples(t, o)
				for k, s := range all {
					i := k
					if names[0] == scp || k > 3 {
						i = 3 - k%4
					}
					require.Equal(t, fmt.Sprintf("größe-%d", i), string(s.Column("key").Data))
					require.Equal(t, c.data(i).Desc, s.Column("data").Desc)
					require.Equal(t, c.data(i).Data, s.Column("data").Data[:len(c.data(i).Data):len(c.data(i).Data)])
					require.Contains(t, s.Key, ark+"@")
				}
				require.Contains(t, []int{4, 8}, len(all))
			}
		})
	}
}

// TestFiles reads files that a script names, and waves of an archive.
func TestFiles(t *testing.T) {
	ark, _ := writeFiles(t, func(w *kaldi.Writer, key string, i int) error {
		return w.WriteWave(key, object(t, tensor.Int16, 10*i+1, 2), 8000)
	})
	flac := filepath.Join(t.TempDir(), "a.flac")
	require.NoError(t, os.WriteFile(flac, []byte("fLaC and more"), 0o600))
	scp := filepath.Join(filepath.Dir(ark), "f.scp")
	at := len("größe-0 ")
	require.NoError(t, os.WriteFile(scp, fmt.Appendf(nil, "a %s\nb %s:%d\n", flac, ark, at), 0o600))
	o := New(scp)
	o.Type, o.DType = "file", tensor.Bytes
	sourcetest.Spec(t, o)
	sourcetest.Run(t, o)
	all := sourcetest.Samples(t, o)
	require.Equal(t, "fLaC and more", string(all[0].Column("data").Data))
	whole, err := os.ReadFile(ark)
	require.NoError(t, err)
	b := all[1].Column("data").Data
	require.Equal(t, string(whole[at:at+len(b)]), string(b))
	require.Equal(t, 44+4, len(b))
	o = New(ark)
	o.Type, o.DType = "file", tensor.Bytes
	require.Equal(t, b, sourcetest.Samples(t, o)[0].Column("data").Data)

	o.Files[0] = scp
	require.NoError(t, os.WriteFile(scp, fmt.Appendf(nil, "a %s.gone\nb %s[0:1]\n", flac, ark), 0o600))
	d, err := o.Open(t.Context(), store.Local)
	require.NoError(t, err)
	for i := range d.(dataset.Rows).Len() {
		require.Error(t, d.(dataset.Rows).Read(t.Context(), i, dataset.NewSample(d.Columns())))
	}
	require.NoError(t, d.Close())
	require.NoError(t, os.WriteFile(scp, []byte("a flac -cd x.flac |\n"), 0o600))
	_, err = o.Open(t.Context(), store.Local)
	require.ErrorIs(t, err, kaldi.ErrPipe)
}

// TestRange reads parts of a matrix, and converts to another type.
func TestRange(t *testing.T) {
	ark, _ := writeFiles(t, func(w *kaldi.Writer, key string, i int) error { return w.Write(key, object(t, tensor.Float32, 4, 3)) })
	scp := filepath.Join(filepath.Dir(ark), "r.scp")
	require.NoError(t, os.WriteFile(scp, []byte("a "+ark+":10[1:2,0:1]\nb "+ark+":10\nc "+ark+":10[4:4]\n"), 0o600))
	o := New(scp)
	o.DType = tensor.Float64
	d, err := o.Open(t.Context(), store.Local)
	require.NoError(t, err)
	defer d.Close()
	s := dataset.NewSample(d.Columns())
	rows := d.(dataset.Rows)
	require.NoError(t, rows.Read(t.Context(), 1, s))
	whole := append([]float64{}, tensor.View[float64](&s.Column("data").Tensor)...)
	require.NoError(t, rows.Read(t.Context(), 0, s))
	require.Equal(t, ark+"@10[1:2,0:1]", s.Key)
	require.Equal(t, tensor.Dims(2, 2), s.Column("data").Shape)
	require.Equal(t, []float64{whole[3], whole[4], whole[6], whole[7]}, tensor.View[float64](&s.Column("data").Tensor))
	require.ErrorIs(t, rows.Read(t.Context(), 2, s), dataset.ErrData)
}

func TestErrors(t *testing.T) {
	for want, o := range map[string]*Kaldi{
		"no files":      {Type: "matrix", DType: tensor.Float32},
		`type "text"`:   {Files: []string{"a"}, Type: "text", DType: tensor.Float32},
		"dtype int32":   {Files: []string{"a"}, Type: "matrix", DType: tensor.Int32},
		"dtype float32": {Files: []string{"a"}, Type: "wave", DType: tensor.Float32},
	} {
		err := o.Validate()
		require.ErrorIs(t, err, dataset.ErrParam)
		require.ErrorContains(t, err, want)
		_, err = o.Open(t.Context(), store.Local)
		require.ErrorIs(t, err, dataset.ErrParam)
	}
	ark, scp := writeFiles(t, func(w *kaldi.Writer, key string, i int) error {
		return w.WriteWave(key, object(t, tensor.Uint8, 7, 1), 8000)
	})
	o := New(scp)
	o.Type, o.DType = "wave", tensor.Int16
	d, err := o.Open(t.Context(), store.Local)
	require.NoError(t, err)
	err = d.(dataset.Rows).Read(t.Context(), 0, dataset.NewSample(d.Columns()))
	require.ErrorIs(t, err, dataset.ErrData)
	require.ErrorContains(t, err, `"größe-3": uint8`)
	require.NoError(t, d.Close())
	// Another type, and a truncated file: in a script they affect that object
	// alone, in an archive all objects.
	d, err = New(scp).Open(t.Context(), store.Local)
	require.NoError(t, err)
	require.ErrorIs(t, d.(dataset.Rows).Read(t.Context(), 0, dataset.NewSample(d.Columns())), records.ErrCorrupt)
	require.NoError(t, d.Close())
	_, err = New(ark).Open(t.Context(), store.Local)
	require.ErrorIs(t, err, records.ErrCorrupt)
	b, err := os.ReadFile(ark)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(ark, b[:len(b)-1], 0o600))
	o.DType = tensor.Uint8
	d, err = o.Open(t.Context(), store.Local)
	require.NoError(t, err)
	require.ErrorIs(t, d.(dataset.Rows).Read(t.Context(), 0, dataset.NewSample(d.Columns())), records.ErrCorrupt)
	require.NoError(t, d.(dataset.Rows).Read(t.Context(), 1, dataset.NewSample(d.Columns())))
	require.NoError(t, d.Close())
	o.Files = []string{ark}
	_, err = o.Open(t.Context(), store.Local)
	require.ErrorIs(t, err, records.ErrCorrupt)
	require.NoError(t, os.WriteFile(scp, []byte("a cat x |\n"), 0o600))
	_, err = New(scp).Open(t.Context(), store.Local)
	require.ErrorIs(t, err, kaldi.ErrPipe)
	_, err = New(filepath.Join(filepath.Dir(ark), "none*")).Open(t.Context(), store.Local)
	require.ErrorIs(t, err, dataset.ErrData)
}

func TestStore(t *testing.T) {
	ark, _ := writeFiles(t, func(w *kaldi.Writer, key string, i int) error { return w.Write(key, object(t, tensor.Float32, 3, i+1)) })
	sourcetest.Store(t, filepath.Dir(ark), func(dir string) dataset.Source { return New(dir + "/*.ark") })
}

package mindrecord

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/dataset"
	"github.com/infer-prep/infer-prep/dataset/sourcetest"
	"github.com/infer-prep/infer-prep/records"
	"github.com/infer-prep/infer-prep/records/mindrecord"
	"github.com/infer-prep/infer-prep/store"
	"github.com/infer-prep/infer-prep/tensor"
)

// writeFiles writes ten rows into three files.
func writeFiles(t *testing.T) (name string) {
	name = "x;#%41 é.mindrecord"
	if runtime.GOOS != "windows" {
		name = "?" + name
	}
	name = filepath.Join(t.TempDir(), name)
	array := tensor.Desc{DType: tensor.Int32, Shape: tensor.Dims(tensor.Unknown, 2)}
	w, err := mindrecord.Create(name, mindrecord.Schema{Fields: []mindrecord.Field{
		{Name: "label", Desc: tensor.Desc{DType: tensor.Int64}}, {Name: "name", Desc: tensor.Encoded(), Text: true},
		{Name: "image", Desc: tensor.Encoded()}, {Name: "boxes", Desc: array},
	}}, mindrecord.WriterOptions{HeaderSize: 1 << 14, PageSize: 1 << 15, Rows: 4})
	require.NoError(t, err)
	for k := range 10 {
		boxes, err := tensor.New(tensor.Desc{DType: tensor.Int32, Shape: tensor.Dims(k%3, 2)})
		require.NoError(t, err)
		for i := range tensor.View[int32](boxes) {
			tensor.View[int32](boxes)[i] = int32(k*100 - i)
		}
		label, err := tensor.New(tensor.Desc{DType: tensor.Int64})
		require.NoError(t, err)
		tensor.View[int64](label)[0] = int64(-k)
		require.NoError(t, w.Write([]tensor.Tensor{*boxes, *tensor.FromBytes([]byte{byte(k), 0}), *label, *tensor.FromBytes([]byte("é"))}))
	}
	require.NoError(t, w.Close())
	return name
}

func TestMindRecord(t *testing.T) {
	name := writeFiles(t)
	for _, columns := range [][]string{{}, {"label", "boxes"}, {"name"}, {"image"}} {
		for _, names := range [][]string{{name}, {name + "2"}, {name + "1", name + "0"}} {
			o := New(names...)
			o.Columns = columns
			sourcetest.Spec(t, o)
			sourcetest.Run(t, o)
			all := sourcetest.Samples(t, o)
			rows := []int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}
			if len(names) == 2 {
				rows = []int{4, 5, 6, 7, 0, 1, 2, 3}
			}
			require.Len(t, all, len(rows))
			want := columns
			if len(want) == 0 {
				want = []string{"boxes", "image", "label", "name"}
			}
			for k, s := range all {
				k = rows[k]
				require.Equal(t, name+string(rune('0'+k/4))+"@"+string(rune('0'+k%4)), s.Key)
				require.Len(t, s.Values, len(want))
				for i, c := range want {
					v := &s.Values[i].Tensor
					switch c {
					case "label":
						require.Equal(t, []int64{int64(-k)}, tensor.View[int64](v))
					case "name":
						require.Equal(t, "é", string(v.Data))
					case "image":
						require.Equal(t, []byte{byte(k), 0}, v.Data)
					case "boxes":
						require.Equal(t, tensor.Dims(k%3, 2), v.Shape)
						for i, x := range tensor.View[int32](v) {
							require.EqualValues(t, k*100-i, x)
						}
					}
				}
			}
		}
	}
}

func TestErrors(t *testing.T) {
	require.ErrorIs(t, New().Validate(), dataset.ErrParam)
	require.ErrorIs(t, (&MindRecord{Files: []string{"a"}, Columns: []string{"x", "x"}}).Validate(), dataset.ErrParam)
	_, err := New(filepath.Join(t.TempDir(), "none")).Open(t.Context(), store.Local)
	require.ErrorIs(t, err, dataset.ErrData)
	require.ErrorIs(t, err, os.ErrNotExist)
	name := writeFiles(t)
	o := New(name)
	o.Columns = []string{"none"}
	_, err = o.Open(t.Context(), store.Local)
	require.ErrorIs(t, err, dataset.ErrParam)

	// A damaged row is one bad sample.
	b, err := os.ReadFile(name + "0")
	require.NoError(t, err)
	b[1<<14+1<<15] ^= 1 // the length of the first raw record
	require.NoError(t, os.WriteFile(name+"0", b, 0o600))
	d, err := New(name).Open(t.Context(), store.Local)
	require.NoError(t, err)
	defer d.Close()
	s := dataset.NewSample(d.Columns())
	err = d.(dataset.Rows).Read(t.Context(), 0, s)
	require.ErrorIs(t, err, records.ErrCorrupt)
	require.ErrorContains(t, err, "0@0")
	require.NoError(t, d.(dataset.Rows).Read(t.Context(), 1, s))
}

func TestAllocs(t *testing.T) {
	if name := writeFiles(t); name != "" {
		t.Log(sourcetest.Allocs(t, New(name)))
	}
}

func TestStore(t *testing.T) {
	if name := writeFiles(t); name != "" {
		sourcetest.Store(t, filepath.Dir(name), func(dir string) dataset.Source { return New(dir + "/" + filepath.Base(name)) })
	}
}

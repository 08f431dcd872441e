package inmemory

import (
	"encoding/binary"
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/dataset"
	"github.com/infer-prep/infer-prep/dataset/sourcetest"
	"github.com/infer-prep/infer-prep/store"
	"github.com/infer-prep/infer-prep/tensor"
)

func counting(t testing.TB, d tensor.DType, shape ...int) *tensor.Tensor {
	a, err := tensor.New(tensor.Desc{DType: d, Shape: tensor.Dims(shape...)})
	require.NoError(t, err)
	last := 0 // the place of an element's low byte
	if binary.NativeEndian.Uint16([]byte{0, 1}) == 1 {
		last = d.Size() - 1
	}
	for i := range a.Data {
		a.Data[i^last] = byte(i)
	}
	return a
}

func TestSlices(t *testing.T) {
	image := counting(t, tensor.Uint8, 4, 2, 3)
	src := New(tensor.Named{Name: "image", T: image}, tensor.Named{Name: "label", T: counting(t, tensor.Int16, 4)}, tensor.Named{Name: "none", T: counting(t, tensor.Float32, 4, 0)})
	sourcetest.Run(t, src)
	require.Zero(t, sourcetest.Allocs(t, src))
	d, err := src.Open(t.Context(), store.Local)
	require.NoError(t, err)
	s := dataset.NewSample(d.Columns())
	require.NoError(t, d.(dataset.Rows).Read(t.Context(), 2, s))
	require.Same(t, &image.Data[12], &s.Column("image").Data[0], "shared")
	require.Equal(t, 6, len(s.Column("image").Data))
	require.Equal(t, 6, cap(s.Column("image").Data))
	c, err := d.(dataset.Classed).Class(2)
	require.NoError(t, err)
	require.EqualValues(t, 0x0504, c)
	require.Equal(t, []int16{0x0504}, tensor.View[int16](&s.Column("label").Tensor))
}

// TestViews slices the first two columns of a matrix, which are not dense.
func TestViews(t *testing.T) {
	a := counting(t, tensor.Uint8, 3, 4)
	v := *a
	v.Shape = tensor.Dims(3, 2)
	src := New(tensor.Named{Name: "a", T: &v})
	sourcetest.Run(t, src)
	for i, s := range sourcetest.Samples(t, src) {
		require.Equal(t, []byte{byte(4 * i), byte(4*i + 1)}, s.Column("a").Data)
	}
}

func TestClasses(t *testing.T) {
	for d, want := range map[tensor.DType]int64{
		tensor.Uint8: 1, tensor.Int8: 1, tensor.Bool: 1, tensor.Uint16: 0x0302, tensor.Int16: 0x0302, tensor.Int32: 0x07060504, tensor.Int64: 0x0f0e0d0c0b0a0908,
	} {
		data, err := New(tensor.Named{Name: "label", T: counting(t, d, 3)}).Open(t.Context(), store.Local)
		require.NoError(t, err)
		c, err := data.(dataset.Classed).Class(1)
		require.NoError(t, err)
		require.Equal(t, want, c, d)
	}
	for _, a := range []tensor.Named{
		{Name: "label", T: counting(t, tensor.Float32, 3)}, {Name: "label", T: counting(t, tensor.Int32, 3, 1)}, {Name: "other", T: counting(t, tensor.Int32, 3)},
	} {
		data, err := New(a).Open(t.Context(), store.Local)
		require.NoError(t, err)
		_, ok := data.(dataset.Classed)
		require.False(t, ok, a.Name)
	}
}

func TestSamples(t *testing.T) {
	columns := []dataset.Column{{Name: "file", Desc: tensor.Encoded()}, {Name: "v", Desc: tensor.Desc{DType: tensor.Uint8, Shape: tensor.Dims(tensor.Unknown)}}}
	src := NewSamples(columns,
		[]*tensor.Tensor{tensor.FromBytes([]byte("one")), counting(t, tensor.Uint8, 3)},
		[]*tensor.Tensor{tensor.FromBytes(nil), counting(t, tensor.Uint8, 0)},
		[]*tensor.Tensor{tensor.FromBytes([]byte("three")), counting(t, tensor.Uint8, 7)},
	)
	sourcetest.Run(t, src)
	require.Zero(t, sourcetest.Allocs(t, src))
	src.Keys = []string{"a", "b", "c"}
	sourcetest.Run(t, src)
	require.Equal(t, "c", sourcetest.Samples(t, src)[2].Key)
	sourcetest.Run(t, NewSamples(columns)) // no samples at all
}

func TestValidate(t *testing.T) {
	one := counting(t, tensor.Uint8, 3)
	columns := []dataset.Column{{Name: "v", Desc: tensor.Desc{DType: tensor.Uint8, Shape: tensor.Dims(3)}}}
	for _, o := range []dataset.Source{
		New(),
		New(tensor.Named{Name: "a"}),
		New(tensor.Named{Name: "a", T: tensor.FromBytes(nil)}),
		New(tensor.Named{Name: "", T: one}),
		New(tensor.Named{Name: "a", T: one}, tensor.Named{Name: "a", T: one}),
		New(tensor.Named{Name: "a", T: one}, tensor.Named{Name: "b", T: counting(t, tensor.Uint8, 2)}),
		New(tensor.Named{Name: "a", T: counting(t, tensor.Uint8)}),
		NewSamples(nil),
		NewSamples(columns, []*tensor.Tensor{}),
		NewSamples(columns, []*tensor.Tensor{nil}),
		NewSamples(columns, []*tensor.Tensor{counting(t, tensor.Uint8, 4)}),
		&Samples{Columns: columns, Rows: [][]*tensor.Tensor{{one}}, Keys: []string{}},
	} {
		require.ErrorIs(t, o.Validate(), dataset.ErrParam)
		_, err := o.Open(t.Context(), store.Local)
		require.ErrorIs(t, err, dataset.ErrParam)
	}
}

// TestNotWritten checks that a definition with an in-memory source is refused
// by name.
func TestNotWritten(t *testing.T) {
	one := counting(t, tensor.Uint8, 3)
	for name, src := range map[string]dataset.Source{"*inmemory.Slices": New(tensor.Named{Name: "a", T: one}), "*inmemory.Samples": NewSamples(nil)} {
		_, err := json.Marshal(dataset.From(src).Batch(2))
		require.ErrorContains(t, err, name)
		_, err = dataset.From(src).Batch(2).MarshalMsg(nil)
		require.ErrorContains(t, err, name)
	}
}

func TestCancel(t *testing.T) {
	one := counting(t, tensor.Uint8, 3)
	sourcetest.Cancel(t, New(tensor.Named{Name: "a", T: one}))
	sourcetest.Cancel(t, NewSamples([]dataset.Column{{Name: "a", Desc: one.Desc}}, []*tensor.Tensor{one}))
}

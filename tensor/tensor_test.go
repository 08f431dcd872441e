package tensor

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestDType(t *testing.T) {
	sizes := map[DType]int{Uint8: 1, Int8: 1, Uint16: 2, Int16: 2, Int32: 4, Int64: 8, Float16: 2, BFloat16: 2, Float32: 4, Float64: 8, Bool: 1, Bytes: 0}
	require.Len(t, sizes, int(Bytes))
	for d, size := range sizes {
		require.NoError(t, d.Validate())
		require.Equal(t, size, d.Size())
		got, err := ParseDType(d.String())
		require.NoError(t, err)
		require.Equal(t, d, got)
		js, err := json.Marshal(d)
		require.NoError(t, err)
		var back DType
		require.NoError(t, json.Unmarshal(js, &back))
		require.Equal(t, d, back)
	}
	for _, d := range []DType{Invalid, Bytes + 1} {
		require.Error(t, d.Validate())
		require.Zero(t, d.Size())
		_, err := json.Marshal(d)
		require.Error(t, err)
	}
	require.Equal(t, "dtype(200)", DType(200).String())
	for _, s := range []string{"", "invalid", "float", "Uint8"} {
		_, err := ParseDType(s)
		require.Error(t, err, s)
	}
	for _, l := range []Layout{NoLayout, HWC, CHW} {
		b, err := l.MarshalText()
		require.NoError(t, err)
		var back Layout
		require.NoError(t, back.UnmarshalText(b))
		require.Equal(t, l, back)
	}
	_, err := Layout(9).MarshalText()
	require.Error(t, err)
	require.Error(t, new(Layout).UnmarshalText([]byte("NCHW")))
	require.Equal(t, "layout(9)", Layout(9).String())
}

func TestShape(t *testing.T) {
	for _, c := range []struct {
		s    Shape
		text string
		json string
		n    int64
	}{
		{Dims(), "()", "[]", 1},
		{Dims(0), "(0,)", "[0]", 0},
		{Dims(7), "(7,)", "[7]", 7},
		{Dims(3, Unknown, 224), "(3, ?, 224)", "[3,-1,224]", -1},
		{Dims(2, 3, 4), "(2, 3, 4)", "[2,3,4]", 24},
		{Dims(0, Unknown), "(0, ?)", "[0,-1]", -1},
		{Dims(1<<30, 1<<30, 4), "(1073741824, 1073741824, 4)", "[1073741824,1073741824,4]", 1 << 62},
		{Dims(1<<30, 1<<30, 8), "(1073741824, 1073741824, 8)", "[1073741824,1073741824,8]", -1},
		{Dims(1<<31-1, 1), "(2147483647, 1)", "[2147483647,1]", 1<<31 - 1},
		{Dims(0, 1<<30, 1<<30, 8), "(0, 1073741824, 1073741824, 8)", "[0,1073741824,1073741824,8]", -1},
		{Dims(1<<30, 1<<30, 8, 0), "(1073741824, 1073741824, 8, 0)", "[1073741824,1073741824,8,0]", -1},
	} {
		require.Equal(t, c.text, c.s.String())
		require.Equal(t, c.n, c.s.Len(), c.text)
		js, err := json.Marshal(c.s)
		require.NoError(t, err)
		require.Equal(t, c.json, string(js))
		var back Shape
		require.NoError(t, json.Unmarshal(js, &back))
		require.True(t, back == c.s)
		require.Equal(t, c.s, Dims(c.s.Slice()...))
	}
	s := Dims(2, 3)
	require.Equal(t, Dims(2, 5), s.With(1, 5))
	require.Equal(t, Dims(2, 3, 4), s.Append(4))
	require.Equal(t, Dims(2, 3), s, "a value: unchanged")
	require.True(t, s.Known())
	require.False(t, s.With(0, Unknown).Known())
	require.Panics(t, func() { s.At(2) })
	require.Panics(t, func() { s.With(-1, 2) })
	require.Panics(t, func() { Dims(1, 1, 1, 1, 1, 1, 1, 1, 1) })
	for _, js := range []string{"[-2]", "[1,1,1,1,1,1,1,1,1]", `"x"`, "[1.5]"} {
		require.Error(t, json.Unmarshal([]byte(js), &s), js)
	}
}

func TestDesc(t *testing.T) {
	hwc, chw := Image(Uint8, HWC, 480, 640, 3), Image(Float32, CHW, 480, 640, 3)
	require.Equal(t, "uint8 HWC (480, 640, 3)", hwc.String())
	require.Equal(t, "float32 CHW (3, 480, 640)", chw.String())
	require.Equal(t, "bytes", Encoded().String())
	require.Equal(t, "int64 ()", Desc{DType: Int64}.String())
	for _, d := range []Desc{hwc, chw} {
		require.Equal(t, []int{480, 640, 3}, []int{d.Height(), d.Width(), d.Channels()})
		require.Equal(t, int64(480*640*3*d.DType.Size()), d.Size())
		e := d.WithSize(1, 2).WithChannels(4)
		require.Equal(t, []int{1, 2, 4}, []int{e.Height(), e.Width(), e.Channels()})
		require.Equal(t, d.Layout, e.Layout)
		var back Desc
		js, err := json.Marshal(d)
		require.NoError(t, err)
		require.NoError(t, json.Unmarshal(js, &back))
		require.Equal(t, d, back)
		require.True(t, d.WithSize(Unknown, Unknown).Matches(d))
		require.False(t, d.Matches(e))
	}
	require.False(t, hwc.Matches(chw))
	require.Panics(t, func() { Encoded().Height() })
	for _, d := range []Desc{
		{}, {DType: 99}, {DType: Bytes, Shape: Dims(1)}, {DType: Bytes, Layout: HWC}, {DType: Uint8, Layout: HWC, Shape: Dims(2, 2)},
		{DType: Uint8, Layout: 7, Shape: Dims(2, 2, 2)}, {DType: Uint8, Shape: Dims(-2)}, {DType: Float64, Shape: Dims(1<<30, 1<<30, 4)},
		{DType: Uint8, Shape: Dims(0, 1<<30, 1<<30, 8)},
	} {
		require.ErrorIs(t, d.Validate(), ErrDesc, "%v", d)
		_, err := New(d)
		require.ErrorIs(t, err, ErrDesc, "%v", d)
	}
	unknown := Image(Uint8, HWC, Unknown, Unknown, 3)
	require.NoError(t, unknown.Validate())
	require.Equal(t, int64(-1), unknown.Size())
	_, err := New(unknown)
	require.ErrorIs(t, err, ErrDesc)
	_, err = Wrap(unknown, nil)
	require.ErrorIs(t, err, ErrDesc)
}

// at returns the element at an index, by the strides.
func at[T Elem](x *Tensor, idx ...int) T {
	off := 0
	for i, k := range idx {
		off += k * x.Strides[i]
	}
	size := x.DType.Size()
	return Cast[T](x.Data[off*size : (off+1)*size])[0]
}

func TestViews(t *testing.T) {
	const h, w, c = 4, 5, 3
	x, err := New(Image(Uint16, HWC, h, w, c))
	require.NoError(t, err)
	for i := range View[uint16](x) {
		View[uint16](x)[i] = uint16(i)
	}
	chw, err := x.Transposed()
	require.NoError(t, err)
	require.Equal(t, Image(Uint16, CHW, h, w, c), chw.Desc)
	require.False(t, chw.Dense())
	back, err := chw.Transposed()
	require.NoError(t, err)
	require.Equal(t, x, back)
	crop, err := x.Slice(0, 1, 3)
	require.NoError(t, err)
	require.True(t, crop.Dense(), "whole rows")
	crop, err = crop.Slice(1, 2, 5)
	require.NoError(t, err)
	require.False(t, crop.Dense())
	cropCHW, err := crop.Transposed()
	require.NoError(t, err)
	green, err := chw.Slice(0, 1, 2)
	require.NoError(t, err)
	for i := range h {
		for j := range w {
			for k := range c {
				want := uint16((i*w+j)*c + k)
				require.Equal(t, want, at[uint16](x, i, j, k))
				require.Equal(t, want, at[uint16](chw, k, i, j))
				if k == 1 {
					require.Equal(t, want, at[uint16](green, 0, i, j))
				}
				if i >= 1 && i < 3 && j >= 2 {
					require.Equal(t, want, at[uint16](crop, i-1, j-2, k))
					require.Equal(t, want, at[uint16](cropCHW, k, i-1, j-2))
				}
			}
		}
	}
	for _, v := range []*Tensor{chw, crop, cropCHW, green} {
		require.True(t, v.Overlaps(x) && x.Overlaps(v))
		d := v.Clone()
		require.True(t, d.Dense())
		require.False(t, d.Overlaps(x))
		require.Equal(t, v.Desc, d.Desc)
		n := 0
		for i := range v.Shape.At(0) {
			for j := range v.Shape.At(1) {
				for k := range v.Shape.At(2) {
					require.Equal(t, at[uint16](v, i, j, k), View[uint16](d)[n])
					n++
				}
			}
		}
		require.Error(t, d.CopyTo(v), "into a strided view")
	}
	top, err := x.Slice(0, 0, 2)
	require.NoError(t, err)
	bottom, err := x.Slice(0, 2, 4)
	require.NoError(t, err)
	require.False(t, top.Overlaps(bottom))
	require.False(t, bottom.Overlaps(top))

	empty, err := x.Slice(1, 5, 5)
	require.NoError(t, err)
	require.Zero(t, empty.Len())
	require.False(t, empty.Overlaps(x))
	require.Empty(t, empty.Clone().Data)
	_, err = empty.Transposed()
	require.NoError(t, err)

	for _, s := range [][3]int{{-1, 0, 1}, {3, 0, 1}, {0, -1, 1}, {0, 2, 1}, {0, 0, 5}} {
		_, err := x.Slice(s[0], s[1], s[2])
		require.Error(t, err, "%v", s)
	}
	_, err = FromBytes([]byte("x")).Slice(0, 0, 1)
	require.Error(t, err)
	_, err = FromBytes([]byte("x")).Transposed()
	require.Error(t, err)
	require.Error(t, x.CopyTo(FromBytes(nil)))
	require.Error(t, FromBytes(nil).CopyTo(FromBytes(nil)))
	other, err := New(Image(Uint16, HWC, h, w, 1))
	require.NoError(t, err)
	require.Error(t, x.CopyTo(other))
	text := FromBytes([]byte("text"))
	require.Equal(t, text, text.Clone())
	require.False(t, text.Overlaps(text.Clone()))
}

func TestReset(t *testing.T) {
	x, err := New(Image(Uint8, HWC, 4, 4, 3))
	require.NoError(t, err)
	data := &x.Data[0]
	require.NoError(t, x.Reset(Desc{DType: Float32, Shape: Dims(3, 2)}))
	require.Same(t, data, &x.Data[0])
	require.Len(t, x.Data, 24)
	require.NoError(t, x.Reset(Image(Uint8, HWC, 4, 4, 3)))
	require.Same(t, data, &x.Data[0], "the memory is still there")
	require.NoError(t, x.Reset(Image(Uint8, HWC, 5, 4, 3)))
	require.NotSame(t, data, &x.Data[0])
	require.Zero(t, testing.AllocsPerRun(10, func() { _ = x.Reset(Image(Uint8, CHW, 4, 5, 3)) }))
	before := *x
	require.ErrorIs(t, x.Reset(Desc{}), ErrDesc)
	require.ErrorIs(t, x.Reset(Image(Uint8, HWC, Unknown, 4, 3)), ErrDesc)
	require.Equal(t, before, *x, "an error changes nothing")
	require.NoError(t, x.Reset(Encoded()))
	require.Len(t, x.Data, 60)

	// Reset replaces memory that is not aligned for the new type.
	odd := FromBytes(Alloc(65)[1:])
	require.NoError(t, odd.Reset(Desc{DType: Float64, Shape: Dims(4)}))
	require.Len(t, View[float64](odd), 4)

	// Reset of a view must not reach into the rest of its parent.
	p, err := New(Desc{DType: Uint8, Shape: Dims(16)})
	require.NoError(t, err)
	v, err := p.Slice(0, 0, 8)
	require.NoError(t, err)
	require.NoError(t, v.Reset(Desc{DType: Uint8, Shape: Dims(12)}))
	require.False(t, v.Overlaps(p))
}

func TestWrap(t *testing.T) {
	b := Alloc(24)
	x, err := Wrap(Desc{DType: Float32, Shape: Dims(2, 3)}, b)
	require.NoError(t, err)
	View[float32](x)[5] = 1
	require.Equal(t, float32(1), at[float32](x, 1, 2))
	require.Same(t, &b[0], &x.Data[0])
	_, err = Wrap(Desc{DType: Float32, Shape: Dims(2, 3)}, b[:20])
	require.ErrorIs(t, err, ErrDesc)
	_, err = Wrap(Desc{DType: Float32, Shape: Dims(5)}, b[1:21])
	require.ErrorIs(t, err, ErrDesc, "not aligned")
	_, err = Wrap(Desc{}, nil)
	require.ErrorIs(t, err, ErrDesc)
	s, err := Wrap(Encoded(), []byte("abc"))
	require.NoError(t, err)
	require.Equal(t, FromBytes([]byte("abc")).Data, s.Data)
	require.Nil(t, Cast[float64](nil))
	require.Panics(t, func() { Cast[uint16](b[:3]) })
	require.Panics(t, func() { Cast[uint16](b[1:3]) })
}

// TestFloat64s reads elements of every type, dense and strided.
func TestFloat64s(t *testing.T) {
	for d := Uint8; d <= Bool; d++ {
		x, err := New(Desc{DType: d, Shape: Dims(2, 3)})
		require.NoError(t, err)
		at := Float64s(x)
		for i := range 6 {
			require.Zero(t, at(i), d)
		}
	}
	x, err := New(Desc{DType: Int16, Shape: Dims(2, 3)})
	require.NoError(t, err)
	copy(View[int16](x), []int16{-1, 2, -3, 4, -5, 6})
	y, err := x.Slice(1, 1, 3)
	require.NoError(t, err)
	at := Float64s(y)
	for i, want := range []float64{2, -3, -5, 6} {
		require.Equal(t, want, at(i))
	}
	h, err := New(Desc{DType: Float16, Shape: Dims(1)})
	require.NoError(t, err)
	View[uint16](h)[0] = 0x3e00
	require.Equal(t, 1.5, Float64s(h)(0))
	require.Nil(t, Float64s(FromBytes([]byte("abc"))))
}

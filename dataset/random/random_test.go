package random

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/dataset"
	"github.com/infer-prep/infer-prep/dataset/sourcetest"
	"github.com/infer-prep/infer-prep/rng"
	"github.com/infer-prep/infer-prep/store"
	"github.com/infer-prep/infer-prep/tensor"
)

// all returns one column of each type.
func all(shape ...int) (l []Column) {
	for d := tensor.Uint8; d.Validate() == nil; d++ {
		if d != tensor.Bytes {
			l = append(l, Column{d.String(), d, shape})
		}
	}
	return l
}

func TestRandom(t *testing.T) {
	for _, o := range []*Random{New(5, all()...), New(300, all(3, 2)...), New(2, Column{"empty", tensor.Int64, []int{2, 0}})} {
		for i := range o.Schema {
			if o.Schema[i].Shape == nil {
				o.Schema[i].Shape = Shape{}
			}
		}
		sourcetest.Spec(t, o)
		sourcetest.Run(t, o)
		require.Zero(t, sourcetest.Allocs(t, o))
	}
}

// TestAsDocumented draws the numbers as Random's comment states.
func TestAsDocumented(t *testing.T) {
	o := New(4, all(2)...)
	o.Seed = 9
	for i, s := range sourcetest.Samples(t, o) {
		r := rng.NewKey(9, 0, "random").At(uint64(i))
		for c := range o.Schema {
			v := &s.Values[c].Tensor
			var got, want any
			for k := range 2 {
				switch v.DType {
				case tensor.Uint8:
					got, want = v.Data[k], byte(r.Uint32())
				case tensor.Int8:
					got, want = int8(v.Data[k]), int8(r.Uint32())
				case tensor.Bool:
					got, want = v.Data[k], byte(r.Uint32()&1)
				case tensor.Uint16:
					got, want = tensor.View[uint16](v)[k], uint16(r.Uint32())
				case tensor.Int16:
					got, want = tensor.View[int16](v)[k], int16(r.Uint32())
				case tensor.Int32:
					got, want = tensor.View[int32](v)[k], int32(r.Uint32())
				case tensor.Int64:
					got, want = tensor.View[int64](v)[k], int64(r.Uint64())
				case tensor.Float16:
					got, want = tensor.Float16ToFloat32(tensor.View[uint16](v)[k]), float32(r.Uint32()>>21)/2048
				case tensor.BFloat16:
					got, want = tensor.BFloat16ToFloat32(tensor.View[uint16](v)[k]), float32(r.Uint32()>>24)/256
				case tensor.Float32:
					got, want = tensor.View[float32](v)[k], float32(r.Uint32()>>8)/(1<<24)
				case tensor.Float64:
					got, want = tensor.View[float64](v)[k], r.Float64()
				default:
					require.Fail(t, v.DType.String())
				}
				require.Equal(t, want, got, "row %d, %v, element %d", i, v.DType, k)
			}
		}
	}
}

func TestValidate(t *testing.T) {
	good := Column{"a", tensor.Uint8, []int{2}}
	for _, o := range []*Random{
		New(0, good), New(-1, good), New(1),
		New(1, good, good),
		New(1, Column{"", tensor.Uint8, nil}),
		New(1, Column{"a", tensor.Bytes, nil}),
		New(1, Column{"a", tensor.Invalid, nil}),
		New(1, Column{"a", 200, nil}),
		New(1, Column{"a", tensor.Uint8, []int{tensor.Unknown}}),
		New(1, Column{"a", tensor.Uint8, make([]int, tensor.MaxRank+1)}),
		New(1, Column{"a", tensor.Int64, []int{1 << 30, 1 << 30, 8}}),
		New(1, Column{"a", tensor.Uint8, []int{1 << 29}}, Column{"b", tensor.Uint8, []int{1<<29 + 1}}),
	} {
		require.ErrorIs(t, o.Validate(), dataset.ErrParam, fmt.Sprintf("%+v", o))
		_, err := o.Open(t.Context(), store.Local)
		require.ErrorIs(t, err, dataset.ErrParam)
	}
}

func TestCancel(t *testing.T) { sourcetest.Cancel(t, New(5, all()...)) }

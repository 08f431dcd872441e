package transforms

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/rng"
	"github.com/infer-prep/infer-prep/tensor"
)

func TestRandomMixup(t *testing.T) {
	refusesParam(t, "alpha", NewRandomMixup(0, 3))
	refusesParam(t, "classes", NewRandomMixup(1, -3))
	refusesParam(t, "partner", &RandomMixup{Alpha: 1, Partner: 7})
	refusesParam(t, "probability", &RandomCutmix{Probability: 2})
	refusesParam(t, "layout", &RandomCutmix{Alpha: 1})
	refusesParam(t, "alpha", &RandomCutmix{Alpha: 2000, Layout: tensor.CHW})
}

// TestMixEach checks what is drawn for each image, and the partners.
func TestMixEach(t *testing.T) {
	const n = 6
	in := func() []tensor.Desc {
		return []tensor.Desc{{DType: tensor.Uint8, Shape: tensor.Dims(n, 8, 9, 3)}, {DType: tensor.Int32, Shape: tensor.Dims(n)}}
	}
	d := NewDraw(newContext())
	draw := func(op Random, ordinal uint64) Op {
		d.Begin()
		ops, err := d.Run(op, rng.NewKey(1, 2, "mix").At(ordinal), in(), nil)
		require.NoError(t, err)
		require.Len(t, ops, 1)
		return ops[0]
	}
	permutations, whole := map[string]bool{}, 0
	for o := range uint64(100) {
		for _, p := range []Partner{PartnerNext, PartnerShuffled} {
			m := draw(&RandomMixup{Alpha: 0.4, Each: true, Partner: p, Classes: 3}, o).(*Mixup)
			require.Len(t, m.Factors, n)
			require.NotEqual(t, m.Factors[0], m.Factors[1])
			require.Equal(t, 3, m.Classes)
			if p == PartnerNext {
				require.Equal(t, IndexList{1, 2, 3, 4, 5, 0}, m.Partners)
				continue
			}
			b, err := m.Partners.MarshalJSON()
			require.NoError(t, err)
			permutations[string(b)] = true
			s := slices.Clone(m.Partners)
			slices.Sort(s)
			require.Equal(t, IndexList{0, 1, 2, 3, 4, 5}, s)
		}
		c := draw(&RandomCutmix{Probability: 0.5, Alpha: 1, Each: true, Partner: PartnerShuffled, Classes: 3, Layout: tensor.HWC}, o).(*Cutmix)
		require.Len(t, c.Windows, 4*n)
		for i := range n {
			if slices.Equal(c.Windows[4*i:4*i+4], []int{0, 0, 0, 0}) {
				whole++
			}
		}
	}
	require.Greater(t, len(permutations), 60)
	require.InDelta(t, 300, whole, 75)
}

func ExampleRandomMixup() {
	d := NewDraw(newContext())
	batch := []tensor.Desc{{DType: tensor.Float32, Shape: tensor.Dims(8, 3, 32, 32)}, {DType: tensor.Int64, Shape: tensor.Dims(8)}}
	ops, _ := d.Run(NewRandomMixup(0.2, 10), rng.NewKey(1, 0, "example").At(0), batch, nil)
	fmt.Println(OpList(ops), batch[1])
	// Output: [{"op":"mixup","version":1,"params":{"factors":[0.8205103246138711],"partners":[],"classes":10}}] float32 (8, 10)
}

func ExampleRandomCutmix() {
	d := NewDraw(newContext())
	batch := []tensor.Desc{{DType: tensor.Float32, Shape: tensor.Dims(8, 3, 32, 32)}, {DType: tensor.Int64, Shape: tensor.Dims(8)}}
	ops, _ := d.Run(NewRandomCutmix(1, 10), rng.NewKey(1, 0, "example").At(0), batch, nil)
	fmt.Println(OpList(ops), batch[1])
	// Output: [{"op":"cutmix","version":1,"params":{"windows":[14,18,6,6],"partners":[],"classes":10,"layout":"CHW"}}] float32 (8, 10)
}

package golden

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/tensor"
)

// Bounded has outputs of a reference whose own bits depend on the processor,
// and how far it is from itself: testdata/gen/common/bounded.py.
type Bounded struct {
	Reference string
	// Bounds has the 99th percentile and the maximum of the distances from the
	// reference's code paths, and between them, for each group and kind of
	// sound.
	Bounds map[string]map[string]struct{ Ours, Itself [2]float64 }
	Cases  []struct {
		Group   string
		Config  json.RawMessage
		Results []struct {
			Sound   string
			Samples int
			Refused bool
			Outputs map[string]struct {
				Digest
				Step   int
				Base64 []byte // every Step-th value, float32
			}
		}
	}
}

// Run computes the outputs of a configuration for a sound: tensors and their
// names.
type Run func(t *testing.T, config json.RawMessage, samples *tensor.Tensor) ([]string, []*tensor.Tensor, error)

// CheckBounded compares run with the file: floats within the bounds, other
// outputs bit for bit. The error of a sound that the reference refuses is
// checked by refused. With INFER_PREP_BOUNDED=DIR it writes all outputs to DIR
// in place of checking the bounds, for the script that computes them.
func CheckBounded(t *testing.T, file string, run Run, refused func(error) bool) {
	b, err := os.ReadFile(file)
	require.NoError(t, err)
	var f Bounded
	require.NoError(t, json.Unmarshal(b, &f))
	require.NotEmpty(t, f.Cases)
	folder := os.Getenv("INFER_PREP_BOUNDED")
	type key struct{ group, sound string }
	far := map[key][]float64{}
	for i, c := range f.Cases {
		for j, r := range c.Results {
			x, err := tensor.New(tensor.Desc{DType: tensor.Float32, Shape: tensor.Dims(r.Samples)})
			require.NoError(t, err)
			copy(tensor.View[float32](x), Sound(r.Sound, r.Samples))
			where := fmt.Sprintf("%s %d %s", r.Sound, r.Samples, c.Config)
			names, out, err := run(t, c.Config, x)
			if r.Refused {
				require.True(t, refused(err), "%s: %v", where, err)
				continue
			}
			require.NoError(t, err, where)
			require.Len(t, out, len(r.Outputs), where)
			for k, name := range names {
				want, ok := r.Outputs[name]
				require.True(t, ok, "%s: output %s", where, name)
				if folder != "" {
					require.NoError(t, writeTo(filepath.Join(folder, fmt.Sprintf("%d-%d-%s", i, j, name)), out[k]))
				}
				if want.Base64 == nil {
					require.Empty(t, want.Diff(out[k]), "%s %s", where, name)
					continue
				}
				shape := make([]int, out[k].Shape.Rank())
				for d := range shape {
					shape[d] = out[k].Shape.At(d)
				}
				require.True(t, slices.Equal(want.Shape, shape), "%s %s: got %v, want %v", where, name, shape, want.Shape)
				got := tensor.View[float32](out[k])
				for n := 0; 4*n < len(want.Base64); n++ {
					w := float64(math.Float32frombits(binary.LittleEndian.Uint32(want.Base64[4*n:])))
					g := float64(got[n*want.Step])
					d := math.Abs(g - w)
					if g == w || math.IsNaN(g) && math.IsNaN(w) { // infinities, too
						d = 0
					}
					at := key{c.Group, r.Sound}
					far[at] = append(far[at], d)
				}
			}
		}
	}
	if folder != "" {
		return
	}
	for at, d := range far {
		slices.Sort(d)
		p99, most := d[(len(d)-1)*99/100], d[len(d)-1]
		bound, ok := f.Bounds[at.group][at.sound]
		require.True(t, ok, "%v", at)
		if p99 > bound.Ours[0] || !(most <= bound.Ours[1]) {
			t.Errorf("%s, %s: 99%% of values within %v, all within %v, want %v", at.group, at.sound, p99, most, bound.Ours)
		}
	}
	t.Logf("%d groups and sounds are within the bounds", len(far))
}

func writeTo(name string, x *tensor.Tensor) error {
	f, err := os.Create(name)
	if err != nil {
		return err
	}
	if err := tensor.WriteRaw(f, x); err != nil {
		f.Close()
		return err
	}
	return f.Close()
}

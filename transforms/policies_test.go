package transforms

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/rng"
	"github.com/infer-prep/infer-prep/tensor"
)

// augNames are torchvision's names of the augmentations.
var augNames = [...]string{
	"Identity", "ShearX", "ShearY", "TranslateX", "TranslateY", "Rotate", "Brightness", "Color", "Contrast", "Sharpness",
	"Posterize", "Solarize", "AutoContrast", "Equalize", "Invert",
}

// policyCase is a call of torchvision: the random numbers that it drew, what it
// chose, and the digest of its pixels.
type policyCase struct {
	Op      string          `json:"op"`
	Params  json.RawMessage `json:"params"`
	Height  int             `json:"height"`
	Width   int             `json:"width"`
	Numbers []float64       `json:"numbers"`
	Chosen  [][2]any        `json:"chosen"`
	SHA256  string          `json:"sha256"`
}

// replayed gives recorded numbers.
type replayed struct {
	t *testing.T
	l []float64
}

func (r *replayed) next() float64 {
	require.NotEmpty(r.t, r.l, "more numbers than the reference draws")
	v := r.l[0]
	r.l = r.l[1:]
	return v
}

func (r *replayed) IntN(n int) int {
	v := int(r.next())
	require.Less(r.t, v, n)
	return v
}

func (r *replayed) Float64() float64 { return r.next() }

func (r *replayed) Dirichlet(_ float64, dst []float64) {
	for i := range dst {
		dst[i] = r.next()
	}
}

// TestPolicies checks that the same random numbers lead to the reference's
// names and magnitudes, and to its pixels.
func TestPolicies(t *testing.T) {
	b, err := os.ReadFile(filepath.Join("testdata", "policies.json"))
	require.NoError(t, err)
	var cases []policyCase
	require.NoError(t, json.Unmarshal(b, &cases))
	seen := map[string]int{}
	d := NewDraw(newContext())
	for i, k := range cases {
		op, err := UnmarshalParams(k.Op, 1, k.Params)
		require.NoError(t, err)
		require.NoError(t, op.Validate())
		r := &replayed{t, k.Numbers}
		x, err := tensor.New(tensor.Image(tensor.Uint8, tensor.HWC, k.Height, k.Width, 3))
		require.NoError(t, err)
		for j := range x.Data {
			c, px := j%3, j/3%k.Width
			py := j / 3 / k.Width
			x.Data[j] = uint8(((px*5+py*3+c*40)^(px*py>>2))%200 + 20)
		}
		d.Begin()
		d.In, d.Src, d.outs = []tensor.Desc{x.Desc}, nil, 1
		var chosen []augmented
		var how augHow
		switch o := op.(type) {
		case *AutoAugment:
			pair, n := o.choose(r, k.Height, k.Width)
			chosen, how = pair[:n], o.how()
		case *RandAugment:
			for range o.NumOps {
				chosen = append(chosen, o.choose(r, k.Height, k.Width))
			}
			how = o.how()
		case *TrivialAugmentWide:
			chosen, how = append(chosen, o.choose(r, k.Height, k.Width)), o.how()
		case *AugMix:
			require.NoError(t, o.emit(d, r, k.Height, k.Width))
		}
		require.Empty(t, r.l, "numbers that the reference draws as well")
		got := [][2]any{}
		for _, a := range chosen {
			got = append(got, [2]any{augNames[a.what], a.magnitude})
			seen[augNames[a.what]]++
		}
		if k.Op != "aug_mix" { // its magnitudes are parameters of ops, which the pixels show
			require.Equal(t, append([][2]any{}, k.Chosen...), got, "%d: %s", i, k.Params)
		}

		for _, a := range chosen {
			require.NoError(t, how.emit(d, a))
		}
		for _, op := range d.ops {
			out, err := run(newContext(), op, x)
			require.NoError(t, err)
			x = out[0]
		}
		sum := sha256.Sum256(x.Data)
		require.Equal(t, k.SHA256, hex.EncodeToString(sum[:8]), "%d: %s: %v", i, k.Params, k.Chosen)
	}
	for _, name := range augNames {
		require.Greater(t, seen[name], 3, name)
	}
}

func TestPolicyParams(t *testing.T) {
	a, r, w := NewAutoAugment(PolicySVHN), NewRandAugment(2, 31), NewTrivialAugmentWide()
	a.Policy = 9
	refusesParam(t, "policy", a)
	refusesParam(t, "magnitude is 31, want 0 to 30", r)
	r.Magnitude, r.NumOps = 0, -1
	refusesParam(t, "num_ops", r)
	w.Bins = 1
	refusesParam(t, "bins", w)
	w = NewTrivialAugmentWide()
	w.Backend = OpenCV
	refusesParam(t, "backend", w)
	refusesInput(t, "one or three channels", NewAutoAugment(PolicySVHN), tensor.Image(tensor.Uint8, tensor.HWC, 5, 6, 4))
	refusesInput(t, "", NewAutoAugment(PolicySVHN), tensor.Image(tensor.Float32, tensor.HWC, 5, 6, 3))
	for _, op := range []Op{NewAutoAugment(PolicyCIFAR10), NewRandAugment(2, 9), NewTrivialAugmentWide()} {
		d := NewDraw(newContext())
		_, err := d.Run(op.(Random), rng.NewKey(1, 1, "x").At(1), []tensor.Desc{tensor.Image(tensor.Uint8, tensor.HWC, tensor.Unknown, 6, 3)}, nil)
		require.ErrorIs(t, err, ErrInput)
	}
}

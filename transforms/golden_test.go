package transforms

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/codec"
	_ "github.com/infer-prep/infer-prep/codec/all"
	"github.com/infer-prep/infer-prep/tensor"
)

// goldenFile is testdata/<op>/cases.json. A script in testdata/gen computes it
// from the op's reference; the arrays are in golden.npz beside it.
type goldenFile struct {
	Op        string       `json:"op"`
	Reference string       `json:"reference"` // includes versions
	Cases     []goldenCase `json:"cases"`
}

type goldenCase struct {
	Name   string          `json:"name"`
	Params json.RawMessage `json:"params"`
	In     []goldenArray   `json:"in"`
	Out    []goldenArray   `json:"out"`
	// Tolerance is the largest allowed difference; Reason explains why it is
	// not 0. Without a tolerance, every bit must be equal.
	Tolerance float64 `json:"tolerance"`
	Reason    string  `json:"reason"`
	// Allocates explains why Apply allocates in steady state, if it does.
	Allocates string `json:"allocates"`
}

type goldenArray struct {
	Array   string        `json:"array"` // its name in golden.npz
	Layout  tensor.Layout `json:"layout"`
	Encoded bool          `json:"encoded"` // the uint8 array is an encoded image, a bytes scalar
}

func (g goldenFile) op(t *testing.T, c goldenCase) Op {
	i, err := Lookup(g.Op)
	require.NoError(t, err)
	op, err := UnmarshalParams(i.Name, i.Version, c.Params)
	require.NoError(t, err)
	return op
}

// readGoldens reads them once for all tests, which must not change them.
func readGoldens(t *testing.T, op string) (goldenFile, map[string]*tensor.Tensor) {
	goldens.Lock()
	defer goldens.Unlock()
	r, ok := goldens.read[op]
	if !ok {
		r.file, r.arrays = parseGoldens(t, op)
		goldens.read[op] = r
	}
	return r.file, r.arrays
}

type readGolden struct {
	file   goldenFile
	arrays map[string]*tensor.Tensor
}

var goldens = struct {
	sync.Mutex
	read map[string]readGolden
}{read: map[string]readGolden{}}

func parseGoldens(t *testing.T, op string) (goldenFile, map[string]*tensor.Tensor) {
	dir := filepath.Join("testdata", op)
	b, err := os.ReadFile(filepath.Join(dir, "cases.json"))
	require.NoError(t, err, "every op has goldens from its reference")
	var g goldenFile
	d := json.NewDecoder(bytes.NewReader(b))
	d.DisallowUnknownFields()
	require.NoError(t, d.Decode(&g))
	require.NotEmpty(t, g.Cases)
	b, err = os.ReadFile(filepath.Join(dir, "golden.npz"))
	require.NoError(t, err)
	list, err := tensor.ReadNPZ(bytes.NewReader(b), int64(len(b)), 1<<28)
	require.NoError(t, err)
	arrays := map[string]*tensor.Tensor{}
	for _, n := range list {
		arrays[n.Name] = n.T
	}
	// Results from other environments or scripts have their own folders.
	for _, from := range []string{"mxnet", "opencv4", "mindspore", "monai", "next", "rotated"} {
		if _, err := os.Stat(dir + "_" + from); err != nil {
			continue
		}
		more, theirs := parseGoldens(t, op+"_"+from)
		require.Equal(t, g.Op, more.Op)
		for _, k := range more.Cases {
			k.Name = from + "_" + k.Name
			for _, l := range [][]goldenArray{k.In, k.Out} {
				for i := range l {
					l[i].Array = from + "_" + l[i].Array
				}
			}
			g.Cases = append(g.Cases, k)
		}
		for n, x := range theirs {
			arrays[from+"_"+n] = x
		}
	}
	return g, arrays
}

func (a goldenArray) tensor(t *testing.T, arrays map[string]*tensor.Tensor) *tensor.Tensor {
	x, ok := arrays[a.Array]
	require.True(t, ok, "golden.npz has no array %q", a.Array)
	if a.Encoded {
		return tensor.FromBytes(x.Data)
	}
	v := *x
	v.Layout = a.Layout
	return &v
}

// run infers, allocates and applies, as an engine does.
func run(c *Context, op Op, src ...*tensor.Tensor) ([]*tensor.Tensor, error) {
	if err := op.Validate(); err != nil {
		return nil, err
	}
	in := make([]tensor.Desc, len(src))
	for i, s := range src {
		in[i] = s.Desc
	}
	out := make([]tensor.Desc, len(InfoOf(op).Out))
	if err := op.Infer(out, in); err != nil {
		return nil, err
	}
	c.Begin()
	if d, ok := op.(DataShaped); ok {
		if err := d.InferData(c, out, src); err != nil {
			return nil, err
		}
	}
	dst := make([]*tensor.Tensor, len(out))
	for i := range out {
		var err error
		if dst[i], err = tensor.New(out[i]); err != nil {
			return nil, err
		}
		for j := range dst[i].Data {
			dst[i].Data[j] = 0xA5 // an op must write every byte of its outputs
		}
	}
	c.Begin()
	return dst, op.Apply(c, dst, src)
}

func newContext() *Context { return NewContext(codec.DefaultLimits()) }

// TestGoldens runs every registered op over the golden cases of its reference.
func TestGoldens(t *testing.T) {
	for _, info := range applied() {
		t.Run(info.Name, func(t *testing.T) {
			g, arrays := readGoldens(t, info.Name)
			require.Equal(t, info.Name, g.Op)
			c := newContext() // shared by all cases: an op must handle changing sizes
			for _, k := range g.Cases {
				t.Run(k.Name, func(t *testing.T) {
					var src []*tensor.Tensor
					for _, a := range k.In {
						src = append(src, a.tensor(t, arrays))
					}
					got, err := run(&Context{Limits: c.Limits, scratch: c.scratch}, g.op(t, k), src...)
					require.NoError(t, err)
					require.Len(t, got, len(k.Out))
					for i, a := range k.Out {
						want := a.tensor(t, arrays)
						require.Equal(t, want.Desc, got[i].Desc, "output %d", i)
						requireSame(t, want, got[i], k.Tolerance)
						if k.Tolerance != 0 {
							require.NotEmpty(t, k.Reason, "a tolerance has its reason beside it")
						}
					}
				})
			}
		})
	}
}

// requireSame compares two dense tensors: bit for bit if tolerance is 0.
func requireSame(t *testing.T, want, got *tensor.Tensor, tolerance float64) {
	t.Helper()
	if bytes.Equal(want.Data, got.Data) {
		return
	}
	worst, count, where := 0.0, 0, ""
	n := int(want.Len())
	for i := range n {
		w, g := number(want, i), number(got, i)
		size := want.DType.Size()
		if bytes.Equal(want.Data[i*size:][:size], got.Data[i*size:][:size]) {
			continue
		}
		if math.IsNaN(w) && math.IsNaN(g) { // the sign of inf-inf is the processor's
			continue
		}
		count++
		d := math.Abs(w - g)
		if math.IsNaN(d) {
			d = math.Inf(1)
		}
		if where == "" {
			where = fmt.Sprintf("at %v: got %v, want %v", index(want.Shape, i), g, w)
		}
		worst = max(worst, d)
	}
	if count > 0 && (tolerance == 0 || worst > tolerance) {
		t.Fatalf("%v: %d of %d elements differ, by up to %v, first %s", want.Desc, count, n, worst, where)
	}
}

func index(s tensor.Shape, i int) []int {
	at := make([]int, s.Rank())
	for a := s.Rank() - 1; a >= 0; a-- {
		at[a] = i % s.At(a)
		i /= s.At(a)
	}
	return at
}

func number(t *tensor.Tensor, i int) float64 {
	switch t.DType {
	case tensor.Uint8, tensor.Bool:
		return float64(t.Data[i])
	case tensor.Int8:
		return float64(tensor.View[int8](t)[i])
	case tensor.Uint16:
		return float64(tensor.View[uint16](t)[i])
	case tensor.Int16:
		return float64(tensor.View[int16](t)[i])
	case tensor.Int32:
		return float64(tensor.View[int32](t)[i])
	case tensor.Int64:
		return float64(tensor.View[int64](t)[i])
	case tensor.Float32:
		return float64(tensor.View[float32](t)[i])
	case tensor.Float64:
		return tensor.View[float64](t)[i]
	}
	return math.NaN()
}

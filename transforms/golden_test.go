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
	"github.com/infer-prep/infer-prep/internal/golden"
	_ "github.com/infer-prep/infer-prep/sound/all"
	"github.com/infer-prep/infer-prep/tensor"
	"github.com/infer-prep/infer-prep/tensor/npz"
)

// goldenFile is testdata/<op>/cases.json. A script in testdata/gen computes it
// from the op's reference; the arrays are in golden.npz beside it.
type goldenFile struct {
	Op        string       `json:"op"`
	Reference string       `json:"reference"` // includes versions
	Cases     []goldenCase `json:"cases"`
	Script    string       `json:"script"` // in testdata/gen, which wrote the file
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

	script string // of its file
}

type goldenArray struct {
	golden.Digest               // of a large output, which has no array
	Array         string        `json:"array"` // its name in golden.npz
	Layout        tensor.Layout `json:"layout"`
	Encoded       bool          `json:"encoded"` // the uint8 array is an encoded image, a bytes scalar
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
	if whole := filepath.Join(os.Getenv("GOLDENS"), op); os.Getenv("GOLDENS") != "" {
		if _, err := os.Stat(whole); err == nil {
			dir = whole
		}
	}
	b, err := os.ReadFile(filepath.Join(dir, "cases.json"))
	require.NoError(t, err, "every op has goldens from its reference")
	var g goldenFile
	d := json.NewDecoder(bytes.NewReader(b))
	d.DisallowUnknownFields()
	require.NoError(t, d.Decode(&g))
	require.NotEmpty(t, g.Cases)
	for i := range g.Cases {
		g.Cases[i].script = g.Script
	}
	b, err = os.ReadFile(filepath.Join(dir, "golden.npz"))
	require.NoError(t, err)
	list, err := npz.Read(bytes.NewReader(b), int64(len(b)), 1<<28)
	require.NoError(t, err)
	arrays := map[string]*tensor.Tensor{}
	for _, n := range list {
		arrays[n.Name] = n.T
	}
	// Results from other environments or scripts have their own folders.
	for _, from := range []string{"mxnet", "opencv4", "mindspore", "monai", "next", "rotated", "torch", "uint16"} {
		if _, err := os.Stat(filepath.Join("testdata", op+"_"+from)); err != nil {
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
						k.requireOutput(t, a, arrays, got[i])
						if k.Tolerance != 0 {
							require.NotEmpty(t, k.Reason, "a tolerance has its reason beside it")
						}
					}
				})
			}
		})
	}
}

// requireOutput compares a tensor with an output of the case.
func (k goldenCase) requireOutput(t *testing.T, want goldenArray, arrays map[string]*tensor.Tensor, got *tensor.Tensor) {
	t.Helper()
	if want.SHA256 == "" {
		w := want.tensor(t, arrays)
		require.Equal(t, w.Desc, got.Desc)
		requireSame(t, w, got, k.Tolerance)
		return
	}
	require.Equal(t, want.Layout, got.Layout)
	if diff := want.Diff(got); diff != "" {
		t.Fatalf("%s\nGOLDENS=DIR testdata/gen/run.sh %s writes the whole arrays to DIR; with GOLDENS=DIR this test compares them", diff, k.script)
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
		w, g := golden.Number(want, i), golden.Number(got, i)
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
			where = fmt.Sprintf("at %v: got %v, want %v", golden.Index(want.Shape, i), g, w)
		}
		worst = max(worst, d)
	}
	if count > 0 && (tolerance == 0 || worst > tolerance) {
		t.Fatalf("%v: %d of %d elements differ, by up to %v, first %s", want.Desc, count, n, worst, where)
	}
}

package onnx

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/datagraph"
	"github.com/infer-prep/infer-prep/tensor"
)

// goldens is testdata/onnx/goldens.json, written by
// testdata/gen/models/onnx_forms.py.
type goldens struct {
	Cases      []goldenCase
	MergeGraph *datagraph.Graph `json:"merge_graph"`
	Merged     []struct {
		Form, Input string
		Logits      []float64
	}
}

type goldenCase struct {
	Name, Form string
	HostTaps   bool `json:"host_taps"`
	Batch      bool
	Graph      *datagraph.Graph
	Runs       []goldenRun
}

type goldenRun struct {
	Height, Width int
	Stated        bool
	Model         string
	Outputs       []struct {
		Name, DType string
		Shape       []int
		SHA256      string
		Data        string
	}
}

const folder = "../testdata/onnx"

func readGoldens(t testing.TB) goldens {
	var g goldens
	require.NoError(t, json.Unmarshal(readFile(t, "goldens.json"), &g))
	require.NotEmpty(t, g.Cases)
	return g
}

func readFile(t testing.TB, name string) []byte {
	b, err := os.ReadFile(filepath.Join(folder, name))
	require.NoError(t, err)
	return b
}

func sum(b []byte) string {
	s := sha256.Sum256(b)
	return hex.EncodeToString(s[:])
}

// picture returns the test image of onnx_forms.py.
func picture(t testing.TB, h, w int) *tensor.Tensor {
	p, err := tensor.New(tensor.Image(tensor.Uint8, tensor.HWC, h, w, 3))
	require.NoError(t, err)
	for i := range p.Data {
		z := uint32(i) * 2654435761
		z ^= z >> 15
		z *= 2246822519
		z ^= z >> 13
		p.Data[i] = uint8(z)
		if i/24%3 == 0 {
			p.Data[i] = uint8(z&1) * 255
		}
	}
	return p
}

func (c *goldenCase) options(t testing.TB, r goldenRun) Options {
	form, err := ParseForm(c.Form)
	require.NoError(t, err)
	o := Options{Form: form, HostTaps: c.HostTaps, Batch: c.Batch}
	if r.Stated {
		o.Height, o.Width = r.Height, r.Width
	}
	return o
}

// reference runs the steps of a model on the CPU.
func reference(t testing.TB, g *datagraph.Graph, e *Exported, in *tensor.Tensor) []*tensor.Tensor {
	part := &datagraph.Graph{Steps: g.Steps[e.First:]}
	for _, p := range e.Inputs {
		part.Inputs = append(part.Inputs, datagraph.Column{Name: p.Column, Desc: p.Desc})
	}
	for _, p := range e.Outputs {
		part.Outputs = append(part.Outputs, p.Column)
	}
	plan, err := datagraph.Compile(part, datagraph.CompileOptions{})
	require.NoError(t, err)
	out, err := plan.NewRunner().Run(in)
	require.NoError(t, err)
	return out
}

func raw(t testing.TB, x *tensor.Tensor) []byte {
	var b bytes.Buffer
	require.NoError(t, tensor.WriteRaw(&b, x))
	return b.Bytes()
}

// TestGoldens checks that exported models are the ones that ONNX Runtime ran.
// Its outputs must equal those of the CPU: every bit for exact and tail, within
// 1 for fast.
func TestGoldens(t *testing.T) {
	exact, fast := 0, 0
	for _, c := range readGoldens(t).Cases {
		t.Run(c.Name, func(t *testing.T) {
			for _, r := range c.Runs {
				e, err := Export(c.Graph, c.options(t, r))
				require.NoError(t, err)
				require.Equal(t, r.Model, sum(e.Model), "%dx%d: the model is another one; run testdata/gen/models/onnx_forms.py", r.Height, r.Width)
				want := reference(t, c.Graph, e, picture(t, r.Height, r.Width))
				require.Len(t, r.Outputs, len(e.Outputs))
				for i, p := range e.Outputs {
					got := r.Outputs[i]
					require.Equal(t, p.Name, got.Name)
					shape := want[i].Shape.Slice()
					if c.Batch {
						shape = append([]int{1}, shape...)
					}
					require.Equal(t, shape, got.Shape, "%dx%d %s", r.Height, r.Width, p.Name)
					require.True(t, p.Desc.Matches(want[i].Desc), "%v, want %v", p.Desc, want[i].Desc)
					b := raw(t, want[i])
					switch {
					case len(e.Within1) == 0 || p.Column != "image":
						require.Equal(t, got.SHA256, sum(b), "%dx%d %s", r.Height, r.Width, p.Name)
						exact++
					case got.Data != "":
						within(t, c.Name, got.Data, want[i])
						fast++
					default:
						require.True(t, strings.HasPrefix(c.Name, "size_"))
					}
				}
			}
		})
	}
	require.Greater(t, exact, 150)
	require.Greater(t, fast, 60)
}

// within compares with ONNX Runtime's bytes: uint8 within 1, float32 within the
// normalised equivalent of 1 of 255.
func within(t testing.TB, name, data string, want *tensor.Tensor) {
	b, err := base64.StdEncoding.DecodeString(data)
	require.NoError(t, err)
	got, err := tensor.ReadRaw(bytes.NewReader(b), want.Desc, math.MaxInt64)
	require.NoError(t, err)
	w := want.Shape.At(1)
	if want.DType == tensor.Uint8 {
		for i, v := range want.Data {
			require.InDelta(t, v, got.Data[i], 1, "%s: at (%d, %d): got %d want %d", name, i/3%w, i/3/w, got.Data[i], v)
		}
		return
	}
	smallest := map[string]float64{"fast_imagenet": 0.224, "fast_hf": 0.5}[name]
	require.NotZero(t, smallest)
	g := tensor.View[float32](got)
	for i, v := range tensor.View[float32](want) {
		require.InDelta(t, v, g[i], 1.001/255/smallest, "%s: element %d", name, i)
	}
}

// TestTaps compares the taps of host taps with those of a known size. ONNX
// Runtime ran the models of both.
func TestTaps(t *testing.T) {
	for _, c := range readGoldens(t).Cases {
		if !c.HostTaps {
			continue
		}
		t.Run(c.Name, func(t *testing.T) {
			r := c.Runs[0]
			e, err := Export(c.Graph, c.options(t, r))
			require.NoError(t, err)
			for _, r := range c.Runs {
				taps, err := e.Taps(r.Height, r.Width)
				require.NoError(t, err)
				require.Len(t, taps, 6)
				m, err := parseModel(e.Model)
				require.NoError(t, err)
				require.Len(t, m.graph.inputs, 7)
				names := map[string]bool{}
				for _, in := range m.graph.inputs {
					names[in.name] = true
				}
				for i, n := range taps {
					require.True(t, names[n.Name], n.Name)
					require.Equal(t, tensor.Int32, n.T.DType)
					if i%2 == 1 { // every output's weights sum to one, apart from rounding
						out := n.T.Shape.At(1)
						for o := range out {
							sum := int64(0)
							for k := range n.T.Shape.At(0) {
								sum += int64(tensor.View[int32](n.T)[k*out+o])
							}
							require.InDelta(t, 1<<22, sum, 16, "%s: output %d", n.Name, o)
						}
					}
				}
			}
			_, err = e.Taps(0, 10)
			require.Error(t, err)
		})
	}
	g := readGoldens(t).MergeGraph
	e, err := Export(g, Options{Form: Tail})
	require.NoError(t, err)
	taps, err := e.Taps(10, 10)
	require.NoError(t, err)
	require.Empty(t, taps)
}

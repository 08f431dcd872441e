package datagraph_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/codec"
	"github.com/infer-prep/infer-prep/datagraph"
	"github.com/infer-prep/infer-prep/rng"
	"github.com/infer-prep/infer-prep/tensor"
	x "github.com/infer-prep/infer-prep/transforms"
)

// counted is a format that counts the headers it reads: "counted", a side, and
// the value of all samples. It gives rows.
type counted struct{ data []byte }

var headers int

func init() {
	codec.Register(codec.Format{Name: "counted", Magic: []string{"counted"}, New: func() codec.FormatDecoder { return &counted{} }})
}

func (c *counted) Open(data []byte, _ *codec.Options) (codec.Config, error) {
	headers++
	c.data = data
	side := int(data[7])
	return codec.Config{Format: "counted", Mode: codec.RGB, Width: side, Height: side, Depth: 8, Frames: 1}, nil
}

func (c *counted) Decode(dst *codec.Raster) error {
	side := int(c.data[7])
	dst.Reset(codec.RGB, side, side)
	for i := range dst.Pix {
		dst.Pix[i] = c.data[8]
	}
	c.data = nil
	return nil
}

func (c *counted) DecodeRows(sink codec.RowSink, region codec.Region) (damaged, err error) {
	row := make([]byte, 3*region.Width)
	for i := range row {
		row[i] = c.data[8]
	}
	for y := range region.Height {
		sink.Rows(region.Top+y, 1, row)
	}
	c.data = nil
	return nil, nil
}

// TestHeaderIsReadOnce counts the headers that a run reads: one for each image,
// with passes and without, with random ops and without. The images are in the
// same memory and of the same length, so that an open image of an earlier run
// would be found by its address.
func TestHeaderIsReadOnce(t *testing.T) {
	for _, c := range []struct {
		name string
		g    *datagraph.Graph
	}{
		{"decode", datagraph.New(x.NewDecode())},
		{"rows", datagraph.New(x.NewDecode(), x.NewResize(16, 16), x.NewToTensor())},
		{"cropped", datagraph.New(x.NewDecode(), x.NewCenterCrop(8, 8), x.NewToTensor())},
		{"random", datagraph.New(x.NewDecode(), x.NewRandomCrop(8, 8, 0), x.NewRandomHorizontalFlip(), x.NewToTensor())},
		{"random decoding", datagraph.New(x.NewRandomCropDecodeResize(8, 8), x.NewToTensor())},
	} {
		for _, off := range [][]datagraph.Pass{nil, datagraph.Passes()} {
			plan, err := datagraph.Compile(c.g, datagraph.CompileOptions{Disable: off})
			require.NoError(t, err, c.name)
			r := plan.NewRunner()
			in := []byte("counted\x20\x07")
			for i := range 4 {
				side, value := byte(32-i), byte(50*i)
				in[7], in[8] = side, value
				headers = 0
				r.At = rng.Point{Seed: 1, Ordinal: uint64(i)}
				out, err := r.Run(tensor.FromBytes(in))
				require.NoError(t, err, c.name)
				require.Equal(t, 1, headers, "%s, %d passes off", c.name, len(off))
				if out[0].DType == tensor.Uint8 {
					require.Equal(t, tensor.Dims(int(side), int(side), 3), out[0].Shape)
					require.Equal(t, value, out[0].Data[0])
				}
				// Infer leaves the image open; the next run reads its own.
				in[7], in[8] = 9, 9
				if !c.g.Random() {
					_, err = r.Infer(tensor.FromBytes(in))
					require.NoError(t, err)
				}
			}
		}
	}
}

// TestPoolReadsHeadersOnce counts the headers that a Pool reads for an image:
// the estimate of its memory, Admit and the run share one.
func TestPoolReadsHeadersOnce(t *testing.T) {
	for name, g := range map[string]*datagraph.Graph{
		"decode": datagraph.New(x.NewDecode()),
		"rows":   datagraph.New(x.NewDecode(), x.NewResize(16, 16), x.NewToTensor()),
		"random": datagraph.New(x.NewRandomCropDecodeResize(8, 8), x.NewToTensor()),
	} {
		plan, err := datagraph.Compile(g, datagraph.CompileOptions{})
		require.NoError(t, err, name)
		pool := plan.NewPool(datagraph.PoolOptions{Jobs: 1, Bytes: 1 << 20})
		for i, admit := range []bool{false, true, false} {
			headers = 0
			require.NoError(t, pool.Do(t.Context(), func(r *datagraph.Runner) error {
				in := tensor.FromBytes([]byte{'c', 'o', 'u', 'n', 't', 'e', 'd', byte(32 + i), 7})
				if admit {
					if _, err := r.Admit(in); err != nil {
						return err
					}
				}
				_, err := r.Run(in)
				return err
			}))
			require.Equal(t, 1, headers, "%s, run %d", name, i)
		}
	}
}

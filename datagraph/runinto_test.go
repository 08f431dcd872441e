package datagraph_test

import (
	"bytes"
	"image"
	"image/png"
	"os"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/datagraph"
	"github.com/infer-prep/infer-prep/internal/short"
	"github.com/infer-prep/infer-prep/tensor"
	"github.com/infer-prep/infer-prep/transforms"
)

// TestRunInto compares RunInto with Run for all known graphs, with memory of
// every kind, and checks that nothing is written behind an output.
func TestRunInto(t *testing.T) {
	var images []*tensor.Tensor
	for _, name := range []string{"jpeg_large.jpg", "png_rgba8.png", "jpeg_gray.jpg"} {
		b, err := os.ReadFile("../testdata/images/" + name)
		require.NoError(t, err)
		images = append(images, tensor.FromBytes(b))
	}
	there, runs := 0, 0
	step := 4 * short.Step(t, 10)
	for i, g := range knownGraphs(t) {
		if i%step != 0 || len(g.graph.Inputs) != 1 || g.graph.Inputs[0].Desc.DType != tensor.Bytes {
			continue
		}
		p, err := datagraph.Compile(g.graph, datagraph.CompileOptions{})
		require.NoError(t, err, g.name)
		want, got := p.NewRunner(), p.NewRunner()
		for k, image := range images {
			out, err := want.Run(image)
			if err != nil {
				_, e := got.RunInto(make([][]byte, 1), image)
				require.EqualError(t, e, err.Error(), g.name)
				continue
			}
			dst := make([][]byte, len(out))
			all := make([][]byte, len(out))
			for i, o := range out {
				all[i] = tensor.Alloc(int(o.Desc.Size()) + 64)
				for j := range all[i] {
					all[i][j] = 0xa5
				}
				switch k {
				case 0:
					dst[i] = all[i][:o.Desc.Size()]
				case 1:
					dst[i] = all[i][1:][:o.Desc.Size()] // misaligned
				default:
					dst[i] = all[i] // larger
				}
			}
			res, err := got.RunInto(dst, image)
			require.NoError(t, err, g.name)
			for i, o := range out {
				n := int(o.Desc.Size())
				require.Equal(t, o.Desc, res[i].Desc)
				require.Equal(t, append([]byte{}, o.Clone().Data...), dst[i][:n], "%s: output %d of image %d", g.name, i, k)
				behind := all[i][n:]
				if k == 1 {
					behind = all[i][n+1:]
				}
				for _, b := range behind {
					require.Equal(t, byte(0xa5), b, "%s: output %d of image %d, %v", g.name, i, k, o.Desc)
				}
			}
			runs++
			if k > 0 {
				continue
			}
			// The Runner keeps no memory of the caller.
			before := make([][]byte, len(dst))
			for i, d := range dst {
				before[i] = append([]byte(nil), d...)
			}
			if _, err := got.Run(images[1]); err == nil {
				for i := range dst {
					require.Equal(t, before[i], append([]byte(nil), dst[i]...), g.name)
				}
			}
			if res, err = got.RunInto(dst, image); err == nil && unsafe.SliceData(res[0].Data) == unsafe.SliceData(dst[0]) {
				there++
			}
		}
	}
	t.Logf("%d runs; %d graphs computed the first output in the caller's memory", runs, there)
	require.Greater(t, 3*there, runs/2)
}

// encoded returns a PNG file of 5 x 3 pixels.
func encoded(t *testing.T) *tensor.Tensor {
	var b bytes.Buffer
	require.NoError(t, png.Encode(&b, image.NewNRGBA(image.Rect(0, 0, 5, 3))))
	return tensor.FromBytes(b.Bytes())
}

func TestRunIntoErrors(t *testing.T) {
	g := datagraph.New(transforms.NewDecode(), transforms.NewHorizontalFlip())
	p, err := datagraph.Compile(g, datagraph.CompileOptions{})
	require.NoError(t, err)
	r := p.NewRunner()
	file := encoded(t)
	_, err = r.RunInto([][]byte{make([]byte, 44)}, file)
	require.ErrorIs(t, err, transforms.ErrInput)
	require.ErrorContains(t, err, `output "image" has 45 bytes, its memory has 44`)
	_, err = r.RunInto([][]byte{{}}, file)
	require.ErrorContains(t, err, "its memory has 0")
	_, err = r.RunInto(make([][]byte, 2), file)
	require.ErrorContains(t, err, "memory for 2 outputs, the graph has 1")
	_, err = r.RunInto([][]byte{make([]byte, 45)}, tensor.FromBytes(nil))
	require.Error(t, err)
	out, err := r.Run(file)
	require.NoError(t, err)
	require.Len(t, out[0].Data, 45)
}

func TestRunIntoAllocatesNothing(t *testing.T) {
	g := datagraph.New(transforms.NewHorizontalFlip(), transforms.NewHorizontalFlip())
	g.Inputs[0].Desc = tensor.Image(tensor.Uint8, tensor.HWC, -1, -1, 3)
	p, err := datagraph.Compile(g, datagraph.CompileOptions{})
	require.NoError(t, err)
	r := p.NewRunner()
	in, err := tensor.New(tensor.Image(tensor.Uint8, tensor.HWC, 20, 30, 3))
	require.NoError(t, err)
	dst := [][]byte{tensor.Alloc(1800)}
	require.Zero(t, testing.AllocsPerRun(10, func() {
		if _, err := r.RunInto(dst, in); err != nil {
			panic(err)
		}
	}))
}

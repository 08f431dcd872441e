package frames_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/gif"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/codec"
	"github.com/infer-prep/infer-prep/datagraph"
	"github.com/infer-prep/infer-prep/tensor"
	"github.com/infer-prep/infer-prep/transforms"
	"github.com/infer-prep/infer-prep/transforms/frames"
)

// run runs a graph of the op.
func run(op *frames.DecodeFrames, file []byte, limits codec.Limits) (*tensor.Tensor, error) {
	g := &datagraph.Graph{Inputs: []datagraph.Column{{Name: "file", Desc: tensor.Encoded()}}, Outputs: []string{"frames"}}
	g.Then(op, []string{"file"}, []string{"frames"})
	plan, err := datagraph.Compile(g, datagraph.CompileOptions{Limits: limits})
	if err != nil {
		return nil, err
	}
	out, err := plan.NewRunner().Run(tensor.FromBytes(file))
	if err != nil {
		return nil, err
	}
	return out[0], nil
}

// TestPillow compares all frames, every second one, and loops with those of
// testdata/gen/codecs/animations.py.
func TestPillow(t *testing.T) {
	b, err := os.ReadFile("../../codec/animation/testdata/animations.json")
	require.NoError(t, err)
	var files []struct {
		Format, Error string
		File          []byte
		Size          [2]int
		Frames        []string
	}
	require.NoError(t, json.Unmarshal(b, &files))
	compared, refused := 0, 0
	for k, f := range files {
		x, err := run(frames.NewDecodeFrames(0), f.File, codec.Limits{})
		if errors.Is(err, codec.ErrUnsupported) {
			refused++
			continue
		}
		if f.Error != "" {
			require.Error(t, err, "file %d", k)
			continue
		}
		require.NoError(t, err, "%s, file %d", f.Format, k)
		n := len(f.Frames)
		same := func(x *tensor.Tensor, want ...int) {
			require.Equal(t, tensor.Desc{DType: tensor.Uint8, Shape: tensor.Dims(len(want), f.Size[1], f.Size[0], 3)}, x.Desc)
			size := f.Size[0] * f.Size[1] * 3
			for i, w := range want {
				s := sha256.Sum256(x.Data[i*size:][:size])
				require.Equal(t, f.Frames[w], hex.EncodeToString(s[:8]), "%s, file %d, frame %d", f.Format, k, i)
				compared++
			}
		}
		all := make([]int, n)
		for i := range all {
			all[i] = i
		}
		same(x, all...)
		x, err = run(&frames.DecodeFrames{First: n - 1, Count: 3, Step: 2, Short: frames.ShortLoop}, f.File, codec.Limits{})
		require.NoError(t, err)
		same(x, n-1, (n+1)%n, (n+3)%n)
		x, err = run(&frames.DecodeFrames{Count: 2, Step: n, Short: frames.ShortClamp}, f.File, codec.Limits{})
		require.NoError(t, err)
		same(x, 0, n-1)
		x, err = run(&frames.DecodeFrames{First: n / 2, Count: 1, Step: 1}, f.File, codec.Limits{})
		require.NoError(t, err)
		same(x, n/2)
	}
	t.Logf("%d files, %d frames, %d files refused", len(files), compared, refused)
	require.Greater(t, compared, 100)
	require.Less(t, refused, len(files)/10)
}

// animated returns a GIF of n frames of 2x1 pixels. Frame i has the colour
// (i, 2i, 3i).
func animated(n int) []byte {
	g := &gif.GIF{}
	for i := range n {
		p := image.NewPaletted(image.Rect(0, 0, 2, 1), color.Palette{color.RGBA{uint8(i), uint8(2 * i), uint8(3 * i), 255}, color.RGBA{A: 255}})
		g.Image, g.Delay = append(g.Image, p), append(g.Delay, 1)
	}
	var b bytes.Buffer
	if err := gif.EncodeAll(&b, g); err != nil {
		panic(err)
	}
	return b.Bytes()
}

func TestErrors(t *testing.T) {
	for text, op := range map[string]*frames.DecodeFrames{
		"first is -1, want 0 to 1048575":              {First: -1, Step: 1},
		"count is 1048577, want 0 to 1048576":         {Count: 1<<20 + 1, Step: 1},
		"step is 0, want 1 to 1048576":                {Count: 1},
		"want one of":                                 {Step: 1, Short: 3},
		"the file has 3 frames, want frame 3":         {Count: 4, Step: 1},
		"the file has 3 frames, want frame 5":         {First: 1, Count: 3, Step: 2},
		"the file has 3 frames, want frame 7":         {First: 7, Step: 1, Short: frames.ShortLoop},
		"1048576 frames of 2x1 pixels, the limit is ": {Count: 1 << 20, Step: 1, Short: frames.ShortLoop},
	} {
		_, err := run(op, animated(3), codec.Limits{Bytes: 1 << 20})
		require.ErrorContains(t, err, text)
	}
	_, err := run(frames.NewDecodeFrames(0), []byte("GIF89a"), codec.Limits{})
	var e *codec.Error
	require.ErrorAs(t, err, &e)
	var out [1]tensor.Desc
	require.ErrorIs(t, frames.NewDecodeFrames(0).Infer(out[:], []tensor.Desc{{DType: tensor.Uint8, Shape: tensor.Dims(3)}}), transforms.ErrInput)
}

func ExampleDecodeFrames() {
	x, err := run(&frames.DecodeFrames{First: 1, Count: 2, Step: 1}, animated(3), codec.Limits{})
	fmt.Println(x.Desc, x.Data, err)
	// Output: uint8 (2, 1, 2, 3) [1 2 3 1 2 3 2 4 6 2 4 6] <nil>
}

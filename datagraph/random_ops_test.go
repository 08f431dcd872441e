package datagraph_test

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/codec"
	"github.com/infer-prep/infer-prep/datagraph"
	"github.com/infer-prep/infer-prep/internal/short"
	"github.com/infer-prep/infer-prep/rng"
	"github.com/infer-prep/infer-prep/tensor"
	t "github.com/infer-prep/infer-prep/transforms"
)

// trainingOps returns typical lists of training ops.
func trainingOps() map[string][]t.Op {
	erase := t.NewRandomErasing()
	erase.Probability = 0.7
	noise := t.NewRandomErasing()
	noise.Noise = true
	crop := t.NewRandomCrop(64, 48, 4)
	crop.PadIfNeeded, crop.Mode = true, t.PadReflect
	color := t.NewRandomColorAdjust(0.4, 0.4, 0.4, 0.1)
	bright := t.NewRandomColorAdjust(0.4, 0, 0, 0)
	gray := t.NewRandomGrayscale()
	gray.Probability = 0.5
	bicubic := t.NewRandomResizedCrop(40, 56)
	bicubic.Interpolation = t.Bicubic
	opencv := t.NewRandomResizedCrop(40, 56)
	opencv.Backend = t.OpenCV
	bgr := t.NewRandomCropDecodeResize(64, 64)
	bgr.Color = codec.ToBGR
	torch := t.NewResizedCrop(1, 2, 20, 30, 40, 56)
	torch.Backend = t.Torch
	same := *torch
	same.Backend = t.Pillow
	return map[string][]t.Op{
		"backends":   {t.NewDecode(), t.NewRandomChoice(bicubic, opencv, torch, &same), bright, t.NewToTensor()},
		"colours":    {t.NewRandomChoice(bgr, t.NewRandomCropDecodeResize(64, 64)), t.NewConvertColor(t.RGB, t.BGR), t.NewToTensor()},
		"imagenet":   {t.NewDecode(), t.NewRandomResizedCrop(64, 64), t.NewRandomHorizontalFlip(), t.NewToTensor()},
		"decode":     {t.NewRandomCropDecodeResize(64, 64), t.NewRandomHorizontalFlip(), t.NewRandomVerticalFlip(), t.NewToTensor()},
		"bicubic":    {t.NewDecode(), bicubic, bright, t.NewToTensor()},
		"opencv":     {t.NewDecode(), opencv, t.NewRandomHorizontalFlip(), t.NewHWC2CHW()},
		"colour":     {t.NewDecode(), t.NewRandomResizedCrop(40, 40), color, gray, t.NewToTensor(), erase},
		"brightness": {t.NewDecode(), t.NewResize(30, 31), bright, t.NewInvert(), bright, t.NewToTensor()},
		"noise":      {t.NewDecode(), t.NewCenterCrop(50, 60), t.NewToTensor(), noise},
		"crop":       {t.NewDecode(), crop, erase, t.NewHWC2CHW()},
		"lists": {t.NewDecode(), t.NewResize(40, 44),
			t.NewRandomChoice(t.NewRandomOrder(bright, t.NewInvert(), t.NewHorizontalFlip()), t.NewCompose(t.NewVerticalFlip(), color)),
			t.NewRandomApply(0.5, t.NewRandomCrop(40, 44, 3)),
			t.NewRandomSelectSubpolicy().Policy([]float64{0.5, 0.5}, t.NewInvert(), t.NewHorizontalFlip()).Policy([]float64{0.3}, color),
			t.NewToTensor()},
	}
}

// TestRandomOps checks that a random graph has the same outputs with and
// without passes.
func TestRandomOps(test *testing.T) {
	images := []*tensor.Tensor{testImage(test, "jpeg_large.jpg"), testImage(test, "png_rgba8.png"), testImage(test, "jpeg_large_prog.jpg")}
	for name, ops := range trainingOps() {
		test.Run(name, func(test *testing.T) {
			p, err := datagraph.Compile(datagraph.New(ops...), datagraph.CompileOptions{})
			require.NoError(test, err)
			q, err := datagraph.Compile(datagraph.New(ops...), datagraph.CompileOptions{Disable: datagraph.Passes()})
			require.NoError(test, err)
			fused, plain := p.NewRunner(), q.NewRunner()
			differ := map[string]bool{}
			n := short.Rounds(test, 90, 9)
			for o := range uint64(n) {
				image := images[o%uint64(len(images))]
				fused.At = rng.Point{Seed: 9, Epoch: 1, Ordinal: o}
				plain.At = fused.At
				got, err := fused.Run(image)
				require.NoError(test, err)
				want, err := plain.Run(image)
				require.NoError(test, err)
				require.Equal(test, want[0].Desc, got[0].Desc)
				require.True(test, bytes.Equal(want[0].Data, got[0].Data), "sample %d", o)
				differ[string(got[0].Data)] = true
			}
			require.Greater(test, len(differ), n*2/9)
			if name == "noise" || name == "lists" || name == "colour" {
				return // too many lists of ops to compare
			}
			if short.On() {
				return // no platform changes what is allocated
			}
			fused.At.Ordinal = 0
			again := func() {
				for range 10 {
					fused.At.Ordinal = (fused.At.Ordinal + 3) % 90
					_, err = fused.Run(images[0])
					require.NoError(test, err)
				}
			}
			again()
			require.Zero(test, testing.AllocsPerRun(5, again))
		})
	}
}

// TestRandomOpsForms writes and reads graphs with random ops and op lists as
// JSON and msgp.
func TestRandomOpsForms(test *testing.T) {
	for name, ops := range trainingOps() {
		g := datagraph.New(ops...)
		text, err := g.MarshalJSON()
		require.NoError(test, err)
		var a datagraph.Graph
		require.NoError(test, a.UnmarshalJSON(text), name)
		b, err := g.MarshalMsg(nil)
		require.NoError(test, err)
		var c datagraph.Graph
		_, err = c.UnmarshalMsg(b)
		require.NoError(test, err, name)
		for _, h := range []*datagraph.Graph{&a, &c} {
			require.Equal(test, g.Steps, h.Steps, name)
		}
	}
}

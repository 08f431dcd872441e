package transforms

import (
	"image"
	"math/rand/v2"
	"testing"

	"github.com/disintegration/gift"
	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/tensor"
)

// TestOracle compares the ops that only move or negate bytes with gift 1.2.1.
// It is a second implementation in Go, besides the Python references of the
// goldens.
func TestOracle(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, size := range []image.Point{{1, 1}, {5, 3}, {4, 7}, {33, 18}} {
		src := image.NewNRGBA(image.Rectangle{Max: size})
		for i := range src.Pix {
			src.Pix[i] = byte(r.Uint32())
		}
		x0, y0 := r.IntN(size.X), r.IntN(size.Y)
		w, h := 1+r.IntN(size.X-x0), 1+r.IntN(size.Y-y0)
		for _, c := range []struct {
			name   string
			op     Op
			filter gift.Filter
		}{
			{"horizontal_flip", &HorizontalFlip{}, gift.FlipHorizontal()},
			{"vertical_flip", &VerticalFlip{}, gift.FlipVertical()},
			{"rotate90 0", &Rotate90{Turns: 0}, nil},
			{"rotate90 1", &Rotate90{Turns: 1}, gift.Rotate90()},
			{"rotate90 2", &Rotate90{Turns: 2}, gift.Rotate180()},
			{"rotate90 3", &Rotate90{Turns: 3}, gift.Rotate270()},
			{"crop", &Crop{Top: y0, Left: x0, Height: h, Width: w}, gift.Crop(image.Rect(x0, y0, x0+w, y0+h))},
			{"invert", &Invert{}, gift.Invert()},
		} {
			g := gift.New()
			if c.filter != nil {
				g.Add(c.filter)
			}
			want := image.NewNRGBA(g.Bounds(src.Bounds()))
			g.Draw(want, src)
			in, err := tensor.Wrap(tensor.Desc{DType: tensor.Uint8, Layout: tensor.HWC, Shape: tensor.Dims(size.Y, size.X, 4)}, src.Pix)
			require.NoError(t, err)
			got, err := run(newContext(), c.op, in)
			require.NoError(t, err, c.name)
			require.Equal(t, tensor.Dims(want.Rect.Dy(), want.Rect.Dx(), 4), got[0].Desc.Shape, c.name)
			for i, v := range got[0].Data {
				x, y := i/4%want.Rect.Dx(), i/4/want.Rect.Dx()
				if c.name == "invert" && i%4 == 3 {
					continue // gift keeps alpha, Invert does not
				}
				require.Equal(t, want.Pix[i], v, "%s at (%d, %d) of %v", c.name, x, y, size)
			}
		}
	}
}

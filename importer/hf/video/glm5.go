package video

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"

	"github.com/infer-prep/infer-prep/datagraph"
	"github.com/infer-prep/infer-prep/importer"
	"github.com/infer-prep/infer-prep/transforms"
)

func init() {
	define(class{name: "Glm5Next", sampler: readGlm5Next, samples: true, layout: glm5})
}

// budgeted is the layout of GLM-5: a frame keeps its ratio, within a canvas
// that is padded with zeros at the right and bottom. The canvas of all frames
// has min_image_tokens to max_image_tokens units of temporal_patch_size squares
// of merge_size x merge_size patches.
type budgeted struct {
	*patcher
	least, most float64 // pixels
}

func glm5(c class, o *importer.Object, data []byte) (layout, error) {
	p, err := patches{
		defaults: clip + bicubic[:len(bicubic)-2], patch: 14, temporal: 2, merge: 2, expands: true, ownBounds: true, ignored: []string{"max_image_size"},
	}.read(c, o, data)
	if p == nil {
		return nil, err
	}
	if o.Null("size") && p.plain == nil {
		o.Bad("size", "a size, which the class then ignores")
	}
	unit := float64(p.temporal) * float64(p.factor) * float64(p.factor)
	least, most := o.Int("min_image_tokens", 16, 0, importer.MaxSide), o.Int("max_image_tokens", 240000, 1, importer.MaxSide)
	if unit*float64(max(least, most)) > exact {
		o.Bad("max_image_tokens", "a number of tokens of at most 2^53 pixels")
	}
	return &budgeted{p, unit * float64(least), unit * float64(most)}, err
}

// graph returns a graph that resizes to the content and pads to the canvas.
func (l *budgeted) graph(frames, height, width int) (*datagraph.Graph, error) {
	if l.plain != nil {
		return l.plain, nil
	}
	h, w := l.factor, l.factor
	canvas := transforms.NewPadToSize(h, w)
	canvas.Position = transforms.TopLeft
	if frames > 0 {
		H, W, err := l.canvas(float64(frames), float64(height), float64(width))
		if err != nil {
			return nil, fmt.Errorf("%w, for %d frames of %dx%d pixels", err, frames, width, height)
		}
		scale := min(H/float64(height), W/float64(width))
		if float64(frames)*float64(height)*float64(width) >= l.least {
			scale = min(1, scale)
		}
		h = int(max(1, min(H, math.Floor(float64(height)*scale))))
		w = int(max(1, min(W, math.Floor(float64(width)*scale))))
		canvas.Height, canvas.Width = int(H), int(W)
	}
	settings := maps.Clone(l.settings)
	settings["size"] = json.RawMessage(fmt.Sprintf(`{"height": %d, "width": %d}`, h, w))
	g, err := frameGraph(l.class, settings)
	if err != nil {
		return nil, err
	}
	for i, s := range g.Steps {
		if _, ok := s.Op.(*transforms.Resize); ok {
			step := datagraph.Step{Op: canvas, In: []string{datagraph.Image}, Out: []string{datagraph.Image}}
			g.Steps = append(g.Steps[:i+1:i+1], append([]datagraph.Step{step}, g.Steps[i+1:]...)...)
			return g, nil
		}
	}
	return nil, fmt.Errorf("video: frames of %s: the graph does not resize", l.class.name)
}

// canvas returns the sides of the canvas, as smart_resize of the class does.
// Products are exact in doubles, or an error.
func (l *budgeted) canvas(n, h, w float64) (H, W float64, err error) {
	f, t := float64(l.factor), float64(l.temporal)
	align := func(v float64) float64 { return math.Ceil(v/f) * f }
	frames := max(t, math.RoundToEven(n/t)*t)
	if max(frames, n)*(h+f)*(w+f) > exact {
		return 0, 0, fmt.Errorf("%w: more than 2^53 pixels", ErrFrames)
	}
	H, W = align(h), align(w)
	if frames*H*W < l.least {
		scale := math.Sqrt(l.least / (n * h * w))
		H, W = align(max(1, math.Ceil(h*scale))), align(max(1, math.Ceil(w*scale)))
	}
	if frames*H*W > l.most {
		if l.most < frames*f*f {
			return 0, 0, fmt.Errorf("%w: max_image_tokens allows %v pixels, want at least %v", ErrFrames, l.most, frames*f*f)
		}
		H, W = f, f
		for low, high := 1, int(h); low <= high; {
			content := (low + high) / 2
			y, x := align(float64(content)), align(max(1, math.Floor(w*float64(content)/h)))
			if frames*y*x <= l.most {
				H, W, low = y, x, content+1
			} else {
				high = content - 1
			}
		}
	}
	if max(H, W) > importer.MaxSide {
		return 0, 0, fmt.Errorf("%w: a canvas of %vx%v pixels, want sides of at most %d", ErrFrames, W, H, importer.MaxSide)
	}
	return H, W, nil
}

package video

import (
	"fmt"
	"math"

	"github.com/infer-prep/infer-prep/datagraph"
	"github.com/infer-prep/infer-prep/importer"
	"github.com/infer-prep/infer-prep/importer/hf"
	"github.com/infer-prep/infer-prep/tensor"
	"github.com/infer-prep/infer-prep/transforms"
)

func init() {
	define(class{name: "NemotronH_Omni_Reasoning_V3", sampler: byDefault(0, 0), layout: nemotronLayout})
}

// target is the layout of Nemotron H Omni: T, C, H, W, whose sides are whole
// numbers of patches near a target, in the ratio of the frame or as a square.
// The outputs num_patches, 1, and num_tokens, int64 (T), count the tiles of
// each frame and their tokens.
type target struct {
	*stack
	class        class
	mean, std    []float64
	patch, merge int
	patches      int // video_target_num_patches
	keepsRatio   bool
}

// nemotronLayout reads the settings. The class ignores those of other classes.
func nemotronLayout(c class, o *importer.Object, data []byte) (layout, error) {
	if _, err := pixelSettings(o, "", data); err != nil {
		return nil, err
	}
	for key, needs := range map[string][]string{
		"do_center_crop": {"crop_size"}, "do_normalize": {"image_mean", "image_std"}, "do_resize": {"size", "resample"},
	} { // which the class checks, but does not do
		for _, k := range needs {
			if v, _ := o.Get(k); v == nil && o.Bool(key, false) {
				o.Bad(key, "false, or a value of "+k+", which the class then ignores")
			}
		}
	}
	if o.Bool("do_rescale", false) && o.Null("rescale_factor") {
		o.Bad("rescale_factor", "a number, which the class then ignores")
	}
	l := &target{class: c, patch: o.Int("patch_size", 16, 1, importer.MaxSide), keepsRatio: o.Bool("video_maintain_aspect_ratio", true)}
	for key, p := range map[string]*[]float64{"norm_mean": &l.mean, "norm_std": &l.std} {
		v, _ := o.Get(key)
		list, _ := v.([]any)
		var ok bool
		if *p, ok = importer.Floats(list, 3); !ok {
			o.Bad(key, "three numbers, without which the class fails")
			return nil, nil
		}
	}
	const maxTokens, maxMerge = 1 << 24, 4096
	l.patches = o.Int("video_target_num_patches", 1024, 1, maxTokens)
	ratio := 0.5
	if v, ok := o.Get("downsample_ratio"); ok {
		ratio, _ = importer.Float(v)
	}
	merge := math.RoundToEven(1 / ratio)
	if !(merge >= 1 && merge <= maxMerge) {
		o.Bad("downsample_ratio", fmt.Sprintf("a number whose reciprocal is 1 to %d", maxMerge))
		return nil, nil
	}
	l.merge = int(merge)
	return l, nil
}

// size returns the lines and columns of patches of a frame, as
// _compute_target_patches does.
func (l *target) size(height, width int) (rows, columns int) {
	most, merge := float64(l.patches), float64(l.merge)
	if !l.keepsRatio {
		side := max(l.merge, int(math.Sqrt(most))/l.merge*l.merge)
		return side, side
	}
	ratio := float64(width) / float64(height)
	h := max(math.RoundToEven(math.Sqrt(most/ratio)), 1)
	w := max(math.RoundToEven(math.Sqrt(float64(most*ratio))), 1)
	up, down := func(v float64) float64 { return math.Ceil(v/merge) * merge }, func(v float64) float64 { return math.Floor(v/merge) * merge }
	if l.merge > 1 {
		if float64(up(h)*up(w)) <= most {
			h, w = up(h), up(w)
		} else {
			h, w = max(merge, down(h)), max(merge, down(w))
		}
	}
	return int(h), int(w)
}

// graph returns a graph that resizes floats, which are not rounded.
func (l *target) graph(frames, height, width int) (*datagraph.Graph, error) {
	rows, columns := l.merge, l.merge
	if frames > 0 {
		rows, columns = l.size(height, width)
	}
	h, w := float64(rows)*float64(l.patch), float64(columns)*float64(l.patch)
	if max(h, w) > importer.MaxSide {
		return nil, fmt.Errorf("%w: %dx%d pixels become %vx%v: want sides of at most %d", ErrFrames, width, height, w, h, importer.MaxSide)
	}
	g := datagraph.New()
	g.Reference = "transformers " + hf.Version + " " + l.class.name + suffix + ", one frame"
	for _, op := range []transforms.Op{
		transforms.NewDecode(), transforms.NewToType(tensor.Float32),
		&transforms.Resize{Height: int(h), Width: int(w), Interpolation: transforms.Bicubic, Backend: transforms.Torch},
		&transforms.Rescale{Scale: 255, Rule: transforms.RescaleDivide},
		transforms.NewNormalize(l.mean, l.std), transforms.NewHWC2CHW(),
	} {
		g.Add(op)
	}
	return g, nil
}

func (l *target) outputs() []Output {
	return []Output{{Name: "pixel_values_videos", Joined: true}, {Name: "num_patches", Joined: true}, {Name: "num_tokens", Joined: true}}
}

func (l *target) more(v filled) ([]*tensor.Tensor, error) {
	rows, columns := l.size(v.height, v.width)
	ones, tokens := make([]int, v.frames), make([]int, v.frames)
	for i := range ones {
		ones[i], tokens[i] = 1, rows*columns/(l.merge*l.merge)
	}
	return []*tensor.Tensor{numbers(ones, v.frames), numbers(tokens, v.frames)}, nil
}

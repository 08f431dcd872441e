package video

import (
	"github.com/infer-prep/infer-prep/importer"
	"github.com/infer-prep/infer-prep/tensor"
)

func init() {
	define(class{
		name: "Ernie4_5_VLMoe", sampler: readErnie, samples: true, layout: ernieLayout,
		partial: "draw_on_frames, the default, writes the time on each frame in a font that the model has; draw_on_frames false is exact",
	})
}

// paired is the layout of ERNIE 4.5-VL: patches of one frame each, of an even
// number of frames.
type paired struct{ *patcher }

func ernieLayout(c class, o *importer.Object, data []byte) (layout, error) {
	if o.Bool("draw_on_frames", true) {
		o.Bad("draw_on_frames", "false: the letters of the font are not reproduced")
	}
	o.Int("temporal_patch_size", 2, 2, 2)
	p, err := patches{
		defaults: clip + bicubic[:len(bicubic)-2], least: 299 * 28 * 28, most: 1196 * 28 * 28, patch: 14, temporal: 2, merge: 2,
		perFrame: true, noPixels: true, ignored: []string{"font"},
	}.read(c, o, data)
	if p == nil {
		return nil, err
	}
	p.temporal = 1
	return paired{p}, err
}

func (l paired) plan(frames int, d tensor.Desc) (tensor.Desc, int, error) {
	return l.patcher.plan(frames+frames%2, d)
}

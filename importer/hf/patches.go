package hf

import (
	"math"
	"slices"

	"github.com/infer-prep/infer-prep/datagraph"
	"github.com/infer-prep/infer-prep/importer"
	"github.com/infer-prep/infer-prep/tensor"
	"github.com/infer-prep/infer-prep/transforms"
)

// These classes scale an image to a number of patches, each by its own rule.
func init() {
	define(func(classes map[string]class) {
		bicubic := settings{ownSize: true, convertRGB: true, resize: true, rescale: true, normalize: true, resample: transforms.Bicubic, mean: halves, std: halves}
		zeros, ones := []float64{0, 0, 0}, []float64{1, 1, 1}

		gemma := bicubic
		gemma.normalize, gemma.mean, gemma.std = false, zeros, ones
		classes["Gemma4"] = class{defaults: gemma, build: func(b *builder, o *importer.Object) { gemma4(b, o, false) }}
		classes["Gemma4Unified"] = class{defaults: gemma, torchOnly: true, build: func(b *builder, o *importer.Object) { gemma4(b, o, true) }}

		classes["Glm5Next"] = class{
			defaults: settings{
				convertRGB: true, resize: true, rescale: true, normalize: true, notSquare: true, ownSize: true, resample: transforms.Bicubic,
				mean: clipMean, std: clipStd,
			},
			build: glm5,
		}
		classes["Kimi_K25"] = class{defaults: bicubic, torchOnly: true, build: kimi}

		muse := bicubic
		muse.notSquare, muse.resample = true, transforms.Lanczos
		classes["MuseGlimmer"] = class{defaults: muse, torchOnly: true, build: museGlimmer}

		nemo := bicubic
		nemo.resize, nemo.mean, nemo.std = false, clipMean, clipStd
		classes["NemotronH_Omni_Reasoning_V3"] = class{defaults: nemo, torchOnly: true, build: nemotron}

		classes["Inkling"] = class{
			batch: tilesJoined,
			defaults: settings{
				convertRGB: true, rescale: true, normalize: true, notSquare: true, ownSize: true, resample: transforms.Lanczos, mean: clipMean, std: clipStd,
			},
			torchOnly: true,
			build:     inkling,
		}

		neo := bicubic
		neo.resample = transforms.Bilinear
		classes["NeoMME"] = class{defaults: neo, torchOnly: true, build: neoMME}

		classes["Fuyu"] = class{
			output: "images",
			defaults: settings{
				resize: true, pad: true, rescale: true, normalize: true, size: size{height: 1080, width: 1920}, resample: transforms.Bilinear, mean: halves, std: halves,
				anySize: true,
			},
			build: fuyu,
		}
	})
}

// softTokens lists the values of max_soft_tokens that Gemma 4 accepts.
var softTokens = []int{70, 140, 280, 560, 1120}

// gemma4 adds the steps of Gemma 4. The outputs are pixel_values
// (max_soft_tokens · pooling_kernel_size², 3 · patch_size²), padded with zeros,
// image_position_ids, int64 (as many, 2), the column and line of each patch or
// -1, and num_soft_tokens_per_image, int64: the patches without padding,
// divided by pooling_kernel_size². Gemma 4 unified merges squares of
// pooling_kernel_size x pooling_kernel_size patches to larger patches. Without
// do_resize it requires whole squares. Both ignore size.
func gemma4(b *builder, o *importer.Object, unified bool) {
	noOCR(o)
	readSize(o, "size", new(size), !b.notSquare, true)
	const maxPool = 64 // with 1120 tokens of 64² patches
	patch, pool := o.Side("patch_size", 16), o.Int("pooling_kernel_size", 3, 1, maxPool)
	tokens := o.Int("max_soft_tokens", 280, softTokens[0], softTokens[len(softTokens)-1])
	if !slices.Contains(softTokens, tokens) {
		o.Bad("max_soft_tokens", "70, 140, 280, 560 or 1120")
		return
	}
	most := tokens * pool * pool
	if pixels := float64(float64(float64(most)*float64(patch)) * float64(patch)); pixels > importer.MaxSide*importer.MaxSide {
		o.Bad("patch_size", "a patch size whose patches have at most 2^48 pixels in all")
		return
	}

	b.decode()
	if b.resize {
		r := transforms.NewResizeToPatches(patch, most)
		r.Rule, r.Merge = transforms.PatchGemma4, pool
		if b.torch {
			b.wantsResample(o)
		} else {
			b.orBilinear(o)
		}
		r.Interpolation, r.Backend = b.kernel()
		if r.Interpolation == transforms.NearestExact { // the class bypasses the backend's resize
			r.Interpolation = transforms.Nearest
		}
		b.Add(r)
	}
	b.values(o, 0)
	divisor := pool * pool
	if unified {
		patch, most, divisor = patch*pool, tokens, 1
	}
	const count, positions, padding = "num_soft_tokens_per_image", "image_position_ids", "padding"
	n := transforms.NewCountPatches(patch)
	n.Divisor = divisor
	b.Then(n, []string{datagraph.Image}, []string{count})
	b.Then(transforms.NewPatchPositions(patch), []string{datagraph.Image}, []string{positions})
	p := transforms.NewPatchify(patch)
	b.Then(p, []string{datagraph.Image}, []string{datagraph.Image, "grid"})
	for i, column := range []string{datagraph.Image, positions} {
		s := transforms.NewPadSequence(most)
		s.KeepLonger, s.Fill = !b.resize, []float64{0, -1}[i]
		b.Then(s, []string{column}, []string{column, padding})
	}
	b.Outputs = append(b.Outputs, positions, count)
}

// glm5 adds the steps of GLM-5: a scaling to min_image_tokens to
// max_image_tokens squares of merge_size x merge_size patches, padded with
// zeros, and patches as Qwen2-VL's. The class ignores the value of size, and
// with PIL patch_expand_factor.
func glm5(b *builder, o *importer.Object) {
	noOCR(o)
	readSize(o, "size", new(size), !b.notSquare, true)
	if b.resize && o.Null("size") {
		o.Bad("size", "a size, which the class then ignores")
	}
	b.wantsResample(o)
	patch, merge, temporal := o.Side("patch_size", 14), o.Side("merge_size", 2), o.Side("temporal_patch_size", 2)
	least, most := o.Int("min_image_tokens", 16, 0, importer.MaxSide), o.Side("max_image_tokens", 8000)
	expand := o.Side("patch_expand_factor", 1)
	if !b.torch {
		expand = 1
	}
	if patch > importer.MaxSide/merge || patch*merge > importer.MaxSide/expand {
		o.Bad("patch_size", "a number whose product with merge_size is at most 16777216")
		return
	}

	b.decode()
	if b.resize {
		r := transforms.NewResizeToPatches(patch*merge*expand, most)
		r.Rule, r.MinPatches = transforms.PatchGLM5, least
		r.Interpolation, r.Backend = b.kernel()
		b.Add(r)
	}
	b.patches(o, &transforms.Patchify{Patch: patch, Temporal: temporal, Merge: merge, Layout: tensor.CHW})
}

// kimi adds the steps of Kimi K2.5: a scaling to max_patches patches and
// size patches along a side, padding with zeros, and patches with their axes:
// pixel_values (patches, 3, patch_size, patch_size).
func kimi(b *builder, o *importer.Object) {
	noOCR(o)
	s := size{maxHeight: 512, maxWidth: 512}
	readSize(o, "size", &s, !b.notSquare, true)
	if s != (size{}) && (s.maxHeight == 0 || s.maxHeight != s.maxWidth) || b.resize && s == (size{}) {
		o.Bad("size", "max_height and max_width, which must be equal: the most patches along a side")
		return
	}
	patch, merge, most := o.Side("patch_size", 14), o.Side("merge_size", 2), o.Side("max_patches", 16384)
	if patch > importer.MaxSide/merge {
		o.Bad("patch_size", "a number whose product with merge_size is at most 16777216")
		return
	}
	b.wantsResample(o)

	b.decode()
	if b.resize {
		r := transforms.NewResizeToPatches(patch, most)
		r.Rule, r.MaxSide = transforms.PatchKimi, s.maxHeight
		r.Interpolation, r.Backend = b.kernel()
		b.Add(r)
		b.padMultiple(patch * merge)
	}
	b.patches(o, &transforms.Patchify{Patch: patch, Temporal: 1, Merge: 1, Layout: tensor.CHW, Planes: true})
}

// padMultiple pads the image with zeros at the bottom and right.
func (b *builder) padMultiple(multiple int) {
	p := transforms.NewPadToMultiple(multiple)
	p.Position = transforms.TopLeft
	b.Add(p)
}

// museGlimmer adds the steps of Muse Glimmer. A patch has its frames before its
// channels. The class ignores size.
func museGlimmer(b *builder, o *importer.Object) {
	noOCR(o)
	readSize(o, "size", new(size), !b.notSquare, true)
	patch, merge := o.Side("patch_size", 14), o.Side("merge_size", 2)
	temporal, most := o.Side("temporal_patch_size", 2), o.Side("max_image_tokens", 4096)
	if patch > importer.MaxSide/merge {
		o.Bad("patch_size", "a number whose product with merge_size is at most 16777216")
		return
	}

	b.decode()
	if b.resize {
		r := transforms.NewResizeToPatches(patch*merge, most)
		r.Rule = transforms.PatchMuseGlimmer
		b.orBilinear(o)
		r.Interpolation, r.Backend = b.kernel()
		b.Add(r)
	}
	b.patches(o, &transforms.Patchify{Patch: patch, Temporal: temporal, Merge: 1, Layout: tensor.CHW, FramesFirst: true})
}

// orBilinear takes a null resample for bilinear, as the backends' resize does.
func (b *builder) orBilinear(o *importer.Object) {
	if o.Null("resample") {
		b.resample = transforms.Bilinear
	}
}

// nemotron adds the steps of Nemotron H Omni, which scales float32 pixels
// whatever do_resize is, and ignores size. The output image_grid_hw is int64
// (2): the numbers of rows and columns of patches.
func nemotron(b *builder, o *importer.Object) {
	noOCR(o)
	var s size
	readSize(o, "size", &s, true, true)
	if b.resize && (s == (size{}) || o.Null("resample")) {
		o.Bad("do_resize", "false, or a size and a resample, which the class then ignores")
		return
	}
	for key, p := range map[string]*[]float64{"norm_mean": &b.mean, "norm_std": &b.std} {
		if v := b.readValues(o, key, nil); v != nil && !o.Has("image_"+key[len("norm_"):]) {
			*p = v
		}
	}
	o.Inert("_downsample_factor")
	patch, model := o.Side("patch_size", 16), o.Side("max_model_len", 16384)
	least, most := o.Int("min_num_patches", 1024, 0, importer.MaxSide), 13312
	if v, ok := o.Get("max_num_patches"); ok && v == nil {
		most = 0 // no limit
	} else {
		most = o.Int("max_num_patches", most, 0, importer.MaxSide)
	}
	ratio := 0.5
	if v, ok := o.Get("downsample_ratio"); ok {
		ratio, _ = importer.Float(v)
	}
	const maxMerge = 1 << 12 // the most that ResizeToPatches takes
	merge := math.RoundToEven(1 / ratio)
	if !(merge >= 1 && merge <= maxMerge) {
		o.Bad("downsample_ratio", "a number whose reciprocal is 1 to 4096")
		return
	}
	n := max((model-4)*int(merge*merge), least)
	if most > 0 {
		n = min(n, most)
	}
	if n = max(n, least); n < 1 || n > importer.MaxSide {
		o.Bad("max_num_patches", "1 to 16777216")
		return
	}
	b.orBilinear(o)
	if b.resample == transforms.Box || b.resample == transforms.Hamming {
		o.Bad("resample", "0 to 3: torchvision's tensors have neither box nor hamming")
		return
	}

	b.decode()
	b.Add(transforms.NewToType(tensor.Float32))
	b.float = true
	r := transforms.NewResizeToPatches(patch, n)
	r.Rule, r.Merge, r.MinPatches = transforms.PatchNemotron, int(merge), least
	r.Interpolation, r.Backend = b.kernel()
	b.Add(r)
	b.patches(o, &transforms.Patchify{Patch: patch, Merge: 1, Layout: tensor.CHW})
}

// inkling adds the steps of Inkling: square patches of size pixels, padded with
// -1 before the values are rescaled, with a column of padding if they would fit
// the width. pixel_values is float32 (patches, 2, size, size, 3), where both
// frames are the image. The output num_patches is an int64 scalar. The image is
// not scaled.
func inkling(b *builder, o *importer.Object) {
	noOCR(o)
	s := square(40)
	readSize(o, "size", &s, !b.notSquare, true)
	if s.height == 0 || s.height != s.width {
		o.Bad("size", "height and width, which must be equal")
		return
	}
	if v, ok := o.Get("do_resize"); ok && v == false {
		o.Bad("do_resize", "true or null: the class refuses false")
	}
	if b.resize {
		b.wantsResample(o)
	}
	if v, ok := o.Get("rescale_image_frac"); ok && v != nil {
		o.Bad("rescale_image_frac", "null: a scaling by a fraction of the image's own size is not supported")
	}
	o.Inert("rescale_image_max_upscaled_long_edge")

	b.decode()
	b.Add(transforms.NewToType(tensor.Float32))
	b.float = true
	right := transforms.NewPad(0, 0, 0, 1)
	right.Fill = []float64{-1}
	b.Add(right)
	p := transforms.NewPadToMultiple(s.height)
	p.Position, p.Fill = transforms.TopLeft, []float64{-1}
	b.Add(p)
	b.values(o, 0)
	const count = "num_patches"
	b.Then(transforms.NewCountPatches(s.height), []string{datagraph.Image}, []string{count})
	cut := &transforms.Patchify{Patch: s.height, Temporal: 2, Merge: 1, Layout: tensor.HWC, FramesFirst: true, Planes: true}
	b.Then(cut, []string{datagraph.Image}, []string{datagraph.Image, unused})
	b.Outputs = append(b.Outputs, count)
}

// neoMME adds the steps of NeoMME: a scaling into the bounds that size and
// max_side give, if there are any, and zeros up to whole patches.
func neoMME(b *builder, o *importer.Object) {
	noOCR(o)
	patch, edge := o.Side("patch_size", 32), 0
	if v, ok := o.Get("max_side"); ok && v != nil {
		edge = o.Side("max_side", 0)
	}
	v, _ := o.Get("size")
	least, most := int64(1), int64(importer.MaxSide*importer.MaxSide) // no bounds
	switch v.(type) {
	case nil:
		b.orBilinear(o)
	case *importer.Object:
		s := o.Object("size")
		least, most = area(s, "min_pixels"), area(s, "max_pixels")
		b.wantsResample(o)
	default:
		o.Bad("size", "null, or min_pixels and max_pixels")
		return
	}

	b.decode()
	if b.resize && (v != nil || edge != 0) {
		r := transforms.NewSmartResize(1, least, most)
		r.Rule, r.MaxEdge = transforms.SmartNeoMME, edge
		r.Interpolation, r.Backend = b.kernel()
		b.Add(r)
	}
	b.padMultiple(patch)
	b.patches(o, &transforms.Patchify{Patch: patch, Merge: 1, Layout: tensor.HWC})
}

// fuyu adds the steps of Fuyu's image processor. The outputs are images,
// image_unpadded_heights and image_unpadded_widths, int64; image_sizes,
// int64 (2): the height and width of the file; and image_scale_factors, a
// float64 scalar: the scaled height divided by the file's, which FuyuProcessor
// applies to coordinates in prompts. The patches, which it cuts for the tokens
// of a prompt, are not part of the graph.
func fuyu(b *builder, o *importer.Object) {
	noOCR(o)
	var patch size
	readSize(o, "patch_size", &patch, true, true)
	if (b.resize || b.pad) && b.size.height == 0 {
		o.Bad("size", "height and width")
		return
	}
	fill := 1.0
	if v, ok := o.Get("padding_value"); ok {
		if fill, ok = importer.Float(v); !ok || fill < 0 || fill > 255 || fill != math.Trunc(fill) {
			o.Bad("padding_value", "a whole number of 0 to 255, which a byte holds")
			return
		}
	}
	if mode := o.String("padding_mode"); mode != "" && mode != "constant" {
		o.Bad("padding_mode", `"constant"`)
		return
	}

	if b.pad && !b.resize && !b.torch {
		o.Bad("do_pad", "false without do_resize: the PIL backend then leaves some larger images as they are")
		return
	}

	b.decode()
	const sizes, heights, widths, factors = "image_sizes", "image_unpadded_heights", "image_unpadded_widths", "image_scale_factors"
	b.Then(transforms.NewImageSize(), []string{datagraph.Image}, []string{sizes})
	if b.resize {
		r := &transforms.Resize{Fit: transforms.FitInside, Height: b.size.height, Width: b.size.width, SizeRule: transforms.SizeShrink}
		r.Interpolation, r.Backend = b.kernel()
		b.Add(r)
	}
	b.side(transforms.PatchRows, 1, heights)
	b.side(transforms.PatchColumns, 1, widths)
	b.Then(transforms.NewHeightRatio(), []string{datagraph.Image, sizes}, []string{factors})
	if b.pad {
		p := transforms.NewPadToSize(b.size.height, b.size.width)
		p.Position, p.Fill = transforms.TopLeft, []float64{fill}
		b.Add(p)
	}
	b.centerCrop = false
	b.tail(o)
	b.Outputs = append(b.Outputs, heights, widths, factors, sizes)
}

// side adds a side of the image as a column, counted in patches of patch x
// patch pixels.
func (b *builder) side(axis transforms.PatchAxis, patch int, name string) {
	n := transforms.NewCountPatches(patch)
	n.Axis = axis
	b.Then(n, []string{datagraph.Image}, []string{name})
}

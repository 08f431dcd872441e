package hf

import (
	"github.com/infer-prep/infer-prep/datagraph"
	"github.com/infer-prep/infer-prep/importer"
	"github.com/infer-prep/infer-prep/tensor"
	"github.com/infer-prep/infer-prep/transforms"
)

const flattened = "flattened_patches"

func init() {
	define(func(classes map[string]class) {
		s := settings{convertRGB: true, normalize: true, ownSize: true, ownResample: true, resample: transforms.Bilinear, mean: halves, std: halves}
		const partial = "torchvision refuses do_normalize: torch adds the pixels for their mean in an order that depends on the number of threads"
		classes["Pix2Struct"] = class{output: flattened, defaults: s, partial: partial, build: pix2Struct}
		classes["Kosmos2_5"] = class{output: flattened, defaults: s, partial: partial, build: kosmos}
	})
}

// pix2Struct adds the steps of Pix2Struct: the image without its own mean and
// deviation, scaled to at most max_patches patches. The output
// flattened_patches is float32 (max_patches, 2 + 3 · patch_size²): the line and
// column of each patch, from 1, and its values; then rows of zeros. The output
// attention_mask is float32 (max_patches). The class ignores size, resample and
// the values' other settings.
func pix2Struct(b *builder, o *importer.Object) {
	if o.Bool("is_vqa", false) {
		o.Bad("is_vqa", "false: the header above the image is text that the processor draws")
		return
	}
	patch, most, ok := b.flat(o, 2048)
	if !ok {
		return
	}
	b.decode()
	b.Add(transforms.NewToType(tensor.Float32))
	if b.normalize {
		b.Add(transforms.NewStandardize())
	}
	b.scaleTo(patch, most)
	b.flatten(patch, most)
}

// kosmos adds the steps of Pix2Struct and the outputs width, height, rows and
// cols, int64: the scaled image's size in pixels and in patches. It requires
// do_normalize, since torch does not cut bytes into patches.
func kosmos(b *builder, o *importer.Object) {
	patch, most, ok := b.flat(o, 4096)
	if !ok {
		return
	}
	if !b.normalize {
		o.Bad("do_normalize", "true: the class cannot cut bytes into patches")
		return
	}
	b.decode()
	b.Add(transforms.NewToType(tensor.Float32))
	b.Add(transforms.NewStandardize())
	b.scaleTo(patch, most)
	b.side(transforms.PatchColumns, 1, "width")
	b.side(transforms.PatchRows, 1, "height")
	b.side(transforms.PatchRows, patch, "rows")
	b.side(transforms.PatchColumns, patch, "cols")
	b.flatten(patch, most)
	b.Outputs = append(b.Outputs, "width", "height", "rows", "cols")
}

// flat reads the keys of Pix2Struct, with the default of max_patches. ok is
// false if one is invalid.
func (b *builder) flat(o *importer.Object, def int) (patch, most int, ok bool) {
	noOCR(o)
	if b.torch && b.normalize {
		o.Bad("do_normalize", "false, or the PIL backend: torch adds the pixels for their mean in an order that depends on the number of threads")
	}
	readSize(o, "size", new(size), !b.notSquare, true)
	side := square(16)
	readSize(o, "patch_size", &side, true, true)
	most = o.Side("max_patches", def)
	if side.height == 0 || side.height != side.width {
		o.Bad("patch_size", "height and width, which must be equal")
		return 0, 0, false
	}
	return side.height, most, true
}

// scaleTo adds the resize. Both backends call torch's.
func (b *builder) scaleTo(patch, most int) {
	r := transforms.NewResizeToPatches(patch, most)
	r.Rule, r.Backend = transforms.PatchPix2Struct, transforms.TorchUint8
	b.Add(r)
}

// flatten adds the steps after the resize.
func (b *builder) flatten(patch, most int) {
	p := transforms.NewPatchify(patch)
	p.Numbered = true
	b.Then(p, []string{datagraph.Image}, []string{datagraph.Image, "grid"})
	b.Then(transforms.NewPadSequence(most), []string{datagraph.Image}, []string{datagraph.Image, "padding"})
	b.Then(transforms.NewMaskRows(), []string{datagraph.Image}, []string{"attention_mask"})
	b.Outputs = append(b.Outputs, "attention_mask")
}

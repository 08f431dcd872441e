package hf

import (
	"github.com/infer-prep/infer-prep/datagraph"
	"github.com/infer-prep/infer-prep/importer"
	"github.com/infer-prep/infer-prep/transforms"
)

func init() {
	define(func(classes map[string]class) {
		classes["Molmo2"] = class{
			batch: batchRules{output: datagraph.BatchConcat, "image_token_pooling": datagraph.BatchSingle},
			defaults: settings{
				convertRGB: true, resize: true, rescale: true, normalize: true, size: square(378), resample: transforms.Bilinear, mean: halves, std: halves,
			},
			torchOnly: true,
			build:     molmo2,
		}
	})
}

// molmo2 adds the steps of Molmo 2: the whole image as a square crop, and crops
// of a canvas that overlap. The outputs are pixel_values (crops, patches,
// patch_size² · 3); image_token_pooling, int32 (windows, values of
// pooling_size), the patches to pool or -1; image_grids, int64 (4); and
// image_num_crops, an int64 scalar. In a batch, transformers joins
// image_token_pooling along its first axis and adds the number of patches of
// the images before, and its rule is single. The class ignores do_resize.
func molmo2(b *builder, o *importer.Object) {
	noOCR(o)
	const maxPool = 64 // that of CropPooling
	patch, most := o.Side("patch_size", 14), o.Int("max_crops", 8, 1, maxTiles)
	crop := b.size.height
	if crop == 0 || crop != b.size.width || crop%patch != 0 {
		o.Bad("size", "equal height and width, a multiple of patch_size")
		return
	}
	margins := pair(o, "overlap_margins", 4, 0, crop/patch-1)
	pool := pair(o, "pooling_size", 2, 1, maxPool)
	margin := margins[0] + margins[1]
	if margin >= crop/patch {
		o.Bad("overlap_margins", "two numbers whose sum is less than size divided by patch_size")
		return
	}
	b.alwaysResizes(o)
	if b.resample == transforms.Lanczos {
		o.Bad("resample", "0, 2 or 3: the class does not antialias, which torchvision's lanczos requires")
		return
	}
	interpolation, _ := b.kernel()

	const canvas, pooling, grids = "canvas", "image_token_pooling", "image_grids"
	b.decode()
	r := transforms.NewResizeToCrops(crop, margin*patch, most)
	r.Interpolation = interpolation
	b.Then(r, []string{datagraph.Image}, []string{canvas, unused})
	p := &transforms.CropPooling{Crop: crop, Patch: patch, Left: margins[0], Right: margins[1], PoolHeight: pool[0], PoolWidth: pool[1]}
	b.Then(p, []string{canvas}, []string{pooling, grids})
	b.branch(canvas, canvas, func(c *builder) { c.values(o, 0) })
	cut := transforms.NewSplitTiles(crop, crop)
	cut.Overlap = margin * patch
	b.Then(cut, []string{canvas}, []string{canvas})
	b.Add(&transforms.Resize{Height: crop, Width: crop, Interpolation: interpolation, Backend: transforms.Torch, NoAntialias: true})
	b.values(o, 0)
	b.Then(transforms.NewConcatRows(), []string{datagraph.Image, canvas}, []string{datagraph.Image})
	n := crop / patch
	b.Add(transforms.NewReshape(-1, n, patch, n, patch*3))
	b.Add(transforms.NewTranspose(0, 1, 3, 2, 4))
	b.Add(transforms.NewReshape(-1, n*n, patch*patch*3))
	b.Outputs = append(b.Outputs, pooling, grids)
	b.output("image_num_crops", transforms.NewRowCount(), datagraph.Image)
}

// pair reads a list of two whole numbers of lo to hi; the default is def twice.
func pair(o *importer.Object, key string, def, lo, hi int) []int {
	v, ok := o.Get(key)
	if !ok {
		return []int{def, def}
	}
	l, ok := importer.Ints(v, 2, lo, hi)
	if !ok {
		o.Bad(key, "two whole numbers")
		return []int{def, def}
	}
	return l
}

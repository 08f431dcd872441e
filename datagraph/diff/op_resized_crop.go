package diff

import "github.com/infer-prep/infer-prep/transforms"

func init() {
	register(resizer[*transforms.ResizedCrop]{
		filter: func(o *transforms.ResizedCrop) filter { return filter{o.Interpolation, o.Backend, o.NoAntialias} },
		set: func(o *transforms.ResizedCrop, f filter) {
			o.Interpolation, o.Backend, o.NoAntialias = f.interpolation, f.backend, f.noAntialias
		},
	})
}

package diff

import "github.com/infer-prep/infer-prep/transforms"

func init() {
	register(resizer[*transforms.Resize]{
		whole:  true,
		filter: func(o *transforms.Resize) filter { return filter{o.Interpolation, o.Backend, o.NoAntialias} },
		set: func(o *transforms.Resize, f filter) {
			o.Interpolation, o.Backend, o.NoAntialias = f.interpolation, f.backend, f.noAntialias
		},
	})
}

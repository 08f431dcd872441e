package diff

import "github.com/infer-prep/infer-prep/transforms"

func init() {
	register(resizer[*transforms.Letterbox]{
		whole:  true,
		filter: func(o *transforms.Letterbox) filter { return filter{o.Interpolation, o.Backend, false} },
		set:    func(o *transforms.Letterbox, f filter) { o.Interpolation, o.Backend = f.interpolation, f.backend },
	})
}

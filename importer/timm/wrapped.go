package timm

import (
	"github.com/infer-prep/infer-prep/datagraph"
	"github.com/infer-prep/infer-prep/importer"
)

// Wrapped reads a config.json as TimmWrapperImageProcessor of transformers
// 5.23.0 does, which hands pretrained_cfg to timm as create_transform's
// arguments. So it ignores model_args and fixed_input_size, and takes img_size
// if there is no input_size. It adds errors to o. The graph's only output is
// the column image, as Import's is.
func Wrapped(o *importer.Object) *datagraph.Graph {
	o.Inert(inertModel...)
	o.Inert("model_args", "initializer_range", "do_pooling", "dtype") // of the model
	cfg := o.Object("pretrained_cfg")
	if cfg == nil || len(cfg.Keys()) == 0 {
		o.Fail(importer.ErrMissing, "pretrained_cfg", "want an object with the model's data configuration, which transformers reads in the model's config.json")
		return datagraph.New()
	}
	cfg.Inert(inertModel...)
	cfg.Inert("fixed_input_size")
	side := 0
	if v, _ := cfg.Get("input_size"); v == nil && cfg.Has("img_size") && !cfg.Null("img_size") {
		side = cfg.Side("img_size", 0)
	} else {
		cfg.Inert("img_size")
	}
	for _, key := range []string{"in_chans", "chans"} {
		if v, _ := cfg.Get(key); v != nil {
			if n, ok := importer.Int(v, 3, 3); !ok || n != 3 {
				cfg.Bad(key, "3")
			}
		}
	}
	h, w := inputSize(cfg, nil)
	if side > 0 {
		h, w = side, side
	}
	return build(cfg, h, w, false, true)
}

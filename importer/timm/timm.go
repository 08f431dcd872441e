// Package timm imports timm's pretrained_cfg, alone or inside a hub model's
// config.json.
//
// The reference is timm 1.0.31:
// create_transform(**resolve_data_config(pretrained_cfg=cfg),
// is_training=False) applied to Image.open(f).convert("RGB"). Absent fields
// have the defaults of timm's PretrainedCfg. Like timm's loader, the importer
// honours model_args' img_size for models with a fixed input size. The output
// is the column image, float32 CHW, since timm does not name it.
//
// An object without interpolation and without any key that only a cfg has could
// also hold the arguments of create_transform, which has another default. It is
// an error.
//
// These keys have no influence and are ignored: the test_* values and
// min_input_size, which timm uses only on request; the fields of a cfg about
// weights, classifier and licence; the names of classes; and model_args, except
// for in_chans, img_size and the flags that free img_size.
//
// Two arguments of create_transform may stand beside the cfg's fields.
// use_prefetcher true is timm's own loader, create_loader with its defaults:
// PrefetchLoader normalizes the bytes with the mean and deviation times 255,
// which differs in the last bits. normalize false returns uint8 instead; the
// loader normalizes nevertheless.
package timm

import (
	"bytes"
	"fmt"
	"math"
	"slices"

	"github.com/infer-prep/infer-prep/datagraph"
	"github.com/infer-prep/infer-prep/importer"
	"github.com/infer-prep/infer-prep/tensor"
	"github.com/infer-prep/infer-prep/transforms"
)

func init() {
	importer.Register(importer.Importer{
		Name: "timm", Import: Import,
		Doc: "a timm model's config.json, or a data configuration as Python prints it, as timm 1.0.31 applies it",
		Detect: func(_ string, head []byte) bool {
			return importer.HasKey(head, "pretrained_cfg") || importer.HasKey(head, "input_size") && importer.HasKey(head, "interpolation", "crop_pct")
		},
		Folder: func(read func(string) ([]byte, error)) (string, []byte, error) {
			const name = "config.json"
			data, err := read(name)
			if err != nil {
				err = fmt.Errorf("importer: timm: %w: want %s", err, name)
			}
			return name, data, err
		},
	})
}

// inertModel lists keys that describe the model. They stand around the nested
// cfg or, in old files, within it.
var inertModel = []string{
	"architecture", "num_classes", "num_features", "global_pool", "labels", "label_names", "label_descriptions",
}

// inert lists the fields of timm's PretrainedCfg without influence on the
// transform.
var inert = []string{
	"url", "file", "state_dict", "hf_hub_id", "hf_hub_filename", "source", "tag", "custom_load",
	"test_input_size", "min_input_size", "test_crop_pct", "label_offset",
	"pool_size", "test_pool_size", "first_conv", "classifier",
	"license", "description", "origin_url", "paper_name", "paper_ids", "notes",
}

// The defaults are those of timm/data: resolve_data_config and constants.py.
var (
	defaultMean = []float64{0.485, 0.456, 0.406}
	defaultStd  = []float64{0.229, 0.224, 0.225}
)

const (
	defaultSide    = 224
	defaultCropPct = 0.875
)

// interpolations maps timm's names. "random" is for training only.
var interpolations = map[string]transforms.Interpolation{
	"nearest": transforms.Nearest, "bilinear": transforms.Bilinear, "bicubic": transforms.Bicubic,
	"box": transforms.Box, "hamming": transforms.Hamming, "lanczos": transforms.Lanczos,
}

// Import reads a config.json or a cfg.
func Import(data []byte) (*datagraph.Graph, error) {
	if bytes.HasPrefix(bytes.TrimSpace(importer.Text(data)), []byte("Compose(")) {
		return nil, fmt.Errorf("importer: timm: %w", &importer.Error{Kind: importer.ErrFormat, Text: "transforms as Python prints them, want the model's data configuration: import transforms with --torchvision"})
	}
	o, err := importer.ParseLiteral(data)
	if err != nil {
		return nil, err
	}
	cfg, args := o, (*importer.Object)(nil)
	o.Inert(inertModel...)
	if o.Has("pretrained_cfg") {
		cfg, args = o.Object("pretrained_cfg"), o.Object("model_args")
		if cfg == nil {
			o.Bad("pretrained_cfg", "an object")
			if args != nil {
				args.InertAll()
			}
			return nil, o.Err("timm")
		}
		cfg.Inert(inertModel...)
	} else if o.Has("model_args") {
		o.Fail(importer.ErrMissing, "pretrained_cfg", "want it beside model_args")
		o.Inert("model_args")
	}
	if !slices.ContainsFunc(cfg.Keys(), func(k string) bool { return cfg != o || !slices.Contains(inertModel, k) }) {
		o.Fail(importer.ErrMissing, "pretrained_cfg", "want an object with the model's data configuration, or a file that is one")
	}
	if cfg == o && !o.Has("interpolation") && !isCfg(o) {
		o.Fail(importer.ErrMissing, "interpolation", `want the one in use, such as "bicubic": without it timm's create_transform takes bilinear, and resolve_data_config bicubic`)
	}
	h, w := inputSize(cfg, args)
	g := build(cfg, h, w, cfg.Bool("use_prefetcher", false), cfg.Bool("normalize", true))
	if err := o.Err("timm"); err != nil {
		return nil, err
	}
	return importer.Finish("timm", g)
}

// isCfg reports whether an object is a pretrained_cfg, and not arguments of
// create_transform: whether it has keys that only a cfg has.
func isCfg(o *importer.Object) bool {
	return slices.ContainsFunc(o.Keys(), func(k string) bool {
		return slices.Contains(inertModel, k) || slices.Contains(inert, k) || k == "fixed_input_size"
	})
}

// build returns the graph of a cfg for an input of h x w pixels.
func build(o *importer.Object, h, w int, prefetcher, normalize bool) *datagraph.Graph {
	o.Inert(inert...)
	interpolation := transforms.Bicubic
	if s := o.String("interpolation"); s != "" {
		var ok bool
		if interpolation, ok = interpolations[s]; !ok {
			o.Bad("interpolation", "nearest, bilinear, bicubic, box, hamming or lanczos")
		}
	}
	mean, std := values(o, "mean", defaultMean), values(o, "std", defaultStd)
	if slices.Contains(std, 0) {
		o.Bad("std", "numbers other than 0")
	}
	pct := defaultCropPct
	if v, _ := o.Get("crop_pct"); v != nil {
		f, ok := importer.Float(v)
		if !ok || f < 0 {
			o.Bad("crop_pct", "a number above 0")
		}
		if f > 0 { // 0 and null mean the default
			pct = f
		}
	}
	mode := o.String("crop_mode")
	sh, sw := scaled(o, h, pct), scaled(o, w, pct)

	g := datagraph.New(transforms.NewDecode())
	g.Reference = "timm 1.0.31 create_transform"
	r := &transforms.Resize{Interpolation: interpolation, Backend: transforms.Pillow}
	c := transforms.NewCenterCrop(h, w)
	switch mode {
	case "squash":
		r.Fit, r.Height, r.Width = transforms.FitExact, sh, sw
	case "border":
		r.Fit, r.Height, r.Width, r.SizeRule = transforms.FitInside, sh, sw, transforms.SizeHalfEven
		c.Fill = make([]float64, len(mean))
		for i, m := range mean {
			c.Fill[i] = math.RoundToEven(float64(255 * m)) // Python's round: 0.5 gives 128
			if c.Fill[i] < 0 || c.Fill[i] > 255 {
				o.Bad("mean", "numbers of 0 to 1, since crop_mode border fills the border with them")
			}
		}
	case "center", "":
		if sh == sw {
			r.Fit, r.Edge, r.SizeRule = transforms.FitShortest, sh, transforms.SizeTruncate
		} else {
			r.Fit, r.Height, r.Width, r.SizeRule = transforms.FitCover, sh, sw, transforms.SizeHalfEven
		}
	default:
		o.Bad("crop_mode", "center, squash or border")
	}
	g.Add(r).Add(c)
	switch {
	case prefetcher:
		g.Reference = "timm 1.0.31 create_transform, PrefetchLoader"
		for i := range mean {
			mean[i], std[i] = float64(mean[i]*255), float64(std[i]*255)
		}
		g.Add(transforms.NewToType(tensor.Float32)).Add(transforms.NewNormalize(mean, std)).Add(transforms.NewHWC2CHW())
	case normalize:
		g.Add(transforms.NewToTensor()).Add(transforms.NewNormalize(mean, std))
	default:
		g.Add(transforms.NewHWC2CHW())
	}
	return g
}

// inputSize returns the height and width.
func inputSize(o, args *importer.Object) (h, w int) {
	h, w = defaultSide, defaultSide
	fixed := o.Bool("fixed_input_size", false)
	if v, _ := o.Get("input_size"); v != nil {
		if l, ok := importer.Ints(v, 3, 1, importer.MaxSide); ok && l[0] == 3 {
			h, w = l[1], l[2]
		} else {
			o.Bad("input_size", "[3, height, width]")
		}
	}
	if args == nil {
		return h, w
	}
	args.InertAll() // the arguments build the model
	if v, _ := args.Get("in_chans"); v != nil {
		if n, ok := importer.Int(v, 3, 3); !ok || n != 3 {
			args.Bad("in_chans", "3")
		}
	}
	if args.Bool("dynamic_img_size", false) || !args.Bool("strict_img_size", true) && !args.Null("strict_img_size") || args.Bool("use_naflex", false) {
		fixed = false
	}
	if v, _ := args.Get("img_size"); v != nil && fixed {
		if n, ok := importer.Int(v, 1, importer.MaxSide); ok {
			return n, n
		}
		l, ok := importer.Ints(v, 2, 1, importer.MaxSide)
		if !ok {
			args.Bad("img_size", "a whole number or [height, width]")
			return h, w
		}
		return l[0], l[1]
	}
	return h, w
}

// scaled returns floor(side / crop_pct), the side before the crop.
func scaled(o *importer.Object, side int, pct float64) int {
	f := math.Floor(float64(side) / pct)
	if !(f >= 1 && f <= importer.MaxSide) {
		o.Bad("crop_pct", fmt.Sprintf("a number for which %d, divided by it, is 1 to %d", side, importer.MaxSide))
		return 1
	}
	return int(f)
}

// values reads a mean or deviation: three numbers, or one for all channels.
func values(o *importer.Object, key string, def []float64) []float64 {
	v, _ := o.Get(key)
	if v == nil {
		return slices.Clone(def)
	}
	if l, ok := importer.Floats(v, 3); ok {
		return l
	}
	if l, ok := importer.Floats(v, 1); ok {
		return []float64{l[0], l[0], l[0]}
	}
	o.Bad(key, "a list of three numbers, or of one")
	return slices.Clone(def)
}

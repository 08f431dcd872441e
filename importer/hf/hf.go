// Package hf imports Hugging Face's preprocessor_config.json.
//
// The reference is transformers 5.23.0 with its torchvision backend, the
// default (Import), or with its PIL backend (ImportPIL), which returns other
// bytes: AutoImageProcessor.from_pretrained(dir, backend=…), called with
// Image.open(f).convert("RGB"). torchvision's bytes are those of x86-64 with
// AVX2 and torch 2.15.0. The outputs have the reference's names, pixel_values
// first, and no batch axis; the graph's Batch has the rules by which the
// reference forms batches. Values that undo the scaling, such as SAM's
// original_sizes, are side outputs. Annotations and segmentation maps are not
// part of the graph. A class that takes videos gets the image as one frame.
//
// The class in the file decides: an absent key means the class's default, null
// means no value. The importer accepts the arguments of all image processors
// and those of the class. It ignores an argument that the class ignores:
// Segformer the centre crop, MobileViT the normalisation, and all PIL classes
// data_format, since they always return channels first. The output is uint8 if
// both do_rescale and do_normalize are off, else float32.
//
// A file has the meaning of 5.23.0, whichever version wrote it. The class must
// be in the file, or in the model's config.json beside it, and not both in and
// around a nested image_processor. A file with pretrained_cfg is a config.json
// of timm, which the class TimmWrapper reads. Names of classes may have the
// suffixes of older versions, Fast and Pil, or end in FeatureExtractor; the
// backend is the caller's choice.
//
// These keys have no influence and are ignored:
//
//   - Names of classes and versions; what 5.23.0 never reads of a file
//     (return_tensors, input_data_format, disable_grouping for one image); and
//     device, if it is null or "cpu". Another device is an error.
//   - Settings of segmentation maps, OCR languages, and boxes' format.
//   - Keys about the model, its tokens, audio, video and masks, for classes
//     whose code does not read them: the list unread, with which parity/keys.py
//     runs every class.
//   - Keys of older versions that have no influence in 5.23.0, or ask for what
//     the class does anyway: the table former. Others are unknown keys.
//
// Every other key that the class's code does not read is an unknown key.
//
// A file with a feature extractor of sound and without an image processor gives
// the graph of the sound; see ImportAudio, which takes the sound of a file with
// both.
package hf

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/infer-prep/infer-prep/codec"
	"github.com/infer-prep/infer-prep/datagraph"
	"github.com/infer-prep/infer-prep/importer"
	"github.com/infer-prep/infer-prep/tensor"
	"github.com/infer-prep/infer-prep/transforms"
)

// output names the graphs' first output.
const output = "pixel_values"

func init() {
	importer.Register(importer.Importer{
		Name: "hf", Import: Import,
		Doc:      "Hugging Face's preprocessor_config.json, as transformers 5.23.0 applies it by default (backend torchvision) or with --backend pil; --backend audio takes the sound of a file with both, and samples the graph without decoding",
		Backends: soundBackends(map[string]func([]byte) (*datagraph.Graph, error){"torchvision": Import, "pil": ImportPIL}),
		Decoders: decoders(),
		Folder:   folder,
		Detect: func(base string, head []byte) bool {
			return base == preprocessorName || base == processorName || importer.HasKey(head, "image_processor_type", "feature_extractor_type", "image_processor", "feature_extractor")
		},
	})
}

// Import reads a preprocessor_config.json. The graph is that of the torchvision
// backend, the default of transformers 5.
func Import(data []byte) (*datagraph.Graph, error) { return load(data, true) }

// ImportPIL reads a preprocessor_config.json. The graph is that of the PIL
// backend, which is also that of transformers 4 without use_fast.
func ImportPIL(data []byte) (*datagraph.Graph, error) { return load(data, false) }

func load(data []byte, torch bool) (*datagraph.Graph, error) {
	file, o, err := parse(data)
	if err != nil {
		return nil, err
	}
	if o == file && file.Peek("image_processor_type") == nil {
		if g, ok, err := importIfSound(file); ok {
			return g, err
		}
	}
	c, err := classOf(o, data)
	if err != nil {
		return nil, err
	}
	// Without a PIL backend transformers takes torchvision's.
	torch = (torch || c.torchOnly) && !c.numpyOnly
	c.defaults.torch = torch
	s := read(o, c)
	accept(o, c.name, &s)
	g := datagraph.New()
	g.Reference = "transformers " + Version + " " + c.name + suffix + ", backend torchvision"
	switch {
	case c.numpyOnly:
		g.Reference = "transformers " + Version + " " + c.name + suffix
	case !torch:
		g.Reference = "transformers " + Version + " " + c.name + suffix + "Pil, backend pil"
	}
	if ownCode(o) {
		g.Reference += ", without trust_remote_code"
	}
	c.build(&builder{Graph: g, settings: s}, o)
	if err := file.Err("hf"); err != nil {
		return nil, err
	}
	if g.Outputs[0] == datagraph.Image { // ImageGPT has two names
		g.Rename(cmp.Or(c.output, output))
	}
	c.batch.apply(g)
	return importer.Finish("hf", g)
}

// classOf finds the class as AutoImageProcessor does: image_processor_type,
// else feature_extractor_type, with the names of older versions and other
// backends.
func classOf(o *importer.Object, data []byte) (class, error) {
	key := "image_processor_type"
	if !o.Has(key) || o.Null(key) {
		key = "feature_extractor_type"
	}
	v, _ := o.Get(key)
	if v == nil && o.Has("pretrained_cfg") { // is_timm_config_dict
		v = "TimmWrapper" + suffix
	}
	name, ok := v.(string)
	if !ok {
		text := importer.Describe(v) + ", want the name of an image processor"
		switch {
		case v == nil && o.Has("video_processor_type"):
			key = "video_processor_type"
			text = importer.Describe(o.Peek(key)) + " is no image processor: infer-prep run --video takes the file"
		case v == nil:
			key = "image_processor_type"
			text = "missing, like feature_extractor_type. AutoImageProcessor then takes the class from model_type in the model's config.json: import the folder with both files, or add image_processor_type, such as \"ViTImageProcessor\""
		}
		return class{}, fmt.Errorf("importer: hf: %w", &importer.Error{Kind: importer.ErrUnknownClass, Path: key, Text: text})
	}
	base := baseName(name)
	c, known := classes()[base]
	if base == name || !known {
		return class{}, unknownClass(o, data, key, name)
	}
	c.name = base
	return c, nil
}

// baseName returns the name of a class without suffixes, as in classes. It
// returns other names unchanged.
func baseName(name string) string {
	base := strings.TrimSuffix(strings.TrimSuffix(name, "Fast"), "Pil")
	base, ok := strings.CutSuffix(strings.Replace(base, "FeatureExtractor", suffix, 1), suffix)
	if !ok {
		return name
	}
	return base
}

// Version is the version of transformers that Import reproduces.
const Version = "5.23.0"

// suffix ends the names of image processors.
const suffix = "ImageProcessor"

// size is a SizeDict; 0 is None.
type size struct {
	height, width, shortest, longest, maxHeight, maxWidth int
}

func square(n int) size   { return size{height: n, width: n} }
func shortest(n int) size { return size{shortest: n} }

// settings holds the arguments that all classes share.
type settings struct {
	convertRGB, resize, centerCrop, rescale, normalize, pad bool

	notSquare           bool // the opposite of default_to_square
	size, crop, padSize size
	resample            transforms.Interpolation
	maxSize             int  // DETR's max_size, the longest edge if size is a number; 0 if the class has none
	anySize             bool // the class decides which forms of size are valid
	ownPad              bool // the class's build function reads pad_size
	ownSize             bool // the class's build function reads size and handles a null resample
	ownResample         bool // the class ignores resample
	nullValues          bool // null means the class's crop_size, image_mean and image_std
	factor              float64
	wholeFactor         bool      // rescale_factor is written as a whole number
	mean, std           []float64 // three values, or nil for None

	torch bool // the torchvision backend, not PIL's
	half  bool // the values are computed in bfloat16: Llama 4
}

// builder adds the steps that classes share.
type builder struct {
	*datagraph.Graph
	settings
	float       bool // the image is float32
	noAntialias bool // torchvision's resize does not antialias
}

// branch adds the steps that add makes of the column from, and writes their
// result to the column to.
func (b *builder) branch(from, to string, add func(*builder)) {
	c := &builder{Graph: datagraph.New(), settings: b.settings, float: b.float, noAntialias: b.noAntialias}
	add(c)
	for i, s := range c.Steps {
		for j, name := range s.In {
			if name == datagraph.Image && i == 0 {
				s.In[j] = from
			} else if name == datagraph.Image {
				s.In[j] = to
			}
		}
		for j, name := range s.Out {
			if name == datagraph.Image {
				s.Out[j] = to
			}
		}
		b.Then(s.Op, s.In, s.Out)
	}
}

// resamples maps Pillow's resampling numbers.
var resamples = []transforms.Interpolation{
	transforms.Nearest, transforms.Lanczos, transforms.Bilinear, transforms.Bicubic, transforms.Box, transforms.Hamming,
}

// read reads the common arguments; the class's defaults apply to absent ones.
func read(o *importer.Object, c class) settings {
	s := c.defaults
	if s.factor == 0 {
		s.factor = 1.0 / 255
	}
	for key, p := range map[string]*bool{
		"do_convert_rgb": &s.convertRGB, "do_resize": &s.resize, "do_center_crop": &s.centerCrop,
		"do_rescale": &s.rescale, "do_normalize": &s.normalize, "do_pad": &s.pad,
	} {
		*p = o.Bool(key, *p)
	}
	s.notSquare = !o.Bool("default_to_square", !s.notSquare)
	s.readSizes(o)
	s.mean, s.std = s.readValues(o, "image_mean", s.mean), s.readValues(o, "image_std", s.std)
	s.readResample(o, "resample")
	s.readFactor(o, "rescale_factor")
	if f := o.String("data_format"); f != "" && f != "channels_first" && f != "channels_last" {
		o.Bad("data_format", `"channels_first" or "channels_last"`)
	}
	if v, _ := o.Get("device"); v != nil && v != "cpu" && s.torch { // PIL's backend ignores it
		o.Bad("device", `null or "cpu": the reference runs on a CPU, and a GPU may return other values`)
	}
	o.Inert(inert...)

	// validate_preprocess_arguments of transformers checks the same for every
	// class.
	if s.resize && s.size == (size{}) && !s.ownSize {
		o.Bad("size", "a size, for do_resize")
	}
	if s.centerCrop && s.crop == (size{}) && !c.numpyOnly {
		o.Bad("crop_size", "a size, for do_center_crop")
	}
	s.wantsValues(o, "")
	return s
}

// wantsValues requires a mean and a deviation for do_normalize. prefix begins
// the keys.
func (s *settings) wantsValues(o *importer.Object, prefix string) {
	if s.normalize && s.mean == nil {
		o.Bad(prefix+"image_mean", "one or three numbers, for "+prefix+"do_normalize")
	}
	if s.normalize && s.std == nil {
		o.Bad(prefix+"image_std", "one or three numbers, for "+prefix+"do_normalize")
	}
}

// nullSide reads a length as Side does, but null is none.
func nullSide(o *importer.Object, key string, def, none int) int {
	if o.Null(key) {
		o.Inert(key)
		return none
	}
	return o.Side(key, def)
}

// readResample reads the interpolation of the resize.
func (s *settings) readResample(o *importer.Object, key string) {
	v, ok := o.Get(key)
	if !ok {
		return
	}
	n, ok := importer.Int(v, 0, len(resamples)-1)
	switch {
	case ok && s.ownResample:
	case ok:
		s.resample = resamples[n]
		if s.torch && n > 3 && s.resize {
			o.Bad(key, "0 to 3: torchvision's tensors have neither box nor hamming; the PIL backend has both")
		}
	case v != nil || s.resize && !s.ownSize: // transformers rejects null if it resizes
		const want = "a Pillow resampling number: 0 nearest, 1 lanczos, 2 bilinear, 3 bicubic, 4 box, 5 hamming"
		name, _ := v.(string)
		name = strings.ToLower(name[strings.LastIndexByte(name, '.')+1:]) // PIL.Image.BICUBIC
		if i := slices.IndexFunc(resamples, func(r transforms.Interpolation) bool { return r.String() == name }); i >= 0 {
			o.Fail(importer.ErrValue, key, fmt.Sprintf("%s, want %s; did you mean %d?", importer.Describe(v), want, i))
			return
		}
		o.Bad(key, want)
	}
}

// readFactor reads the factor of the rescaling.
func (s *settings) readFactor(o *importer.Object, key string) {
	v, ok := o.Get(key)
	if !ok {
		return
	}
	f, ok := importer.Float(v)
	_, s.wholeFactor = importer.Int(v, math.MinInt32, math.MaxInt32)
	switch {
	case !ok && (v != nil || s.rescale):
		o.Bad(key, "a number")
	case s.torch && s.rescale && s.normalize && float32(f) == 0:
		o.Bad(key, "a number other than 0, by which torchvision's backend divides")
	}
	s.factor = f
}

// readSizes reads size, crop_size and pad_size.
func (s *settings) readSizes(o *importer.Object) {
	switch {
	case s.ownSize:
	case s.maxSize == 0:
		readSize(o, "size", &s.size, !s.notSquare, s.anySize)
	case o.Has("size") && !o.Null("size"): // null keeps the default here
		readSize(o, "size", &s.size, false, s.anySize)
		if v, ok := o.Get("max_size"); ok && v == nil {
			s.maxSize = 0
		} else {
			s.maxSize = o.Side("max_size", s.maxSize)
		}
		if v, _ := o.Get("size"); s.size.shortest > 0 {
			if _, ok := importer.Int(v, 1, importer.MaxSide); ok {
				s.size.longest = s.maxSize
			}
		}
	default:
		o.Inert("size", "max_size")
	}
	if s.nullValues && o.Null("crop_size") {
		o.Inert("crop_size")
	} else {
		readSize(o, "crop_size", &s.crop, true, false)
	}
	if !s.ownPad {
		readSize(o, "pad_size", &s.padSize, true, false)
	}
}

// sizeWant names the forms that a size may have.
const sizeWant = `a whole number, [height, width], or an object with height and width, shortest_edge, shortest_edge and longest_edge, or max_height and max_width`

// readSize reads a size as get_size_dict does. any also accepts the valid forms
// that most classes cannot use.
func readSize(o *importer.Object, key string, s *size, square, any bool) {
	v, ok := o.Get(key)
	if !ok {
		return
	}
	*s = size{}
	if v == nil {
		return
	}
	if n, ok := importer.Int(v, 1, importer.MaxSide); ok {
		if square {
			s.height, s.width = n, n
		} else {
			s.shortest = n
		}
		return
	}
	if l, ok := importer.Ints(v, 2, 1, importer.MaxSide); ok {
		s.height, s.width = l[0], l[1]
		return
	}
	if _, ok := v.(*importer.Object); !ok {
		o.Bad(key, sizeWant)
		return
	}
	d := o.Object(key)
	for k, p := range map[string]*int{
		"height": &s.height, "width": &s.width, "shortest_edge": &s.shortest, "longest_edge": &s.longest,
		"max_height": &s.maxHeight, "max_width": &s.maxWidth,
	} {
		if k == "longest_edge" && d.Null(k) && d.Has("shortest_edge") { // null means no bound
			d.Inert(k)
			continue
		}
		*p = d.Side(k, 0)
	}
	switch strings.Join(d.Keys(), " ") {
	case "height width", "shortest_edge", "longest_edge shortest_edge", "max_height max_width":
	case "longest_edge", "max_pixels min_pixels": // few classes use these
		d.InertAll()
		if any {
			return
		}
		fallthrough
	default:
		o.Bad(key, sizeWant)
	}
}

// readValues reads a mean or deviation: one number for all channels, or three.
// torchvision also takes a list of one.
func (s *settings) readValues(o *importer.Object, key string, def []float64) []float64 {
	v, ok := o.Get(key)
	if !ok {
		return def
	}
	if v == nil && s.nullValues {
		return def
	}
	if v == nil {
		return nil
	}
	if f, ok := importer.Float(v); ok {
		return []float64{f, f, f}
	}
	if l, ok := importer.Floats(v, 1); ok && s.torch {
		return []float64{l[0], l[0], l[0]}
	}
	l, ok := importer.Floats(v, 3)
	if !ok {
		o.Bad(key, "one or three numbers")
		return def
	}
	return l
}

// decode adds the first step. With do_convert_rgb, transformers puts pixels of
// a transparent colour key on white; they stay keyed through convert("RGB").
// Other transparency is lost by then.
func (b *builder) decode() {
	d := transforms.NewDecode()
	if b.convertRGB {
		d.Alpha = codec.AlphaKeyWhite
	}
	b.Add(d)
}

// kernel returns the interpolation and the library of the backend's resize.
// torchvision takes nearest as nearest-exact, as Pillow's nearest is.
func (b *builder) kernel() (transforms.Interpolation, transforms.Backend) {
	switch {
	case !b.torch:
		return b.resample, transforms.Pillow
	case b.resample == transforms.Nearest:
		return transforms.NearestExact, transforms.TorchUint8
	}
	return b.resample, transforms.TorchUint8
}

// resizeTo adds the resize of PilBackend.resize or TorchvisionBackend.resize.
func (b *builder) resizeTo(s size) {
	r := &transforms.Resize{}
	switch {
	case s.shortest > 0 && s.longest > 0:
		r.Fit, r.Edge, r.MaxEdge, r.SizeRule = transforms.FitShortest, s.shortest, s.longest, transforms.SizeCapUnrounded
	case s.shortest > 0:
		r.Fit, r.Edge, r.SizeRule = transforms.FitShortest, s.shortest, transforms.SizeTruncate
	case s.maxHeight > 0:
		r.Fit, r.Height, r.Width, r.SizeRule = transforms.FitInside, s.maxHeight, s.maxWidth, transforms.SizeTruncate
	default:
		r.Fit, r.Height, r.Width = transforms.FitExact, s.height, s.width
	}
	b.sizeRule(r)
}

// sizeRule adds a resize by the class's own rule.
func (b *builder) sizeRule(r *transforms.Resize) {
	r.Interpolation, r.Backend = b.kernel()
	r.NoAntialias = b.noAntialias
	b.Add(r)
}

// resizes adds the resize to size if do_resize is set.
func (b *builder) resizes() {
	if b.resize {
		b.resizeTo(b.size)
	}
}

// cropTo adds the crop of image_transforms.center_crop or
// TorchvisionBackend.center_crop.
func (b *builder) cropTo(height, width int) {
	c := transforms.NewCenterCrop(height, width)
	c.CropRounding = b.cropRounding()
	b.Add(c)
}

// cropRounding returns the rounding of the backend's centre crop.
func (b *builder) cropRounding() transforms.CropRounding {
	if b.torch {
		return transforms.CropTruncate
	}
	return transforms.CropFloor
}

// crops adds the centre crop if do_center_crop is set.
func (b *builder) crops(o *importer.Object) {
	if !b.centerCrop {
		return
	}
	if b.crop.height == 0 || b.crop.width == 0 {
		o.Bad("crop_size", "height and width")
		return
	}
	b.cropTo(b.crop.height, b.crop.width)
}

// values adds the multiplication by rescale_factor, the offset and the
// normalization, as far as do_rescale and do_normalize are set.
func (b *builder) values(o *importer.Object, offset float64) {
	if b.half {
		b.halfValues()
		return
	}
	mean, std := b.mean, b.std
	switch {
	case b.torch && b.rescale && b.wholeFactor && !b.float && (!b.normalize || offset != 0):
		// A tensor of bytes times a whole number is a tensor of bytes.
		if b.factor != 1 || offset != 0 {
			o.Bad("rescale_factor", "a number with a decimal point: torchvision's backend multiplies bytes by a whole number, modulo 256")
		}
	case b.torch && b.rescale && b.normalize && offset == 0:
		mean, std = fused(mean, b.factor), fused(std, b.factor)
	case b.rescale:
		rule := transforms.RescaleHF
		if b.torch {
			rule = transforms.RescaleMultiply
		}
		b.Add(&transforms.Rescale{Scale: b.factor, Offset: offset, Rule: rule})
		b.float = true
	}
	if b.normalize {
		b.normalizes(mean, std)
	}
}

// fused divides values by rescale_factor, as _fuse_mean_std_and_rescale_factor
// does in float32.
func fused(values []float64, factor float64) []float64 {
	l := make([]float64, len(values))
	for i, v := range values {
		l[i] = float64(float32(v) * float32(1/factor))
	}
	return l
}

// normalizes adds image_transforms.normalize, which first converts integers to
// float32.
func (b *builder) normalizes(mean, std []float64) {
	if !b.float {
		b.Add(transforms.NewToType(tensor.Float32))
		b.float = true
	}
	b.Add(transforms.NewNormalize(slices.Clone(mean), slices.Clone(std)))
}

// tail adds the last steps of nearly all classes.
func (b *builder) tail(o *importer.Object) {
	b.crops(o)
	b.values(o, 0)
	b.Add(transforms.NewHWC2CHW())
}

// padsBatch says that a batch of these columns is padded with zeros to the size
// of its largest image.
func (b *builder) padsBatch(columns ...string) {
	for _, c := range columns {
		b.SetBatch(c, datagraph.Batching{Rule: datagraph.BatchPad})
	}
}

// pads adds the backend's pad, with zeros at the bottom and right. Without
// pad_size, a single image is padded to its own size, and a batch to its
// largest image.
func (b *builder) pads(o *importer.Object) {
	if !b.pad {
		return
	}
	if b.padSize == (size{}) {
		b.padsBatch(b.Outputs[0])
		return
	}
	if b.padSize.height == 0 || b.padSize.width == 0 {
		o.Bad("pad_size", "height and width")
		return
	}
	p := transforms.NewPadToSize(b.padSize.height, b.padSize.width)
	p.Position = transforms.TopLeft
	b.Add(p)
}

package tokens

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/infer-prep/infer-prep/importer"
)

// keys reads the settings of a processor. An option of the call takes
// precedence over the class's own options, and these over the image processor's
// file.
type keys struct {
	class                                 string
	file, image, options, call, tokenizer *importer.Object
	video                                 *importer.Object // of the video processor; nil for images
	tokens                                map[string]string
	problems                              importer.Errors
}

// empty is an object without keys.
func empty() *importer.Object { return parsed("{}") }

// parsed parses a constant.
func parsed(s string) *importer.Object {
	o, err := importer.Parse([]byte(s))
	if err != nil {
		panic(err)
	}
	return o
}

// newKeys parses the files. It returns the name of the class.
func newKeys(f Files) (*keys, string, error) {
	k := &keys{file: empty(), options: empty(), call: empty(), tokens: f.Tokens}
	for _, p := range []struct {
		data []byte
		to   **importer.Object
		name string
	}{
		{f.Processor, &k.file, "processor_config.json"}, {f.Preprocessor, &k.image, "preprocessor_config.json"},
		{f.Tokenizer, &k.tokenizer, "tokenizer_config.json"}, {f.Call, &k.call, "options of the call"},
	} {
		if p.data == nil {
			continue
		}
		o, err := importer.Parse(p.data)
		if err != nil {
			return nil, "", fmt.Errorf("%s: %w", p.name, err)
		}
		*p.to = o
	}
	if k.file.Peek("image_processor") != nil {
		k.image = k.file.Object("image_processor")
	}
	if k.image == nil {
		k.fail("image_processor", "missing: want an object in processor_config.json, or a preprocessor_config.json")
		return nil, "", k.err()
	}
	v := k.file.Peek("processor_class")
	if v == nil {
		v = k.image.Peek("processor_class")
	}
	name, ok := v.(string)
	if !ok {
		text := importer.Describe(v)
		if v == nil {
			text = "missing"
		}
		return nil, "", fmt.Errorf("importer: hf: %w", &importer.Error{
			Kind: importer.ErrUnknownClass, Path: "processor_class", Text: text + ", want the name of a processor, such as \"Qwen2VLProcessor\"",
		})
	}
	return k, name, nil
}

// start checks the image processor's class and takes the options of c.
func (k *keys) start(c class, name string) error {
	k.class = name
	if c.options != "" {
		k.options = parsed(c.options)
	}
	kind := "image_processor_type"
	if k.image.Peek(kind) == nil && k.image.Peek("feature_extractor_type") != nil {
		kind = "feature_extractor_type"
	}
	s, _ := k.image.Peek(kind).(string)
	base := strings.TrimSuffix(strings.TrimSuffix(strings.TrimSuffix(s, "Fast"), "Pil"), "ImageProcessor")
	base = strings.TrimSuffix(base, "FeatureExtractor")
	if !slices.Contains(c.images, base) {
		return fmt.Errorf("importer: hf: %w", &importer.Error{
			Kind: importer.ErrUnsupported, Path: kind, Text: fmt.Sprintf("%s: %s has rules for %sImageProcessor only", importer.Describe(k.image.Peek(kind)), name, strings.Join(c.images, "ImageProcessor, ")),
		})
	}
	return nil
}

// inert lists the options of a call that change pixels and no sizes.
var inert = []string{
	"do_rescale", "rescale_factor", "do_normalize", "image_mean", "image_std", "resample", "do_convert_rgb", "return_tensors", "data_format", "input_data_format",
	"device", "disable_grouping",
}

// err returns the problems. An option of the call that no rule read is one.
func (k *keys) err() error {
	k.call.Inert(inert...)
	l := slices.Clone(k.problems)
	if len(l) == 0 {
		if err := k.call.Err("hf"); err != nil {
			return fmt.Errorf("options of the call: %w", err)
		}
		return nil
	}
	return fmt.Errorf("importer: hf: %w", l)
}

// fail records a problem.
func (k *keys) fail(path, text string) {
	if !slices.ContainsFunc(k.problems, func(e *importer.Error) bool { return e.Path == path }) {
		k.problems = append(k.problems, &importer.Error{Kind: importer.ErrValue, Path: path, Text: text})
	}
}

// bad records an absent or invalid value of o.
func (k *keys) bad(o *importer.Object, key, want string) {
	text := "absent"
	if o.Has(key) {
		text = importer.Describe(o.Peek(key))
	}
	k.fail(key, text+", want "+want)
}

// layer returns the object whose value of an image processor's key counts.
func (k *keys) layer(key string) *importer.Object {
	k.call.Inert(key)
	for _, o := range []*importer.Object{k.call, k.options} {
		if o.Has(key) {
			return o
		}
	}
	return k.image
}

// int reads a whole number of lo to hi from o. Null is invalid.
func (k *keys) int(o *importer.Object, key string, def, lo, hi int) int {
	if !o.Has(key) {
		return def
	}
	n, ok := importer.Int(o.Peek(key), lo, hi)
	if !ok {
		k.bad(o, key, fmt.Sprintf("a whole number of %d to %d", lo, hi))
		return def
	}
	return n
}

// side reads a number of pixels.
func (k *keys) side(o *importer.Object, key string, def int) int {
	return k.int(o, key, def, 1, importer.MaxSide)
}

// bool reads true or false from o; null is false.
func (k *keys) bool(o *importer.Object, key string, def bool) bool {
	if !o.Has(key) {
		return def
	}
	switch v := o.Peek(key).(type) {
	case bool:
		return v
	case nil:
		return false
	}
	k.bad(o, key, "true or false")
	return def
}

// float reads a number of lo to hi from o.
func (k *keys) float(o *importer.Object, key string, def, lo, hi float64) float64 {
	if !o.Has(key) {
		return def
	}
	f, ok := importer.Float(o.Peek(key))
	if !ok || f < lo || f > hi {
		k.bad(o, key, fmt.Sprintf("a number of %g to %g", lo, hi))
		return def
	}
	return f
}

// string reads a string from o, def if absent or null.
func (k *keys) string(o *importer.Object, key, def string) string {
	v := o.Peek(key)
	if v == nil {
		return def
	}
	s, ok := v.(string)
	if !ok {
		k.bad(o, key, "a string")
		return def
	}
	return s
}

// size is a SizeDict; 0 is None.
type size struct{ height, width, shortest, longest int }

// maxArea is the largest edge of a size that means an area in pixels.
const maxArea = min(1<<48, math.MaxInt)

// size reads a size of o: an object, or a number if square is set.
func (k *keys) size(o *importer.Object, key string, def size, square bool) size {
	if !o.Has(key) {
		return def
	}
	v := o.Peek(key)
	if n, ok := importer.Int(v, 1, importer.MaxSide); ok {
		if square {
			return size{height: n, width: n}
		}
		return size{shortest: n}
	}
	if l, ok := importer.Ints(v, 2, 1, importer.MaxSide); ok {
		return size{height: l[0], width: l[1]}
	}
	d, ok := v.(*importer.Object)
	if !ok {
		k.bad(o, key, "a whole number, [height, width], or an object with edges")
		return def
	}
	var s size
	for name, p := range map[string]*int{"height": &s.height, "width": &s.width, "shortest_edge": &s.shortest, "longest_edge": &s.longest} {
		if d.Peek(name) == nil {
			continue
		}
		if *p, ok = importer.Int(d.Peek(name), 1, maxArea); !ok {
			k.fail(key+"."+name, importer.Describe(d.Peek(name))+", want a whole number of at least 1, at most 2^48")
		}
	}
	if min(s.height, s.width) == 0 && max(s.height, s.width) > 0 {
		k.bad(o, key, "both height and width, or neither")
	}
	if max(s.height, s.width) > importer.MaxSide {
		k.bad(o, key, "height and width of at most 16777216")
	}
	return s
}

// token returns the string of an attribute of the tokenizer. def is what the
// class takes if the tokenizer lacks it; "" means that the class requires it.
func (k *keys) token(name, def string) string {
	if s, ok := k.tokens[name]; ok {
		return s
	}
	if k.tokenizer != nil {
		v := k.tokenizer.Peek(name)
		if v == nil {
			if extra, ok := k.tokenizer.Peek("extra_special_tokens").(*importer.Object); ok {
				v = extra.Peek(name)
			}
		}
		if o, ok := v.(*importer.Object); ok { // an AddedToken
			v = o.Peek("content")
		}
		if s, ok := v.(string); ok {
			return s
		}
		if v != nil {
			k.fail(name, importer.Describe(v)+", want a token of tokenizer_config.json")
			return def
		}
		if def != "" {
			return def
		}
	}
	k.fail(name, "missing: the tokenizer knows it; give tokenizer_config.json or the token's string")
	return def
}

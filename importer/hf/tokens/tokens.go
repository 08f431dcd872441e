// Package tokens computes the text that a Hugging Face processor puts in place
// of an image's or a video's placeholder, and its number of tokens, from the
// size of the image or of the video's frames.
//
// The reference is transformers 5.23.0 with its torchvision backend:
// AutoProcessor.from_pretrained(dir), then _get_num_multimodal_tokens for an
// image's number, and replace_image_token or replace_video_token for the text.
// Package tokens reads the processor's files and needs neither pixels nor a
// tokenizer. The strings of tokens that only the tokenizer knows come from
// tokenizer_config.json or from the caller.
//
// A key that neither the number nor the text depends on is ignored in the
// files. An option of the call that has no meaning for the class is an error.
package tokens

import (
	"fmt"
	"slices"
	"strings"

	"github.com/infer-prep/infer-prep/importer"
	"github.com/infer-prep/infer-prep/internal/registry"
)

// Files holds the content of a model's files and the arguments of a call.
type Files struct {
	// Processor is processor_config.json: the processor's own arguments, and
	// the image processor's in "image_processor" if transformers 5 saved it.
	// Nil means that the model has no such file.
	Processor []byte
	// Preprocessor is preprocessor_config.json, the image processor's
	// arguments. It is read if Processor has no "image_processor". One of both
	// files names the class in processor_class.
	Preprocessor []byte
	// Video is video_preprocessor_config.json, or the file that
	// video.FromModel chooses. Nil means Processor if it has a
	// "video_processor", else Preprocessor. Images does not need it.
	Video []byte
	// Tokenizer is tokenizer_config.json. Nil means that the model has no such
	// file or that it is unknown: tokens then come from Tokens alone.
	Tokenizer []byte
	// Tokens maps the tokenizer's attributes, such as "image_token", to their
	// strings. It takes precedence over Tokenizer.
	Tokens map[string]string
	// Call is a JSON object with the keyword arguments of the processor's call
	// that concern images, such as {"do_pan_and_scan": true}. Nil means none.
	Call []byte
}

// Processor computes numbers and texts. It is safe for concurrent use.
type Processor struct {
	class    string
	before   bool
	rule     rule
	videos   videoRule
	videoErr error // why there is no rule for videos
}

// Image holds the tokens of an image.
type Image struct {
	// Tokens is the number that _get_num_multimodal_tokens returns. If the
	// class has no such method, it is the number of image tokens in Text.
	Tokens int
	// TokensErr says why that method fails although the text has no error.
	// Tokens is then 0.
	TokensErr error
	// TextTokens is the number of the same kind of tokens in Text. It differs
	// from Tokens where the reference's method ignores a setting.
	TextTokens int
	// Text replaces the placeholder of the image in the prompt, or stands
	// before the prompt. The texts of a call have at most 64 MiB.
	Text string
	// Before reports that Text stands before the prompt, which then has no
	// placeholders. The texts of several images follow one another.
	Before bool
}

// rule computes the tokens of images for fixed settings. count returns the
// number of _get_num_multimodal_tokens, which may depend on the size in another
// way than the text; nil means that the class has no such method. text writes
// the text of the image with that index in a call. marked reports that the
// number counts all tokens of the text, not only the image tokens.
type rule struct {
	count  func(height, width int) (int, error)
	text   func(t *text, sizes [][2]int, index int) error
	marked bool
}

// class describes a processor class.
type class struct {
	images  []string // the image processors that it may have, without suffixes
	options string   // the class's own images_kwargs, a JSON object; "" is none
	before  bool     // the text stands before the prompt
	// build reads the settings. It records problems in k.
	build func(k *keys) rule
}

// classes holds the processor classes by name without "Processor".
var classes = registry.New[class]("processor class")

// define registers a class. Each family's file calls it in init.
func define(c class, names ...string) {
	for _, name := range names {
		classes.Add(name, c)
	}
}

// Classes returns the names of the known classes, sorted.
func Classes() []string {
	l := slices.Clone(classes.Names())
	for i := range l {
		l[i] += suffix
	}
	slices.Sort(l)
	return l
}

// suffix ends the names of processor classes.
const suffix = "Processor"

// Parse reads a processor's files. Its errors wrap those of package importer:
// ErrJSON, ErrUnknownClass, ErrUnsupported, ErrValue and ErrUnknownKey. A value
// that no file has and the reference needs is an ErrValue that names it. A
// class of transformers that Supports does not list as exact is an
// ErrUnsupported that says why.
func Parse(f Files) (*Processor, error) {
	k, name, err := newKeys(f)
	if err != nil {
		return nil, err
	}
	base := strings.TrimSuffix(name, suffix)
	c, known := classes.Get(base)
	if _, listed := processors[name]; listed && !known {
		return nil, fmt.Errorf("importer: hf: %w", &importer.Error{Kind: importer.ErrUnsupported, Path: "processor_class", Text: importer.Describe(name) + ": " + supported(name).Reason})
	}
	if base == name || !known {
		text := importer.Describe(name)
		s := registry.Suggest(name, Classes())
		if known { // the suffix is missing
			s = name + suffix
		}
		if s != "" {
			text += fmt.Sprintf("; did you mean %q?", s)
		} else {
			text += ": has no rules for the text of an image here"
		}
		return nil, fmt.Errorf("importer: hf: %w", &importer.Error{Kind: importer.ErrUnknownClass, Path: "processor_class", Text: text})
	}
	if err := k.start(c, name); err != nil {
		return nil, err
	}
	r := c.build(k)
	if err := k.err(); err != nil {
		return nil, err
	}
	p := &Processor{class: name, before: c.before, rule: r}
	p.videos, p.videoErr = parseVideos(f, name)
	return p, nil
}

// Class returns the name of the processor's class.
func (p *Processor) Class() string { return p.class }

// maxImages bounds the images of a call.
const maxImages = 256

// Images returns the tokens of the images of one call for one prompt, in order:
// images is [[first, second, …]] in the reference. It takes at most 256. sizes
// holds the heights and widths of the decoded images, 1 to 16777216, with less
// than 2^31 - 1 pixels each. An image that the reference refuses is an error.
func (p *Processor) Images(sizes ...[2]int) ([]Image, error) {
	if len(sizes) > maxImages {
		return nil, fmt.Errorf("importer: hf: %d images, want at most %d in a call", len(sizes), maxImages)
	}
	for i, s := range sizes {
		if min(s[0], s[1]) < 1 || max(s[0], s[1]) > importer.MaxSide || times(s[0], s[1]) == maxCount {
			return nil, fmt.Errorf("importer: hf: image %d is %d x %d (height x width), want sides of 1 to %d and less than %d pixels", i, s[0], s[1], importer.MaxSide, maxCount)
		}
	}
	images, left := make([]Image, len(sizes)), maxText
	for i, s := range sizes {
		t := &text{left: left}
		err := p.rule.text(t, sizes, i)
		if err == nil {
			err = t.err
		}
		if err != nil {
			return nil, fmt.Errorf("importer: hf: %s: %w", p.class, err)
		}
		left = t.left
		n := t.tokens
		if p.rule.marked {
			n += t.marks
		}
		images[i] = Image{Tokens: n, TextTokens: n, Text: t.String(), Before: p.before}
		if p.rule.count == nil {
			continue
		}
		if images[i].Tokens, err = p.rule.count(s[0], s[1]); err != nil {
			images[i].Tokens, images[i].TokensErr = 0, fmt.Errorf("importer: hf: %s: _get_num_multimodal_tokens: %w", p.class, err)
		}
	}
	return images, nil
}

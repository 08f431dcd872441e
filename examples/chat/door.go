package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"

	inferprep "github.com/infer-prep/infer-prep"
	"github.com/infer-prep/infer-prep/codec"
	"github.com/infer-prep/infer-prep/importer/hf/tokens"
	"github.com/infer-prep/infer-prep/tensor"
	"github.com/infer-prep/infer-prep/transforms"
)

// Limits bounds the cost of requests. Every field is required.
type Limits struct {
	Body     int64        // bytes of a request's body
	Messages int          // of a request
	Images   int          // of a request, at most 256
	Image    int          // bytes of an encoded image
	Codec    codec.Limits // of decoding an image, such as its pixels
	Memory   int64        // bytes of all decoding and preprocessing at once
	Tensors  int64        // bytes of the tensors of a request
	// Requests is the number of requests at once; further ones are refused with
	// 429. Each holds about four times the bytes of its body, and its tensors.
	Requests int
}

// DefaultLimits returns limits for a small server.
func DefaultLimits() Limits {
	return Limits{
		Body: 32 << 20, Messages: 256, Images: 16, Image: 16 << 20,
		Codec:  codec.Limits{Pixels: 50e6, Bytes: 512 << 20},
		Memory: 1 << 30, Tensors: 256 << 20, Requests: 8,
	}
}

// Door makes an engine's input of messages. It is safe for concurrent use.
type Door struct {
	limits Limits
	prep   *inferprep.Preprocessor
	tokens *tokens.Processor
	header codec.Options
}

// Open opens the folder of a model of the class Qwen2VLProcessor.
func Open(ctx context.Context, folder string, limits Limits) (*Door, error) {
	processor, err := tokens.Open(folder)
	if err != nil {
		return nil, err
	}
	// The chat template and the engine are those of this class.
	if c := processor.Class(); c != "Qwen2VLProcessor" {
		return nil, fmt.Errorf("chat: open %s: class %s: want Qwen2VLProcessor", folder, c)
	}
	graph, err := inferprep.Source{Name: folder}.Graph(ctx)
	if err != nil {
		return nil, err
	}
	prep, err := inferprep.New(graph, inferprep.Options{Limits: limits.Codec, Bytes: limits.Memory})
	if err != nil {
		return nil, err
	}
	d := &Door{limits: limits, prep: prep, tokens: processor, header: codec.Options{Limits: limits.Codec}}
	for _, s := range graph.Steps {
		if op, ok := s.Op.(*transforms.Decode); ok {
			// They decide about the size of an image and whether it is refused.
			d.header.Color, d.header.Alpha, d.header.Gray16, d.header.Refuse = op.Color, op.Alpha, op.Gray16, op.Refuse
			d.header.Orientation, d.header.Damage, d.header.Scale = op.Orientation, op.Damage, op.Scale
			return d, nil
		}
	}
	return nil, fmt.Errorf("chat: open %s: the graph has no step decode", folder)
}

// Prepare returns the engine's input. Everything that needs no pixels comes
// first: a request that is over a limit or has a damaged header costs little.
func (d *Door) Prepare(ctx context.Context, messages []Message) (Input, error) {
	if n := len(messages); n == 0 || n > d.limits.Messages {
		return Input{}, invalid("messages", "%d messages: want 1 to %d", n, d.limits.Messages)
	}
	var images []*tensor.Tensor
	var sizes [][2]int
	size := int64(0)
	for i, m := range messages {
		for j, p := range m.Content {
			if p.Image == nil {
				continue
			}
			param := fmt.Sprintf("messages[%d].content[%d]", i, j)
			if len(images) == d.limits.Images {
				return Input{}, invalid(param, "more than %d images", d.limits.Images)
			}
			if len(p.Image) > d.limits.Image {
				return Input{}, &requestError{http.StatusRequestEntityTooLarge, param, fmt.Errorf("image of %d bytes: want at most %d", len(p.Image), d.limits.Image)}
			}
			info, err := codec.DecodeConfig(p.Image, &d.header)
			if err != nil {
				return Input{}, ofImage(param, err)
			}
			descs, err := d.prep.Sizes(info.OutHeight, info.OutWidth)
			if err != nil {
				return Input{}, ofImage(param, err)
			}
			for name, desc := range descs {
				if !desc.Shape.Known() {
					return Input{}, fmt.Errorf("chat: output %s of a %d x %d image has an unknown size %v", name, info.OutHeight, info.OutWidth, desc)
				}
				size += desc.Size()
			}
			if size > d.limits.Tensors {
				return Input{}, &requestError{http.StatusRequestEntityTooLarge, param, fmt.Errorf("the tensors of the images have more than %d bytes", d.limits.Tensors)}
			}
			images = append(images, tensor.FromBytes(p.Image))
			sizes = append(sizes, [2]int{info.OutHeight, info.OutWidth})
		}
	}
	if len(images) == 0 {
		return Input{Prompt: prompt(messages, nil)}, nil
	}
	texts, err := d.tokens.Images(sizes...)
	if err != nil {
		return Input{}, invalid("messages", "%w", err)
	}
	out, err := d.prep.RunBatch(ctx, images)
	if err != nil {
		return Input{}, ofImage("messages", err)
	}
	return Input{Prompt: prompt(messages, texts), Tensors: out}, nil
}

// requestError is a client's mistake.
type requestError struct {
	status int
	param  string // the part of the request, such as messages[0].content[1]
	err    error
}

func (e *requestError) Error() string {
	if e.param == "" {
		return e.err.Error()
	}
	return e.param + ": " + e.err.Error()
}

func (e *requestError) Unwrap() error { return e.err }

func invalid(param, format string, args ...any) error {
	return &requestError{http.StatusBadRequest, param, fmt.Errorf(format, args...)}
}

// ofImage returns err as a requestError if it is due to an image.
func ofImage(param string, err error) error {
	switch {
	case errors.Is(err, codec.ErrLimit):
		return &requestError{http.StatusRequestEntityTooLarge, param, err}
	case errors.Is(err, codec.ErrUnsupported):
		return &requestError{http.StatusUnsupportedMediaType, param, err}
	case errors.Is(err, codec.ErrFormat), errors.Is(err, transforms.ErrInput), errors.Is(err, tensor.ErrDesc):
		return invalid(param, "%w", err)
	}
	return err
}

// prompt is Qwen2-VL's chat template with a generation prompt; images are the
// tokens of the images in order.
func prompt(messages []Message, images []tokens.Image) string {
	var b strings.Builder
	for i, m := range messages {
		if i == 0 && m.Role != "system" {
			b.WriteString("<|im_start|>system\nYou are a helpful assistant.<|im_end|>\n")
		}
		b.WriteString("<|im_start|>" + m.Role + "\n")
		for _, p := range m.Content {
			if p.Image == nil {
				b.WriteString(p.Text)
				continue
			}
			b.WriteString("<|vision_start|>" + images[0].Text + "<|vision_end|>")
			images = images[1:]
		}
		b.WriteString("<|im_end|>\n")
	}
	b.WriteString("<|im_start|>assistant\n")
	return b.String()
}

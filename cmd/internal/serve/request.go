package serve

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net/http"
	"slices"
	"time"

	"github.com/infer-prep/infer-prep/internal/registry"
)

// request is a parsed inference request.
type request struct {
	id      string
	images  [][]byte      // encoded; they may share the body's memory
	outputs []wanted      // what to return, in order
	timeout time.Duration // 0 means none
}

// wanted is an output that the response returns.
type wanted struct {
	column int // of Server.columns
	binary bool
}

// requestJSON is the JSON object of a request. Unknown keys are ignored, as the
// protocol demands.
type requestJSON struct {
	ID         string `json:"id"`
	Parameters struct {
		BinaryOutput bool   `json:"binary_data_output"`
		Timeout      uint64 `json:"timeout"` // in microseconds, as Triton defines it
		ContentType  string `json:"content_type"`
	} `json:"parameters"`
	Inputs  few[inputJSON]  `json:"inputs"`
	Outputs few[wantedJSON] `json:"outputs"`
}

type inputJSON struct {
	Name       string     `json:"name"`
	Datatype   string     `json:"datatype"`
	Shape      few[int64] `json:"shape"`
	Parameters struct {
		Size        *int64  `json:"binary_data_size"`
		ContentType string  `json:"content_type"`
		Shared      *string `json:"shared_memory_region"`
	} `json:"parameters"`
	Data *texts `json:"data"`
}

type wantedJSON struct {
	Name       string `json:"name"`
	Parameters struct {
		Binary *bool    `json:"binary_data"`
		Shared *string  `json:"shared_memory_region"`
		Top    *float64 `json:"classification"`
	} `json:"parameters"`
}

// MaxImages is the largest value of Options.Images. The strings of a request
// are decoded before its shape is known.
const MaxImages = 1 << 16

// maxFew is the largest number of inputs, outputs and axes of a request. Real
// ones have a few.
const maxFew = 1000

// few is a JSON array of at most maxFew elements. Arrays of tiny elements would
// need fifty times the memory of their text.
type few[T any] []T

// UnmarshalJSON counts the elements before it decodes b, which encoding/json
// has checked.
func (l *few[T]) UnmarshalJSON(b []byte) error {
	n, depth := 1, 0
	for i := 0; i < len(b); i++ {
		switch b[i] {
		case '[', '{':
			depth++
		case ']', '}':
			depth--
		case ',':
			if depth == 1 {
				n++
			}
		case '"':
			i = endOfString(b, i)
		}
	}
	if n > maxFew {
		return fmt.Errorf("an array of %d elements: want at most %d", n, maxFew)
	}
	return json.Unmarshal(b, (*[]T)(l))
}

// endOfString returns the index of the quote that ends the string at b[i].
func endOfString(b []byte, i int) int {
	for i++; b[i] != '"'; i++ {
		if b[i] == '\\' {
			i++
		}
	}
	return i
}

// texts are the strings of a JSON array, which may nest, decoded from base64. A
// JSON string cannot hold the bytes of an image otherwise.
type texts [][]byte

// UnmarshalJSON decodes b, which encoding/json has checked and which shares the
// body's memory.
func (t *texts) UnmarshalJSON(b []byte) error {
	*t = texts{}
	for i := 0; i < len(b); i++ {
		switch b[i] {
		case '[', ']', ',', ' ', '\t', '\r', '\n':
			continue
		case '"':
		default:
			return fmt.Errorf("data holds %.20q: want strings in base64", b[i:])
		}
		if len(*t) == MaxImages {
			return fmt.Errorf("data has more than %d strings", MaxImages)
		}
		start := i
		i = endOfString(b, i)
		text := b[start+1 : i]
		if bytes.IndexByte(text, '\\') >= 0 { // some programs write / as \/
			var s string
			if err := json.Unmarshal(b[start:i+1], &s); err != nil {
				return err
			}
			text = []byte(s)
		}
		image, err := fromBase64(text)
		if err != nil {
			return fmt.Errorf("string %d of data: %w", len(*t), err)
		}
		*t = append(*t, image)
	}
	return nil
}

func fromBase64(text []byte) ([]byte, error) {
	image := make([]byte, base64.StdEncoding.DecodedLen(len(text)))
	n, err := base64.StdEncoding.Decode(image, text)
	if err != nil {
		return nil, fmt.Errorf("want base64: %w", err)
	}
	return image[:n], nil
}

// parse parses a request's body. header is the number of bytes of the JSON
// object, which binary tensors follow; it is negative if the object is the
// whole body. A header of 0 means that the body is one image. The errors have
// statuses.
func (s *Server) parse(header int64, body []byte) (*request, error) {
	r := &request{}
	if header == 0 {
		r.images = [][]byte{body}
		for i := range s.columns {
			r.outputs = append(r.outputs, wanted{i, true})
		}
		return r, nil
	}
	if header > int64(len(body)) {
		return nil, fail(http.StatusBadRequest, "%s is %d, but the body has %d bytes", headerLength, header, len(body))
	}
	var tail []byte
	if header > 0 {
		body, tail = body[:header], body[header:]
	}
	var j requestJSON
	if err := json.Unmarshal(body, &j); err != nil {
		return nil, fail(http.StatusBadRequest, "the request is not the protocol's JSON object: %w", err)
	}
	r.id = j.ID
	if t := j.Parameters.Timeout; t <= uint64(math.MaxInt64/time.Microsecond) {
		r.timeout = time.Duration(t) * time.Microsecond
	}
	if err := s.parseImages(r, &j, tail); err != nil {
		return nil, err
	}
	return r, s.parseOutputs(r, &j)
}

// parseImages checks the input and reads its images.
func (s *Server) parseImages(r *request, j *requestJSON, tail []byte) error {
	if len(j.Inputs) != 1 {
		return fail(http.StatusBadRequest, "%d inputs: want one, %q", len(j.Inputs), s.input)
	}
	in := &j.Inputs[0]
	what := func(format string, args ...any) error {
		return fail(http.StatusBadRequest, "input %q: %w", s.input, fmt.Errorf(format, args...))
	}
	switch {
	case in.Name != s.input:
		return fail(http.StatusBadRequest, "unknown input %.100q: want %q", in.Name, s.input)
	case in.Datatype != "BYTES":
		return what("datatype %.100q: want BYTES, encoded images", in.Datatype)
	case len(in.Shape) == 0 || len(in.Shape) > 2 || in.Shape[0] < 1 || len(in.Shape) == 2 && in.Shape[1] != 1:
		return what("shape %v: want [N] or [N, 1] for N images, at least one", in.Shape)
	case in.Shape[0] > int64(s.o.Images):
		return fail(http.StatusRequestEntityTooLarge, "input %q: %d images, the limit of --limit-images is %d", s.input, in.Shape[0], s.o.Images)
	case in.Parameters.Shared != nil:
		return what("shared memory is not supported")
	case in.Parameters.Size != nil && in.Data != nil:
		return what("it has data as well as binary_data_size: want one of them")
	}
	kind := in.Parameters.ContentType
	if kind == "" {
		kind = j.Parameters.ContentType
	}
	switch {
	case in.Data != nil:
		if kind != "" && kind != contentBase64 {
			return what("content_type %.100q: want base64 for data", kind)
		}
		if len(tail) > 0 {
			return what("%d bytes follow the JSON object: want binary_data_size", len(tail))
		}
		r.images = *in.Data
	case in.Parameters.Size == nil:
		return what("it has neither data nor binary_data_size")
	case *in.Parameters.Size != int64(len(tail)):
		return what("binary_data_size is %d, but %d bytes follow the JSON object", *in.Parameters.Size, len(tail))
	default:
		images, err := split(tail, int(in.Shape[0]))
		if err != nil {
			return what("%w", err)
		}
		if r.images = images; kind == contentBase64 {
			for i, text := range images {
				if images[i], err = fromBase64(text); err != nil {
					return what("element %d: %w", i, err)
				}
			}
		}
	}
	if int64(len(r.images)) != in.Shape[0] {
		return what("%d images, but the shape is %v", len(r.images), in.Shape)
	}
	return nil
}

// contentBase64 is the content_type of elements in base64, as MLServer has it.
const contentBase64 = "base64"

// split splits the binary form of n BYTES elements: each has its length in 4
// bytes, little-endian, before it. The elements share b.
func split(b []byte, n int) ([][]byte, error) {
	var l [][]byte
	for i := range n {
		if len(b) < 4 {
			return nil, fmt.Errorf("element %d of %d: %d bytes are left: want a length of 4 bytes", i, n, len(b))
		}
		size := binary.LittleEndian.Uint32(b)
		b = b[4:]
		if uint64(size) > uint64(len(b)) {
			return nil, fmt.Errorf("element %d of %d has %d bytes, but %d are left", i, n, size, len(b))
		}
		l = append(l, b[:size:size])
		b = b[size:]
	}
	if len(b) > 0 {
		return nil, fmt.Errorf("%d bytes follow the last of %d elements", len(b), n)
	}
	return l, nil
}

// parseOutputs reads which outputs to return. None means all.
func (s *Server) parseOutputs(r *request, j *requestJSON) error {
	if len(j.Outputs) == 0 {
		for i := range s.columns {
			r.outputs = append(r.outputs, wanted{i, j.Parameters.BinaryOutput})
		}
	}
	for _, o := range j.Outputs {
		if err := s.parseOutput(r, o.Name, o.Parameters.Shared != nil, o.Parameters.Top != nil); err != nil {
			return err
		}
		last := &r.outputs[len(r.outputs)-1]
		if last.binary = j.Parameters.BinaryOutput; o.Parameters.Binary != nil {
			last.binary = *o.Parameters.Binary
		}
	}
	for _, o := range r.outputs {
		if c := s.columns[o.column]; !o.binary && !hasJSON(c.Desc.DType) {
			return fail(http.StatusBadRequest, "output %q is %s, which JSON cannot hold: ask for binary_data", c.Name, datatypes[c.Desc.DType])
		}
	}
	return nil
}

func (s *Server) parseOutput(r *request, name string, shared, top bool) error {
	var names []string
	for _, c := range s.columns {
		names = append(names, c.Name)
	}
	i := slices.Index(names, name)
	var err error
	switch {
	case i < 0:
		hint := ""
		if len(name) < 100 { // else it takes long
			hint = registry.DidYouMean(name, names)
		}
		return fail(http.StatusBadRequest, "unknown output %.100q%s", name, hint)
	case slices.ContainsFunc(r.outputs, func(o wanted) bool { return o.column == i }):
		err = errors.New("it is requested twice")
	case shared:
		err = errors.New("shared memory is not supported")
	case top:
		err = errors.New("classification is not supported")
	}
	if err != nil {
		return fail(http.StatusBadRequest, "output %q: %w", name, err)
	}
	r.outputs = append(r.outputs, wanted{column: i})
	return nil
}

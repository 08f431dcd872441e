package serve

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"mime"
	"net/http"
	"net/textproto"
	"slices"
	"strconv"
	"strings"
	"time"
	"unsafe"

	"github.com/infer-prep/infer-prep/codec"
	"github.com/infer-prep/infer-prep/datagraph"
	"github.com/infer-prep/infer-prep/importer/hf/video"
	"github.com/infer-prep/infer-prep/internal/kserve"
	"github.com/infer-prep/infer-prep/internal/registry"
)

// request is a parsed inference request.
type request struct {
	id      string
	images  [][]byte      // encoded; they may share the body's memory
	outputs []wanted      // what to return, in order
	timeout time.Duration // 0 means none
	details bool          // describe the images
	sizes   [][2]int      // of the images or sounds, as decoded, once they have run

	columns []datagraph.Column // what outputs refers to
	video   *video.Metadata    // the images are the frames of a video
}

// wanted is an output that the response returns.
type wanted struct {
	column int // of request.columns
	binary bool
}

// requestJSON is the JSON object of a request. Unknown keys are ignored, as the
// protocol demands.
type requestJSON struct {
	ID         word `json:"id"`
	Parameters struct {
		BinaryOutput bool   `json:"binary_data_output"`
		Timeout      uint64 `json:"timeout"` // in microseconds, as Triton defines it
		ContentType  word   `json:"content_type"`
	} `json:"parameters"`
	Inputs  one[inputJSON]  `json:"inputs"`
	Outputs few[wantedJSON] `json:"outputs"`
}

type inputJSON struct {
	Name       word       `json:"name"`
	Datatype   word       `json:"datatype"`
	Shape      few[int64] `json:"shape"`
	Parameters struct {
		Size        *int64 `json:"binary_data_size"`
		ContentType word   `json:"content_type"`
		Shared      *word  `json:"shared_memory_region"`
	} `json:"parameters"`
	Data *texts `json:"data"`
}

type wantedJSON struct {
	Name       word `json:"name"`
	Parameters struct {
		Binary *bool    `json:"binary_data"`
		Shared *word    `json:"shared_memory_region"`
		Top    *float64 `json:"classification"`
	} `json:"parameters"`
}

// Limits of the texts of a request, in bytes. Real ones are far below.
const (
	maxWord   = 1024 // of an id, a name or a key
	maxNumber = 64
)

// word is a JSON string of at most maxWord bytes. Without a limit an id of
// control characters would come back six times as long.
type word string

func (w *word) UnmarshalJSON(b []byte) error {
	if len(b) > maxWord+2 {
		return fmt.Errorf("a string of %d bytes in a place of at most %d", len(b)-2, maxWord)
	}
	return json.Unmarshal(b, (*string)(w))
}

// checkWords refuses long keys and numbers of a JSON text before encoding/json
// copies them, the latter into its errors. The text may be invalid.
func checkWords(b []byte) error {
	number := 0 // the bytes of the current one
	for i := 0; i < len(b); i++ {
		switch c := b[i]; {
		case c >= '0' && c <= '9', c == '-', c == '+', c == '.', c == 'e', c == 'E':
			if number++; number > maxNumber {
				return fmt.Errorf("a number of more than %d bytes", maxNumber)
			}
			continue
		case c == '"':
			start := i
			if i = endOfString(b, i); i-start-1 <= maxWord {
				break
			}
			if rest := bytes.TrimLeft(b[min(i+1, len(b)):], " \t\r\n"); bytes.HasPrefix(rest, []byte(":")) {
				return fmt.Errorf("a key of %d bytes: want at most %d", i-start-1, maxWord)
			}
		}
		number = 0
	}
	return nil
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
	if n := countElements(b); n > maxFew {
		return fmt.Errorf("an array of %d elements: want at most %d", n, maxFew)
	}
	return json.Unmarshal(b, (*[]T)(l))
}

// one is a JSON array of at most one element. Others are only counted.
type one[T any] struct {
	n    int
	list []T
}

func (l *one[T]) UnmarshalJSON(b []byte) error {
	if l.n = countElements(b); l.n > 1 && b[0] == '[' {
		return nil
	}
	err := json.Unmarshal(b, &l.list)
	l.n = len(l.list)
	return err
}

// countElements counts the elements of a valid JSON array. It may count one for
// an empty array.
func countElements(b []byte) int {
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
	return n
}

// endOfString returns the index of the quote that ends the string at b[i], or
// one of at least len(b) if none does.
func endOfString(b []byte, i int) int {
	for i++; i < len(b) && b[i] != '"'; i++ {
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
			return fmt.Errorf("data holds %.20q: want strings in base64", b[i:min(i+20, len(b))])
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

// form is the form of a request's body, as its header states it.
type form struct {
	header   int64  // bytes of the JSON object, which binary tensors follow; negative if not stated
	boundary string // of multipart/form-data
	json     bool   // the type is JSON
	urlForm  bool   // the type is that of HTML forms, which curl sends by default
	details  bool   // the response describes the images

	video *video.Metadata // of a request with a video
}

// formOf reads the headers of a request. It refuses bodies that are surely
// none of the forms.
func formOf(r *http.Request) (form, error) {
	f := form{header: -1}
	var err error
	if f.details, err = wantsDetails(r.URL.Query()); err != nil {
		return f, err
	}
	if h := r.Header.Get(headerLength); h != "" {
		n, err := strconv.ParseInt(h, 10, 64)
		if err != nil || n < 0 {
			return f, fail(http.StatusBadRequest, "%s: %.100q: want a number of at least 0", headerLength, h)
		}
		f.header = n
	}
	header := r.Header.Get("Content-Type")
	if header == "" {
		return f, nil
	}
	kind, params, err := mime.ParseMediaType(header)
	switch {
	case err != nil:
	case kind == "application/octet-stream", strings.HasPrefix(kind, "image/"), strings.HasPrefix(kind, "audio/"):
		return f, nil
	case kind == "application/x-www-form-urlencoded":
		f.urlForm = true
		return f, nil
	case kind == "application/json", strings.HasSuffix(kind, "+json"):
		f.json = true
		return f, nil
	case kind == "multipart/form-data" && f.header >= 0:
		return f, fail(http.StatusBadRequest, "a form has no header %s", headerLength)
	case kind == "multipart/form-data" && params["boundary"] == "":
		return f, fail(http.StatusBadRequest, "Content-Type %.100q: want a boundary", header)
	case kind == "multipart/form-data":
		f.boundary = params["boundary"]
		return f, nil
	}
	return f, fail(http.StatusUnsupportedMediaType, "Content-Type %.100q: want application/json, application/octet-stream, image/*, audio/* or multipart/form-data", header)
}

// isImage reports whether body is one image: its header says so, or there is no
// sign of a JSON object. No image format begins as JSON does.
func (f form) isImage(body []byte) bool {
	switch {
	case f.header >= 0 || f.json || f.boundary != "":
		return f.header == 0
	}
	rest := bytes.TrimLeft(body, " \t\r\n")
	return len(rest) > 0 && rest[0] != '{'
}

// explain says which form was taken if that may not be what was meant.
func (f form) explain(noun string, err error) error {
	switch {
	case f.header >= 0 || f.json || f.boundary != "" || !errors.Is(err, codec.ErrFormat):
		return err
	case f.urlForm:
		return fmt.Errorf("the body is taken for one %s (curl needs --data-binary; its -d changes the bytes): %w", noun, err)
	}
	return fmt.Errorf("the body is taken for one %s: %w", noun, err)
}

// parse parses a request's body. The errors have statuses. The lease grows with
// what is decoded.
func (s *Server) parse(f form, body []byte, l *lease) (*request, error) {
	r := &request{columns: s.columns, video: f.video}
	if f.video != nil {
		r.columns = s.videoColumns
	}
	if f.boundary != "" || f.isImage(body) {
		for i := range r.columns {
			r.outputs = append(r.outputs, wanted{i, true})
		}
		if r.images = [][]byte{body}; f.boundary == "" {
			return r, nil
		}
		var err error
		r.images, err = parts(body, f.boundary, s.input, s.o.Images)
		return r, err
	}
	if f.header > int64(len(body)) {
		return nil, fail(http.StatusBadRequest, "%s is %d, but the body has %d bytes", headerLength, f.header, len(body))
	}
	var tail []byte
	if f.header > 0 {
		body, tail = body[:f.header], body[f.header:]
	}
	need := int64(len(body)) // the strings of the object, decoded
	if bytes.IndexByte(body, '\\') >= 0 {
		need *= 2 // and without escapes
	}
	need += int64(unsafe.Sizeof([]byte{})) * int64(min(bytes.Count(body, []byte(`"`))/2, MaxImages)) * 2 // their list may double
	if err := l.grow(need); err != nil {
		return nil, err
	}
	var j requestJSON
	err := checkWords(body)
	if err == nil {
		err = json.Unmarshal(body, &j)
	}
	if err != nil {
		return nil, fail(http.StatusBadRequest, "the request is not the protocol's JSON object: %w", err)
	}
	r.id = string(j.ID)
	if t := j.Parameters.Timeout; t <= uint64(math.MaxInt64/time.Microsecond) {
		r.timeout = time.Duration(t) * time.Microsecond
	}
	if err := s.parseImages(r, &j, tail, l); err != nil {
		return nil, err
	}
	return r, s.parseOutputs(r, &j)
}

// parseImages checks the input and reads its images.
func (s *Server) parseImages(r *request, j *requestJSON, tail []byte, l *lease) error {
	if j.Inputs.n != 1 {
		return fail(http.StatusBadRequest, "%d inputs: want one, %q", j.Inputs.n, s.input)
	}
	in := &j.Inputs.list[0]
	what := func(format string, args ...any) error {
		return fail(http.StatusBadRequest, "input %q: %w", s.input, fmt.Errorf(format, args...))
	}
	switch {
	case string(in.Name) != s.input:
		return fail(http.StatusBadRequest, "unknown input %.100q: want %q", in.Name, s.input)
	case in.Datatype != "BYTES":
		return what("datatype %.100q: want BYTES, encoded %ss", in.Datatype, s.o.Noun)
	case len(in.Shape) == 0 || len(in.Shape) > 2 || in.Shape[0] < 1 || len(in.Shape) == 2 && in.Shape[1] != 1:
		return what("shape %v: want [N] or [N, 1] for N %ss, at least one", in.Shape, s.o.Noun)
	case in.Shape[0] > int64(s.o.Images):
		return fail(http.StatusRequestEntityTooLarge, "input %q: %d %ss, the limit of --limit-images is %d", s.input, in.Shape[0], s.o.Noun, s.o.Images)
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
			if err := l.grow(int64(len(tail))); err != nil {
				return err
			}
			for i, text := range images {
				if images[i], err = fromBase64(text); err != nil {
					return what("element %d: %w", i, err)
				}
			}
		}
	}
	if int64(len(r.images)) != in.Shape[0] {
		return what("%d %ss, but the shape is %v", len(r.images), s.o.Noun, in.Shape)
	}
	return nil
}

// maxPart is the largest number of bytes of the header of a form's part.
const maxPart = 4 << 10

// parts returns the images of a body of multipart/form-data: its parts, which
// must have the field's name. There may be so many as most says. They share the
// body's memory, which mime/multipart would copy.
func parts(body []byte, boundary, field string, most int) ([][]byte, error) {
	delimiter := []byte("\r\n--" + boundary)
	rest, ok := bytes.CutPrefix(body, delimiter[2:])
	if !ok { // a preamble
		_, rest, ok = bytes.Cut(body, delimiter)
	}
	if !ok {
		return nil, fail(http.StatusBadRequest, "the form: its boundary is missing")
	}
	var l [][]byte
	for !bytes.HasPrefix(rest, []byte("--")) {
		what := func(format string, args ...any) ([][]byte, error) {
			return nil, fail(http.StatusBadRequest, "the form: part %d: %w", len(l), fmt.Errorf(format, args...))
		}
		rest, ok = bytes.CutPrefix(bytes.TrimLeft(rest, " \t"), []byte("\r\n"))
		end := bytes.Index(rest[:min(len(rest), maxPart)], []byte("\r\n\r\n"))
		if !ok || end < 0 {
			return what("want a header of at most %d bytes", maxPart)
		}
		h, err := textproto.NewReader(bufio.NewReader(bytes.NewReader(rest[:end+4]))).ReadMIMEHeader()
		if err != nil {
			return what("%w", err)
		}
		kind, params, err := mime.ParseMediaType(h.Get("Content-Disposition"))
		coding := h.Get("Content-Transfer-Encoding")
		switch {
		case err != nil || kind != "form-data":
			return what("Content-Disposition %.100q: want form-data", h.Get("Content-Disposition"))
		case params["name"] != field:
			return what("unknown name %.100q: want %q", params["name"], field)
		case coding != "" && !strings.EqualFold(coding, "binary"):
			return what("Content-Transfer-Encoding %.100q: want binary or none", coding)
		case len(l) == most:
			return nil, fail(http.StatusRequestEntityTooLarge, "the form has more than %d parts, the limit of --limit-images", most)
		}
		var image []byte
		if image, rest, ok = bytes.Cut(rest[end+4:], delimiter); !ok {
			return what("the boundary that ends it is missing")
		}
		l = append(l, image[:len(image):len(image)])
	}
	if len(l) == 0 {
		return nil, fail(http.StatusBadRequest, "the form is empty: want parts with the name %q", field)
	}
	return l, nil
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
		for i := range r.columns {
			r.outputs = append(r.outputs, wanted{i, j.Parameters.BinaryOutput})
		}
	}
	for _, o := range j.Outputs {
		if err := s.parseOutput(r, string(o.Name), o.Parameters.Shared != nil, o.Parameters.Top != nil); err != nil {
			return err
		}
		last := &r.outputs[len(r.outputs)-1]
		if last.binary = j.Parameters.BinaryOutput; o.Parameters.Binary != nil {
			last.binary = *o.Parameters.Binary
		}
	}
	for _, o := range r.outputs {
		if c := r.columns[o.column]; !o.binary && !hasJSON(c.Desc.DType) {
			return fail(http.StatusBadRequest, "output %q is %s, which JSON cannot hold: ask for binary_data", c.Name, kserve.Datatype(c.Desc.DType))
		}
	}
	return nil
}

func (s *Server) parseOutput(r *request, name string, shared, top bool) error {
	var names []string
	for _, c := range r.columns {
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

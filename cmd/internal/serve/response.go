package serve

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"strconv"

	"github.com/infer-prep/infer-prep/datagraph"
	"github.com/infer-prep/infer-prep/internal/kserve"
	"github.com/infer-prep/infer-prep/tensor"
)

// hasJSON reports whether the protocol writes the type in JSON.
func hasJSON(d tensor.DType) bool {
	return d != tensor.Float16 && d != tensor.BFloat16 && d != tensor.Bytes
}

// outputJSON describes an output in a response and in the metadata.
type outputJSON struct {
	Name       string      `json:"name"`
	Datatype   string      `json:"datatype"`
	Shape      []int       `json:"shape"`
	Parameters *binaryJSON `json:"parameters,omitempty"`
}

type binaryJSON struct {
	Size int64 `json:"binary_data_size"`
}

// columnJSON describes the batches of an output. A size of -1 is unknown.
func columnJSON(c datagraph.Column) outputJSON {
	shape := []int{-1}
	for i := range c.Desc.Shape.Rank() {
		if i > 0 || c.Batch.Rule.Stacks() {
			shape = append(shape, c.Desc.Shape.At(i))
		}
	}
	return outputJSON{Name: c.Name, Datatype: kserve.Datatype(c.Desc.DType), Shape: shape}
}

// maxText is the longest text of an element in JSON, with its comma.
const maxText = 25

// response is an encoded response.
type response struct {
	head    []byte           // the JSON object
	tails   []*tensor.Tensor // the binary tensors behind it
	batches []*tensor.Tensor // all tensors, to release
}

// encode encodes the batches of the outputs that r wants. The lease grows with
// the text before it is made.
func (s *Server) encode(r *request, batches []*tensor.Tensor, l *lease) (*response, error) {
	out := response{batches: batches}
	var images, sounds, video json.RawMessage
	var err error
	switch {
	case r.details && r.video != nil:
		if video, err = s.videoDetails(r, l); err != nil {
			return nil, err
		}
	case r.details && s.o.Noun == sound:
		if sounds, err = s.soundDetails(r, l); err != nil {
			return nil, err
		}
	case r.details:
		if images, err = s.details(r, l); err != nil {
			return nil, err
		}
	}
	head, err := json.Marshal(struct {
		Model   string          `json:"model_name"`
		Version string          `json:"model_version"`
		ID      string          `json:"id,omitempty"`
		Images  json.RawMessage `json:"images,omitempty"`
		Sounds  json.RawMessage `json:"sounds,omitempty"`
		Video   json.RawMessage `json:"video,omitempty"`
		Outputs []struct{}      `json:"outputs"`
	}{s.o.Model, s.o.Version, r.id, images, sounds, video, []struct{}{}})
	if err != nil {
		return nil, err
	}
	head = bytes.TrimSuffix(head, []byte("]}"))
	size := int64(len(head) + len("]}"))
	objects := make([][]byte, len(r.outputs))
	for i, o := range r.outputs {
		t := batches[i]
		c := outputJSON{Name: r.columns[o.column].Name, Datatype: kserve.Datatype(t.DType), Shape: t.Shape.Slice()}
		if o.binary {
			c.Parameters = &binaryJSON{t.Size()}
			out.tails = append(out.tails, t)
		}
		if objects[i], err = json.Marshal(c); err != nil {
			return nil, err
		}
		size += int64(len(objects[i])) + 1
		if !o.binary {
			size += maxText*t.Len() + int64(len(`,"data":[]`))
		}
	}
	if err := l.grow(size); err != nil {
		return nil, err
	}
	b := append(make([]byte, 0, size), head...)
	for i, o := range r.outputs {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, objects[i]...)
		if o.binary {
			continue
		}
		b = append(b[:len(b)-1], `,"data":[`...)
		if b, err = appendAll(b, batches[i]); err != nil {
			return nil, fail(http.StatusBadRequest, "output %q: %w: ask for binary_data", r.columns[o.column].Name, err)
		}
		b = append(b, "]}"...)
	}
	out.head = append(b, "]}"...)
	return &out, nil
}

func appendAll(b []byte, t *tensor.Tensor) (_ []byte, err error) {
	for i := range int(t.Len()) {
		if i > 0 {
			b = append(b, ',')
		}
		if b, err = kserve.AppendJSON(b, t, i); err != nil {
			return nil, err
		}
	}
	return b, nil
}

// headerLength is the header with the number of bytes of the JSON object.
const headerLength = "Inference-Header-Content-Length"

// write writes the response. Its error means that the client has gone.
func (p *response) write(w http.ResponseWriter) error {
	total := int64(len(p.head))
	for _, t := range p.tails {
		total += t.Size()
	}
	h := w.Header()
	h.Set("Content-Length", strconv.FormatInt(total, 10))
	if p.tails == nil {
		h.Set("Content-Type", "application/json")
	} else {
		h.Set("Content-Type", "application/octet-stream")
		h.Set(headerLength, strconv.Itoa(len(p.head)))
	}
	_, err := w.Write(p.head)
	for _, t := range p.tails {
		if err == nil {
			err = tensor.WriteRaw(w, t)
		}
	}
	return err
}

// reply writes an object as JSON.
func reply(w http.ResponseWriter, status int, v any) {
	b, err := json.Marshal(v)
	if err != nil { // an invalid type: a bug
		status, b = http.StatusInternalServerError, []byte(`{"error":"internal error"}`)
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = io.WriteString(w, string(b)+"\n") // the client has gone
}

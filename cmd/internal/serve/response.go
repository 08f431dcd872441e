package serve

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"net/http"
	"strconv"

	"github.com/infer-prep/infer-prep/datagraph"
	"github.com/infer-prep/infer-prep/tensor"
)

// datatypes are the protocol's names of types.
var datatypes = map[tensor.DType]string{
	tensor.Bool: "BOOL", tensor.Uint8: "UINT8", tensor.Int8: "INT8", tensor.Uint16: "UINT16", tensor.Int16: "INT16",
	tensor.Int32: "INT32", tensor.Int64: "INT64", tensor.Float16: "FP16", tensor.BFloat16: "BF16", tensor.Float32: "FP32",
	tensor.Float64: "FP64", tensor.Bytes: "BYTES",
}

// Datatype returns the protocol's name of a type, such as FP32. It is empty if
// the protocol has none.
func Datatype(d tensor.DType) string { return datatypes[d] }

// hasJSON reports whether the protocol writes the type in JSON.
func hasJSON(d tensor.DType) bool {
	return d != tensor.Float16 && d != tensor.BFloat16 && d != tensor.Bytes
}

// AppendJSON appends element i of a dense tensor as the protocol's JSON. The
// text reads back as the same value, both as a float32 and as a float64. Types
// and values that JSON cannot hold are errors.
func AppendJSON(b []byte, t *tensor.Tensor, i int) ([]byte, error) {
	switch t.DType {
	case tensor.Bool:
		return strconv.AppendBool(b, t.Data[i] != 0), nil
	case tensor.Uint8:
		return strconv.AppendUint(b, uint64(t.Data[i]), 10), nil
	case tensor.Int8:
		return strconv.AppendInt(b, int64(int8(t.Data[i])), 10), nil
	case tensor.Uint16:
		return strconv.AppendUint(b, uint64(tensor.View[uint16](t)[i]), 10), nil
	case tensor.Int16:
		return strconv.AppendInt(b, int64(tensor.View[int16](t)[i]), 10), nil
	case tensor.Int32:
		return strconv.AppendInt(b, int64(tensor.View[int32](t)[i]), 10), nil
	case tensor.Int64:
		return strconv.AppendInt(b, tensor.View[int64](t)[i], 10), nil
	case tensor.Float32:
		v := tensor.View[float32](t)[i]
		if f := float64(v); math.IsNaN(f) || math.IsInf(f, 0) {
			return b, fmt.Errorf("element %d is %v, which JSON cannot hold", i, v)
		}
		// A reader may parse the shortest text as a float64 and round it again.
		n := len(b)
		b = strconv.AppendFloat(b, float64(v), 'g', -1, 32)
		if f, err := strconv.ParseFloat(string(b[n:]), 64); err != nil || float32(f) != v {
			b = strconv.AppendFloat(b[:n], float64(v), 'g', -1, 64)
		}
		return b, nil
	case tensor.Float64:
		v := tensor.View[float64](t)[i]
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return b, fmt.Errorf("element %d is %v, which JSON cannot hold", i, v)
		}
		return strconv.AppendFloat(b, v, 'g', -1, 64), nil
	}
	return b, fmt.Errorf("a request cannot hold %v", t.Desc)
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
		if i > 0 || c.Batch.Rule != datagraph.BatchConcat {
			shape = append(shape, c.Desc.Shape.At(i))
		}
	}
	return outputJSON{Name: c.Name, Datatype: datatypes[c.Desc.DType], Shape: shape}
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
	head, err := json.Marshal(struct {
		Model   string     `json:"model_name"`
		Version string     `json:"model_version"`
		ID      string     `json:"id,omitempty"`
		Outputs []struct{} `json:"outputs"`
	}{s.o.Model, s.o.Version, r.id, []struct{}{}})
	if err != nil {
		return nil, err
	}
	head = bytes.TrimSuffix(head, []byte("]}"))
	size := int64(len(head) + len("]}"))
	objects := make([][]byte, len(r.outputs))
	for i, o := range r.outputs {
		t := batches[i]
		c := outputJSON{Name: s.columns[o.column].Name, Datatype: datatypes[t.DType], Shape: t.Shape.Slice()}
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
			return nil, fail(http.StatusBadRequest, "output %q: %w: ask for binary_data", s.columns[o.column].Name, err)
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
		if b, err = AppendJSON(b, t, i); err != nil {
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

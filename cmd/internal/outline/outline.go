// Package outline has the JSON form in which the command sizes and the server
// describe a graph's outputs.
package outline

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/infer-prep/infer-prep/datagraph"
	"github.com/infer-prep/infer-prep/internal/kserve"
	"github.com/infer-prep/infer-prep/tensor"
)

// Line describes the outputs for one size or image.
type Line struct {
	Image   string            `json:"image,omitempty"`
	Size    *[2]int           `json:"size,omitempty"` // height and width of the decoded image
	Outputs map[string]Tensor `json:"outputs,omitempty"`
	// OutputsError says why Outputs is absent although the tokens are known.
	OutputsError string `json:"outputs_error,omitempty"`
	Tokens
	Error string `json:"error,omitempty"`
}

// Tensor describes an output for one image, without an axis for a batch.
type Tensor struct {
	DType string `json:"dtype"`
	Shape []int  `json:"shape"` // -1 for a size that depends on the pixels
	// Values are the elements, in order, if they follow from the image's size.
	Values json.RawMessage `json:"values,omitempty"`
}

// IsSize reports whether s has the form HEIGHTxWIDTH.
func IsSize(s string) bool {
	height, width, ok := strings.Cut(s, "x")
	return ok && isNumber(height) && isNumber(width)
}

func isNumber(s string) bool { return s != "" && strings.Trim(s, "0123456789") == "" }

// ParseSize parses HEIGHTxWIDTH in pixels.
func ParseSize(s string) (height, width int, err error) {
	first, second, _ := strings.Cut(s, "x")
	height, heightErr := strconv.Atoi(first)
	width, widthErr := strconv.Atoi(second)
	if !IsSize(s) || heightErr != nil || widthErr != nil { // Atoi takes signs
		return 0, 0, fmt.Errorf("size %.100q: want HEIGHTxWIDTH in pixels, such as 480x640", s)
	}
	return height, width, nil
}

// Outputs describes columns by name. values has their tensors as
// datagraph.Plan.Values returns them; it may be shorter.
func Outputs(columns []datagraph.Column, values []*tensor.Tensor) map[string]Tensor {
	m := make(map[string]Tensor, len(columns))
	for i, c := range columns {
		t := Tensor{DType: c.Desc.DType.String(), Shape: c.Desc.Shape.Slice()}
		if i < len(values) && values[i] != nil {
			t.Values = list(values[i])
		}
		m[c.Name] = t
	}
	return m
}

// list returns the elements in JSON, or nil if JSON cannot hold them.
func list(t *tensor.Tensor) json.RawMessage {
	b := []byte{'['}
	for i := range int(t.Len()) {
		if i > 0 {
			b = append(b, ',')
		}
		var err error
		if b, err = kserve.AppendJSON(b, t, i); err != nil {
			return nil
		}
	}
	return append(b, ']')
}

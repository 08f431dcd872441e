// Package outline has the JSON form in which the command sizes and the server
// describe a graph's outputs.
package outline

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/infer-prep/infer-prep/datagraph"
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

// Outputs describes columns by name.
func Outputs(columns []datagraph.Column) map[string]Tensor {
	m := make(map[string]Tensor, len(columns))
	for _, c := range columns {
		m[c.Name] = Tensor{DType: c.Desc.DType.String(), Shape: c.Desc.Shape.Slice()}
	}
	return m
}

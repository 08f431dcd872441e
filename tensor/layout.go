package tensor

import "github.com/infer-prep/infer-prep/internal/enum"

// Layout names the axes of an image tensor.
type Layout uint8

// The layouts. Tensors that are not images (labels, scales, masks) have
// NoLayout.
const (
	NoLayout Layout = iota
	HWC             // height, width, channels: the output of decoders
	CHW             // channels, height, width: the input of most models
)

var layoutNames = []string{NoLayout: "none", HWC: "HWC", CHW: "CHW"}

// String returns "HWC", "CHW" or "none".
func (l Layout) String() string { return enum.String("layout", layoutNames, l) }

// MarshalText returns the layout's name.
func (l Layout) MarshalText() ([]byte, error) { return enum.Format("layout", layoutNames, l) }

// UnmarshalText parses the layout's name.
func (l *Layout) UnmarshalText(b []byte) error { return enum.Parse(l, "layout", layoutNames, b) }

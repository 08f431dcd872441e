package tensor

import "github.com/infer-prep/infer-prep/internal/errfmt"

// Layout names the axes of an image tensor.
type Layout uint8

// The layouts. Tensors that are not images (labels, scales, masks) have
// NoLayout.
const (
	NoLayout Layout = iota
	HWC             // height, width, channels: the output of decoders
	CHW             // channels, height, width: the input of most models
)

var layoutNames = [...]string{NoLayout: "none", HWC: "HWC", CHW: "CHW"}

// String returns "HWC", "CHW" or "none".
func (l Layout) String() string {
	if int(l) < len(layoutNames) {
		return layoutNames[l]
	}
	return errfmt.Sprintf("layout(%d)", uint8(l))
}

// MarshalText returns the layout's name.
func (l Layout) MarshalText() ([]byte, error) {
	if int(l) >= len(layoutNames) {
		return nil, errfmt.Errorf("tensor: invalid layout %d", uint8(l))
	}
	return []byte(l.String()), nil
}

// UnmarshalText parses the layout's name.
func (l *Layout) UnmarshalText(b []byte) error {
	for i, n := range layoutNames {
		if n == string(b) {
			*l = Layout(i)
			return nil
		}
	}
	return errfmt.Errorf("tensor: unknown layout %q: must be one of %v", b, layoutNames[:])
}

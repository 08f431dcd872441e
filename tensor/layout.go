package tensor

import "fmt"

// Layout says which axes of a tensor are an image's height, width and channels.
type Layout uint8

// The layouts. Plain tensors (labels, scales, masks) have none.
const (
	NoLayout Layout = iota
	HWC             // height, width, channels: as decoders give it
	CHW             // channels, height, width: as most models want it
)

var layoutNames = [...]string{NoLayout: "none", HWC: "HWC", CHW: "CHW"}

// String is "HWC", "CHW" or "none".
func (l Layout) String() string {
	if int(l) < len(layoutNames) {
		return layoutNames[l]
	}
	return fmt.Sprintf("layout(%d)", uint8(l))
}

// MarshalText writes the layout's name.
func (l Layout) MarshalText() ([]byte, error) {
	if int(l) >= len(layoutNames) {
		return nil, fmt.Errorf("tensor: invalid layout %d", uint8(l))
	}
	return []byte(l.String()), nil
}

// UnmarshalText reads the layout's name.
func (l *Layout) UnmarshalText(b []byte) error {
	for i, n := range layoutNames {
		if n == string(b) {
			*l = Layout(i)
			return nil
		}
	}
	return fmt.Errorf("tensor: unknown layout %q, want one of %v", b, layoutNames)
}

package codec

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/infer-prep/infer-prep/internal/enum"
)

// The policies' names, as they stand in graphs. The index is the value.
var (
	colorNames       = []string{"rgb", "bgr", "gray", "luma", "rgba"}
	alphaNames       = []string{"drop", "white", "key_white"}
	gray16Names      = []string{"clip", "high"}
	orientationNames = []string{"ignore", "apply"}
	damageNames      = []string{"pillow", "strict", "lenient"}
	scaleNames       = []string{"full", "half", "quarter", "eighth"}
	refuseNames      = []string{"gray", "alpha", "depth16", "cmyk", "palette", "animation"} // bit 0 first
)

// String is the layout's name: "rgb", "bgr", "gray", "luma", "rgba".
func (c Color) String() string { return enum.String("color", colorNames, c) }

// MarshalText writes the name.
func (c Color) MarshalText() ([]byte, error) { return enum.Format("color", colorNames, c) }

// UnmarshalText reads the name.
func (c *Color) UnmarshalText(b []byte) error { return enum.Parse(c, "color", colorNames, b) }

// String is the policy's name: "drop", "white", "key_white".
func (a Alpha) String() string { return enum.String("alpha", alphaNames, a) }

// MarshalText writes the name.
func (a Alpha) MarshalText() ([]byte, error) { return enum.Format("alpha", alphaNames, a) }

// UnmarshalText reads the name.
func (a *Alpha) UnmarshalText(b []byte) error { return enum.Parse(a, "alpha", alphaNames, b) }

// String is the policy's name: "clip", "high".
func (g Gray16) String() string { return enum.String("gray16", gray16Names, g) }

// MarshalText writes the name.
func (g Gray16) MarshalText() ([]byte, error) { return enum.Format("gray16", gray16Names, g) }

// UnmarshalText reads the name.
func (g *Gray16) UnmarshalText(b []byte) error { return enum.Parse(g, "gray16", gray16Names, b) }

// String is the policy's name: "ignore", "apply".
func (o Orientation) String() string { return enum.String("orientation", orientationNames, o) }

// MarshalText writes the name.
func (o Orientation) MarshalText() ([]byte, error) {
	return enum.Format("orientation", orientationNames, o)
}

// UnmarshalText reads the name.
func (o *Orientation) UnmarshalText(b []byte) error {
	return enum.Parse(o, "orientation", orientationNames, b)
}

// String is the policy's name: "pillow", "strict", "lenient".
func (d Damage) String() string { return enum.String("damage", damageNames, d) }

// MarshalText writes the name.
func (d Damage) MarshalText() ([]byte, error) { return enum.Format("damage", damageNames, d) }

// UnmarshalText reads the name.
func (d *Damage) UnmarshalText(b []byte) error { return enum.Parse(d, "damage", damageNames, b) }

// Names lists the kinds in r: "gray", "alpha", "depth16", "cmyk", "palette", "animation".
func (r Refuse) Names() []string {
	names := []string{}
	for i, n := range refuseNames {
		if r&(1<<i) != 0 {
			names = append(names, n)
		}
	}
	return names
}

// ParseRefuse is the inverse of Names.
func ParseRefuse(names ...string) (Refuse, error) {
	var r Refuse
	for _, n := range names {
		var bit Refuse
		if err := enum.Parse(&bit, "kind to refuse", refuseNames, []byte(n)); err != nil {
			return 0, err
		}
		r |= 1 << bit
	}
	return r, nil
}

// String is the names, separated by commas.
func (r Refuse) String() string { return strings.Join(r.Names(), ",") }

// MarshalJSON writes a list of names.
func (r Refuse) MarshalJSON() ([]byte, error) {
	if r>>len(refuseNames) != 0 {
		return nil, fmt.Errorf("codec: invalid set of kinds to refuse %#x", uint8(r))
	}
	return json.Marshal(r.Names())
}

// UnmarshalJSON reads a list of names.
func (r *Refuse) UnmarshalJSON(b []byte) error {
	var names []string
	if err := json.Unmarshal(b, &names); err != nil {
		return fmt.Errorf("codec: kinds to refuse: want a list of names: %w", err)
	}
	v, err := ParseRefuse(names...)
	if err == nil {
		*r = v
	}
	return err
}

// String is "full", "half", "quarter" or "eighth".
func (s Scale) String() string { return enum.String("scale", scaleNames, s) }

// MarshalText writes the name.
func (s Scale) MarshalText() ([]byte, error) { return enum.Format("scale", scaleNames, s) }

// UnmarshalText reads the name.
func (s *Scale) UnmarshalText(b []byte) error { return enum.Parse(s, "scale", scaleNames, b) }

package codec

import (
	"encoding/json"
	"strings"

	"github.com/infer-prep/infer-prep/internal/enum"
	"github.com/infer-prep/infer-prep/internal/errfmt"
)

// The names of the policies in graphs and on the command line, by value.
var (
	colorNames       = []string{"rgb", "bgr", "gray", "luma", "rgba"}
	alphaNames       = []string{"drop", "white", "key_white"}
	gray16Names      = []string{"clip", "high"}
	orientationNames = []string{"ignore", "apply"}
	damageNames      = []string{"pillow", "strict", "lenient", "imread", "imdecode", "torchcodec"}
	scaleNames       = []string{"full", "half", "quarter", "eighth"}
	refuseNames      = []string{"gray", "alpha", "depth16", "cmyk", "palette", "animation", "canvas", "bilevel"} // bit 0 first
)

// String returns the layout's name: "rgb", "bgr", "gray", "luma", "rgba".
func (c Color) String() string { return enum.String("color", colorNames, c) }

// MarshalText returns the name.
func (c Color) MarshalText() ([]byte, error) { return enum.Format("color", colorNames, c) }

// UnmarshalText parses a name.
func (c *Color) UnmarshalText(b []byte) error { return enum.Parse(c, "color", colorNames, b) }

// String returns the policy's name: "drop", "white", "key_white".
func (a Alpha) String() string { return enum.String("alpha", alphaNames, a) }

// MarshalText returns the name.
func (a Alpha) MarshalText() ([]byte, error) { return enum.Format("alpha", alphaNames, a) }

// UnmarshalText parses a name.
func (a *Alpha) UnmarshalText(b []byte) error { return enum.Parse(a, "alpha", alphaNames, b) }

// String returns the policy's name: "clip", "high".
func (g Gray16) String() string { return enum.String("gray16", gray16Names, g) }

// MarshalText returns the name.
func (g Gray16) MarshalText() ([]byte, error) { return enum.Format("gray16", gray16Names, g) }

// UnmarshalText parses a name.
func (g *Gray16) UnmarshalText(b []byte) error { return enum.Parse(g, "gray16", gray16Names, b) }

// String returns the policy's name: "ignore", "apply".
func (o Orientation) String() string { return enum.String("orientation", orientationNames, o) }

// MarshalText returns the name.
func (o Orientation) MarshalText() ([]byte, error) {
	return enum.Format("orientation", orientationNames, o)
}

// UnmarshalText parses a name.
func (o *Orientation) UnmarshalText(b []byte) error {
	return enum.Parse(o, "orientation", orientationNames, b)
}

// String returns the policy's name: "pillow", "strict", "lenient", "imread",
// "imdecode".
func (d Damage) String() string { return enum.String("damage", damageNames, d) }

// MarshalText returns the name.
func (d Damage) MarshalText() ([]byte, error) { return enum.Format("damage", damageNames, d) }

// UnmarshalText parses a name.
func (d *Damage) UnmarshalText(b []byte) error { return enum.Parse(d, "damage", damageNames, b) }

// Names returns the kinds in r: "gray", "alpha", "depth16", "cmyk", "palette",
// "animation", "canvas", "bilevel".
func (r Refuse) Names() []string {
	names := []string{}
	for i, n := range refuseNames {
		if r&(1<<i) != 0 {
			names = append(names, n)
		}
	}
	return names
}

// ParseRefuse returns the set of the named kinds. It is the inverse of Names.
func ParseRefuse(names ...string) (Refuse, error) {
	var r Refuse
	for _, n := range names {
		var bit Refuse
		if err := enum.Parse(&bit, "refused kind", refuseNames, []byte(n)); err != nil {
			return 0, err
		}
		r |= 1 << bit
	}
	return r, nil
}

// String returns the names, separated by commas.
func (r Refuse) String() string { return strings.Join(r.Names(), ",") }

// MarshalJSON returns a list of names.
func (r Refuse) MarshalJSON() ([]byte, error) {
	return json.Marshal(r.Names())
}

// UnmarshalJSON parses a list of names.
func (r *Refuse) UnmarshalJSON(b []byte) error {
	var names []string
	if err := json.Unmarshal(b, &names); err != nil {
		return errfmt.Errorf("codec: refused kinds: want a list of names: %w", err)
	}
	v, err := ParseRefuse(names...)
	if err == nil {
		*r = v
	}
	return err
}

// String returns "full", "half", "quarter" or "eighth".
func (s Scale) String() string { return enum.String("scale", scaleNames, s) }

// MarshalText returns the name.
func (s Scale) MarshalText() ([]byte, error) { return enum.Format("scale", scaleNames, s) }

// UnmarshalText parses a name.
func (s *Scale) UnmarshalText(b []byte) error { return enum.Parse(s, "scale", scaleNames, b) }

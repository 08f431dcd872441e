package codec

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// The policies' names, as they stand in graphs. The index is the value.
var (
	colorNames       = []string{"rgb", "bgr", "gray", "luma", "rgba"}
	alphaNames       = []string{"drop", "white", "key_white"}
	gray16Names      = []string{"clip", "high"}
	orientationNames = []string{"ignore", "apply"}
	damageNames      = []string{"pillow", "strict", "lenient"}
	refuseNames      = []string{"gray", "alpha", "depth16", "cmyk", "palette", "animation"} // bit 0 first
)

func enumName(kind string, names []string, v uint8) string {
	if int(v) < len(names) {
		return names[v]
	}
	return fmt.Sprintf("%s(%d)", kind, v)
}

func enumText(kind string, names []string, v uint8) ([]byte, error) {
	if int(v) >= len(names) {
		return nil, fmt.Errorf("codec: invalid %s %d", kind, v)
	}
	return []byte(names[v]), nil
}

func parseEnum[E ~uint8](dst *E, kind string, names []string, text []byte) error {
	i := slices.Index(names, string(text))
	if i < 0 {
		return fmt.Errorf("codec: unknown %s %q, want one of %s", kind, text, strings.Join(names, ", "))
	}
	*dst = E(i)
	return nil
}

// String is the layout's name: "rgb", "bgr", "gray", "luma", "rgba".
func (c Color) String() string { return enumName("color", colorNames, uint8(c)) }

// MarshalText writes the name.
func (c Color) MarshalText() ([]byte, error) { return enumText("color", colorNames, uint8(c)) }

// UnmarshalText reads the name.
func (c *Color) UnmarshalText(b []byte) error { return parseEnum(c, "color", colorNames, b) }

// String is the policy's name: "drop", "white", "key_white".
func (a Alpha) String() string { return enumName("alpha", alphaNames, uint8(a)) }

// MarshalText writes the name.
func (a Alpha) MarshalText() ([]byte, error) { return enumText("alpha", alphaNames, uint8(a)) }

// UnmarshalText reads the name.
func (a *Alpha) UnmarshalText(b []byte) error { return parseEnum(a, "alpha", alphaNames, b) }

// String is the policy's name: "clip", "high".
func (g Gray16) String() string { return enumName("gray16", gray16Names, uint8(g)) }

// MarshalText writes the name.
func (g Gray16) MarshalText() ([]byte, error) { return enumText("gray16", gray16Names, uint8(g)) }

// UnmarshalText reads the name.
func (g *Gray16) UnmarshalText(b []byte) error { return parseEnum(g, "gray16", gray16Names, b) }

// String is the policy's name: "ignore", "apply".
func (o Orientation) String() string { return enumName("orientation", orientationNames, uint8(o)) }

// MarshalText writes the name.
func (o Orientation) MarshalText() ([]byte, error) {
	return enumText("orientation", orientationNames, uint8(o))
}

// UnmarshalText reads the name.
func (o *Orientation) UnmarshalText(b []byte) error {
	return parseEnum(o, "orientation", orientationNames, b)
}

// String is the policy's name: "pillow", "strict", "lenient".
func (d Damage) String() string { return enumName("damage", damageNames, uint8(d)) }

// MarshalText writes the name.
func (d Damage) MarshalText() ([]byte, error) { return enumText("damage", damageNames, uint8(d)) }

// UnmarshalText reads the name.
func (d *Damage) UnmarshalText(b []byte) error { return parseEnum(d, "damage", damageNames, b) }

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
		if err := parseEnum(&bit, "kind to refuse", refuseNames, []byte(n)); err != nil {
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

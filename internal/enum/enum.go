// Package enum gives small enumerations their text form, in which they stand in
// graphs written as JSON and on the command line.
package enum

import (
	"fmt"
	"slices"
)

// Format is the text of v, names[v]; a value without a name is an error.
func Format(what string, names []string, v int) ([]byte, error) {
	if v < 0 || v >= len(names) {
		return nil, fmt.Errorf("invalid %s %d", what, v)
	}
	return []byte(names[v]), nil
}

// String is the text of v, or "what(v)".
func String(what string, names []string, v int) string {
	if v < 0 || v >= len(names) {
		return fmt.Sprintf("%s(%d)", what, v)
	}
	return names[v]
}

// Parse is the inverse of Format.
func Parse(what string, names []string, text []byte) (int, error) {
	if i := slices.Index(names, string(text)); i >= 0 {
		return i, nil
	}
	return 0, fmt.Errorf("unknown %s %q, want one of %q", what, text, names)
}

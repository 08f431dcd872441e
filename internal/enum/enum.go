// Package enum implements the text form of small enumerations, for graphs in
// JSON and for the command line. Names are in the order of the values, from 0.
package enum

import (
	"slices"
	"strings"

	"github.com/infer-prep/infer-prep/internal/errfmt"
	"github.com/infer-prep/infer-prep/internal/registry"
)

// Format returns the text of v, names[v]. A value without a name is an error.
//
//go:noinline
func Format[E ~uint8](what string, names []string, v E) ([]byte, error) {
	if int(v) >= len(names) {
		return nil, errfmt.Errorf("invalid %s %d", what, uint8(v))
	}
	return []byte(names[v]), nil
}

// String returns the text of v, "what(v)" if it has no name.
//
//go:noinline
func String[E ~uint8](what string, names []string, v E) string {
	if int(v) >= len(names) {
		return errfmt.Sprintf("%s(%d)", what, uint8(v))
	}
	return names[v]
}

// Parse sets dst to the value whose name is text. An unknown name is an error
// that lists the known names; dst then keeps its value.
func Parse[E ~uint8](dst *E, what string, names []string, text []byte) error {
	i := slices.Index(names, string(text))
	if i < 0 {
		return errfmt.Errorf("unknown %s %q, want one of %s%s", what, text, strings.Join(names, ", "), registry.DidYouMean(string(text), names))
	}
	*dst = E(i)
	return nil
}

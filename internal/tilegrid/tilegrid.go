// Package tilegrid divides an image into windows of one size.
package tilegrid

import (
	"fmt"
	"math"

	"github.com/infer-prep/infer-prep/internal/enum"
)

// Edge says what happens at the right and bottom edges of an image whose size
// is not a whole number of steps.
type Edge uint8

const (
	// Pad keeps the step. The last window reaches past the edge.
	Pad Edge = iota
	// Shift moves the last window back, until it ends at the edge. It then
	// overlaps the one before it by more than Overlap.
	Shift
	// Drop leaves out windows that reach past the edge, so that some pixels
	// belong to no window.
	Drop
)

// edges are the names of the rules.
var edges = []string{"pad", "shift", "drop"}

// String returns the rule's name.
func (e Edge) String() string { return enum.String("edge", edges, e) }

// MarshalText returns the rule's name.
func (e Edge) MarshalText() ([]byte, error) { return enum.Format("edge", edges, e) }

// UnmarshalText sets e to the rule of that name: pad, shift or drop.
func (e *Edge) UnmarshalText(text []byte) error { return enum.Parse(e, "edge", edges, text) }

// Grid is the list of windows of Size x Size pixels over an image, row by row
// from the top left corner. Neighbours are Size-Overlap pixels apart. With Pad
// and Shift, the windows cover every pixel, with no more windows than needed;
// along an axis shorter than Size there is one window, which reaches past the
// edge.
type Grid struct {
	Width, Height int  // of the image in pixels, 1 to MaxSide
	Size          int  // of a window in pixels, 1 to MaxSide
	Overlap       int  // pixels that neighbours share, 0 to Size-1
	Edge          Edge // default Pad
}

// MaxSide bounds the sides of images and windows.
const MaxSide = 1 << 30

// Validate checks the fields. A valid grid has at most 2^31-1 windows.
func (g Grid) Validate() error {
	switch {
	case g.Width < 1 || g.Height < 1 || g.Width > MaxSide || g.Height > MaxSide:
		return fmt.Errorf("image of %dx%d pixels: want 1 to %d on both sides", g.Width, g.Height, MaxSide)
	case g.Size < 1 || g.Size > MaxSide:
		return fmt.Errorf("size %d: want 1 to %d", g.Size, MaxSide)
	case g.Overlap < 0 || g.Overlap >= g.Size:
		return fmt.Errorf("overlap %d: want 0 to %d, which is less than size", g.Overlap, g.Size-1)
	case g.Edge > Drop:
		return fmt.Errorf("invalid edge %d", uint8(g.Edge))
	}
	if n := int64(g.Columns()) * int64(g.Rows()); n > math.MaxInt32 {
		return fmt.Errorf("%d windows of %d pixels with overlap %d in %dx%d: want at most %d", n, g.Size, g.Overlap, g.Width, g.Height, math.MaxInt32)
	}
	return nil
}

// Columns returns the number of windows in a row. The grid must be valid, as
// for all methods below.
func (g Grid) Columns() int { return g.count(g.Width) }

// Rows returns the number of rows of windows.
func (g Grid) Rows() int { return g.count(g.Height) }

// Len returns the number of windows. It is 0 only for Drop.
func (g Grid) Len() int { return g.Columns() * g.Rows() }

// Window returns the upper left corner of window i, 0 to Len()-1, and the size
// of its part within the image. The part is smaller than Size x Size only if
// the window reaches past an edge: never for Drop, and for Shift only along an
// axis shorter than Size. Window i is in row i/Columns() and column
// i%Columns().
func (g Grid) Window(i int) (x, y, w, h int) {
	columns := g.Columns()
	x, y = g.start(i%columns, g.Width), g.start(i/columns, g.Height)
	return x, y, min(g.Size, g.Width-x), min(g.Size, g.Height-y)
}

// count returns the windows along an axis of n pixels.
func (g Grid) count(n int) int {
	step := g.Size - g.Overlap
	switch {
	case g.Edge == Drop && n < g.Size:
		return 0
	case g.Edge == Drop:
		return (n-g.Size)/step + 1
	case n <= g.Size:
		return 1
	}
	return (n-g.Size+step-1)/step + 1
}

// start returns the first pixel of window k along an axis of n pixels.
func (g Grid) start(k, n int) int {
	x := k * (g.Size - g.Overlap)
	if g.Edge == Shift {
		x = min(x, max(n-g.Size, 0))
	}
	return x
}

// Package tileindex reads and writes the index of a scene's windows: a file
// with a JSON object for each window, one a line. docs/tiles.md describes it.
package tileindex

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"

	"github.com/infer-prep/infer-prep/codec/tiff"
)

// Name is the name of an index in the folder of its windows.
const Name = "tiles.jsonl"

// Window is a line of an index.
type Window struct {
	// File is the file of the window's first output, relative to the folder of
	// the index. Files are those of all outputs by name, if there are several.
	File  string            `json:"file"`
	Files map[string]string `json:"files,omitempty"`
	// Row and Column are the window's place in the grid, from 0.
	Row    int `json:"row"`
	Column int `json:"column"`
	// X and Y are the first pixel in the scene. Width and Height are the part
	// within the scene, of Size x Size pixels.
	X      int `json:"x"`
	Y      int `json:"y"`
	Width  int `json:"width"`
	Height int `json:"height"`
	Size   int `json:"size"`
	// Geotransform is that of the window, as tiff.Geo describes it.
	Geotransform []float64 `json:"geotransform,omitempty"`
	EPSG         int       `json:"epsg,omitempty"`
	NoData       *Number   `json:"nodata,omitempty"`
	Scene        Scene     `json:"scene"`
}

// Scene describes the file of a window.
type Scene struct {
	Path         string    `json:"path"`
	Width        int       `json:"width"`
	Height       int       `json:"height"`
	Geotransform []float64 `json:"geotransform,omitempty"`
	GeoKeys      *GeoKeys  `json:"geo_keys,omitempty"`
}

// GeoKeys are the tags of GeoTIFF, as tiff.GeoKeys describes them.
type GeoKeys struct {
	Directory []uint16  `json:"directory"`
	Doubles   []float64 `json:"doubles,omitempty"`
	ASCII     string    `json:"ascii,omitempty"`
}

// Number is a number that can be NaN or infinite, which JSON has no numbers
// for. They are the texts "nan", "inf" and "-inf", as GDAL's are.
type Number float64

// MarshalJSON returns the number or its text.
func (n Number) MarshalJSON() ([]byte, error) {
	switch f := float64(n); {
	case f != f:
		return []byte(`"nan"`), nil
	case math.IsInf(f, 0):
		return []byte(map[bool]string{true: `"inf"`, false: `"-inf"`}[f > 0]), nil
	default:
		return json.Marshal(f)
	}
}

// UnmarshalJSON reads a number or a text.
func (n *Number) UnmarshalJSON(b []byte) error {
	var s string
	if json.Unmarshal(b, &s) == nil {
		f, err := strconv.ParseFloat(s, 64)
		if err != nil && !math.IsInf(f, 0) {
			return fmt.Errorf("nodata %q: want a number, \"nan\", \"inf\" or \"-inf\"", s)
		}
		*n = Number(f)
		return nil
	}
	return json.Unmarshal(b, (*float64)(n))
}

// SetGeo sets what the scene's file says about places. Window and Size must be
// set.
func (w *Window) SetGeo(g *tiff.Geo) {
	if g.HasTransform {
		t, own := g.Transform, g.Window(w.X, w.Y)
		w.Scene.Geotransform, w.Geotransform = t[:], own[:]
	}
	w.EPSG = g.EPSG
	if g.HasNoData {
		n := Number(g.NoData)
		w.NoData = &n
	}
	if len(g.Keys.Directory) > 0 {
		w.Scene.GeoKeys = &GeoKeys{g.Keys.Directory, g.Keys.Doubles, g.Keys.ASCII}
	}
}

// Geo returns what the scene's file said about places, without bands.
func (s *Scene) Geo() (g tiff.Geo) {
	if len(s.Geotransform) == 6 {
		g.Transform, g.HasTransform = [6]float64(s.Geotransform), true
	}
	if k := s.GeoKeys; k != nil {
		g.Keys = tiff.GeoKeys(*k)
	}
	return g
}

// Write writes a line.
func Write(w io.Writer, line *Window) error {
	b, err := json.Marshal(line)
	if err != nil {
		return err
	}
	_, err = w.Write(append(b, '\n'))
	return err
}

// Bounds of an index.
const (
	maxLine    = 1 << 20 // bytes
	maxWindows = 1 << 24
	// MaxSide bounds the sides of a scene, in pixels.
	MaxSide = 1 << 30
)

// Read reads an index. It calls add with each window, which is valid until add
// returns. All windows must be of one scene and lie within it. Unknown members
// are ignored.
func Read(r io.Reader, add func(*Window) error) error {
	s := bufio.NewScanner(r)
	s.Buffer(make([]byte, 0, 1<<16), maxLine)
	var first Scene
	n := 0
	for line := 1; s.Scan(); line++ {
		if len(bytes.TrimSpace(s.Bytes())) == 0 {
			continue
		}
		var w Window
		err := json.Unmarshal(s.Bytes(), &w)
		if err == nil {
			err = w.check()
		}
		switch {
		case err != nil:
		case n == 0:
			first = w.Scene
		case w.Scene.Path != first.Path || w.Scene.Width != first.Width || w.Scene.Height != first.Height:
			err = fmt.Errorf("the scene is %s of %dx%d pixels, in the first line %s of %dx%d: want the windows of one scene", w.Scene.Path, w.Scene.Width, w.Scene.Height, first.Path, first.Width, first.Height)
		}
		if n++; err == nil && n > maxWindows {
			err = fmt.Errorf("more than %d windows", maxWindows)
		}
		if err == nil {
			err = add(&w)
		}
		if err != nil {
			return fmt.Errorf("line %d: %w", line, err)
		}
	}
	switch err := s.Err(); {
	case errors.Is(err, bufio.ErrTooLong):
		return fmt.Errorf("a line has more than %d bytes", maxLine)
	case err != nil:
		return err
	case n == 0:
		return errors.New("no windows")
	}
	return nil
}

// check checks the numbers.
func (w *Window) check() error {
	s := w.Scene
	switch {
	case s.Width < 1 || s.Height < 1 || s.Width > MaxSide || s.Height > MaxSide:
		return fmt.Errorf("scene of %dx%d pixels: want 1 to %d on both sides", s.Width, s.Height, MaxSide)
	case w.Width < 1 || w.Height < 1 || w.X < 0 || w.Y < 0 || w.X > s.Width-w.Width || w.Y > s.Height-w.Height:
		return fmt.Errorf("window of %dx%d pixels at (%d, %d): want one within the scene of %dx%d", w.Width, w.Height, w.X, w.Y, s.Width, s.Height)
	case w.Size < max(w.Width, w.Height) || w.Size > MaxSide:
		return fmt.Errorf("size %d of a window of %dx%d pixels: want at least its sides", w.Size, w.Width, w.Height)
	case len(s.Geotransform) != 0 && len(s.Geotransform) != 6:
		return fmt.Errorf("geotransform of %d numbers: want 6", len(s.Geotransform))
	case s.GeoKeys != nil && (len(s.GeoKeys.Directory) > 1<<16 || len(s.GeoKeys.Doubles) > 1<<16):
		return errors.New("more than 65536 GeoTIFF keys")
	}
	return nil
}

package tileindex

import (
	"bytes"
	"encoding/json"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/codec/tiff"
)

func window() Window {
	w := Window{File: "r0_c1.npy", Column: 1, X: 10, Y: 20, Width: 30, Height: 40, Size: 40, Scene: Scene{Path: "a.tif", Width: 100, Height: 200}}
	w.SetGeo(&tiff.Geo{
		Transform: [6]float64{1000, 2, 0.5, 3000, 0.25, -4}, HasTransform: true, EPSG: 32633, NoData: math.Inf(-1), HasNoData: true,
		Keys: tiff.GeoKeys{Directory: []uint16{1, 1, 0, 0}, Doubles: []float64{1}, ASCII: "x|"},
	})
	return w
}

func TestLines(t *testing.T) {
	w := window()
	require.Equal(t, []float64{1030, 2, 0.5, 2922.5, 0.25, -4}, w.Geotransform)
	var b bytes.Buffer
	require.NoError(t, Write(&b, &w))
	require.Equal(t, `{"file":"r0_c1.npy","row":0,"column":1,"x":10,"y":20,"width":30,"height":40,"size":40,"geotransform":[1030,2,0.5,2922.5,0.25,-4],"epsg":32633,"nodata":"-inf","scene":{"path":"a.tif","width":100,"height":200,"geotransform":[1000,2,0.5,3000,0.25,-4],"geo_keys":{"directory":[1,1,0,0],"doubles":[1],"ascii":"x|"}}}`+"\n", b.String())
	require.NoError(t, Read(&b, func(got *Window) error {
		require.Equal(t, w, *got)
		require.Equal(t, [6]float64{1000, 2, 0.5, 3000, 0.25, -4}, got.Scene.Geo().Transform)
		return nil
	}))
	for s, want := range map[string]float64{`5`: 5, `"nan"`: math.NaN(), `"inf"`: math.Inf(1), `"-inf"`: math.Inf(-1)} {
		var n Number
		require.NoError(t, json.Unmarshal([]byte(s), &n))
		require.True(t, float64(n) == want || want != want && n != n, s)
		b, err := json.Marshal(n)
		require.NoError(t, err)
		require.Equal(t, s, string(b))
	}
}

func TestReadErrors(t *testing.T) {
	line := func(change func(w *Window)) string {
		w := window()
		if change != nil {
			change(&w)
		}
		var b strings.Builder
		require.NoError(t, Write(&b, &w))
		return b.String()
	}
	for want, text := range map[string]string{
		"no windows": "\n\n",
		"line 2: the scene is b.tif of 100x200 pixels, in the first line a.tif of 100x200: want the windows of one scene": line(nil) + line(func(w *Window) { w.Scene.Path = "b.tif" }),
		"line 1: window of 30x40 pixels at (71, 20): want one within the scene of 100x200":                                line(func(w *Window) { w.X = 71 }),
		"line 1: size 39 of a window of 30x40 pixels: want at least its sides":                                            line(func(w *Window) { w.Size = 39 }),
		"line 1: scene of 0x200 pixels: want 1 to 1073741824 on both sides":                                               line(func(w *Window) { w.Scene.Width = 0 }),
		"line 1: geotransform of 5 numbers: want 6":                                                                       line(func(w *Window) { w.Scene.Geotransform = make([]float64, 5) }),
		`line 1: nodata "x": want a number, "nan", "inf" or "-inf"`:                                                       `{"nodata":"x"}`,
		"a line has more than 1048576 bytes":                                                                              `{"file":"` + strings.Repeat("x", maxLine) + `"}`,
	} {
		require.EqualError(t, Read(strings.NewReader(text), func(*Window) error { return nil }), want)
	}
}

func FuzzRead(f *testing.F) {
	w := window()
	var b bytes.Buffer
	require.NoError(f, Write(&b, &w))
	f.Add(b.Bytes())
	f.Add([]byte("{}\n[]"))
	f.Fuzz(func(t *testing.T, b []byte) {
		_ = Read(bytes.NewReader(b), func(w *Window) error {
			require.LessOrEqual(t, w.X+w.Width, w.Scene.Width)
			_ = w.Scene.Geo()
			return Write(new(bytes.Buffer), w)
		})
	})
}

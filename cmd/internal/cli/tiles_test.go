package cli

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/cmd/internal/cog"
	"github.com/infer-prep/infer-prep/cmd/internal/tileindex"
	"github.com/infer-prep/infer-prep/codec"
	"github.com/infer-prep/infer-prep/codec/tiff"
	"github.com/infer-prep/infer-prep/tensor"
	"github.com/infer-prep/infer-prep/tensor/npz"
)

// scenePixel is band b of the test scenes at (x, y).
func scenePixel(x, y, b int) byte { return byte(x ^ y*3 + 11*b) }

// writeScene writes a scene of 3 bands of uint8.
func writeScene(t *testing.T, path string, w, h int) {
	t.Helper()
	m := cog.Image{
		Width: w, Height: h, Bands: 3, DType: tensor.Uint8, NoData: 7, HasNoData: true,
		Geo: tiff.Geo{Transform: [6]float64{1000, 10, 0, 5000, 0, -10}, HasTransform: true, Keys: tiff.GeoKeys{Directory: []uint16{1, 1, 0, 2, 1024, 0, 1, 1, 3072, 0, 1, 32633}}},
	}
	var b bytes.Buffer
	require.NoError(t, m.Write(context.Background(), &b, func(tx, ty int, dst []byte) error {
		for i := range dst {
			p := i / 3
			dst[i] = scenePixel(tx*cog.Tile+p%cog.Tile, ty*cog.Tile+p/cog.Tile, i%3)
		}
		return nil
	}))
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o777))
	require.NoError(t, os.WriteFile(path, b.Bytes(), 0o666))
}

// readIndex reads an index.
func readIndex(t *testing.T, path string) (l []tileindex.Window) {
	t.Helper()
	b, err := os.ReadFile(path)
	require.NoError(t, err)
	require.NoError(t, tileindex.Read(bytes.NewReader(b), func(w *tileindex.Window) error {
		l = append(l, *w)
		return nil
	}))
	return l
}

// readArray reads a .npy file.
func readArray(t *testing.T, path string) *tensor.Tensor {
	t.Helper()
	b, err := os.ReadFile(path)
	require.NoError(t, err)
	x, err := tensor.ReadNPY(bytes.NewReader(b), 1<<30)
	require.NoError(t, err)
	return x
}

// nativeGraph makes a graph of decode_native.
func nativeGraph(t *testing.T) {
	succeed(t, "graph", "make", "decode_native", "dtype=uint8", "channels=3", "-o", "graph.json")
}

// TestRunTiles: the tensors are those of the windows, and the index places
// them; stitching them gives the scene back.
func TestRunTiles(t *testing.T) {
	t.Chdir(t.TempDir())
	writeScene(t, "scenes/a.tif", 300, 170)
	writeScene(t, "scenes/sub/b.TIFF", 90, 40)
	require.NoError(t, os.WriteFile("scenes/a.tif.aux.xml", []byte("<x/>"), 0o666))
	nativeGraph(t)
	r := call(t, "run", "--graph", "graph.json", "--tiles", "128", "--overlap", "32", "-o", "out", "scenes")
	require.Equal(t, 0, r.status, r.stderr)
	require.Contains(t, r.stderr, "7 images, 0 failed")
	require.Equal(t, []string{
		"a.tif/r0_c0.npy", "a.tif/r0_c1.npy", "a.tif/r0_c2.npy", "a.tif/r1_c0.npy", "a.tif/r1_c1.npy", "a.tif/r1_c2.npy", "a.tif/tiles.jsonl",
		"sub/b.TIFF/r0_c0.npy", "sub/b.TIFF/tiles.jsonl",
	}, listFiles(t, "out"))
	index := readIndex(t, "out/a.tif/tiles.jsonl")
	require.Len(t, index, 6)
	last := index[5]
	require.Equal(t, [7]int{1, 2, 172, 42, 128, 128, 128}, [7]int{last.Row, last.Column, last.X, last.Y, last.Width, last.Height, last.Size})
	require.Equal(t, []float64{2720, 10, 0, 4580, 0, -10}, last.Geotransform)
	require.Equal(t, 32633, last.EPSG)
	require.Equal(t, tileindex.Number(7), *last.NoData)
	require.Equal(t, "r1_c2.npy", last.File)
	require.Equal(t, filepath.Join("scenes", "a.tif"), last.Scene.Path)
	for _, w := range index {
		x := readArray(t, filepath.Join("out/a.tif", w.File))
		require.Equal(t, tensor.Dims(128, 128, 3), x.Shape)
		for i, v := range x.Data {
			require.Equal(t, scenePixel(w.X+i/3%128, w.Y+i/3/128, i%3), v)
		}
	}
	small := readIndex(t, "out/sub/b.TIFF/tiles.jsonl")[0]
	require.Equal(t, [3]int{90, 40, 128}, [3]int{small.Width, small.Height, small.Size})
	require.EqualValues(t, 7, readArray(t, "out/sub/b.TIFF/r0_c0.npy").Data[90*3], "no data past the edge")

	scene, err := os.ReadFile("scenes/a.tif")
	require.NoError(t, err)
	for _, blend := range []string{"linear", "center"} {
		r := call(t, "stitch", "--blend", blend, "-o", "a.tif", "out/a.tif/tiles.jsonl")
		require.Equal(t, called{}, r)
		requireSameScene(t, scene, "a.tif")
	}
	require.Equal(t, called{}, call(t, "stitch", "-o", "b.tif", "out/sub/b.TIFF/tiles.jsonl"))

	// Further runs do what is missing.
	require.NoError(t, os.Remove("out/a.tif/r1_c1.npy"))
	require.NoError(t, os.Remove("out/a.tif/tiles.jsonl"))
	r = call(t, "run", "--graph", "graph.json", "--tiles", "128", "--overlap", "32", "--skip-existing", "-o", "out", "scenes")
	require.Equal(t, 0, r.status, r.stderr)
	require.Contains(t, r.stderr, "1 image, 0 failed")
	require.Contains(t, r.stderr, "6 windows had their outputs")
	require.Equal(t, index, readIndex(t, "out/a.tif/tiles.jsonl"))
	r = call(t, "run", "--graph", "graph.json", "--tiles", "128", "--overlap", "32", "--skip-existing", "-q", "-o", "out", "scenes")
	require.Equal(t, called{}, r, "nothing to do")
}

// requireSameScene compares the pixels and the places of two files.
func requireSameScene(t *testing.T, want []byte, path string) {
	t.Helper()
	got, err := os.ReadFile(path)
	require.NoError(t, err)
	open := func(b []byte) (*tensor.Tensor, tiff.Geo) {
		r, err := tiff.NewReader(bytes.NewReader(b), int64(len(b)), nil)
		require.NoError(t, err)
		i, err := r.Image(0)
		require.NoError(t, err)
		f, err := i.Info()
		require.NoError(t, err)
		x, err := i.Tensor(codec.Region{Width: f.Width, Height: f.Height})
		require.NoError(t, err)
		g, err := i.Geo()
		require.NoError(t, err)
		return x, g
	}
	a, ga := open(want)
	b, gb := open(got)
	require.Equal(t, a.Desc, b.Desc)
	require.True(t, bytes.Equal(a.Data, b.Data))
	require.Equal(t, ga.Transform, gb.Transform)
	require.Equal(t, ga.EPSG, gb.EPSG)
}

// TestRunTilesDecode: a graph with decode, several outputs, and edges.
func TestRunTilesDecode(t *testing.T) {
	t.Chdir(t.TempDir())
	writeScene(t, "a.tif", 200, 100)
	r := call(t, "run", "--preset", "yolo", "--outputs", "all", "--tiles", "64", "--edge", "pad", "-q", "-o", "out", "a.tif")
	require.Equal(t, called{}, r)
	index := readIndex(t, "out/a.tif/tiles.jsonl")
	require.Len(t, index, 8)
	require.Greater(t, len(index[0].Files), 1)
	for _, w := range index {
		for _, f := range w.Files {
			require.FileExists(t, filepath.Join("out/a.tif", f))
		}
	}
	r = call(t, "run", "--preset", "decode", "--tiles", "64", "--edge", "drop", "--format", "npz", "-q", "-o", "drop", "a.tif")
	require.Equal(t, called{}, r)
	require.Len(t, readIndex(t, "drop/a.tif/tiles.jsonl"), 3)
	r = call(t, "stitch", "-o", "drop.tif", "drop/a.tif/tiles.jsonl")
	require.Equal(t, called{1, "", "infer-prep: drop.tif: pixel (192, 0) of the scene is in no window of the index: want all windows, or --nodata\n"}, r)
	require.NoFileExists(t, "drop.tif")
	require.Equal(t, called{}, call(t, "stitch", "--nodata", "9", "-o", "drop.tif", "drop/a.tif/tiles.jsonl"))
}

// TestRunTilesErrors: scenes that fail, and flags.
func TestRunTilesErrors(t *testing.T) {
	t.Chdir(t.TempDir())
	writeScene(t, "a.tif", 200, 100)
	writeScene(t, "b/A.tif", 20, 10)
	require.NoError(t, os.WriteFile("no.tif", pngBytes(t, 3, 3, 3), 0o666))
	r := call(t, "run", "--preset", "decode", "--tiles", "150", "--edge", "drop", "-o", "out", "a.tif")
	require.Equal(t, 1, r.status)
	require.Contains(t, r.stderr, "infer-prep: a.tif: no window of 150 pixels fits the scene of 200x100\n")
	r = call(t, "run", "--preset", "decode", "--tiles", "150", "-o", "out", "no.tif", "missing.tif", "b/A.tif", "a.tif")
	require.Equal(t, 1, r.status)
	require.Contains(t, r.stderr, "infer-prep: no.tif: tiff: offset 0: invalid format: the file begins with")
	require.Contains(t, r.stderr, "infer-prep: missing.tif: no such file")
	require.Contains(t, r.stderr, "infer-prep: a.tif: its folder "+filepath.Join("out", "a.tif")+" is that of "+filepath.Join("b", "A.tif")+"\n")

	// A damaged tile fails the windows that need it.
	b, err := os.ReadFile("a.tif")
	require.NoError(t, err)
	require.NoError(t, os.WriteFile("damaged.tif", b[:len(b)-9], 0o666))
	r = call(t, "run", "--preset", "decode", "--tiles", "100", "-q", "-o", "out", "damaged.tif")
	require.Equal(t, 1, r.status)
	require.Contains(t, r.stderr, "infer-prep: "+filepath.Join("damaged.tif", "r0_c1")+": tiff:")
	require.NoFileExists(t, "out/damaged.tif/tiles.jsonl")

	for want, args := range map[string][]string{
		"--tiles 0 --overlap 0 --edge shift: size 0: want 1 to":                 {"--tiles", "0"},
		"--tiles 5 --overlap 5 --edge shift: overlap 5: want 0 to 4":            {"--tiles", "5", "--overlap", "5"},
		`unknown edge "wrap", want one of pad, shift, drop`:                     {"--tiles", "5", "--edge", "wrap"},
		"--overlap applies to windows: want --tiles":                            {"--overlap", "5"},
		"--batch-size does not apply to --tiles":                                {"--tiles", "5", "--batch-size", "3"},
		"--format webdataset does not apply to --tiles":                         {"--tiles", "5", "--format", "webdataset"},
		"--skip-existing=content does not apply to --tiles":                     {"--tiles", "5", "--skip-existing=content"},
		"--tiles writes several files: want -o DIR":                             {"--tiles", "5", "-o", "-"},
		"no scenes: want files, or folders with files of the extension .tif or": {"--tiles", "5", "empty"},
	} {
		require.NoError(t, os.MkdirAll("empty", 0o777))
		if args[len(args)-1] != "empty" {
			args = append(args, "a.tif")
		}
		r := call(t, append([]string{"run", "--preset", "decode", "-o", "out2"}, args...)...)
		require.Equal(t, 2, r.status, args)
		require.Contains(t, r.stderr, want)
	}
}

// TestRunTilesInterrupted: a scene that is not done has no index.
func TestRunTilesInterrupted(t *testing.T) {
	t.Chdir(t.TempDir())
	writeScene(t, "a.tif", 600, 600)
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	var errs bytes.Buffer
	w := &stopping{stop: stop}
	status := Run(ctx, []string{"run", "--preset", "decode", "--tiles", "8", "--json", "-j", "1", "-o", "out", "a.tif"}, strings.NewReader(""), w, &errs)
	require.Equal(t, 130, status)
	require.Contains(t, errs.String(), "--skip-existing")
	for _, f := range listFiles(t, "out") {
		require.True(t, strings.HasSuffix(f, ".npy"), f)
	}
}

// TestStitchPredictions: shapes, types, and archives.
func TestStitchPredictions(t *testing.T) {
	t.Chdir(t.TempDir())
	writeScene(t, "a.tif", 40, 20)
	succeed(t, "run", "--preset", "decode", "--tiles", "20", "-q", "-o", "out", "a.tif")
	index := readIndex(t, "out/a.tif/tiles.jsonl")
	require.Len(t, index, 2)
	at := func(dir string, i int) string {
		require.NoError(t, os.MkdirAll(dir, 0o777))
		return filepath.Join(dir, index[i].File)
	}
	put := func(dir string, archive bool, d tensor.Desc) {
		for i := range index {
			x, err := tensor.New(d)
			require.NoError(t, err)
			for k := range x.Data {
				x.Data[k] = byte(k % 100)
			}
			var b bytes.Buffer
			if archive {
				require.NoError(t, npz.Write(&b, []tensor.Named{{Name: "classes", T: x}, {Name: "scores", T: x}}))
			} else {
				require.NoError(t, tensor.WriteNPY(&b, x))
			}
			require.NoError(t, os.WriteFile(at(dir, i), b.Bytes(), 0o666))
		}
	}
	desc := func(t tensor.DType, dims ...int) tensor.Desc {
		return tensor.Desc{DType: t, Shape: tensor.Dims(dims...)}
	}
	put("chw", false, desc(tensor.Uint16, 1, 5, 20, 20))
	put("npz", true, desc(tensor.Float32, 20, 20))
	put("cube", false, desc(tensor.Uint8, 20, 20, 20))
	put("flat", false, desc(tensor.Uint8, 400))
	put("int64", false, desc(tensor.Int64, 20, 20))
	put("mixed", false, desc(tensor.Uint8, 20, 20))
	b, err := os.ReadFile(at("chw", 0))
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(at("mixed", 1), b, 0o666))

	require.Equal(t, called{}, call(t, "stitch", "--predictions", "chw", "-o", "x.tif", "out/a.tif/tiles.jsonl"))
	require.Equal(t, called{}, call(t, "stitch", "--predictions", "npz", "--array", "scores", "-o", "x.tif", "out/a.tif/tiles.jsonl"))
	for want, args := range map[string][]string{
		"npz/r0_c0.npy: the arrays classes, scores: want one, or its name with --array": {"--predictions", "npz"},
		`npz/r0_c0.npy: no array "x": want one of classes, scores`:                      {"--predictions", "npz", "--array", "x"},
		"flat/r0_c0.npy: array of shape [400]: want (H, W), (H, W, C) or (C, H, W) of":  {"--predictions", "flat"},
		"cube/r0_c0.npy: array of shape [20 20 20] can be (H, W, C) and (C, H, W)":      {"--predictions", "cube"},
		"int64/r0_c0.npy: array of int64: want uint8, uint16 or float32":                {"--predictions", "int64"},
		"mixed/r0_c1.npy: uint16 with 5 bands: want uint8 with 1 as in the first":       {"--predictions", "mixed"},
		"none/r0_c0.npy: no such file":                                                  {"--predictions", "none"},
		`--nodata "x": want a number`:                                                   {"--nodata", "x"},
		"want 0 to 255":                                                                 {"--nodata", "256"},
		`--blend "x": want linear or center`:                                            {"--blend", "x"},
		"no output: want -o":                                                            {"-o", ""},
		"want one index":                                                                {"more"},
		"missing.jsonl: no such":                                                        {"missing.jsonl"},
	} {
		full := []string{"stitch", "-o", "x2.tif"}
		if args[0] != "missing.jsonl" {
			full = append(full, "out/a.tif/tiles.jsonl")
		}
		r := call(t, append(full, args...)...)
		require.NotZero(t, r.status, args)
		require.Contains(t, filepath.ToSlash(r.stderr), want)
		require.NoFileExists(t, "x2.tif")
	}
}

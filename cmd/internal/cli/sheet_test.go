package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"image"
	"image/color"
	"image/png"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/cmd/internal/cli/command"
	"github.com/infer-prep/infer-prep/cmd/internal/cli/graph"
	"github.com/infer-prep/infer-prep/datagraph"
	"github.com/infer-prep/infer-prep/tensor"
	"github.com/infer-prep/infer-prep/transforms"
)

func readPNG(t *testing.T, path string) image.Image {
	t.Helper()
	b, err := os.ReadFile(path)
	require.NoError(t, err)
	m, err := png.Decode(bytes.NewReader(b))
	require.NoError(t, err)
	return m
}

// TestSheetOfClassifier: the picture in docs/ is what its command draws.
func TestSheetOfClassifier(t *testing.T) {
	inClassifier(t)
	docs := filepath.Join("..", "..", "docs")
	text, err := os.ReadFile(filepath.Join(docs, "graphs.md"))
	require.NoError(t, err)
	const command = "infer-prep graph show --torchvision transforms.json --sheet ../../docs/sheet.png --limit 3 --cell 96 images"
	require.Contains(t, string(text), command)
	out := filepath.Join(t.TempDir(), "sheet.png")
	args := strings.Fields(strings.Replace(command, "../../docs/sheet.png", out, 1))[1:]
	r := call(t, args...)
	require.Equal(t, called{stderr: "the first 3 images of 12 files; --limit shows more\n"}, r)
	want, got := readPNG(t, filepath.Join(docs, "sheet.png")), readPNG(t, out)
	require.Equal(t, want.Bounds(), got.Bounds())
	for y := range want.Bounds().Dy() {
		for x := range want.Bounds().Dx() {
			require.Equal(t, color.NRGBAModel.Convert(want.At(x, y)), color.NRGBAModel.Convert(got.At(x, y)), "at %d, %d", x, y)
		}
	}
	first, err := os.ReadFile(out)
	require.NoError(t, err)
	require.Equal(t, r, call(t, args...))
	second, err := os.ReadFile(out)
	require.NoError(t, err)
	require.True(t, bytes.Equal(first, second))
}

// TestSheetPixels: pictures keep their pixels, and the rows are where the
// layout says.
func TestSheetPixels(t *testing.T) {
	dir := tree(t, map[string][]byte{"in/a.png": pngBytes(t, 16, 8, 1), "in/b.txt": []byte("no image"), "in/c.png": []byte("\x89PNG\r\n\x1a\nbroken")})
	at := func(n string) string { return filepath.Join(dir, filepath.FromSlash(n)) }
	r := call(t, "graph", "show", "--preset", "decode", "--sheet", at("s.png"), "--cell", "16", at("in"))
	require.Equal(t, command.ExitFailed, r.status)
	require.Contains(t, r.stderr, "c.png")
	m, in := readPNG(t, at("s.png")), readPNG(t, at("in/a.png"))
	require.Equal(t, image.Rect(0, 0, 8+126+8, 8+2*14+8+(14+3*14+8+16+4)+(14+8)), m.Bounds())
	x0, y0 := 8, 8+2*14+8+14+4 // centred in the cell of 16 x 16
	for y := range 8 {
		for x := range 16 {
			require.Equal(t, color.NRGBAModel.Convert(in.At(x, y)), color.NRGBAModel.Convert(m.At(x0+x, y0+y)), "at %d, %d", x, y)
		}
	}
	require.Equal(t, graph.SheetFrame, color.NRGBAModel.Convert(m.At(x0, y0-1)))

	// Twice as large, then half as large.
	require.Equal(t, command.ExitOK, call(t, "graph", "show", "--preset", "decode", "--sheet", at("s.png"), "--cell", "32", at("in/a.png")).status)
	m = readPNG(t, at("s.png"))
	require.Equal(t, color.NRGBAModel.Convert(in.At(15, 7)), color.NRGBAModel.Convert(m.At(8+31, 8+2*14+8+14+8+15)))
	half := graph.Thumbnail(graph.Picture(decodedTensor(t, 4, 2, [][3]byte{{0, 0, 0}, {10, 0, 0}, {7, 0, 0}, {7, 0, 0}, {20, 0, 0}, {31, 0, 0}, {7, 0, 0}, {7, 0, 0}})), 2)
	require.Equal(t, image.Rect(0, 0, 2, 1), half.Bounds())
	require.Equal(t, color.NRGBA{15, 0, 0, 255}, half.At(0, 0)) // (0+10+20+31+2)/4
	require.Equal(t, color.NRGBA{7, 0, 0, 255}, half.At(1, 0))
}

func TestSheetUsage(t *testing.T) {
	dir := tree(t, map[string][]byte{"a.png": pngBytes(t, 5, 4, 1), "text": []byte("text")})
	at := func(n string) string { return filepath.Join(dir, n) }
	for _, c := range []struct {
		args   []string
		status int
		want   string
	}{
		{[]string{"--sheet", at("s.png")}, command.ExitUsage, "--sheet: no images"},
		{[]string{"--sheet", at("s.png"), "--limit", "0", at("a.png")}, command.ExitUsage, "--limit 0: want 1 to 1000"},
		{[]string{"--sheet", at("s.png"), "--cell", "9", at("a.png")}, command.ExitUsage, "--cell 9: want 16 to 1024"},
		{[]string{"--sheet", at("s.png"), "--limit", "1000", "--cell", "1024", at("a.png")}, command.ExitUsage, "want a smaller --limit or --cell"},
		{[]string{"--sheet", at("s.png"), "--svg", "-", at("a.png")}, command.ExitUsage, "--sheet and --svg: want only one"},
		{[]string{"--cell", "32", at("a.png")}, command.ExitUsage, "--cell needs --sheet"},
		{[]string{at("a.png"), at("a.png")}, command.ExitUsage, "want at most one image, got 2"},
		{[]string{"--sheet", at("s.png"), at("none.png")}, command.ExitFailed, "none.png: no such file"},
		{[]string{"--sheet", at("none/s.png"), at("a.png")}, command.ExitFailed, "no such file"},
		{[]string{"--sheet", at("s.png"), at("*.txt")}, command.ExitFailed, "no file matches"},
	} {
		r := call(t, append([]string{"graph", "show", "--preset", "clip"}, c.args...)...)
		require.Equal(t, c.status, r.status, "%s: %s", c.args, r.stderr)
		require.Contains(t, r.stderr, c.want)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var out, errs bytes.Buffer
	_ = os.Remove(at("s.png"))
	require.Equal(t, command.ExitInterrupted, Run(ctx, []string{"graph", "show", "--preset", "clip", "--sheet", at("s.png"), at("a.png")}, strings.NewReader(""), &out, &errs))
	require.NoFileExists(t, at("s.png"))

	// Random ops draw for each row.
	g := datagraph.New(transforms.NewDecode(), transforms.NewRandomHorizontalFlip())
	raw, err := json.Marshal(g)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(at("g.json"), raw, 0o600))
	args := []string{"graph", "show", "--graph", at("g.json"), "--sheet", at("r.png"), "--cell", "16"}
	for range 16 {
		args = append(args, at("a.png"))
	}
	require.Equal(t, called{}, call(t, args...))
	m := readPNG(t, at("r.png"))
	flipped, same := 0, 0
	for row := range 16 {
		// The rows are 92 high. The picture is enlarged to 15 x 12.
		p := m.At(8+134+1, 44+row*92+14+2)
		switch color.NRGBAModel.Convert(p) {
		case graph.SheetPaper:
			same++ // only the text "no change"
		default:
			flipped++
		}
	}
	require.Positive(t, flipped)
	require.Positive(t, same)

	// Side outputs are text, and a folder without images is an error.
	require.Equal(t, called{}, call(t, "graph", "show", "--preset", "yolo", "--sheet", at("y.png"), at("a.png")))
	require.NoError(t, os.Mkdir(at("empty"), 0o777))
	require.Contains(t, call(t, "graph", "show", "--preset", "yolo", "--sheet", at("z.png"), at("empty")).stderr, "no images found")
	require.NoFileExists(t, at("z.png"))
}

// decodedTensor returns an RGB image of the given pixels.
func decodedTensor(t *testing.T, w, h int, pixels [][3]byte) *tensor.Tensor {
	var b []byte
	for _, p := range pixels {
		b = append(b, p[:]...)
	}
	x, err := tensor.Wrap(tensor.Image(tensor.Uint8, tensor.HWC, h, w, 3), b)
	require.NoError(t, err)
	return x
}

// TestOpsSheet: docs/ops.png is what the command draws, with a result in each
// tile, and the same bytes each time.
func TestOpsSheet(t *testing.T) {
	dir := t.TempDir()
	at := func(n string) string { return filepath.Join(dir, n) }
	require.Equal(t, called{}, call(t, "ops", "--sheet", at("a.png")))
	require.Equal(t, called{}, call(t, "ops", "--sheet", at("b.png")))
	a, err := os.ReadFile(at("a.png"))
	require.NoError(t, err)
	b, err := os.ReadFile(at("b.png"))
	require.NoError(t, err)
	require.True(t, bytes.Equal(a, b))
	require.Less(t, len(a), 600_000)
	want, got := readPNG(t, filepath.Join("..", "..", "..", "docs", "ops.png")), readPNG(t, at("a.png"))
	const stale = "docs/ops.png is out of date: run go generate ./internal/opdoc"
	require.Equal(t, want.Bounds(), got.Bounds(), stale)
	require.IsType(t, &image.RGBA{}, got)
	require.True(t, bytes.Equal(want.(*image.RGBA).Pix, got.(*image.RGBA).Pix), stale)

	inputs, err := graph.SheetInputs(graph.SheetPicture(), graph.OpsSheetCell)
	require.NoError(t, err)
	n := 0
	for _, i := range transforms.Ops() {
		if !slices.Contains(i.In, "image") {
			continue
		}
		tile := graph.TileOf(i, inputs, graph.OpsSheetCell)
		require.NoError(t, tile.Err, "%s: state parameters that fit the picture in its comment //sheet:", i.Name)
		require.True(t, tile.Picture != nil || len(tile.Lines) > 0, i.Name)
		n++
	}
	require.Equal(t, graph.SheetGap+(n+graph.OpsSheetColumns-1)/graph.OpsSheetColumns*graph.TileHeight(graph.OpsSheetCell), got.Bounds().Dy())

	// Another image, and ops that refuse it.
	require.NoError(t, os.WriteFile(at("in.png"), pngBytes(t, 20, 30, 1), 0o600))
	require.Equal(t, called{}, call(t, "ops", "--sheet", at("c.png"), "--image", at("in.png"), "--cell", "64"))
	require.Less(t, readPNG(t, at("c.png")).Bounds().Dy(), got.Bounds().Dy())
	for _, c := range []struct {
		args   []string
		status int
		want   string
	}{
		{[]string{"--sheet", at("d.png"), "--image", at("none.png")}, command.ExitFailed, "none.png: no such file"},
		{[]string{"--sheet", at("d.png"), "--image", at("text")}, command.ExitFailed, "text: "},
		{[]string{"--sheet", at("none/d.png")}, command.ExitFailed, "no such file"},
		{[]string{"--sheet", at("d.png"), "--cell", "9"}, command.ExitUsage, "--cell 9: want 16 to 1024"},
		{[]string{"--image", at("in.png")}, command.ExitUsage, "need --sheet"},
		{[]string{"--sheet", at("d.png"), "resize"}, command.ExitUsage, "want no name"},
		{[]string{"--sheet", at("d.png"), "--json"}, command.ExitUsage, "neither"},
	} {
		require.NoError(t, os.WriteFile(at("text"), []byte("text"), 0o600))
		r := call(t, append([]string{"ops"}, c.args...)...)
		require.Equal(t, c.status, r.status, "%s: %s", c.args, r.stderr)
		require.Contains(t, r.stderr, c.want)
	}
}

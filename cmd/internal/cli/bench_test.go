package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/cmd/internal/cli/command"
)

// benchIn calls bench with a short time limit.
func benchIn(t *testing.T, ctx context.Context, delay func(), args ...string) called {
	t.Helper()
	var out, errs bytes.Buffer
	a := &command.App{Stdin: strings.NewReader(""), Stdout: &out, Stderr: &errs, BenchTime: 150 * time.Millisecond, OnItem: delay}
	status := execute(ctx, a, append([]string{"bench"}, args...))
	return called{status, out.String(), errs.String()}
}

func TestBench(t *testing.T) {
	img := pngBytes(t, 50, 40, 7)
	text := []byte("no image")
	broken := img[:len(img)/2]
	for _, c := range []struct {
		name    string
		files   map[string][]byte
		args    []string
		images  int
		skipped int
		status  int
		stderr  []string // what is on each line
	}{
		{
			name: "a folder is walked", files: map[string][]byte{"in/a.png": img, "in/b/c.PNG": img, "in/x.txt": text},
			args: []string{"in"}, images: 2, skipped: 1,
		},
		{
			name: "jobs", files: map[string][]byte{"in/a.png": img, "in/b.png": img, "in/c.png": img},
			args: []string{"--jobs", "4", "in"}, images: 3,
		},
		{
			name: "a broken image", files: map[string][]byte{"in/a.png": img, "in/b.png": broken},
			args: []string{"in"}, images: 1, skipped: 1, stderr: []string{"infer-prep: in/b.png: png: "},
		},
		{
			name: "a missing folder", files: map[string][]byte{"in/a.png": img},
			args: []string{"in", "no"}, images: 1, status: command.ExitFailed, stderr: []string{"infer-prep: no: no such file or folder"},
		},
		{
			name: "no images", files: map[string][]byte{"in/a.txt": text}, args: []string{"in"},
			status: command.ExitFailed, stderr: []string{"infer-prep: no images found, 1 file skipped"},
		},
		{
			name: "nothing at all", files: map[string][]byte{"in/": nil}, args: []string{"in", "no"},
			status: command.ExitFailed, stderr: []string{"infer-prep: no: ", "infer-prep: no images found; 1 input failed"},
		},
		{
			name: "broken images alone", files: map[string][]byte{"in/a.png": broken}, args: []string{"in"},
			status: command.ExitFailed, stderr: []string{"infer-prep: in/a.png: png: ", "infer-prep: no images found, 1 file skipped"},
		},
		{
			name: "more than the memory", files: map[string][]byte{"in/a.png": img, "in/b.png": img}, args: []string{"--limit-bytes", fmt.Sprint(2*len(img) - 1), "in"},
			status: command.ExitFailed, stderr: []string{fmt.Sprintf("infer-prep: the images have more than %d bytes together", 2*len(img)-1)},
		},
		{
			name: "a file larger than the memory", files: map[string][]byte{"in/a.png": img}, args: []string{"--limit-bytes", "100", "in"},
			status: command.ExitFailed, stderr: []string{fmt.Sprintf("in/a.png: codec: limit exceeded: the file has %d bytes, the limit is 100", len(img)), "infer-prep: no images found, 1 file skipped"},
		},
		{
			name: "an image of too many pixels", files: map[string][]byte{"in/a.png": img}, args: []string{"--limit-pixels", "100", "in"},
			status: command.ExitFailed, stderr: []string{"infer-prep: in/a.png: png: ", "infer-prep: no images found, 1 file skipped"},
		},
		{
			name: "no argument", status: command.ExitUsage, stderr: []string{"infer-prep: no images or sounds: want files, folders or globs", "usage: ", "see: "},
		},
		{
			name: "no jobs", args: []string{"--jobs", "0", "in"}, status: command.ExitUsage, stderr: []string{"infer-prep: --jobs 0: want at least 1", "usage: ", "see: "},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Chdir(tree(t, c.files))
			r := benchIn(t, t.Context(), nil, append([]string{"--preset", "decode", "--json"}, c.args...)...)
			require.Equal(t, c.status, r.status, r.stderr)
			lines := strings.Split(strings.TrimSuffix(r.stderr, "\n"), "\n")
			if c.stderr == nil {
				require.Empty(t, r.stderr)
			} else {
				require.Len(t, lines, len(c.stderr), r.stderr)
			}
			for i, want := range c.stderr {
				require.Contains(t, lines[i], want)
			}
			if c.images == 0 {
				require.Empty(t, r.stdout)
				return
			}
			require.Equal(t, 1, strings.Count(r.stdout, "\n"))
			var got map[string]any
			require.NoError(t, json.Unmarshal([]byte(r.stdout), &got))
			require.EqualValues(t, c.images, got["images"])
			require.EqualValues(t, c.skipped, got["skipped"])
			require.Equal(t, "decode", got["graph"])
			rate := got["images_per_s"].(float64)
			require.Positive(t, rate)
			require.InEpsilon(t, rate*50*40/1e6, got["megapixels_per_s"], 1e-4, "the source's pixels")
			require.InEpsilon(t, rate*float64(len(img))/1e6, got["mb_per_s"], 1e-4, "the encoded bytes")
			require.Less(t, got["allocs_per_image"], 1.5, "the decoder of PNG has one, bench itself none")
			if runtime.GOOS == "linux" || runtime.GOOS == "darwin" {
				require.Greater(t, got["peak_rss_mb"], 1.0)
				require.Less(t, got["peak_rss_mb"], 1e4)
				require.Positive(t, got["cpu_ms_per_image"])
			}
		})
	}
}

func TestBenchTable(t *testing.T) {
	t.Chdir(tree(t, map[string][]byte{"in/a.png": pngBytes(t, 50, 40, 7)}))
	r := benchIn(t, t.Context(), nil, "--preset", "imagenet", "in")
	require.Equal(t, command.ExitOK, r.status, r.stderr)
	require.Empty(t, r.stderr)
	lines := strings.Split(strings.TrimSuffix(r.stdout, "\n"), "\n")
	require.Len(t, lines, 2)
	require.Regexp(t, `^graph +images +skipped +jobs +passes +images/s +megapixels/s +MB/s +CPU ms/image +allocations/image +peak MB$`, lines[0])
	require.Regexp(t, `^imagenet +1 +0 +1 +\d+ +[\d.]+ `, lines[1])
}

// TestBenchGraph: a graph is named after its file, and a graph that does not
// take an encoded image is refused.
func TestBenchGraph(t *testing.T) {
	t.Chdir(tree(t, map[string][]byte{
		"in/a.png":  pngBytes(t, 50, 40, 7),
		"crop.json": []byte(`{"torchvision": {"crop_size": 16, "resize_size": 20}}`),
	}))
	r := benchIn(t, t.Context(), nil, "--torchvision", "crop.json", "--json", "in")
	require.Equal(t, command.ExitOK, r.status, r.stderr)
	require.Contains(t, r.stdout, `"graph":"crop.json"`)
	r = benchIn(t, t.Context(), nil, "--preset", "nothing", "in")
	require.Equal(t, command.ExitUsage, r.status)
}

// TestBenchTooMany: bench keeps its time limit with too many images.
func TestBenchTooMany(t *testing.T) {
	files := map[string][]byte{}
	for i := range 200 {
		files[fmt.Sprintf("in/%03d.png", i)] = pngBytes(t, 5, 4, uint8(i))
	}
	t.Chdir(tree(t, files))
	r := benchIn(t, t.Context(), func() { time.Sleep(5 * time.Millisecond) }, "--preset", "decode", "--json", "in")
	require.Equal(t, command.ExitOK, r.status, r.stderr)
	require.Regexp(t, `^infer-prep: a pass over all 200 images takes too long: measuring the first \d+\n$`, r.stderr)
	var got struct {
		Images int `json:"images"`
	}
	require.NoError(t, json.Unmarshal([]byte(r.stdout), &got))
	require.Less(t, got.Images, 20)
}

func TestBenchInterrupted(t *testing.T) {
	t.Chdir(tree(t, map[string][]byte{"in/a.png": pngBytes(t, 5, 4, 1), "in/b.png": pngBytes(t, 5, 4, 2)}))
	for _, at := range []int32{0, 1, 3, 50} { // before, in the warm-up, in the first pass, later
		ctx, cancel := context.WithCancel(t.Context())
		var n atomic.Int32
		if at == 0 {
			cancel()
		}
		r := benchIn(t, ctx, func() {
			if n.Add(1) == at {
				cancel()
			}
		}, "--preset", "decode", "--json", "in")
		require.Equal(t, command.ExitInterrupted, r.status, "after %d images", at)
		require.Empty(t, r.stdout)
		require.Equal(t, "infer-prep: interrupted: nothing was measured\n", r.stderr)
		cancel()
	}
}

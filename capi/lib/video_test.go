//go:build cgo

package main

import (
	"fmt"
	"hash/fnv"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/codec"
	"github.com/infer-prep/infer-prep/importer/hf/video"
	"github.com/infer-prep/infer-prep/internal/short"
	"github.com/infer-prep/infer-prep/tensor"
)

// line is an output as check.c prints it.
func line(name string, x *tensor.Tensor) string {
	var b strings.Builder
	h := fnv.New64a()
	_, _ = h.Write(x.Data)
	fmt.Fprintf(&b, "%s %d %d", name, x.DType, x.Layout)
	for k := range x.Shape.Rank() {
		fmt.Fprintf(&b, " %d", x.Shape.At(k))
	}
	fmt.Fprintf(&b, " %016x\n", h.Sum64())
	return b.String()
}

// smallFrames returns the files of n frames.
func smallFrames(n int) []string {
	var l []string
	for i := range n {
		l = append(l, fmt.Sprintf(root+"importer/hf/video/testdata/small/%d.png", i))
	}
	return l
}

// videoConfig writes a file of a class.
func videoConfig(t *testing.T, class string) string {
	name := filepath.Join(t.TempDir(), class+".json")
	require.NoError(t, os.WriteFile(name, fmt.Appendf(nil, `{"video_processor_type": %q}`, class), 0o600))
	return name
}

// TestVideo compares the frames that are chosen, and the outputs of a call with
// one video and of one with two, with those of Go, for every class that needs
// no more than its name.
func TestVideo(t *testing.T) {
	frames := smallFrames(12)
	m := video.Metadata{Frames: len(frames), FPS: 24, Duration: 12.0 / 24}
	program := compile(t, "gcc", "../testdata/check.c", "-std=c99")
	step := short.Step(t, 12)
	if step == 1 && !whole() {
		t.Log("one of 4 classes: make capi-test runs all")
		step = 4
	}
	classes := video.Classes()
	equal := 0
	for i := 0; i < len(classes); i += step {
		c := classes[i]
		config := fmt.Sprintf(`{"video_processor_type": %q}`, c.Name)
		p, err := video.Import([]byte(config))
		if err != nil {
			t.Log(err)
			continue
		}
		chosen, err := p.Sampling().Indices(m)
		if err != nil {
			t.Log(err)
			continue
		}
		one, err := p.NewRunner(codec.Limits{}).Run(m, func(i int) ([]byte, error) { return os.ReadFile(frames[i]) })
		require.NoError(t, err, c.Name)
		want := strings.Trim(fmt.Sprint(chosen), "[]") + "\n"
		for n := range 2 {
			var l [][]*tensor.Tensor
			for range n + 1 { // Batch changes its tensors
				var video []*tensor.Tensor
				for _, x := range one {
					video = append(video, x.Clone())
				}
				l = append(l, video)
			}
			outputs, batch, err := p.Batch(l, codec.Limits{})
			require.NoError(t, err, c.Name)
			for k, x := range batch {
				want += line(outputs[k].Name, x)
			}
		}
		require.Equal(t, want, runProgram(t, program, append([]string{"video", videoConfig(t, c.Name), "24"}, frames...)...), c.Name)
		equal++
	}
	t.Logf("%d of %d classes equal", equal, (len(classes)+step-1)/step)
	require.Greater(t, equal, len(classes)/step*2/3)
}

// TestVideoErrors compares the errors of videos with texts, which are those of
// both forms of the library.
func TestVideoErrors(t *testing.T) {
	want, err := os.ReadFile("../testdata/videoerrors.txt")
	require.NoError(t, err)
	require.Equal(t, string(want), check(t, append([]string{"videoerrors"}, smallFrames(3)...)...))
}

// TestVideoThreads runs and closes a video processor in several threads. It is
// that of a model's folder, whose config.json names the class.
func TestVideoThreads(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "video_preprocessor_config.json"), []byte(`{"size": {"shortest_edge": 32}, "crop_size": {"height": 32, "width": 32}}`), 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "config.json"), []byte(`{"model_type": "videomae"}`), 0o600))
	check(t, append([]string{"videothreads", dir}, smallFrames(3)...)...)
}

// TestLongVideo runs a video of 24 GB, of which 64 frames are chosen: 1.5 GB.
// The library must not copy more than one of them at a time.
func TestLongVideo(t *testing.T) {
	if !whole() {
		t.Skip("make capi-test runs it")
	}
	t.Log(check(t, "longvideo", "1000", "64"))
}

// TestVideoSpeed measures a run of a video beside Go. Another program may delay
// both, so it measures until the least times agree.
func TestVideoSpeed(t *testing.T) {
	if !whole() {
		t.Skip("make capi-test measures")
	}
	const count, rounds = 2, 50
	limit := 1.25
	if translated != "" {
		limit = 10 // as of a run of a graph
	}
	data := photo(t)
	name := filepath.Join(t.TempDir(), "photo.jpg")
	require.NoError(t, os.WriteFile(name, data, 0o600))
	args := []string{"videobench", videoConfig(t, "VideoMAEVideoProcessor"), fmt.Sprint(rounds)}
	for range count {
		args = append(args, name)
	}
	program := compile(t, "gcc", "../testdata/check.c", "-std=c99", "-O2")
	p, err := video.Import([]byte(`{"video_processor_type": "VideoMAEVideoProcessor"}`))
	require.NoError(t, err)
	r := p.NewRunner(codec.Limits{})
	own, run := math.Inf(1), math.Inf(1)
	for range 20 {
		for range rounds {
			start := time.Now()
			one, err := r.Run(video.Metadata{Frames: count}, func(int) ([]byte, error) { return data, nil })
			require.NoError(t, err)
			_, _, err = p.Batch([][]*tensor.Tensor{{one[0].Clone()}}, codec.Limits{})
			require.NoError(t, err)
			own = min(own, float64(time.Since(start)))
		}
		var ns float64
		_, err := fmt.Sscan(runProgram(t, program, args...), &ns)
		require.NoError(t, err)
		run = min(run, ns)
		if run <= limit*own {
			break
		}
	}
	t.Logf("a video of %d frames of %d bytes of JPEG: ip_video_run %.2f ms, Go %.2f ms: %.2f times", count, len(data), run/1e6, own/1e6, run/own)
	require.LessOrEqual(t, run, limit*own)
}

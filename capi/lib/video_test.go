//go:build cgo

package main

import (
	"fmt"
	"hash/fnv"
	"os"
	"path/filepath"
	"strings"
	"testing"

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

// TestVideo compares the frames that are chosen, and the outputs of a call with
// one video and of one with two, with those of Go, for every class that needs
// no more than its name.
func TestVideo(t *testing.T) {
	builds(t)
	var frames []string
	for i := range 12 {
		frames = append(frames, fmt.Sprintf(root+"importer/hf/video/testdata/small/%d.png", i))
	}
	m := video.Metadata{Frames: len(frames), FPS: 24}
	program := compile(t, "gcc", "../testdata/check.c", "-std=c99")
	dir := t.TempDir()
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
		name := filepath.Join(dir, c.Name+".json")
		require.NoError(t, os.WriteFile(name, []byte(config), 0o600))
		require.Equal(t, want, runProgram(t, program, append([]string{"video", name, "24"}, frames...)...), c.Name)
		equal++
	}
	t.Logf("%d of %d classes equal", equal, (len(classes)+step-1)/step)
	require.Greater(t, equal, len(classes)/step*2/3)
}

package mobile

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"
)

// benchmark runs the graph of the environment's variable GRAPH, as bench.sh
// sets it, and else only decodes.
func benchmark(b *testing.B, set func(*Input) error) {
	graph := []byte(decodeRGB)
	if name := os.Getenv("GRAPH"); name != "" {
		var err error
		graph, err = os.ReadFile(name)
		require.NoError(b, err)
	}
	p, err := OpenGraph(graph)
	require.NoError(b, err)
	in, out := NewInput(), NewResult()
	for b.Loop() {
		require.NoError(b, set(in))
		require.NoError(b, p.RunInto(in, out))
	}
}

func BenchmarkJPEG(b *testing.B) {
	jpeg, err := os.ReadFile("../testdata/images/jpeg_large.jpg")
	require.NoError(b, err)
	benchmark(b, func(in *Input) error { return in.SetBuffer(&Buffer{jpeg}, 0, len(jpeg)) })
}

func BenchmarkYUV420(b *testing.B) {
	c := yuvCase{Layout: "NV21", Width: 640, Height: 480, Seed: 1}
	f, y, u, v := c.frame()
	benchmark(b, func(in *Input) error { return in.SetYUV420(&Buffer{y}, &Buffer{u}, &Buffer{v}, f) })
}

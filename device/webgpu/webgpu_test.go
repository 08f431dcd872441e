package webgpu

import (
	"context"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/codec"
	_ "github.com/infer-prep/infer-prep/codec/all"
	"github.com/infer-prep/infer-prep/datagraph"
	"github.com/infer-prep/infer-prep/device"
	"github.com/infer-prep/infer-prep/preset"
	"github.com/infer-prep/infer-prep/tensor"
)

func TestThin(t *testing.T) {
	d, err := device.Open("webgpu,software=true")
	require.NoError(t, err)
	defer d.Close()
	g, err := preset.Graph("imagenet")
	require.NoError(t, err)
	p, err := datagraph.Compile(g, codec.DefaultLimits())
	require.NoError(t, err)
	b, err := os.ReadFile("../../testdata/images/jpeg_large.jpg")
	require.NoError(t, err)
	s, err := d.Open(p, device.Options{Least: device.Exact})
	require.NoError(t, err)
	for _, x := range s.Placement() {
		t.Logf("%+v", x)
	}
	want, err := p.NewRunner().Run(tensor.FromBytes(b))
	require.NoError(t, err)
	for range 3 {
		got, err := s.Preprocess(context.Background(), tensor.FromBytes(b))
		require.NoError(t, err)
		require.Equal(t, want[0].Desc, got[0].Desc)
		require.True(t, string(want[0].Data) == string(got[0].Data))
	}
	require.NoError(t, s.Close())
}

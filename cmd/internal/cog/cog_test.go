package cog_test

import (
	"bytes"
	"context"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/cmd/internal/cog"
	"github.com/infer-prep/infer-prep/tensor"
)

func TestX(t *testing.T) {
	m := cog.Image{Width: 1300, Height: 700, Bands: 1, DType: tensor.Uint8}
	var b bytes.Buffer
	require.NoError(t, m.Write(context.Background(), &b, func(x, y int, dst []byte) error {
		for i := range dst {
			dst[i] = byte(i*i) ^ byte(i>>8)
		}
		return nil
	}))
	os.WriteFile("/tmp/st/x.tif", b.Bytes(), 0o666)
}

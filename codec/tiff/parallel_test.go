package tiff_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/codec"
	_ "github.com/infer-prep/infer-prep/codec/all"
	"github.com/infer-prep/infer-prep/internal/short"
)

// rowsOf collects the rows of a region.
type rowsOf struct{ pix []byte }

func (r *rowsOf) Rows(_, _ int, pix []byte) { r.pix = append(r.pix, pix...) }

// TestSeveralGoroutines: several goroutines give the pixels and the errors of
// one, for whole images and regions, of whole files and damaged ones.
func TestSeveralGoroutines(t *testing.T) {
	var files []string
	for _, folder := range []string{"testdata", "../../testdata/images", "../../testdata/damaged"} {
		l, err := filepath.Glob(filepath.Join(folder, "*.tif"))
		require.NoError(t, err)
		files = append(files, l...)
	}
	require.Greater(t, len(files), 100)
	r := rand.New(rand.NewPCG(1, 2))
	var one, several codec.Decoder
	decode := func(d *codec.Decoder, data []byte, workers int, g *codec.Region) ([]byte, error) {
		i, err := d.Open(data, &codec.Options{Workers: workers, Limits: codec.Limits{Bytes: 64 << 20, Pixels: 1 << 20}})
		if err != nil {
			return nil, err
		}
		info := i.Info()
		if *g == (codec.Region{}) {
			g.Left, g.Top = r.IntN(info.OutWidth), r.IntN(info.OutHeight)
			g.Width, g.Height = 1+r.IntN(info.OutWidth-g.Left), 1+r.IntN(info.OutHeight-g.Top)
		}
		whole := make([]byte, info.Size())
		if err := i.Decode(whole); err != nil {
			return nil, err
		}
		rows := &rowsOf{}
		if err := i.DecodeRows(rows, *g); err != nil {
			return nil, fmt.Errorf("rows: %w", err)
		}
		return append(whole, rows.pix...), nil
	}
	accepted, refused := 0, 0
	for _, f := range files {
		whole, err := os.ReadFile(f)
		require.NoError(t, err)
		if len(whole) > 1<<19 {
			continue
		}
		for k := range short.Rounds(t, 4, 2) {
			data := bytes.Clone(whole)
			for range k {
				data[r.IntN(len(data))] ^= 1 << r.IntN(8)
			}
			var g codec.Region
			want, wantErr := decode(&one, data, 1, &g)
			got, err := decode(&several, data, 2+k, &g)
			require.Equal(t, fmt.Sprint(wantErr), fmt.Sprint(err), f)
			require.True(t, bytes.Equal(want, got), "%s: %v", f, g)
			if err == nil {
				accepted++
			} else {
				refused++
			}
		}
	}
	require.Greater(t, accepted, len(files))
	require.Greater(t, refused, len(files)/4)
}

package jpegli_test

import (
	"context"
	"hash/crc32"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/codec"
	_ "github.com/infer-prep/infer-prep/codec/all"
	"github.com/infer-prep/infer-prep/codec/jpegli"
	"github.com/infer-prep/infer-prep/pack"
	"github.com/infer-prep/infer-prep/recordio"
	"github.com/infer-prep/infer-prep/recordio/imagerecord"
	"github.com/infer-prep/infer-prep/store"
)

// photos are images of testdata as items of RecordIO.
func photos(t *testing.T, o pack.ImageOptions) *pack.RecordIO {
	p := &pack.RecordIO{Root: filepath.Join("..", "..", "testdata", "images"), Image: o, Workers: 2}
	var items []imagerecord.Item
	for i, name := range []string{"jpeg_base_420.jpg", "png_gray8.png", "png_rgba8.png", "webp_lossy_64x48.webp", "gif_8bit.gif"} {
		item := imagerecord.Item{Index: uint64(3 * i), Labels: []float32{float32(i % 7)}, Path: name}
		if i%4 == 0 {
			item.Labels = []float32{float32(i) / 2, -1.5, 3.25}
		}
		items = append(items, item)
	}
	p.Outputs = []pack.RecordIOOutput{{Name: filepath.Join(t.TempDir(), "x"), Items: items}}
	return p
}

// TestPack packs photographs, the same bytes on every platform.
func TestPack(t *testing.T) {
	for _, c := range []struct {
		o      pack.ImageOptions
		digest uint32
	}{
		{pack.ImageOptions{Encoder: "jpegli", Resize: 40}, 0xf8681a5},
		{pack.ImageOptions{Encoder: "jpegli", Resize: 30, CenterCrop: true, Quality: 80, Color: pack.Gray}, 0x9fd03ab1},
		{pack.ImageOptions{Encoder: "jpegli", Quality: 50, Chroma: codec.Chroma444, Color: pack.Unchanged}, 0x730b4fa1},
	} {
		p := photos(t, c.o)
		_, err := p.Run(t.Context())
		require.NoError(t, err)
		b, err := os.ReadFile(p.Outputs[0].Name + ".rec")
		require.NoError(t, err)
		require.Equal(t, c.digest, crc32.ChecksumIEEE(b))
		r := recordio.NewBytes(b, recordio.Options{})
		for i := range 5 {
			record, err := r.Next()
			require.NoError(t, err)
			var x imagerecord.Record
			require.NoError(t, x.Parse(record))
			info, err := codec.DecodeConfig(x.Content, nil)
			require.NoError(t, err)
			require.Equal(t, "jpeg", info.Format)
			if c.o.Resize > 0 {
				require.Equal(t, c.o.Resize, min(info.Width, info.Height))
			}
			want := map[pack.Color]codec.Mode{pack.RGB: codec.RGB, pack.Gray: codec.L}[c.o.Color]
			if c.o.Color == pack.Unchanged {
				if want = codec.RGB; i == 1 {
					want = codec.L
				}
			}
			require.Equal(t, want, info.Mode, i)
		}
	}
}

// TestPackRefused checks chroma that jpegli cannot write, and the journal of a
// pack with another encoder.
func TestPackRefused(t *testing.T) {
	for _, c := range []codec.Chroma{codec.Chroma440, codec.Chroma411} {
		_, err := photos(t, pack.ImageOptions{Encoder: "jpegli", Chroma: c}).Run(t.Context())
		require.ErrorContains(t, err, "chroma "+c.String()+": want one of [420 422 444] for jpegli")
	}
	p := photos(t, pack.ImageOptions{Resize: 8})
	p.Journal = filepath.Join(t.TempDir(), "journal")
	ctx, cancel := context.WithCancel(t.Context())
	p.Progress = func(done, _ int) { cancel() }
	p.Workers = 1
	_, err := p.Run(ctx)
	require.ErrorIs(t, err, context.Canceled)
	p.Progress = nil
	p.Image.Encoder = "jpegli"
	_, err = p.Run(t.Context())
	require.ErrorIs(t, err, pack.ErrOther)
}

// TestPlan: a plan names the encoder with its version, which has to be that of
// the program that packs.
func TestPlan(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, "plan.json")
	in := pack.PlanInput{Kind: pack.InputClasses, Name: filepath.Join("..", "..", "testdata", "datasets", "imagefolder", "flat")}
	_, err := pack.WritePlan(t.Context(), store.Local, name, &pack.Plan{Image: pack.ImageOptions{Encoder: "jpegli"}}, in, pack.PlanWrite{})
	require.NoError(t, err)
	b, err := os.ReadFile(name)
	require.NoError(t, err)
	require.Contains(t, string(b), jpegli.Version)
	p, err := pack.ReadPlan(t.Context(), store.Local, name, pack.PlanRead{})
	require.NoError(t, err)
	require.Equal(t, "jpegli", p.Image.Encoder)
	_, err = (&pack.PlanPart{Plan: p, Out: dir}).Run(t.Context())
	require.NoError(t, err)
	require.NoError(t, p.Close())

	require.NoError(t, os.WriteFile(name, []byte(strings.ReplaceAll(string(b), "v0.4.2", "v0.4.1")), 0o666))
	_, err = pack.ReadPlan(t.Context(), store.Local, name, pack.PlanRead{})
	require.ErrorIs(t, err, pack.ErrEncoder)
	require.ErrorContains(t, err, "want one of turbo, "+jpegli.Version)
}

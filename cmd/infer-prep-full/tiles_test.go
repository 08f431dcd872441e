package main

import (
	"bytes"
	"context"
	"encoding/binary"
	"io"
	"math/rand/v2"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/dataset"
	"github.com/infer-prep/infer-prep/dataset/tiles"
	"github.com/infer-prep/infer-prep/pullpipe"
	"github.com/infer-prep/infer-prep/store"
	"github.com/infer-prep/infer-prep/store/remote"
	"github.com/infer-prep/infer-prep/store/s3"
	"github.com/infer-prep/infer-prep/store/s3/s3test"
)

// counted is a service that counts the bytes of objects from an offset on.
type counted struct {
	remote.Backend
	from  int64
	bytes atomic.Int64
}

func (c *counted) Get(ctx context.Context, name string, off, n int64, version string) (*remote.Object, error) {
	o, err := c.Backend.Get(ctx, name, off, n, version)
	if err == nil && off >= c.from {
		o.Body = &countedBody{o.Body, &c.bytes}
	}
	return o, err
}

type countedBody struct {
	io.ReadCloser
	n *atomic.Int64
}

func (b *countedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	b.n.Add(int64(n))
	return n, err
}

// TestTiles reads windows of a sparse scene of 60,000 x 60,000 pixels in S3: no
// bytes but those of their tiles.
func TestTiles(t *testing.T) {
	const (
		side, tile, across = 60_000, 256, 235
		bytesOf            = tile * tile
		present            = 100
		apart              = 8 * bytesOf // so that none seems to be read in order
		head               = 1 << 20     // a multiple of the store's blocks of 64 KiB
	)
	srv := s3test.Start(t)
	srv.Setenv(t)
	le := binary.LittleEndian
	b := le.AppendUint64([]byte("II+\x00\x08\x00\x00\x00"), 16)
	entries := []struct{ tag, typ, n, v uint64 }{
		{256, 4, 1, side}, {257, 4, 1, side}, {258, 3, 1, 8}, {259, 3, 1, 1}, {262, 3, 1, 1}, {277, 3, 1, 1}, {322, 4, 1, tile}, {323, 4, 1, tile},
		{324, 16, across * across, 512}, {325, 4, across * across, 512 + 8*across*across},
	}
	b = le.AppendUint64(b, uint64(len(entries)))
	for _, e := range entries {
		b = le.AppendUint64(le.AppendUint64(le.AppendUint16(le.AppendUint16(b, uint16(e.tag)), uint16(e.typ)), e.n), e.v)
	}
	b = append(b, make([]byte, head+present*apart-len(b))...)
	r := rand.New(rand.NewPCG(1, 2))
	pixels := map[int][]byte{}
	for k := range present {
		n := r.IntN(across * (across - 1))
		for pixels[n] != nil || n%across == across-1 { // those at the edge are padded
			n = r.IntN(across * (across - 1))
		}
		at := head + k*apart
		pixels[n] = b[at:][:bytesOf]
		for i := range pixels[n] {
			pixels[n][i] = byte(r.Uint32())
		}
		le.PutUint64(b[512+8*n:], uint64(at))
		le.PutUint32(b[512+8*across*across+4*n:], bytesOf)
	}
	service, err := s3.New(s3.Options{})
	require.NoError(t, err)
	c := &counted{Backend: service, from: head + 8*apart} // the store may read ahead of the tables
	s := remote.New(c, remote.Options{})
	name := "s3://" + srv.Bucket + "/scene.tif"
	require.NoError(t, store.WriteFile(t.Context(), s, name, b))

	src := tiles.New(name)
	src.Size, src.Skip = tile, "missing"
	d, err := dataset.Build(t.Context(), dataset.From(src).Shuffle(), dataset.Options{Store: s, Seed: 1})
	require.NoError(t, err)
	defer func() { require.NoError(t, d.Close()) }()
	require.EqualValues(t, present, d.Len())
	run, err := pullpipe.New(d, nil)
	require.NoError(t, err)
	defer func() { require.NoError(t, run.Close()) }()
	c.bytes.Store(0)
	want := int64(0)
	for range 60 {
		x, err := run.Next(t.Context())
		require.NoError(t, err)
		place := strings.Split(strings.TrimPrefix(x.Key, name), ":")
		top, err := strconv.Atoi(place[1])
		require.NoError(t, err)
		left, err := strconv.Atoi(place[2])
		require.NoError(t, err)
		n := top/tile*across + left/tile
		require.True(t, bytes.Equal(pixels[n], x.Column("image").Data), x.Key)
		if int64(le.Uint64(b[512+8*n:])) >= c.from {
			want += bytesOf
		}
	}
	t.Logf("%d bytes of tiles, %d bytes read", want, c.bytes.Load())
	require.Equal(t, want, c.bytes.Load())
}

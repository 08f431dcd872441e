package distributed

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"os"
	"path/filepath"
	"testing"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/stretchr/testify/require"

	_ "github.com/apache/beam/sdks/v2/go/pkg/beam/runners/prism"

	_ "github.com/infer-prep/infer-prep/codec/all"
	"github.com/infer-prep/infer-prep/importer/preset"
	"github.com/infer-prep/infer-prep/pack"
	"github.com/infer-prep/infer-prep/pack/distributed/internal/isolated"
	"github.com/infer-prep/infer-prep/store"
)

func TestMain(m *testing.M) {
	beam.Init()
	isolated.Main(m)
}

// images makes a folder of two classes with n small images, of which one is
// damaged and one is empty.
func images(t testing.TB, n int) string {
	dir := t.TempDir()
	for i := range n {
		m := image.NewRGBA(image.Rect(0, 0, 8+i%7, 8+i%5))
		for k := range m.Pix {
			m.Pix[k] = uint8(k*(i+3) + i)
		}
		m.Set(0, 0, color.White)
		var b bytes.Buffer
		require.NoError(t, png.Encode(&b, m))
		switch i {
		case 3:
			b.Truncate(b.Len() / 2)
		case 4:
			b.Reset()
		}
		name := filepath.Join(dir, fmt.Sprintf("class%d", i%2), fmt.Sprintf("image%03d.png", i))
		require.NoError(t, os.MkdirAll(filepath.Dir(name), 0o777))
		require.NoError(t, os.WriteFile(name, b.Bytes(), 0o666))
	}
	return dir
}

// plan writes a plan of the images and returns its name.
func plan(t testing.TB, p *pack.Plan, in pack.PlanInput) string {
	name := filepath.Join(t.TempDir(), "plan.json")
	_, err := pack.WritePlan(t.Context(), store.URI, name, p, in, pack.PlanWrite{})
	require.NoError(t, err)
	return name
}

// whole packs a plan in this process, without Beam.
func whole(t testing.TB, name string) map[string]string {
	p, err := pack.ReadPlan(t.Context(), store.URI, name, pack.PlanRead{})
	require.NoError(t, err)
	defer func() { require.NoError(t, p.Close()) }()
	out := filepath.Join(t.TempDir(), "whole")
	_, err = (&pack.PlanPart{Plan: p, Out: out, OnError: pack.SkipOnError}).Run(t.Context())
	require.NoError(t, err)
	_, err = p.Finish(t.Context(), out, pack.PlanFinish{})
	require.NoError(t, err)
	return folder(t, out)
}

// folder returns the content of the files of a folder, by name.
func folder(t testing.TB, dir string) map[string]string {
	all := map[string]string{}
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	for _, e := range entries {
		b, err := os.ReadFile(filepath.Join(dir, e.Name()))
		require.NoError(t, err)
		all[e.Name()] = string(b)
	}
	return all
}

// run runs a pipeline on prism.
func run(t testing.TB, o Options) (*pack.PlanReport, error) {
	isolated.Require(t)
	p, s := beam.NewPipelineWithRoot()
	if err := Pack(t.Context(), s, o); err != nil {
		return nil, err
	}
	result, err := beam.Run(t.Context(), "prism", p)
	if err != nil {
		return nil, err
	}
	return Report(result), nil
}

func TestPack(t *testing.T) {
	const n = 60
	in := pack.PlanInput{Kind: pack.InputClasses, Name: images(t, n)}
	seed := uint64(7)
	g, err := preset.Graph("imagenet")
	require.NoError(t, err)
	for name, p := range map[string]*pack.Plan{
		"images into RecordIO":     {Output: pack.PlanRecordIO, Shards: 7, Seed: &seed, Image: pack.ImageOptions{Resize: 6}},
		"images into tar":          {Output: pack.PlanShards, Shards: 3, Image: pack.ImageOptions{Encoding: pack.PNG}},
		"unchanged files into tar": {Output: pack.PlanShards, Shards: 5, Seed: &seed, Image: pack.ImageOptions{Encoding: pack.PassThrough}},
		"tensors":                  {Output: pack.PlanShards, Shards: 4, Seed: &seed, Graph: g},
	} {
		t.Run(name, func(t *testing.T) {
			f := plan(t, p, in)
			out := filepath.Join(t.TempDir(), "packed")
			r, err := run(t, Options{Plan: f, Out: out, OnError: pack.SkipOnError})
			require.NoError(t, err)
			want := whole(t, f)
			require.Equal(t, want, folder(t, out))
			require.NotNil(t, r)
			require.Equal(t, p.Shards, r.Shards)
			require.EqualValues(t, n, r.Entries)
			if p.Image.Encoding == pack.PassThrough {
				require.EqualValues(t, 0, r.BadRecords())
			} else {
				require.Equal(t, map[string]int64{pack.BadImage: 2}, r.Bad)
			}

			// A shard that is missing is made again, and the others are not.
			require.NoError(t, os.Remove(filepath.Join(out, "data-00001.json")))
			kept, err := os.Stat(filepath.Join(out, "data-00002.json"))
			require.NoError(t, err)
			r, err = run(t, Options{Plan: f, Out: out, OnError: pack.SkipOnError})
			require.NoError(t, err)
			require.Equal(t, want, folder(t, out))
			require.Equal(t, p.Shards-1, r.Resumed)
			now, err := os.Stat(filepath.Join(out, "data-00002.json"))
			require.NoError(t, err)
			require.True(t, os.SameFile(kept, now))

			// Nothing is left to do.
			r, err = run(t, Options{Plan: f, Out: out, OnError: pack.SkipOnError, Verify: true})
			require.NoError(t, err)
			require.Equal(t, p.Shards, r.Resumed)
		})
	}
}

func TestPackErrors(t *testing.T) {
	dir := images(t, 12)
	f := plan(t, &pack.Plan{Shards: 2}, pack.PlanInput{Kind: pack.InputImages, Name: dir})
	out := filepath.Join(t.TempDir(), "packed")
	_, err := run(t, Options{Plan: f, Out: out})
	require.ErrorContains(t, err, "codec: invalid format") // of either bad image

	_, err = run(t, Options{Plan: f})
	require.ErrorContains(t, err, "want both")
	_, err = run(t, Options{Plan: f + "x", Out: out})
	require.ErrorIs(t, err, os.ErrNotExist)

	// Shards of another plan are replaced by Force only.
	_, err = run(t, Options{Plan: f, Out: out, OnError: pack.SkipOnError})
	require.NoError(t, err)
	other := plan(t, &pack.Plan{Shards: 2, Image: pack.ImageOptions{Quality: 50}}, pack.PlanInput{Kind: pack.InputImages, Name: dir})
	_, err = run(t, Options{Plan: other, Out: out, OnError: pack.SkipOnError})
	require.ErrorContains(t, err, pack.ErrOther.Error())
	_, err = run(t, Options{Plan: other, Out: out, OnError: pack.SkipOnError, Force: true})
	require.NoError(t, err)
	require.Equal(t, whole(t, other), folder(t, out))
}

// A worker that reads another plan than the pipeline was built for must not
// write it.
func TestChangedPlan(t *testing.T) {
	dir := images(t, 12)
	f := plan(t, &pack.Plan{Shards: 2}, pack.PlanInput{Kind: pack.InputImages, Name: dir})
	j := job{Options: Options{Plan: f}}
	p, err := j.read(t.Context())
	require.NoError(t, err)
	j.Digest = p.Digest
	require.NoError(t, p.Close())
	_, err = pack.WritePlan(t.Context(), store.URI, f, &pack.Plan{Shards: 3}, pack.PlanInput{Kind: pack.InputImages, Name: dir}, pack.PlanWrite{Force: true})
	require.NoError(t, err)
	_, err = j.read(t.Context())
	require.ErrorIs(t, err, pack.ErrPlan)
}

func TestCoders(t *testing.T) {
	for _, e := range []pack.Entry{
		{Files: []pack.EntryFile{{Path: "a"}}},
		{Shard: 3, Position: 1 << 40, Number: 1<<64 - 1, Labels: []float32{1.5, -2}, Files: []pack.EntryFile{{Path: "a/\xff.jpg", Size: -1}, {Path: "b", Size: 1 << 50, Modified: -5, Version: 1 << 63}}},
	} {
		b, err := encodeEntry(e)
		require.NoError(t, err)
		got, err := decodeEntry(b)
		require.NoError(t, err)
		require.Equal(t, e, got)
		for i := range b {
			_, err := decodeEntry(b[:i])
			require.ErrorIs(t, err, errCoder)
		}
		_, err = decodeEntry(append(b, 0))
		require.ErrorIs(t, err, errCoder)
	}
	for _, r := range []pack.Record{
		{Position: 5, Path: "a", Data: []byte("data")},
		{Shard: 9, Position: 1 << 40, Path: "\xff", Bad: pack.BadImage, Why: "why"},
	} {
		got, err := decodeRecord(encodeRecord(r))
		require.NoError(t, err)
		require.Equal(t, r, got)
	}
	_, err := decodeRecord([]byte{1, 2, 200, 1})
	require.ErrorIs(t, err, errCoder)
}

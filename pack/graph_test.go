package pack

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/codec"
	"github.com/infer-prep/infer-prep/datagraph"
	"github.com/infer-prep/infer-prep/records/kaldi"
	"github.com/infer-prep/infer-prep/records/webdataset"
	_ "github.com/infer-prep/infer-prep/sound/all"
	"github.com/infer-prep/infer-prep/store"
	"github.com/infer-prep/infer-prep/tensor"
	"github.com/infer-prep/infer-prep/transforms"
)

// waveFile returns a WAV file of 16 kHz.
func waveFile(t testing.TB, samples, channels int) []byte {
	var b bytes.Buffer
	require.NoError(t, kaldi.NewWriter(&b, kaldi.WriterOptions{}).WriteWave("x", countingWave(t, samples, channels), 16000))
	return b.Bytes()[2:]
}

// flacFile returns a FLAC file and what it has.
func flacFile(t testing.TB) (file []byte, rate, samples int) {
	b, err := os.ReadFile("../sound/flac/testdata/cases.json")
	require.NoError(t, err)
	var l []struct {
		File              []byte
		Rate, Samples     int
		Channels          int
		Error, Name, Path string
	}
	require.NoError(t, json.Unmarshal(b, &l))
	for _, c := range l {
		if c.Error == "" && c.Samples > 1000 && c.Channels == 1 {
			return c.File, c.Rate, c.Samples
		}
	}
	t.Fatal("no file")
	return nil, 0, 0
}

// features is a graph of sounds: frames of 201 amplitudes, 160 samples apart.
func features(rate int) *datagraph.Graph {
	s := transforms.NewSpectrogram(400, 160)
	s.FramesFirst = true
	return datagraph.New(transforms.NewDecodeSound(rate), transforms.NewMixMono(), s).Rename("feats")
}

// soundScript writes a script of waves with so many samples, and texts.
func soundScript(t testing.TB, more string, samples ...int) KaldiOptions {
	dir := t.TempDir()
	scp, text := "", ""
	for i, n := range samples {
		name := filepath.Join(dir, fmt.Sprintf("u%d.wav", i))
		require.NoError(t, os.WriteFile(name, waveFile(t, n, 1), 0o666))
		scp += fmt.Sprintf("u%d %s\n", i, name)
		text += fmt.Sprintf("u%d word %d\n", i, i)
	}
	file := func(name, s string) string {
		name = filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(name, []byte(s), 0o666))
		return name
	}
	return KaldiOptions{Scripts: []KaldiFile{{"wav", file("wav.scp", scp+more)}}, Labels: []KaldiFile{{"txt", file("text", text)}}}
}

// shapeOf returns the shape of an array of a sample.
func shapeOf(t testing.TB, s *webdataset.Sample, field string) tensor.Shape {
	b, ok := s.Get(field)
	require.True(t, ok, "%v", s)
	a, err := tensor.ReadNPY(bytes.NewReader(b), 1<<20)
	require.NoError(t, err)
	return a.Shape
}

func TestTransform(t *testing.T) {
	o := soundScript(t, "", 1600, 3200, 4800)
	s, err := KaldiSamples(t.Context(), o)
	require.NoError(t, err)
	digest := s.digest
	s, err = s.Transform(features(16000), codec.DefaultLimits())
	require.NoError(t, err)
	defer s.Close()
	require.NotEqual(t, digest, s.digest)
	for i, frames := range []int{11, 21, 31} {
		x, err := s.Sample(t.Context(), i)
		require.NoError(t, err)
		require.Len(t, x.Fields, 2)
		require.Equal(t, tensor.Dims(frames, 201), shapeOf(t, x, "feats.npy"))
		n, err := s.length(t.Context(), i)
		require.NoError(t, err)
		require.Equal(t, float64(frames), n)
	}
	dir := t.TempDir()
	r, err := (&Shards{Samples: s, Dir: dir, Groups: []Group{{1, 15}, {15, 25}}}).Run(t.Context())
	require.NoError(t, err)
	require.Len(t, r.Shards, 2)
	require.Equal(t, []string{"u2 (31)"}, r.Outside)

	// Lengths from a file win.
	o.Lengths = filepath.Join(t.TempDir(), "lengths")
	require.NoError(t, os.WriteFile(o.Lengths, []byte("u0 7\nu1 8\nu2 9\n"), 0o666))
	s, err = KaldiSamples(t.Context(), o)
	require.NoError(t, err)
	s, err = s.Transform(features(16000), codec.DefaultLimits())
	require.NoError(t, err)
	n, err := s.length(t.Context(), 1)
	require.NoError(t, err)
	require.Equal(t, 8.0, n)
	require.NoError(t, s.Close())
}

// TestTransformFLAC packs a FLAC file, which no Kaldi reads, with and without a
// graph.
func TestTransformFLAC(t *testing.T) {
	file, rate, samples := flacFile(t)
	name := filepath.Join(t.TempDir(), "a.flac")
	require.NoError(t, os.WriteFile(name, file, 0o666))
	o := soundScript(t, "f "+name+"\n")
	o.Labels = nil
	s, err := KaldiSamples(t.Context(), o)
	require.NoError(t, err)
	n, err := s.length(t.Context(), 0)
	require.NoError(t, err)
	require.Equal(t, float64(samples), n)
	x, err := s.Sample(t.Context(), 0)
	require.NoError(t, err)
	require.Equal(t, file, x.Fields[0].Data)
	s, err = s.Transform(features(rate), codec.DefaultLimits())
	require.NoError(t, err)
	x, err = s.Sample(t.Context(), 0)
	require.NoError(t, err)
	require.Equal(t, tensor.Dims(1+samples/160, 201), shapeOf(t, x, "feats.npy"))
	require.NoError(t, s.Close())
}

func TestTransformFolder(t *testing.T) {
	dir := t.TempDir()
	for name, b := range map[string][]byte{
		"a.wav": waveFile(t, 1600, 1), "a.txt": []byte("one"), "b.wav": waveFile(t, 1600, 1), "b.flac": waveFile(t, 1600, 1),
		"c.txt": []byte("three"), "d.wav": waveFile(t, 1600, 1)[:30], "e.wav": waveFile(t, 1600, 1), "e.feats.npy": []byte("x"),
	} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), b, 0o666))
	}
	folder := func() *Samples {
		s, err := FolderSamples(t.Context(), store.Local, dir, "")
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, s.Close()) })
		return s
	}
	s, err := folder().Transform(features(16000), codec.DefaultLimits())
	require.NoError(t, err)
	x, err := s.Sample(t.Context(), 0)
	require.NoError(t, err)
	require.Equal(t, []string{"txt", "feats.npy"}, []string{x.Fields[0].Ext, x.Fields[1].Ext})
	for i, want := range []string{
		"", `"b", field wav: the graph decodes it, and field flac too`, `"c": the graph decodes none of its fields (txt)`,
		`"d", field wav: datagraph: step 0 (decode_sound): wav: offset 20`, `"e", field feats.npy: the sample has the field`,
	} {
		if want == "" {
			continue
		}
		_, err := s.Sample(t.Context(), i)
		require.ErrorIs(t, err, ErrSample)
		require.ErrorContains(t, err, want)
	}
	_, err = s.length(t.Context(), 3)
	require.ErrorContains(t, err, `"d", field wav: `)

	limits := codec.DefaultLimits()
	limits.Bytes = 1000
	s, err = folder().Transform(features(16000), limits)
	require.NoError(t, err)
	_, err = s.Sample(t.Context(), 0)
	require.ErrorIs(t, err, codec.ErrBytes)

	for want, g := range map[string]*datagraph.Graph{
		"random ops": datagraph.New(&transforms.Decode{}, transforms.NewRandomHorizontalFlip()),
		"want one encoded image": {
			Inputs: []datagraph.Column{{Name: "image", Desc: tensor.Image(tensor.Uint8, tensor.HWC, 4, 4, 3)}}, Outputs: []string{"image"},
		},
	} {
		_, err := folder().Transform(g, codec.DefaultLimits())
		require.ErrorContains(t, err, want)
	}
	// A fixed size gives no lengths.
	fixed, err := folder().Transform(datagraph.New(&transforms.Decode{}, transforms.NewCenterCrop(4, 4)), codec.DefaultLimits())
	require.NoError(t, err)
	require.ErrorContains(t, (&Shards{Samples: fixed, Dir: "x", Groups: []Group{{1, 2}}}).Validate(), "length groups of samples without lengths")
}

// TestPlanSounds plans a folder of sounds without naming extensions.
func TestPlanSounds(t *testing.T) {
	dir := t.TempDir()
	for name, b := range map[string][]byte{"a.wav": waveFile(t, 1600, 1), "b.mp3": []byte("ID3"), "c.jpg": planPhoto(t, 1)} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), b, 0o666))
	}
	p := writePlan(t, &Plan{Output: PlanShards, Graph: features(16000)}, PlanInput{Name: dir})
	r, err := (&PlanPart{Plan: p, Out: t.TempDir(), OnError: SkipOnError}).Run(t.Context())
	require.NoError(t, err)
	require.Equal(t, int64(1), r.Records)
	require.Equal(t, int64(1), r.BadRecords())
}

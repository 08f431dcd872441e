package video_test

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/codec"
	"github.com/infer-prep/infer-prep/importer"
	"github.com/infer-prep/infer-prep/importer/hf/video"
	"github.com/infer-prep/infer-prep/tensor"
)

var casesFile = flag.String("cases", "", "a file of testdata/gen/importers/hf_video_sampling.py N to compare with, too")

// samplingCase is a line of the golden: the class, its settings, the metadata,
// and the frames, or their number and digest, or an exception.
type samplingCase struct {
	class         string
	config        map[string]any
	n             int
	fps, duration *float64
	frames        []int
	count         int
	digest, fails string
}

func parseCase(t *testing.T, line []byte) (c samplingCase) {
	var l []json.RawMessage
	require.NoError(t, json.Unmarshal(line, &l))
	require.GreaterOrEqual(t, len(l), 6)
	targets := []any{&c.class, &c.config, &c.n, &c.fps, &c.duration}
	switch {
	case len(l) == 7:
		targets = append(targets, &c.count, &c.digest)
	case l[5][0] == '"':
		targets = append(targets, &c.fails)
	default:
		targets = append(targets, &c.frames)
	}
	for i, p := range targets {
		d := json.NewDecoder(bytes.NewReader(l[i]))
		d.UseNumber()
		require.NoError(t, d.Decode(p))
	}
	return c
}

// sample returns the frames that the package chooses.
func (c samplingCase) sample() ([]int, error) {
	settings := map[string]any{"video_processor_type": c.class, "do_sample_frames": true}
	for k, v := range c.config {
		settings[k] = v
	}
	data, err := json.Marshal(settings)
	if err != nil {
		return nil, err
	}
	s, err := video.ImportSampling(data)
	if slices.Contains(video.Samplers(), c.class) {
		if data, err = json.Marshal(c.config); err == nil {
			s, err = video.NewSampling(c.class, data)
		}
	}
	if err != nil {
		return nil, err
	}
	m := video.Metadata{Frames: c.n}
	if c.fps != nil {
		m.FPS = *c.fps
	}
	if c.duration != nil {
		m.Duration = *c.duration
	}
	return s.Indices(m)
}

// compare returns a difference to the reference, or "".
func (c samplingCase) compare() string {
	got, err := c.sample()
	if c.fails != "" || c.frames != nil && len(c.frames) == 0 {
		if err == nil {
			return fmt.Sprintf("%v in place of %s", got, c.fails)
		}
		return ""
	}
	if err != nil {
		return err.Error()
	}
	var b []byte
	for _, i := range got {
		b = binary.LittleEndian.AppendUint64(b, uint64(i))
	}
	sum := sha256.Sum256(b)
	if c.digest != "" {
		if len(got) != c.count || hex.EncodeToString(sum[:8]) != c.digest {
			return fmt.Sprintf("%d frames %v, want %d, digest %s", len(got), got, c.count, c.digest)
		}
		return ""
	}
	if fmt.Sprint(got) != fmt.Sprint(c.frames) {
		return fmt.Sprintf("%v, want %v", got, c.frames)
	}
	return ""
}

func TestSampling(t *testing.T) {
	data, err := os.ReadFile("testdata/sampling.json")
	require.NoError(t, err)
	compareCases(t, data, true)
	if *casesFile != "" {
		data, err := os.ReadFile(*casesFile)
		require.NoError(t, err)
		compareCases(t, data, false)
	}
}

func compareCases(t *testing.T, data []byte, all bool) {
	chosen, failed, differ := map[string]int{}, map[string]int{}, 0
	lines := bufio.NewScanner(bytes.NewReader(data))
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		line := bytes.TrimSuffix(lines.Bytes(), []byte(","))
		if len(line) < 2 {
			continue
		}
		c := parseCase(t, line)
		if c.fails == "" {
			chosen[c.class]++
		} else {
			failed[c.class]++
		}
		if d := c.compare(); d != "" {
			if differ++; differ < 30 {
				t.Errorf("%s: %s", line, d)
			}
		}
	}
	require.NoError(t, lines.Err())
	require.Zero(t, differ)
	total, errs := 0, 0
	for _, c := range video.Classes() {
		total += chosen[c.Name]
		errs += failed[c.Name]
		require.Greater(t, chosen[c.Name], 10, c.Name)
	}
	require.Len(t, chosen, len(video.Classes()), "a class of the reference is unknown, or the reverse")
	if all {
		require.Equal(t, 3400, total+errs)
	}
	t.Logf("%d choices and %d errors are equal to the reference's", total, errs)
}

func TestSamplingErrors(t *testing.T) {
	for _, c := range []struct {
		config string
		m      video.Metadata
		kind   error
		text   string
	}{
		{`{"video_processor_type": "Glm4vVideoProcessor"}`, video.Metadata{Frames: 9}, video.ErrMetadata, "fps is unknown"},
		{`{"video_processor_type": "MiniCPMV4_6VideoProcessor"}`, video.Metadata{Frames: 9, FPS: 1}, video.ErrMetadata, "duration is unknown"},
		{`{"video_processor_type": "VideoMAEVideoProcessor"}`, video.Metadata{}, video.ErrMetadata, "total_num_frames 0, want 1 to 1048576"},
		{`{"video_processor_type": "VideoMAEVideoProcessor"}`, video.Metadata{Frames: 1, FPS: -1}, video.ErrMetadata, "fps -1"},
		{`{"video_processor_type": "VideoMAEVideoProcessor", "do_sample_frames": true, "num_frames": 8}`, video.Metadata{Frames: 7}, video.ErrSample, "8 frames of 7"},
	} {
		s, err := video.ImportSampling([]byte(c.config))
		require.NoError(t, err)
		_, err = s.Indices(c.m)
		require.ErrorIs(t, err, c.kind)
		require.ErrorContains(t, err, c.text)
	}
	_, err := video.ImportSampling([]byte(`{"video_processor_type": "Qwen3VLVideoProcessor", "num_frames": 2, "do_sample_frames": false}`))
	require.NoError(t, err, "no sampling reads it")
	for config, text := range map[string]string{
		`{}`: "video_processor_type: missing",
		`{"video_processor_type": "VideoMAVideoProcessor"}`:                                                       `"VideoMAVideoProcessor"; did you mean "VideoMAEVideoProcessor"?; infer-prep importers --coverage`,
		`{"image_processor_type": "GotOcr2ImageProcessor"}`:                                                       `"GotOcr2ImageProcessor" of image_processor_type names no video processor`,
		`{"video_processor_type": "VideoMAEVideoProcessor", "do_sample_frames": true, "num_frames": 0}`:           "num_frames: 0, want",
		`{"video_processor_type": "VideoMAEVideoProcessor", "do_sample_frames": true, "fps": 1, "num_frames": 2}`: "num_frames: 2, want null",
		`{"video_processor_type": "Qwen3VLVideoProcessor", "num_frames": 2}`:                                      "a default counts",
		`{"video_processor": null}`: "video_processor: null, want an object",
		`{"video_processor_type": "Ernie4_5_VLMoeVideoProcessor", "num_frames": 2}`:                           "a number from min_frames, 16, to max_frames, 180",
		`{"video_processor_type": "EmbeddingGemma2VideoProcessor", "overflow_strategy": "cut"}`:               "uniform, truncate or null",
		`{"video_processor_type": "InternVLVideoProcessor", "do_sample_frames": true, "initial_shift": null}`: "initial_shift: null, want",
	} {
		_, err := video.ImportSampling([]byte(config))
		require.ErrorContains(t, err, text, config)
	}
	_, err = video.ImportSampling([]byte(`[]`))
	require.ErrorIs(t, err, importer.ErrJSON)
}

// FuzzImport reads any settings and metadata: they are errors, or frames that
// exist and values of the described shape.
func FuzzImport(f *testing.F) {
	f.Add([]byte(`{"video_processor_type": "VideoMAEVideoProcessor", "size": 32, "crop_size": 24}`), 9, 2.0, 3.0)
	f.Add([]byte(`{"video_processor_type": "MiniCPMV4_6VideoProcessor", "stack_frames": 4, "patch_size": 2, "scale_resolution": 12}`), 100, 25.0, 4.0)
	f.Add([]byte(`{"video_processor_type": "Qwen2VLVideoProcessor", "size": {"shortest_edge": 9, "longest_edge": 900}, "patch_size": 2}`), 9, 2.0, 3.0)
	for _, c := range video.Classes() {
		f.Add([]byte(`{"video_processor_type": "`+c.Name+`", "do_sample_frames": true}`), 100, 25.0, 4.0)
	}
	img, err := os.ReadFile("testdata/small/0.png")
	require.NoError(f, err)
	f.Fuzz(func(t *testing.T, data []byte, n int, fps, duration float64) {
		m := video.Metadata{Frames: n, FPS: fps, Duration: duration}
		if s, err := video.ImportSampling(data); err == nil {
			if l, err := s.Indices(m); err == nil {
				require.NotEmpty(t, l)
				for _, i := range l {
					require.True(t, i >= 0 && i < n)
				}
			}
		}
		p, err := video.Import(data)
		if err != nil {
			return
		}
		out, err := p.NewRunner(codec.Limits{Pixels: 1 << 16, Bytes: 1 << 20}).Run(m, func(int) ([]byte, error) { return img, nil })
		if err != nil {
			return
		}
		require.Len(t, out, len(p.Outputs()))
		for _, x := range out {
			require.NoError(t, tensor.WriteRaw(io.Discard, x))
		}
	})
}

func FuzzParseMetadata(f *testing.F) {
	f.Add([]byte(`{"fps": 29.97, "duration": 3, "total_num_frames": 90, "width": null}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		if m, err := video.ParseMetadata(data); err == nil {
			require.True(t, m.Frames >= 0 && m.FPS >= 0 && m.Duration >= 0)
		}
	})
}

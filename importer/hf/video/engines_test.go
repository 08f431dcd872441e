package video_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/importer"
	"github.com/infer-prep/infer-prep/importer/hf/video"
)

var enginesFile = flag.String("engines", "", "a file of testdata/gen/importers/hf_video_engines.py N to compare with, too")

// TestSamplers compares with goldens of qwen-vl-utils, vLLM and SGLang.
func TestSamplers(t *testing.T) {
	data, err := os.ReadFile("testdata/engines.json")
	require.NoError(t, err)
	compareEngines(t, data)
	if *enginesFile != "" {
		data, err := os.ReadFile(*enginesFile)
		require.NoError(t, err)
		compareEngines(t, data)
	}
}

func compareEngines(t *testing.T, data []byte) {
	chosen, failed, differ := map[string]int{}, 0, 0
	lines := bufio.NewScanner(bytes.NewReader(data))
	for lines.Scan() {
		line := bytes.TrimSuffix(lines.Bytes(), []byte(","))
		if len(line) < 2 {
			continue
		}
		c := parseCase(t, line)
		if c.frames != nil && len(c.frames) == 0 {
			c.fails = "no frame"
		}
		if c.fails == "" {
			chosen[c.class]++
		} else {
			failed++
		}
		if d := c.compare(); d != "" {
			if differ++; differ < 30 {
				t.Errorf("%s: %s", line, d)
			}
		}
	}
	require.NoError(t, lines.Err())
	require.Zero(t, differ)
	total := 0
	for _, name := range video.Samplers() {
		total += chosen[name]
		require.Greater(t, chosen[name], 40, name)
	}
	require.Len(t, chosen, len(video.Samplers()))
	t.Logf("%d choices of %d samplers and %d errors are equal", total, len(chosen), failed)
}

var sizesFile = flag.String("sizes", "", "a file of testdata/gen/importers/hf_video_engines.py sizes N to compare with, too")

// TestQwenVLUtilsSize compares with sizes of qwen-vl-utils' fetch_video.
func TestQwenVLUtilsSize(t *testing.T) {
	files := []string{"testdata/qwen_vl_utils_sizes.json"}
	if *sizesFile != "" {
		files = append(files, *sizesFile)
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		require.NoError(t, err)
		equal, failed := 0, 0
		lines := bufio.NewScanner(bytes.NewReader(data))
		for lines.Scan() {
			line := bytes.TrimSuffix(lines.Bytes(), []byte(","))
			if len(line) < 2 {
				continue
			}
			var l []json.RawMessage
			var patch, frames, h, w int
			require.NoError(t, json.Unmarshal(line, &l))
			for i, p := range []*int{&patch, &frames, &h, &w} {
				require.NoError(t, json.Unmarshal(l[i+1], p))
			}
			nh, nw, err := video.QwenVLUtilsSize(l[0], patch, frames, h, w)
			if l[5][0] == '"' {
				require.Error(t, err, string(line))
				failed++
				continue
			}
			require.NoError(t, err, string(line))
			var want []int
			require.NoError(t, json.Unmarshal(l[5], &want))
			require.Equal(t, want, []int{nh, nw}, string(line))
			equal++
		}
		require.NoError(t, lines.Err())
		require.Greater(t, equal, 100)
		t.Logf("%d sizes and %d errors are equal", equal, failed)
	}
	for settings, want := range map[string]error{`[]`: importer.ErrJSON, `{"min_pixels": 0}`: importer.ErrValue, `{"x": 1}`: importer.ErrUnknownKey} {
		_, _, err := video.QwenVLUtilsSize([]byte(settings), 14, 2, 28, 28)
		require.ErrorIs(t, err, want, settings)
	}
	_, _, err := video.QwenVLUtilsSize(nil, 14, 2, 0, 28)
	require.ErrorIs(t, err, video.ErrFrames)
}

func TestNewSampling(t *testing.T) {
	for settings, text := range map[string]string{
		`[]`:                         "object",
		`{"fps": 0}`:                 "fps: 0, want a number above 0",
		`{"fps": null}`:              "fps: null, want a number above 0",
		`{"nframes": 4, "fps": 1}`:   "nframes: 4, want only one of nframes and fps",
		`{"nframe": 4}`:              "nframe",
		`{"video_start": "1"}`:       "video_start: \"1\", want seconds",
		`{"max_frames": 1.5}`:        "max_frames: 1.5, want",
		`{"min_frames": 9999999999}`: "min_frames: 9999999999, want",
	} {
		_, err := video.NewSampling("qwen-vl-utils", []byte(settings))
		require.ErrorContains(t, err, text, settings)
	}
	_, err := video.NewSampling("vllm/qwen2vl", nil)
	require.ErrorContains(t, err, `unknown sampler "vllm/qwen2vl"; did you mean "vllm/qwen2_vl"?: want one of qwen-vl-utils, sglang/`)
	_, err = video.NewSampling("vllm/opencv", []byte(`{"backend": "deepstream"}`))
	require.ErrorIs(t, err, importer.ErrValue)

	s, err := video.NewSampling("sglang/qwen_vl", nil)
	require.NoError(t, err)
	require.Equal(t, "sglang/qwen_vl", s.Class())
	_, err = s.Indices(video.Metadata{Frames: 9})
	require.ErrorIs(t, err, video.ErrMetadata)
	_, err = s.Indices(video.Metadata{Frames: 1, FPS: 1})
	require.ErrorIs(t, err, video.ErrSample)
}

// FuzzSamplers reads any settings: they are errors, or frames that exist.
func FuzzSamplers(f *testing.F) {
	for _, name := range video.Samplers() {
		f.Add(name, []byte(`{"fps": 2, "max_frames": 9}`), 100, 25.0, 4.0)
		f.Add(name, []byte(`{"num_frames": 9, "nframes": 3, "frame_sample_mode": "fps", "max_fps": 1}`), 100, 25.0, 4.0)
	}
	f.Fuzz(func(t *testing.T, name string, data []byte, n int, fps, duration float64) {
		s, err := video.NewSampling(name, data)
		if err != nil {
			return
		}
		l, err := s.Indices(video.Metadata{Frames: n, FPS: fps, Duration: duration})
		if err != nil {
			return
		}
		require.NotEmpty(t, l)
		for _, i := range l {
			require.True(t, i >= 0 && i < n)
		}
	})
}

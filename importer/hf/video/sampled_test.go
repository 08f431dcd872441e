package video_test

import (
	"encoding/json"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/importer/hf/video"
)

// TestSampled compares with testdata/gen/importers/hf_video_metadata.py.
func TestSampled(t *testing.T) {
	data, err := os.ReadFile("testdata/metadata.json")
	require.NoError(t, err)
	var cases [][6]json.RawMessage
	require.NoError(t, json.Unmarshal(data, &cases))
	equal := map[string]int{}
	for _, c := range cases {
		var class string
		settings := map[string]json.RawMessage{}
		var m video.Metadata
		var fps, duration *float64
		for i, v := range []any{&class, &settings, &m.Frames, &fps, &duration} {
			require.NoError(t, json.Unmarshal(c[i], v))
		}
		if fps != nil {
			m.FPS = *fps
		}
		if duration != nil {
			m.Duration = *duration
		}
		settings["video_processor_type"] = c[0]
		text, err := json.Marshal(settings)
		require.NoError(t, err)
		s, err := video.ImportSampling(text)
		var got video.Sampled
		if err == nil {
			got, err = s.Sample(m)
		}
		if c[5][0] == '"' {
			require.Error(t, err, "%s", c)
			continue
		}
		var want struct {
			FPS, Duration   *float64
			Indices         []int   `json:"frames_indices"`
			SampledFPS      float64 `json:"sampled_fps"`
			Timestamps      []float64
			SecondPerGridTs float64 `json:"second_per_grid_ts"`
		}
		require.NoError(t, json.Unmarshal(c[5], &want))
		if n := len(want.Indices); n == 0 || want.Indices[n-1] >= m.Frames { // the reference fails later
			require.ErrorIs(t, err, video.ErrSample)
			continue
		}
		require.NoError(t, err, "%s", c)
		require.Equal(t, want.Indices, got.Indices, "%s", c)
		known := func(p *float64) float64 {
			if p == nil {
				return 0
			}
			return *p
		}
		require.Equal(t, known(want.FPS), got.FPS, "%s", c)
		require.Equal(t, known(want.Duration), got.Duration, "%s", c)
		require.Equal(t, want.SampledFPS, got.SampledFPS(), "%s", c)
		times, err := got.Timestamps()
		if want.Timestamps == nil {
			require.ErrorIs(t, err, video.ErrMetadata)
		} else {
			require.NoError(t, err)
			require.Equal(t, want.Timestamps, times, "%s", c)
		}
		if p, err := video.Import(text); err == nil {
			seconds, ok := p.SecondsPerGrid(got)
			require.Equal(t, want.SecondPerGridTs > 0, ok)
			require.Equal(t, want.SecondPerGridTs, seconds)
		}
		equal[class]++
	}
	total := 0
	for _, n := range equal {
		total += n
	}
	require.Len(t, equal, 34)
	t.Logf("%d of %d cases are equal, the others are errors", total, len(cases))
}

package video_test

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/codec"
	_ "github.com/infer-prep/infer-prep/codec/png"
	"github.com/infer-prep/infer-prep/importer/hf/video"
	"github.com/infer-prep/infer-prep/tensor"
)

// videoCase is one of testdata/gen/importers/hf_video.py.
type videoCase struct {
	Class    string
	Settings map[string]json.RawMessage
	Video    string
	FPS      float64
	Error    string
	Outputs  map[string]struct {
		Dtype, SHA256 string
		Shape         []int
		Joined        bool
	}
}

// frameFiles returns a reader of the frames of a folder of testdata, and their
// number.
func frameFiles(t *testing.T, name string) (int, func(i int) ([]byte, error)) {
	l, err := filepath.Glob("testdata/" + name + "/*.png")
	require.NoError(t, err)
	return len(l), func(i int) ([]byte, error) {
		return os.ReadFile(fmt.Sprintf("testdata/%s/%d.png", name, i))
	}
}

func (c videoCase) config(t *testing.T) []byte {
	m := map[string]any{"video_processor_type": c.Class}
	for k, v := range c.Settings {
		m[k] = v
	}
	data, err := json.Marshal(m)
	require.NoError(t, err)
	return data
}

var videosFile = flag.String("videos", "", "a file of testdata/gen/importers/hf_video.py N to compare with, too")

func TestVideos(t *testing.T) {
	equal := compareVideos(t, "testdata/videos.json")
	for _, c := range video.Classes() {
		require.Greater(t, equal[c.Name], 8, c.Name)
	}
	if *videosFile != "" {
		compareVideos(t, *videosFile)
	}
}

func compareVideos(t *testing.T, file string) map[string]int {
	data, err := os.ReadFile(file)
	require.NoError(t, err)
	var cases []videoCase
	require.NoError(t, json.Unmarshal(data, &cases))
	equal := map[string]int{}
	for _, c := range cases {
		text := c.config(t)
		p, err := video.Import(text)
		if err == nil {
			r := p.NewRunner(codec.Limits{})
			n, frame := frameFiles(t, c.Video)
			m := video.Metadata{Frames: n, FPS: c.FPS}
			if c.FPS > 0 {
				m.Duration = float64(n) / c.FPS
			}
			out, runErr := r.Run(m, frame)
			if err = runErr; err == nil {
				require.Empty(t, c.Error, "%s %s", c.Video, text)
				require.Len(t, c.Outputs, len(out))
				for i, o := range p.Outputs() {
					name := o.Name
					want, ok := c.Outputs[name]
					require.True(t, ok, name)
					require.Equal(t, want.Joined, o.Joined, name)
					require.Equal(t, want.Shape, out[i].Shape.Slice(), "%s %s %s", name, c.Video, text)
					require.Equal(t, want.Dtype, out[i].DType.String(), "%s %s %s", name, c.Video, text)
					sum := sha256.New()
					require.NoError(t, tensor.WriteRaw(sum, out[i]))
					require.Equal(t, want.SHA256, hex.EncodeToString(sum.Sum(nil)), "%s %s %s", name, c.Video, text)
				}
				equal[c.Class]++
				continue
			}
		}
		if o, ok := c.Outputs["pixel_values_videos"]; ok && o.Shape[0] == 0 {
			require.ErrorIs(t, err, video.ErrSample, "the reference returns nothing of no frames")
			continue
		}
		require.NotEmpty(t, c.Error, "%s %s: %v", c.Video, text, err)
	}
	total := 0
	for _, n := range equal {
		total += n
	}
	t.Logf("%d of %d cases have equal outputs, the others are errors: %v", total, len(cases), equal)
	return equal
}

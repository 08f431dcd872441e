package video_test

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/codec"
	"github.com/infer-prep/infer-prep/importer/hf/video"
	"github.com/infer-prep/infer-prep/tensor"
)

// TestBatches compares with testdata/gen/importers/hf_video_batches.py.
func TestBatches(t *testing.T) {
	data, err := os.ReadFile("testdata/batches.json")
	require.NoError(t, err)
	var cases []struct {
		videoCase
		Videos []string
	}
	require.NoError(t, json.Unmarshal(data, &cases))
	equal := 0
	for _, c := range cases {
		text := c.config(t)
		p, err := video.Import(text)
		var names []video.Output
		var batch []*tensor.Tensor
		if err == nil {
			r := p.NewRunner(codec.Limits{})
			var videos [][]*tensor.Tensor
			for _, name := range c.Videos {
				n, frame := frameFiles(t, name)
				out, runErr := r.Run(video.Metadata{Frames: n, FPS: c.FPS, Duration: float64(n) / c.FPS}, frame)
				if err = runErr; err != nil {
					break
				}
				for i := range out {
					out[i] = out[i].Clone()
				}
				videos = append(videos, out)
			}
			if err == nil {
				names, batch, err = p.Batch(videos, codec.Limits{})
			}
		}
		if c.Error != "" {
			require.Error(t, err, "%s %s: %s", c.Videos, text, c.Error)
			continue
		}
		if errors.Is(err, video.ErrSample) {
			require.ErrorContains(t, err, "no frame is chosen", "the reference takes a video without frames")
			continue
		}
		require.NoError(t, err, "%s %s", c.Videos, text)
		require.Len(t, batch, len(c.Outputs), "%s %s", c.Videos, text)
		for i, o := range names {
			want := c.Outputs[o.Name]
			require.Equal(t, want.Shape, batch[i].Shape.Slice(), "%s %s %s", c.Videos, text, o.Name)
			require.Equal(t, want.Dtype, batch[i].DType.String(), "%s %s %s", c.Videos, text, o.Name)
			sum := sha256.New()
			require.NoError(t, tensor.WriteRaw(sum, batch[i]))
			require.Equal(t, want.SHA256, hex.EncodeToString(sum.Sum(nil)), "%s %s %s", c.Videos, text, o.Name)
		}
		equal++
	}
	require.Greater(t, equal, 150)
	t.Logf("%d of %d cases are equal, the others are errors", equal, len(cases))
}

func TestBatchErrors(t *testing.T) {
	p, err := video.Import([]byte(`{"video_processor_type": "VideoMAEVideoProcessor", "size": 8, "crop_size": 8}`))
	require.NoError(t, err)
	run := func(name string) []*tensor.Tensor {
		n, frame := frameFiles(t, name)
		out, err := p.NewRunner(codec.Limits{}).Run(video.Metadata{Frames: n}, frame)
		require.NoError(t, err)
		return out
	}
	_, _, err = p.Batch(nil, codec.Limits{})
	require.ErrorContains(t, err, "no videos")
	_, _, err = p.Batch([][]*tensor.Tensor{{}}, codec.Limits{})
	require.ErrorContains(t, err, "video 0 has 0 outputs, want 1")
	wide, tall := run("wide"), run("tall")
	_, _, err = p.Batch([][]*tensor.Tensor{wide, tall}, codec.Limits{})
	require.ErrorIs(t, err, video.ErrFrames)
	require.EqualError(t, err, "video: VideoMAEVideoProcessor: batch: pixel_values: invalid frames: video 1 has float32 (4, 3, 8, 8), and video 0 has float32 (7, 3, 8, 8): a batch needs equal shapes")
	_, _, err = p.Batch([][]*tensor.Tensor{wide, wide}, codec.Limits{Bytes: 1000})
	require.ErrorIs(t, err, codec.ErrLimit)
}

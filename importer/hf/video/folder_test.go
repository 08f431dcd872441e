package video_test

import (
	"io/fs"
	"os"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/codec"
	"github.com/infer-prep/infer-prep/importer"
	"github.com/infer-prep/infer-prep/importer/hf/video"
	"github.com/infer-prep/infer-prep/tensor"
)

func TestParseMetadata(t *testing.T) {
	m, err := video.ParseMetadata([]byte(`{"fps": 29.97, "duration": 3, "total_num_frames": 90, "height": 4, "width": null, "frames_indices": [0]}`))
	require.NoError(t, err)
	require.Equal(t, video.Metadata{Frames: 90, FPS: 29.97, Duration: 3}, m)
	m, err = video.ParseMetadata([]byte(`{"fps": null}`))
	require.NoError(t, err)
	require.Zero(t, m)
	for text, want := range map[string]string{
		`{"fps": 0}`:                  "fps: 0, want a number above 0",
		`{"duration": "3"}`:           `duration: "3", want a number`,
		`{"total_num_frames": 2.5}`:   "total_num_frames: 2.5, want a whole number",
		`{"frame_rate": 2}`:           "frame_rate",
		`{"fps": 1, "duration": 1e9}`: "",
	} {
		_, err := video.ParseMetadata([]byte(text))
		if want == "" {
			require.NoError(t, err)
			continue
		}
		require.ErrorContains(t, err, want)
	}
}

// TestFolder checks the order of frames by their pixels, which differ.
func TestFolder(t *testing.T) {
	img := func(s string) *fstest.MapFile { return &fstest.MapFile{Data: []byte("\x89PNG\r\n\x1a\n" + s)} }
	f, err := video.OpenFolder(fstest.MapFS{
		"f10.png": img("10"), "f9.png": img("9"), "f009.png": img("009"), "f9b.png": img("9b"), "e.png": img("e"), ".DS_Store": img(""),
		"metadata.json": {Data: []byte(`{"fps": 5}`)},
	}, 1000)
	require.NoError(t, err)
	require.Equal(t, video.Metadata{Frames: 5, FPS: 5}, f.Metadata)
	order := ""
	for i := range 5 {
		b, err := f.Frame(i)
		require.NoError(t, err)
		order += string(b[8:]) + " "
	}
	require.Equal(t, "e 009 9 9b 10 ", order)

	for _, c := range []struct {
		files fstest.MapFS
		kind  error
		text  string
	}{
		{fstest.MapFS{}, video.ErrFrames, "0 files"},
		{fstest.MapFS{"a/b.png": img("")}, video.ErrFrames, "a is a folder"},
		{fstest.MapFS{"b.png": img(""), "metadata.json": {Data: []byte(`{"total_num_frames": 2}`)}}, video.ErrMetadata, "total_num_frames is 2, and the folder has 1 frames"},
		{fstest.MapFS{"metadata.json": {Data: []byte(`[]`)}}, importer.ErrJSON, "metadata.json"},
		{fstest.MapFS{"metadata.json": {Data: make([]byte, 1001)}}, codec.ErrLimit, "more than 1000 bytes"},
	} {
		_, err := video.OpenFolder(c.files, 1000)
		require.ErrorIs(t, err, c.kind)
		require.ErrorContains(t, err, c.text)
	}
	f, err = video.OpenFolder(fstest.MapFS{"notes.txt": {Data: []byte("no image")}}, 1000)
	require.NoError(t, err)
	_, err = f.Frame(0)
	require.ErrorContains(t, err, "notes.txt: invalid frames: not an image")
}

func TestFromModel(t *testing.T) {
	choose := func(m fstest.MapFS) (string, error) {
		name, _, err := video.FromModel(func(n string) ([]byte, error) { return fs.ReadFile(m, n) })
		return name, err
	}
	file := func(s string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(s)} }
	all := fstest.MapFS{"processor_config.json": file(`{"video_processor": {}}`), "video_preprocessor_config.json": file(`{}`), "preprocessor_config.json": file(`{}`)}
	for _, want := range []string{"processor_config.json", "video_preprocessor_config.json", "preprocessor_config.json"} {
		name, err := choose(all)
		require.NoError(t, err)
		require.Equal(t, want, name)
		delete(all, want)
	}
	_, err := choose(all)
	require.ErrorIs(t, err, fs.ErrNotExist)
	all["processor_config.json"], all["preprocessor_config.json"] = file(`{"video_processor": null}`), file(`{}`)
	name, err := choose(all)
	require.NoError(t, err)
	require.Equal(t, "preprocessor_config.json", name)
}

// TestErrors checks what a Runner refuses, and that it can be used again.
func TestErrors(t *testing.T) {
	_, err := video.Import([]byte(`{"video_processor_type": "VideoMAEVideoProcessor", "patch_size": 3}`))
	require.ErrorIs(t, err, importer.ErrUnknownKey)
	_, err = video.Import([]byte(`{"video_processor_type": "VideoMAEVideoProcessor", "size": "x"}`))
	require.ErrorIs(t, err, importer.ErrValue)
	_, err = video.Import([]byte(`{"video_processor_type": "VJEPA2VideoProcessor", "crop_size": [3, 4]}`))
	require.ErrorContains(t, err, "crop_size: [3, 4], want a whole number, or an object with height")

	for config, text := range map[string]string{
		`"VideoMAEVideoProcessor", "video_metadata": {}`:                                                                    "video_metadata: an object, want null",
		`"VideoMAEVideoProcessor", "input_data_format": "channels_first"`:                                                   `input_data_format: "channels_first", want null`,
		`"VideoMAEVideoProcessor", "do_center_crop": true, "crop_size": null`:                                               "crop_size: null, want a size",
		`"Qwen3VLVideoProcessor", "patch_size": 0`:                                                                          "patch_size: 0, want",
		`"Qwen3VLVideoProcessor", "patch_size": 4096, "merge_size": 2`:                                                      "times merge_size is at most 4096",
		`"Qwen3VLVideoProcessor", "size": null`:                                                                             "size: null, want shortest_edge and longest_edge",
		`"Qwen2VLVideoProcessor", "size": {"shortest_edge": 0, "longest_edge": 9}`:                                          "size.shortest_edge: 0, want an area",
		`"Qwen2VLVideoProcessor", "min_pixels": -1`:                                                                         "min_pixels: -1, want an area",
		`"Qwen2VLVideoProcessor", "do_center_crop": true`:                                                                   "do_center_crop: true, want false",
		`"Cosmos3EdgeVideoProcessor", "temporal_patch_size": 2`:                                                             "temporal_patch_size: 2, want a whole number of 1 to 1",
		`"Molmo2VideoProcessor", "size": 30`:                                                                                "size: 30, want equal height and width, a multiple of patch_size",
		`"Molmo2VideoProcessor", "pooling_size": [0, 1]`:                                                                    "pooling_size: ",
		`"Molmo2VideoProcessor", "do_resize": true, "resample": null`:                                                       "resample: null, want",
		`"NemotronH_Omni_Reasoning_V3VideoProcessor"`:                                                                       "three numbers, without which the class fails",
		`"NemotronH_Omni_Reasoning_V3VideoProcessor", "norm_mean": [0, 0, 0], "norm_std": [1, 1, 1], "downsample_ratio": 9`: "downsample_ratio: 9, want",
		`"MiniCPMV4_6VideoProcessor", "stack_frames": null`:                                                                 "stack_frames: null, want a number",
		`"MiniCPMOcrVideoProcessor", "do_rescale": false, "do_normalize": false`:                                            "do_normalize: false, want true without do_rescale",
		`"Ernie4_5_VLMoeVideoProcessor"`:                                                                                    "draw_on_frames: absent, want false",
		`"Gemma4VideoProcessor", "max_soft_tokens": 71`:                                                                     "max_soft_tokens: 71, want 70, 140",
		`"SmolVLMVideoProcessor", "size": {"shortest_edge": 3}`:                                                             "longest_edge, or height and width",
		`"SmolVLMVideoProcessor", "do_sample_frames": true, "video_sampling": {"fps": 1}`:                                   "max_frames: absent, want",
		`"Sam2VideoVideoProcessor", "size": {"shortest_edge": 3}`:                                                           "size: an object, want height and width",
		`"Glm5NextVideoProcessor", "size": null`:                                                                            "size: null, want a size",
	} {
		_, err := video.Import([]byte(`{"video_processor_type": ` + config + `}`))
		require.ErrorContains(t, err, text, config)
		require.ErrorIs(t, err, importer.ErrValue, config)
	}

	long, err := video.Import([]byte(`{"video_processor_type": "Qwen2VLVideoProcessor", "do_resize": false}`))
	require.NoError(t, err)
	_, few := frameFiles(t, "one")
	_, err = long.NewRunner(codec.Limits{}).Run(video.Metadata{Frames: 1}, few)
	require.ErrorIs(t, err, video.ErrFrames)
	require.ErrorContains(t, err, "16x16 pixels: want multiples of patch_size times merge_size, 28")

	p, err := video.Import([]byte(`{"video_processor": {"video_processor_type": "VideoMAEVideoProcessor", "size": 8, "crop_size": 8}}`))
	require.NoError(t, err)
	const frame = 3 * 8 * 8 * 4
	r := p.NewRunner(codec.Limits{Bytes: 5 * frame})
	n, wide := frameFiles(t, "wide")
	_, small := frameFiles(t, "small")
	_, err = r.Run(video.Metadata{Frames: n}, wide)
	require.ErrorIs(t, err, codec.ErrLimit)
	require.ErrorContains(t, err, "7 frames of 768 bytes of values, want at most 3840 bytes")
	_, err = r.Run(video.Metadata{Frames: 2}, func(i int) ([]byte, error) { return []func(int) ([]byte, error){wide, small}[i](i) })
	require.ErrorIs(t, err, video.ErrFrames)
	require.ErrorContains(t, err, "frame 1: invalid frames: 11x9 pixels, and frame 0 has 40x23")
	_, err = r.Run(video.Metadata{Frames: 1}, func(int) ([]byte, error) { return nil, os.ErrPermission })
	require.ErrorIs(t, err, os.ErrPermission)
	_, err = r.Run(video.Metadata{Frames: 1}, func(int) ([]byte, error) { return []byte("x"), nil })
	require.Error(t, err)
	out, err := r.Run(video.Metadata{Frames: 5}, wide)
	require.NoError(t, err)
	require.Equal(t, "float32 (5, 3, 8, 8)", out[0].Desc.String())

	p, err = video.Import([]byte(`{"video_processor_type": "MiniCPMV4_6VideoProcessor", "stack_frames": 3, "do_sample_frames": false, "patch_size": 2, "scale_resolution": 16}`))
	require.NoError(t, err)
	_, err = p.NewRunner(codec.Limits{}).Run(video.Metadata{Frames: n}, wide)
	require.ErrorContains(t, err, "duration is unknown, and stack_frames needs it")
	m := video.Metadata{Frames: n, Duration: 3}
	_, err = p.NewRunner(codec.Limits{}).Run(video.Metadata{Frames: 6, Duration: 3}, wide)
	require.ErrorContains(t, err, "6 frames of a video of 3 seconds, want more than the 6 between seconds")
	r = p.NewRunner(codec.Limits{Bytes: 40000})
	_, err = r.Run(m, wide)
	require.ErrorIs(t, err, codec.ErrLimit)
	r = p.NewRunner(codec.Limits{})
	_, err = r.Run(m, func(i int) ([]byte, error) { return []func(int) ([]byte, error){wide, small}[i%2](i) })
	require.ErrorIs(t, err, video.ErrFrames)
	out, err = r.Run(m, wide)
	require.NoError(t, err)
	require.Equal(t, []int64{2}, tensor.View[int64](out[len(out)-1]), "a frame and a canvas")

	s, err := video.NewSampling("vllm/opencv", []byte(`{"num_frames": 2}`))
	require.NoError(t, err)
	p, err = video.Import([]byte(`{"video_processor_type": "VideoMAEVideoProcessor", "size": 8, "do_center_crop": false}`))
	require.NoError(t, err)
	var asked []int
	out, err = p.WithSampling(s).NewRunner(codec.Limits{}).Run(video.Metadata{Frames: n}, func(i int) ([]byte, error) {
		asked = append(asked, i)
		return wide(i)
	})
	require.NoError(t, err)
	require.Equal(t, []int{0, 6}, asked)
	require.Equal(t, 2, out[0].Shape.At(0))
}

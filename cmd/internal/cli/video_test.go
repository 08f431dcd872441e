package cli

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/cmd/internal/cli/command"
	"github.com/infer-prep/infer-prep/codec"
	"github.com/infer-prep/infer-prep/tensor"
)

// TestVideo compares the files of run --video with the reference's outputs.
func TestVideo(t *testing.T) {
	golden, err := filepath.Abs("../../../importer/hf/video/testdata")
	require.NoError(t, err)
	data, err := os.ReadFile(filepath.Join(golden, "videos.json"))
	require.NoError(t, err)
	var cases []struct {
		Class, Video string
		Settings     map[string]json.RawMessage
		Outputs      map[string]struct{ SHA256 string }
	}
	require.NoError(t, json.Unmarshal(data, &cases))
	seen := 0
	for _, c := range cases {
		if len(c.Settings) > 0 || len(c.Outputs) == 0 {
			continue
		}
		seen++
		dir := t.TempDir()
		config := filepath.Join(dir, "video_preprocessor_config.json")
		require.NoError(t, os.WriteFile(config, []byte(`{"video_processor_type": "`+c.Class+`"}`), 0o600))
		out := filepath.Join(dir, "out")
		r := call(t, "run", "--hf", dir, "--video", "--fps", "2", "--duration", "3.5", "--outputs", "all", "-o", out, filepath.Join(golden, c.Video))
		require.Equal(t, command.ExitOK, r.status, r.stderr)
		for name, want := range c.Outputs {
			f, err := os.Open(filepath.Join(out, c.Video+"."+name+".npy"))
			require.NoError(t, err)
			x, err := tensor.ReadNPY(f, 1<<27)
			require.NoError(t, errors.Join(err, f.Close()))
			sum := sha256.New()
			require.NoError(t, tensor.WriteRaw(sum, x))
			require.Equal(t, want.SHA256, hex.EncodeToString(sum.Sum(nil)), c.Class)
		}
	}
	require.Greater(t, seen, 16)
}

func TestVideoFolders(t *testing.T) {
	t.Chdir(tree(t, map[string][]byte{
		"c.json":  []byte(`{"video_processor_type": "VideoMAEVideoProcessor", "size": 4, "crop_size": 4, "do_sample_frames": true, "fps": 2}`),
		"a/0.png": pngBytes(t, 5, 6, 1), "a/1.png": pngBytes(t, 5, 6, 2), "a/metadata.json": []byte(`{"fps": 2}`),
		"b/0.png": pngBytes(t, 5, 6, 3), "b/1.png": pngBytes(t, 5, 6, 4), "b/2.png": pngBytes(t, 5, 6, 5), "b/3.png": pngBytes(t, 5, 6, 6),
		"c/0.png": pngBytes(t, 5, 6, 1), "c/1.png": pngBytes(t, 6, 6, 2), "clip.gif": []byte("GIF89a"),
	}))
	r := call(t, "run", "--hf", "c.json", "--video", "--fps", "4", "--batch", "-o", "out", "a", "b")
	require.Equal(t, command.ExitOK, r.status, r.stderr)
	require.Equal(t, "2 of 2 videos done: out\n", r.stderr)
	require.Equal(t, "float32 (1, 2, 3, 4, 4)", readNPY(t, "out/a.pixel_values.npy").Desc.String())
	require.Equal(t, "float32 (1, 2, 3, 4, 4)", readNPY(t, "out/b.pixel_values.npy").Desc.String(), "4 frames at 4 frames a second, 2 wanted")

	r = call(t, "run", "--hf", "c.json", "--video", "-o", "out2", "a", "b", "c", "clip.gif", "none")
	require.Equal(t, command.ExitFailed, r.status)
	require.Contains(t, r.stderr, "b: video: VideoMAEVideoProcessor: sample: invalid metadata of the video: fps is unknown, and the class samples by fps")
	require.Contains(t, r.stderr, "clip.gif: gif: offset 6: invalid format: the file ends in the screen descriptor")
	require.Contains(t, r.stderr, "4 of 5 videos failed")
	require.FileExists(t, "out2/a.pixel_values.npy")
	require.NoFileExists(t, "out2/b.pixel_values.npy")

	for _, c := range [][]string{
		{"--fps", "3", "--preset", "imagenet", "-o", "x", "a"},
		{"--video", "--preset", "imagenet", "-o", "x", "a"},
		{"--video", "--hf", "c.json", "a"},
		{"--video", "--hf", "c.json", "-o", "-", "a"},
		{"--video", "--hf", "c.json", "-o", "x"},
		{"--video", "--hf", "c.json", "-o", "x", "--fps", "0", "a"},
		{"--video", "--hf", "c.json", "-o", "x", "--fps", "NaN", "a"},
		{"--video", "--hf", "c.json", "-o", "x", "--outputs", "some", "a"},
		{"--video", "--hf", "c.json", "-o", "x", "--format", "npz", "a"},
		{"--video", "--hf", "c.json", "-o", "x", "s3://a/b"},
		{"--video", "--hf", "none.json", "-o", "x", "a"},
		{"--video", "--hf", "c.json", "-o", "x", "-"},
		{"--video", "--hf", "c.json", "-o", "x", "--skip-existing=content", "a"},
		{"--video", "--hf", "c.json", "-o", "x", "--jobs", "0", "a"},
		{"--video", "--hf", "c.json", "-o", "x", "--files-from", "none"},
		{"--video", "--hf", "c.json", "-o", "x", "--files-from", "-"},
		{"--video", "--hf", "c.json", "-o", "x", "--files-from", "-", "--frames", "image2pipe", "-"},
		{"--video", "--hf", "c.json", "-o", "x", "--null", "a"},
		{"--video", "--hf", "c.json", "-o", "x", "--batch-size", "0", "a"},
		{"--video", "--hf", "c.json", "-o", "x", "--batch-size", "2", "--batch", "a"},
		{"--return-metadata", "--preset", "imagenet", "-o", "x", "a"},
		{"--video", "--hf", "-", "-o", "x", "--frames", "image2pipe", "-"},
		{"--frames", "image2pipe", "--preset", "imagenet", "-o", "x", "a"},
		{"--video", "--hf", "c.json", "-o", "x", "--frames", "", "-"},
		{"--video", "--hf", "c.json", "-o", "x", "--frames", "mjpeg", "-"},
		{"--video", "--hf", "c.json", "-o", "x", "--frames", "rawvideo", "-"},
		{"--video", "--hf", "c.json", "-o", "x", "--frames", "rawvideo:5x", "-"},
		{"--video", "--hf", "c.json", "-o", "x", "--frames", "rawvideo:0x5", "-"},
		{"--video", "--hf", "c.json", "-o", "x", "--frames", "rawvideo:5x6x7", "-"},
		{"--video", "--hf", "c.json", "-o", "x", "--frames", "rawvideo:99999999x5", "-"},
		{"--video", "--hf", "a", "-o", "x", "a"},
		{"--video", "--hf", "c.json", "-o", "x", "--sampler", "vllm/none", "a"},
		{"--video", "--hf", "c.json", "-o", "x", "--sampler", "qwen-vl-utils:{", "a"},
		{"--video", "--hf", "c.json", "-o", "x", "--sampler", "qwen-vl-utils:{\"nframe\": 4}", "a"},
		{"--sampler", "qwen-vl-utils", "--preset", "imagenet", "-o", "x", "a"},
	} {
		require.Equal(t, command.ExitUsage, call(t, append([]string{"run"}, c...)...).status, c)
		require.NoDirExists(t, "x")
	}
}

// TestVideoSampler takes the frames of another program's sampler.
func TestVideoSampler(t *testing.T) {
	files := map[string][]byte{"c.json": []byte(`{"video_processor_type": "VideoMAEVideoProcessor", "size": 4, "crop_size": 4, "do_sample_frames": true, "num_frames": 9}`)}
	for i := range 8 {
		files[fmt.Sprintf("clip/%d.png", i)] = pngBytes(t, 5, 6, uint8(i))
	}
	t.Chdir(tree(t, files))
	// round(linspace(0, 7, 4)) of smart_nframes.
	require.Equal(t, 0, call(t, "run", "--hf", "c.json", "--video", "--fps", "4", "--sampler", `qwen-vl-utils:{"nframes": 4}`, "--return-metadata", "-o", "out", "clip").status)
	data, err := os.ReadFile("out/clip.video_metadata.json")
	require.NoError(t, err)
	require.Contains(t, string(data), `"frames_indices":[0,2,5,7]`)
}

// TestVideoInputs gives the same frames in each form.
func TestVideoInputs(t *testing.T) {
	var raw, pipe []byte
	files := map[string][]byte{"c.json": []byte(`{"video_processor_type": "VideoMAEVideoProcessor", "size": 4, "crop_size": 4, "do_sample_frames": true, "fps": 2}`)}
	array := []byte("\x93NUMPY\x01\x00\x76\x00{'descr': '|u1', 'fortran_order': False, 'shape': (4, 6, 5, 3), }")
	array = append(array, bytes.Repeat([]byte(" "), 127-len(array))...)
	array = append(array, '\n')
	for i := range 4 {
		data := pngBytes(t, 5, 6, uint8(i))
		files[fmt.Sprintf("folder/%d.png", i)] = data
		pipe = append(pipe, data...)
		x, err := codec.Decode(data, nil)
		require.NoError(t, err)
		raw = append(raw, x.Data...)
	}
	files["raw"], files["pipe"], files["array.npy"] = raw, pipe, append(array, raw...)
	t.Chdir(tree(t, files))
	args := []string{"run", "--hf", "c.json", "--video", "--fps", "4", "-o", "out"}
	require.Equal(t, command.ExitOK, call(t, append(args, "folder", "array.npy")...).status)
	want := readNPY(t, "out/folder.pixel_values.npy")
	require.Equal(t, "float32 (2, 3, 4, 4)", want.Desc.String())
	require.Equal(t, want.Data, readNPY(t, "out/array.npy.pixel_values.npy").Data)
	for name, form := range map[string]string{"raw": "rawvideo:5x6", "pipe": "image2pipe"} {
		r := call(t, append(args, "--frames", form, name)...)
		require.Equal(t, command.ExitOK, r.status, r.stderr)
		require.Equal(t, want.Data, readNPY(t, "out/"+name+".pixel_values.npy").Data)
		r = callIn(t, string(files[name]), append(args, "--frames", form, "-")...)
		require.Equal(t, command.ExitOK, r.status, r.stderr)
		require.Equal(t, want.Data, readNPY(t, "out/stdin.pixel_values.npy").Data)
		r = callIn(t, string(files[name][:len(raw)/4+1]), append(args, "--frames", form, "-")...)
		require.Equal(t, command.ExitFailed, r.status)
	}
	first := []byte("\x93NUMPY\x01\x00\x76\x00{'descr': '|u1', 'fortran_order': False, 'shape': (4, 3, 6, 5), }")
	first = append(append(append(first, bytes.Repeat([]byte(" "), 127-len(first))...), '\n'), raw...)
	require.NoError(t, os.WriteFile("first.npy", first, 0o600))
	require.NoError(t, os.WriteFile("last.json", bytes.Replace(files["c.json"], []byte("{"), []byte(`{"input_data_format": "channels_last", `), 1), 0o600))
	require.Equal(t, command.ExitOK, call(t, append(args, "first.npy")...).status)
	x := call(t, append(args, "--hf", "last.json", "first.npy")...)
	require.Contains(t, x.stderr, "first.npy: the channels are the second axis, and input_data_format is channels_last")
	x = call(t, append(args, "--batch-size", "2", "array.npy", "first.npy")...)
	require.Contains(t, x.stderr, "first.npy: the channels are at another axis than in array.npy")
	r := callIn(t, string(raw[:100]), append(args, "--frames", "rawvideo:5x6", "-")...)
	require.Contains(t, r.stderr, "-: frame 1: byte 100 of the stream: unexpected EOF")
	r = call(t, append(args, "--frames", "image2pipe", "folder")...)
	require.Contains(t, r.stderr, "folder: a folder: want a stream for --frames")
	r = call(t, append(args, "--limit-bytes", "300", "--frames", "rawvideo:5x6", "raw")...)
	require.Contains(t, r.stderr, "raw: frame 3: byte 270 of the stream")
}

func TestVideoMetadata(t *testing.T) {
	files := map[string][]byte{
		"model/preprocessor_config.json": []byte(`{"patch_size": 2, "do_sample_frames": true, "fps": 2, "min_frames": 2, "size": {"shortest_edge": 16, "longest_edge": 400}}`),
		"model/config.json":              []byte(`{"model_type": "qwen2_5_vl"}`),
	}
	args := []string{"run", "--hf", "model", "--video", "--fps", "4", "--outputs", "all", "--return-metadata", "-o", "out"}
	for i := range 12 {
		for k := range 4 {
			files[fmt.Sprintf("v%d/%d.png", i, k)] = pngBytes(t, 9, 8, uint8(12*i+k))
		}
		args = append(args, fmt.Sprintf("v%d", i))
	}
	t.Chdir(tree(t, files))
	r := call(t, append(args, "--jobs", "5", "none")...)
	require.Equal(t, command.ExitFailed, r.status)
	require.Equal(t, "infer-prep: none: no such file or directory\n12 of 13 videos done: out\ninfer-prep: 1 of 13 videos failed\n", r.stderr)
	require.Equal(t, "int64 (3,)", readNPY(t, "out/v11.video_grid_thw.npy").Desc.String())
	text, err := os.ReadFile("out/v3.video_metadata.json")
	require.NoError(t, err)
	require.Equal(t, `{"total_num_frames":4,"fps":4,"duration":null,"frames_indices":[0,2],"timestamps":[0,0.5],"sampled_fps":2,"second_per_grid_ts":1}`+"\n", string(text))
	want := readNPY(t, "out/v7.pixel_values_videos.npy")
	r = callIn(t, "v0\nv1\n", append(args[:len(args)-12:len(args)-12], "-o", "listed", "--files-from", "-", "v2")...)
	require.Equal(t, "3 of 3 videos done: listed\n", r.stderr)
	require.FileExists(t, "listed/v1.video_grid_thw.npy")
	require.NoError(t, os.Remove("out/v7.pixel_values_videos.npy"))
	require.NoError(t, os.Remove("out/v2.video_metadata.json"))
	r = call(t, append(args, "--jobs", "1", "--skip-existing")...)
	require.Equal(t, command.ExitOK, r.status)
	require.Equal(t, "2 of 12 videos done, 10 skipped: out\n", r.stderr)
	require.Equal(t, want.Data, readNPY(t, "out/v7.pixel_values_videos.npy").Data)
}

func TestVideoBatches(t *testing.T) {
	files := map[string][]byte{"c.json": []byte(`{"video_processor_type": "Qwen2VLVideoProcessor", "patch_size": 2, "merge_size": 1, "size": {"shortest_edge": 16, "longest_edge": 400}}`)}
	args := []string{"run", "--hf", "c.json", "--video", "--fps", "4", "--outputs", "all", "-o", "out"}
	for i := range 5 {
		for k := range 2 + i {
			files[fmt.Sprintf("v%d/%d.png", i, k)] = pngBytes(t, 8, 8+2*i, uint8(12*i+k))
		}
		args = append(args, fmt.Sprintf("v%d", i))
	}
	t.Chdir(tree(t, files))
	require.Equal(t, command.ExitOK, call(t, append(args, "-o", "single")...).status)
	r := call(t, append(args, "--batch-size", "2", "--return-metadata")...)
	require.Equal(t, command.ExitOK, r.status, r.stderr)
	require.Equal(t, "5 of 5 videos done: out\n", r.stderr)
	patches := append(readNPY(t, "single/v2.pixel_values_videos.npy").Data, readNPY(t, "single/v3.pixel_values_videos.npy").Data...)
	require.Equal(t, patches, readNPY(t, "out/batch-000001.pixel_values_videos.npy").Data)
	require.Equal(t, "int64 (2, 3)", readNPY(t, "out/batch-000001.video_grid_thw.npy").Desc.String())
	require.Equal(t, "int64 (1, 3)", readNPY(t, "out/batch-000002.video_grid_thw.npy").Desc.String())
	text, err := os.ReadFile("out/batch-000001.videos.json")
	require.NoError(t, err)
	require.Equal(t, "[\"v2\",\"v3\"]\n", string(text))
	text, err = os.ReadFile("out/batch-000002.video_metadata.json")
	require.NoError(t, err)
	require.Contains(t, string(text), `[{"total_num_frames":6,"fps":4,"duration":null,"frames_indices":[0,1,2,3,4,5]`)

	r = call(t, append(args, "--batch-size", "2")...)
	require.Equal(t, command.ExitUsage, r.status)
	require.Contains(t, r.stderr, "out has batches of an earlier run")
	require.NoError(t, os.Remove("out/batch-000002.video_grid_thw.npy"))
	r = call(t, append(args, "--batch-size", "2", "--skip-existing")...)
	require.Equal(t, "1 of 5 videos done, 4 skipped: out\n", r.stderr)
	r = call(t, append(args, "-o", "out3", "--batch-size", "3", "none")...)
	require.Equal(t, command.ExitFailed, r.status)
	require.Contains(t, r.stderr, "none: no such file or directory\n3 of 6 videos done: out3")
	r = call(t, append(args, "-o", "out4", "--batch-size", "5", "--limit-bytes", "20000")...)
	require.Contains(t, r.stderr, "the batch has more than 20000 bytes of values")
}

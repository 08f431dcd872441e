package cli

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/cmd/internal/cli/command"
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
	require.Contains(t, r.stderr, "clip.gif: want a folder of frames")
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
		{"--video", "--hf", "a", "-o", "x", "a"},
	} {
		require.Equal(t, command.ExitUsage, call(t, append([]string{"run"}, c...)...).status, c)
		require.NoDirExists(t, "x")
	}
}

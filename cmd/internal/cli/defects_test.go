package cli

import (
	"bytes"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/cmd/internal/cli/command"
)

// TestPackOfNothing packs folders without a readable image.
func TestPackOfNothing(t *testing.T) {
	dir := tree(t, map[string][]byte{"bad/a.jpg": []byte("hi"), "bad/b.png": []byte("hi"), "empty/": nil, "empty.lst": nil})
	t.Chdir(dir)
	before := listFiles(t, ".")
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"pack", "recordio", "x", "bad"}, "infer-prep: none of 2 images could be packed: nothing was written\n"},
		{[]string{"pack", "recordio", "x", "empty"}, "no images found"},
		{[]string{"pack", "recordio", "--lst", "empty.lst", "x", "bad"}, "no images to pack"},
		{[]string{"pack", "shards", "-o", "x", "empty"}, "nothing to pack"},
	} {
		r := call(t, c.args...)
		require.Equal(t, command.ExitFailed, r.status, c.args)
		require.Contains(t, r.stderr, c.want)
		require.Equal(t, before, listFiles(t, "."), c.args)
	}
}

// TestConvertToPattern converts into a pattern, in a format that writes one
// file.
func TestConvertToPattern(t *testing.T) {
	dir := tree(t, map[string][]byte{"in/a.png": pngBytes(t, 3, 2, 1)})
	t.Chdir(dir)
	require.Equal(t, command.ExitOK, call(t, "pack", "recordio", "x", "in").status)
	before := listFiles(t, ".")
	for _, out := range []string{"y-%04d.rec", "y-%d.tfrecord"} {
		r := call(t, "records", "convert", "x.rec", "-o", out)
		require.Equal(t, command.ExitUsage, r.status, r.stderr)
		require.Contains(t, r.stderr, "unsupported option: a name with the place "+out[2:strings.IndexByte(out, 'd')+1]+" for a number")
		require.Equal(t, before, listFiles(t, "."))
	}
	require.Equal(t, command.ExitOK, call(t, "records", "convert", "x.rec", "-o", "y-%04d.tar").status)
	require.FileExists(t, "y-0000.tar")
}

// TestLimitsNameTheirFlag exceeds limits and checks that the error names the
// flag that raises the limit, if the command has it.
func TestLimitsNameTheirFlag(t *testing.T) {
	t.Chdir(tree(t, map[string][]byte{"a.png": pngBytes(t, 50, 40, 1)}))
	run := []string{"run", "--preset", "imagenet", "-o", "out"}
	for _, c := range []struct {
		flags []string
		want  string
	}{
		{[]string{"--limit-pixels", "10"}, "50x40 is 2000 pixels, the limit is 10; --limit-pixels raises the limit\n"},
		{[]string{"--limit-bytes", "10"}, "the limit is 10; --limit-bytes raises the limit\n"},
		{[]string{"--limit-bytes", "20", "--preset", "decode"}, "the limit is 20; --limit-bytes raises the limit\n"},
	} {
		r := call(t, append(append(run, c.flags...), "a.png")...)
		require.NotEqual(t, command.ExitOK, r.status)
		require.Contains(t, r.stderr, c.want)
	}
	r := call(t, "run", "--preset", "decode", "--json", "-o", "out", "--limit-pixels", "10", "a.png")
	require.Contains(t, r.stdout, "--limit-pixels raises the limit")
	require.Equal(t, command.ExitOK, call(t, "pack", "recordio", "x", ".").status)
	r = call(t, "records", "cat", "--limit-bytes", "9", "x.rec", "0")
	require.Contains(t, r.stderr, "the limit is 9; --limit-bytes raises the limit\n")
}

// TestSuggestions gives flags and values that are nearly right.
func TestSuggestions(t *testing.T) {
	t.Chdir(tree(t, map[string][]byte{
		"timm.json": []byte(`{"input_size":[3,8,8],"interpolation":"BICUBIC"}`),
		"hf.json":   []byte(`{"image_processor_type":"ViTImageProcessor","resample":"PIL.Image.BICUBIC"}`),
	}))
	graph := strings.Replace(call(t, "graph", "import", "--preset", "imagenet").stdout, `"bilinear"`, `"BICUBIC"`, 1)
	require.NoError(t, os.WriteFile("graph.json", []byte(graph), 0o666))
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"run", "--presset", "clip"}, `unknown flag: --presset; did you mean "--preset"?`},
		{[]string{"run", "-presset", "clip"}, `unknown shorthand flag: 'p' in -presset; did you mean "--preset"?`},
		{[]string{"run", "--preset", "CLIP", "-o", "x", "y"}, `--preset "CLIP": want clip, decode, imagenet or yolo; did you mean "clip"?`},
		{[]string{"run", "--batch=8"}, `--batch=8: the flag is a switch and takes no value; did you mean --batch-size 8?`},
		{[]string{"run", "--json=8"}, `--json=8: the flag is a switch and takes no value`},
		{[]string{"graph", "show", "--timm", "timm.json"}, `"BICUBIC", want nearest, bilinear, bicubic, box, hamming or lanczos; did you mean "bicubic"?`},
		{[]string{"graph", "show", "--hf", "hf.json"}, `did you mean 3?`},
		{[]string{"graph", "show", "--graph", "graph.json"}, `; did you mean "bicubic"?`},
	} {
		r := call(t, c.args...)
		require.Equal(t, command.ExitUsage, r.status, c.args)
		require.Contains(t, r.stderr, c.want, c.args)
	}
}

// TestOutputIsAFolder names a folder as the output file of every command that
// writes one file.
func TestOutputIsAFolder(t *testing.T) {
	t.Chdir(tree(t, map[string][]byte{"a.png": pngBytes(t, 9, 8, 1), "folder/": nil}))
	require.Equal(t, command.ExitOK, call(t, "pack", "recordio", "x", ".").status)
	for _, args := range [][]string{
		{"graph", "import", "--preset", "clip", "-o", "folder"},
		{"graph", "import", "--preset", "clip", "-o", "new/"},
		{"graph", "show", "--preset", "clip", "--svg", "folder"},
		{"graph", "export-onnx", "--preset", "imagenet", "--input-size", "9x8", "-o", "folder"},
		{"bundle", "create", "--preset", "clip", "-o", "folder"},
		{"records", "convert", "x.rec", "--to", "recordio", "-o", "folder"},
		{"pack", "shards", "-o", "out", "--list", "folder", "."},
	} {
		r := call(t, args...)
		require.NotEqual(t, command.ExitOK, r.status, args)
		require.Regexp(t, `(?m)^infer-prep: (folder|new/): is a folder: want a regular file$`, r.stderr, args)
	}
	require.Empty(t, listFiles(t, "folder"))
}

// TestHelpToFullDisk writes help texts to a device that is full.
func TestHelpToFullDisk(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("only Linux has /dev/full")
	}
	for _, args := range []string{"help", "--help", "help run", "run --help", "graph", "--version", "version", "completion bash", "importers"} {
		full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
		require.NoError(t, err)
		var errs bytes.Buffer
		status := Run(t.Context(), strings.Fields(args), strings.NewReader(""), full, &errs)
		require.NoError(t, full.Close())
		require.Equal(t, command.ExitFailed, status, args)
		require.Equal(t, "infer-prep: write /dev/full: no space left on device\n", errs.String(), args)
	}
}

// TestPipesOfScripts reads a Kaldi script with a command, for which the program
// has no flag.
func TestPipesOfScripts(t *testing.T) {
	t.Chdir(tree(t, map[string][]byte{"feats.scp": []byte("a cat a.ark |\n")}))
	r := call(t, "records", "cat", "--from", "kaldi", "feats.scp", "a")
	require.Equal(t, command.ExitFailed, r.status)
	require.Contains(t, r.stderr, "run it first and name its output in the script")
	require.NotContains(t, r.stderr, "Options")
}

// TestOtherFormatsAreNamed runs files of formats that are not decoded.
func TestOtherFormatsAreNamed(t *testing.T) {
	files := map[string]string{
		"a.svg": "<?xml version=\"1.0\"?><svg/>", "a.mp4": "\x00\x00\x00\x18ftypisom", "a.cur": "\x00\x00\x02\x00\x01\x00", "a.psd": "8BPS\x00\x01",
		"a.cr2": "II*\x00\x10\x00\x00\x00CR\x02\x00\x00\x00\x00\x00\x00\x00",
	}
	dir := t.TempDir()
	for name, text := range files {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666))
	}
	t.Chdir(dir)
	for name, want := range map[string]string{"a.svg": "SVG", "a.mp4": "MP4 (video)", "a.cur": "CUR (cursor)", "a.psd": "PSD (Photoshop)", "a.cr2": "a Canon CR2 file (camera raw)"} {
		r := call(t, "run", "--preset", "imagenet", "-o", "out", name)
		require.Equal(t, command.ExitFailed, r.status)
		require.Contains(t, r.stderr, "unsupported: "+want, name)
	}
}

// TestSwitchWithValue gives a value to a switch whose sister takes one.
func TestSwitchWithValue(t *testing.T) {
	cmd := &cobra.Command{Use: "x"}
	cmd.Flags().Bool("batch", false, "")
	cmd.Flags().Int("batch-size", 0, "")
	var invalid *pflag.InvalidValueError
	require.ErrorAs(t, cmd.ParseFlags([]string{"--batch=8"}), &invalid)
	require.Equal(t, "; did you mean --batch-size 8?", valued(cmd, invalid))
}

package cli

import (
	"archive/tar"
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/cmd/internal/cli/command"
	"github.com/infer-prep/infer-prep/internal/filelock"
)

// members lists the names of a tar file's members.
func members(t *testing.T, path string) (l []string) {
	t.Helper()
	f, err := os.Open(path)
	require.NoError(t, err)
	defer f.Close()
	for r := tar.NewReader(f); ; {
		h, err := r.Next()
		if err == io.EOF {
			return l
		}
		require.NoError(t, err)
		l = append(l, h.Name)
	}
}

func TestPackShards(t *testing.T) {
	dir := tree(t, map[string][]byte{"b.txt": []byte("b"), "a.txt": []byte("a"), "a.cls": []byte("1"), "sub/c.txt": []byte("c"), "README": nil})
	out := filepath.Join(t.TempDir(), "x", "shards")
	shard := func(n int) string { return filepath.Join(out, fmt.Sprintf("data-%05d.tar", n)) }
	r := call(t, "pack", "shards", "-o", out, "--samples-per-file", "2", "--index", dir)
	require.Equal(t, called{0, shard(0) + "\n" + shard(1) + "\n", "infer-prep: 2 shards with 3 samples; in no sample: " + filepath.Join(dir, "README") + "\n"}, r)
	require.Equal(t, []string{"a.cls", "a.txt", "b.txt"}, members(t, shard(0)))
	require.Equal(t, []string{"sub/c.txt"}, members(t, shard(1)))
	require.Equal(t, []string{"data-00000.tar", "data-00000.tar.index", "data-00001.tar", "data-00001.tar.index"}, listFiles(t, out))

	r = call(t, "pack", "shards", "-o", out, "--samples-per-file", "2", dir)
	require.Equal(t, called{1, "", "infer-prep: pack: " + shard(0) + ": exists already; --force replaces it\n"}, r)
	list := filepath.Join(t.TempDir(), "shards.list")
	r = call(t, "pack", "shards", "-o", out, "--force", "-q", "--list", list, "--name", "data-%05d.tar", dir)
	require.Equal(t, called{0, "", ""}, r)
	b, err := os.ReadFile(list)
	require.NoError(t, err)
	require.Equal(t, shard(0)+"\n", string(b))
	require.Equal(t, []string{"data-00000.tar"}, listFiles(t, out))

	// With changed images.
	dir = tree(t, map[string][]byte{"x/a.png": pngBytes(t, 30, 20, 1), "y/b.png": pngBytes(t, 8, 12, 2), "y/c.jpg": []byte("no image")})
	for _, c := range [][]string{{"jpg", "--resize", "10"}, {"png", "--encoding", ".png", "--center-crop", "--color", "0"}} {
		out = filepath.Join(t.TempDir(), "images")
		r = call(t, append([]string{"pack", "shards", "-o", out, "--classes", dir}, c[1:]...)...)
		require.Equal(t, 1, r.status)
		require.Contains(t, r.stderr, filepath.Join("y", "c.jpg"))
		require.Equal(t, []string{"x/a.cls", "x/a." + c[0], "y/b.cls", "y/b." + c[0]}, members(t, shard(0)))
	}

	// With classes, a list and ratios.
	dir = tree(t, map[string][]byte{"cat/1.jpg": pngBytes(t, 1, 1, 1), "cat/2.jpg": pngBytes(t, 1, 1, 2), "dog/1.jpg": pngBytes(t, 1, 1, 3), "a.lst": []byte("0\t4\tdog/1.jpg\n1\t2.5\tcat/1.jpg\n2\t1\tgone.jpg\n")})
	out = filepath.Join(t.TempDir(), "classes")
	r = call(t, "pack", "shards", "-o", out, "--classes", "--train-ratio", "0.7", "-q", dir)
	require.Equal(t, 0, r.status, r.stderr)
	require.Equal(t, []string{"classes.txt", "train/data-00000.tar", "val/data-00000.tar"}, listFiles(t, out))
	out = filepath.Join(t.TempDir(), "list")
	r = call(t, "pack", "shards", "-o", out, "--bad", "fail", filepath.Join(dir, "a.lst"))
	require.Equal(t, 1, r.status)
	require.Contains(t, r.stderr, "gone.jpg")
	require.Equal(t, []string{"data-%05d.tar.pack"}, listFiles(t, out))
	r = call(t, "pack", "shards", "-o", out, "--root", dir, filepath.Join(dir, "a.lst"))
	require.Equal(t, 1, r.status)
	require.Contains(t, r.stderr, "gone.jpg")
	require.Contains(t, r.stderr, "infer-prep: 1 shard with 2 samples; 1 could not be packed\n")
	require.Equal(t, []string{"dog/1.cls", "dog/1.jpg", "cat/1.jpg", "cat/1.json"}, members(t, filepath.Join(out, "data-00000.tar")))
}

func TestPackShardsOfKaldi(t *testing.T) {
	t.Chdir(filepath.Join("..", "..", "..", "testdata", "kaldi"))
	const data = "../pack/"
	out := filepath.Join(t.TempDir(), "k")
	r := call(t, "pack", "shards", "-o", out, "--scp", data+"feats1.scp", "--scp", data+"feats2.scp", "--label", data+"text1", "--label", data+"text2",
		"--groups", ":5,5:20", "--groups", "20:80", "--samples-per-file", "5", "--jobs", "2")
	require.Equal(t, 0, r.status, r.stderr)
	require.Regexp(t, `^infer-prep: \d+ shards with \d+ samples; in no group: \d+, such as utt\S+ \(\d+\)\n$`, r.stderr)
	require.Contains(t, listFiles(t, out), "5_20/data-00000.tar")

	out = filepath.Join(t.TempDir(), "w")
	r = call(t, "pack", "shards", "-o", out, "--scp", "wav="+data+"wav.scp", "--label", "txt="+data+"segments_text", "--segments", data+"segments", "--name", "s_%09d.tar")
	require.Equal(t, 0, r.status, r.stderr)
	require.Equal(t, []string{"seg0.txt", "seg0.wav", "seg1.txt"}, members(t, filepath.Join(out, "s_000000000.tar"))[:3])

	// A label without a sample is an error.
	out = filepath.Join(t.TempDir(), "b")
	args := []string{"pack", "shards", "-o", out, "--scp", data + "feats1.scp", "--label", data + "text1", "--label", data + "text2"}
	r = call(t, append(args, "--bad", "fail")...)
	require.Equal(t, 1, r.status)
	require.Regexp(t, `^infer-prep: pack: invalid sample: "utt\S+" has a label.txt but no mat.npy; --bad skip continues without it\n$`, r.stderr)
	require.Empty(t, listFiles(t, out))
	r = call(t, args...)
	require.Equal(t, 1, r.status)
	require.Contains(t, r.stderr, " could not be packed\n")
	require.NotEmpty(t, r.stdout)

	pipe := filepath.Join(t.TempDir(), "pipe.scp")
	require.NoError(t, os.WriteFile(pipe, []byte("utt sox x.flac -t wav - |\n"), 0o666))
	r = call(t, "pack", "shards", "-o", out, "--scp", "wav="+pipe)
	require.Equal(t, 1, r.status)
	require.Contains(t, r.stderr, `line 1: "utt" is a command, which is not run: "sox x.flac -t wav -"; run it first`)
}

// TestPackShardsGraph packs features of sounds, in groups by their frames.
func TestPackShardsGraph(t *testing.T) {
	g := call(t, "graph", "make", "decode_sound", "mix_mono", "spectrogram", "mels=4", "frames_first=true")
	require.Equal(t, 0, g.status, g.stderr)
	wave := func(samples uint32) []byte {
		b := append([]byte("RIFF"), binary.LittleEndian.AppendUint32(nil, 36+2*samples)...)
		b = append(b, "WAVEfmt \x10\x00\x00\x00\x01\x00\x01\x00\x80\x3e\x00\x00\x00\x7d\x00\x00\x02\x00\x10\x00data"...)
		b = binary.LittleEndian.AppendUint32(b, 2*samples)
		for i := range samples {
			b = binary.LittleEndian.AppendUint16(b, uint16(i*i))
		}
		return b
	}
	t.Chdir(tree(t, map[string][]byte{"g.json": []byte(g.stdout), "in/a.wav": wave(1600), "in/b.wav": wave(4800), "wav.scp": []byte("a in/a.wav\nb in/b.wav\n"), "text": []byte("a one\nb two\n")}))
	require.Equal(t, 0, call(t, "run", "-q", "--graph", "g.json", "-o", "run", "in").status)
	r := call(t, "pack", "shards", "-o", "out", "--graph", "g.json", "--scp", "wav=wav.scp", "--label", "text", "--groups", "1:20,20:40")
	require.Equal(t, called{0, filepath.Join("out", "_20", "data-00000.tar") + "\n" + filepath.Join("out", "20_40", "data-00000.tar") + "\n", "infer-prep: 2 shards with 2 samples\n"}, r)
	require.Equal(t, []string{"a.label.txt", "a.sound.npy"}, members(t, filepath.Join("out", "_20", "data-00000.tar")))
	b, err := os.ReadFile(filepath.Join("out", "20_40", "data-00000.tar"))
	require.NoError(t, err)
	want, err := os.ReadFile(filepath.Join("run", "b.wav.npy"))
	require.NoError(t, err)
	require.True(t, bytes.Contains(b, want))
	r = call(t, "pack", "plan", "-q", "-o", "plan.json", "--graph", "g.json", "in")
	require.Equal(t, called{0, "", ""}, r)
	require.Equal(t, 0, call(t, "pack", "-q", "--plan", "plan.json", "-o", "planned").status)
	require.Equal(t, []string{"a.sound.npy", "b.sound.npy"}, members(t, filepath.Join("planned", "data-00000.tar")))
}

func TestPackShardsUsage(t *testing.T) {
	dir := tree(t, map[string][]byte{"a.txt": nil, "sub/": nil})
	out := filepath.Join(t.TempDir(), "out")
	file := filepath.Join(dir, "a.txt")
	for _, c := range []struct {
		want string
		args []string
	}{
		{"no output folder: want -o DIR", []string{dir}},
		{"got 0 arguments", []string{"-o", out}},
		{"got 2 arguments", []string{"-o", out, dir, dir}},
		{`--bad "x"`, []string{"-o", out, "--bad", "x", dir}},
		{"--samples-per-file 0", []string{"-o", out, "--samples-per-file", "0", dir}},
		{`invalid argument "x" for "--samples-per-file" flag: invalid syntax`, []string{"-o", out, "--samples-per-file", "x", dir}},
		{"--jobs 0", []string{"-o", out, "--jobs", "0", dir}},
		{"--groups:", []string{"-o", out, "--groups", "5", dir}},
		{"--groups needs --scp", []string{"-o", out, "--groups", "5:6", dir}},
		{"--resize changes images, but --preset", []string{"-o", out, "--preset", "clip", "--resize", "5", dir}},
		{"--preset makes tensors of images, but --lossless-fast", []string{"-o", out, "--preset", "clip", "--lossless-fast", dir}},
		{"--dtype applies to a graph: want --prep", []string{"-o", out, "--dtype", "float32", dir}},
		{"length groups of samples without lengths", []string{"-o", out, "--preset", "clip", "--groups", "1:5", dir}},
		{"need --scp", []string{"-o", out, "--label", "text", dir}},
		{"--scp excludes a folder or list", []string{"-o", out, "--scp", "feats.scp", dir}},
		{"--scp:", []string{"-o", out, "--scp", "WAV=feats.scp"}},
		{"--label:", []string{"-o", out, "--scp", "feats.scp", "--label", "="}},
		{"--root applies to a list", []string{"-o", out, "--root", dir, dir}},
		{"--classes applies to a folder", []string{"-o", out, "--classes", file}},
		{"want a folder, or a list with the extension .lst", []string{"-o", out, file}},
		{"places for the number", []string{"-o", out, "--name", "x.tar", dir}},
		{"no index", []string{"-o", out, "--name", "%d.tar.gz", "--index", dir}},
		{"one of them", []string{"-o", out, "--sort", "--shuffle", dir}},
		{"--encoding", []string{"-o", out, "--encoding", "gif", "--classes", dir}},
		{"--chroma", []string{"-o", out, "--chroma", "4", "--classes", dir}},
		{"--color", []string{"-o", out, "--color", "4", "--classes", dir}},
		{"--quality 10", []string{"-o", out, "--quality", "10", "--encoding", ".png", "--classes", dir}},
		{"--resize -1", []string{"-o", out, "--resize", "-1", "--classes", dir}},
		{"applies to labeled images", []string{"-o", out, "--resize", "10", dir}},
		{"applies to labeled images", []string{"-o", out, "--resize", "10", "--scp", "x"}},
		{"ratios", []string{"-o", out, "--test-ratio", "0.5", "--train-ratio", "0.7", dir}},
	} {
		r := call(t, append([]string{"pack", "shards"}, c.args...)...)
		require.Equal(t, 2, r.status, c.want)
		require.Contains(t, r.stderr, c.want)
		require.NoDirExists(t, out)
	}
	r := call(t, "pack", "shards", "-o", out, filepath.Join(dir, "none"))
	require.Equal(t, 1, r.status)
	require.Contains(t, r.stderr, "none")
	r = call(t, "pack", "shards", "-o", out, filepath.Join(dir, "sub"))
	require.Equal(t, 1, r.status)
	require.Contains(t, r.stderr, "nothing to pack")
	r = call(t, "pack", "shards", "-o", out, "--scp", filepath.Join(dir, "none"))
	require.Equal(t, 1, r.status)
}

// stopping is a writer that cancels a context at the first write.
type stopping struct {
	bytes.Buffer
	stop func()
}

func (s *stopping) Write(b []byte) (int, error) {
	s.stop()
	return s.Buffer.Write(b)
}

func TestPackShardsInterrupted(t *testing.T) {
	files := map[string][]byte{"m.txt.lst": nil}
	var list strings.Builder
	for i := range 100 {
		files[fmt.Sprintf("%02d.jpg", i)] = pngBytes(t, 2, 1, uint8(i))
		fmt.Fprintf(&list, "%d\t%d\t%02d.jpg\n", i, i, i)
		if i == 50 {
			list.WriteString("999\t1\tgone.jpg\n") // its error interrupts the program
		}
	}
	files["a.lst"] = []byte(list.String())
	dir := tree(t, files)
	want := filepath.Join(t.TempDir(), "want")
	out := filepath.Join(t.TempDir(), "out")
	args := func(out string) []string {
		return []string{"pack", "shards", "-o", out, "--samples-per-file", "7", "--jobs", "2", filepath.Join(dir, "a.lst")}
	}
	whole := call(t, args(want)...)
	require.Equal(t, 1, whole.status)

	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	errs := &stopping{stop: cancel}
	require.Equal(t, command.ExitInterrupted, Run(ctx, args(out), nil, io.Discard, errs))
	require.Contains(t, errs.String(), "infer-prep: interrupted: 49 of 101 samples done; give the same command again to resume\n")
	if filelock.Works { // it is held by nobody
		require.FileExists(t, filepath.Join(out, "data-%05d.tar.pack"))
	}
	// Other flags make another pack.
	r := call(t, append(args(out), "--samples-per-file", "8")...)
	require.Equal(t, 1, r.status)
	require.Contains(t, r.stderr, "; --restart discards the unfinished pack and starts again\n")
	r = call(t, args(out)...)
	require.Equal(t, 1, r.status)
	require.Contains(t, r.stderr, "15 shards with 100 samples, 7 packed before; 1 could not be packed\n")
	require.Equal(t, strings.ReplaceAll(whole.stdout, want, out), r.stdout)
	for _, name := range listFiles(t, want) {
		a, err := os.ReadFile(filepath.Join(want, name))
		require.NoError(t, err)
		b, err := os.ReadFile(filepath.Join(out, name))
		require.NoError(t, err)
		require.True(t, bytes.Equal(a, b), name)
	}
	require.Equal(t, listFiles(t, want), listFiles(t, out))
	// Interrupted before it begins.
	cancelled, stop := context.WithCancel(t.Context())
	stop()
	var b bytes.Buffer
	require.Equal(t, command.ExitInterrupted, Run(cancelled, args(filepath.Join(t.TempDir(), "x")), nil, io.Discard, &b))
	require.Equal(t, "infer-prep: interrupted: nothing was done\n", b.String())
}

package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/cmd/internal/cli/command"
	"github.com/infer-prep/infer-prep/internal/newfile"
	"github.com/infer-prep/infer-prep/job"
	"github.com/infer-prep/infer-prep/tensor"
	"github.com/infer-prep/infer-prep/tensor/npz"
)

func readNPY(t *testing.T, path string) *tensor.Tensor {
	t.Helper()
	b, err := os.ReadFile(path)
	require.NoError(t, err)
	x, err := tensor.ReadNPY(bytes.NewReader(b), 1<<26)
	require.NoError(t, err)
	return x
}

// requireDecoded checks that a .npy file holds the pixels of pngBytes(w, h,
// seed).
func requireDecoded(t *testing.T, path string, w, h int, seed uint8) {
	t.Helper()
	x := readNPY(t, path)
	require.Equal(t, "uint8 "+tensor.Dims(h, w, 3).String(), x.Desc.String())
	for i := range w * h {
		require.Equal(t, []byte{uint8(i % w), uint8(i / w), seed}, x.Data[3*i:3*i+3], "at (%d, %d)", i%w, i/w)
	}
}

// TestRunNames checks the output files of all kinds of arguments.
func TestRunNames(t *testing.T) {
	img := pngBytes(t, 5, 4, 7)
	text := []byte("no image")
	for _, c := range []struct {
		name   string
		files  map[string][]byte
		links  map[string]string // link: target, relative to the link's folder
		args   []string          // relative to the folder
		out    string            // of -o; "out" if empty
		flags  []string
		want   []string // files below out
		status int
		stderr []string // patterns
	}{
		{
			name: "a file", files: map[string][]byte{"cat.png": img}, args: []string{"cat.png"},
			want: []string{"cat.png.npy"}, stderr: []string{`^1 image, 0 failed, 0 skipped, `},
		},
		{
			name: "a folder is walked", args: []string{"in"},
			files: map[string][]byte{"in/b.png": img, "in/a/c.PNG": img, "in/a/d/no-ending": img, "in/.hidden": img, "in/x.txt": text, "in/a/empty": nil},
			want:  []string{".hidden.npy", "a/c.PNG.npy", "a/d/no-ending.npy", "b.png.npy"}, stderr: []string{`^4 images, 0 failed, 2 skipped, `},
		},
		{
			name: "a folder with a slash", args: []string{"in/"}, files: map[string][]byte{"in/b.png": img}, want: []string{"b.png.npy"},
		},
		{
			name: "a glob", args: []string{"in/*.png"}, files: map[string][]byte{"in/b.png": img, "in/a.png": img, "in/c.gif": img, "in/t.png": text},
			want: []string{"a.png.npy", "b.png.npy"}, stderr: []string{`^2 images, 0 failed, 1 skipped`},
		},
		{
			name: "a glob of folders", args: []string{"in*"}, files: map[string][]byte{"in1/a/b.png": img, "in2/c.png": img},
			want: []string{"a/b.png.npy", "c.png.npy"},
		},
		{
			name: "an existing path wins over a glob", args: []string{"a[1].png"}, files: map[string][]byte{"a[1].png": img, "a1.png": img},
			want: []string{"a[1].png.npy"},
		},
		{
			name: "an existing folder wins over a glob", args: []string{"a*"}, files: map[string][]byte{"a*/x.png": img, "a1.png": img},
			want: []string{"x.png.npy"},
		},
		{
			name: "an existing path wins over a URI", args: []string{"s3://b.png"}, files: map[string][]byte{"s3:/b.png": img},
			want: []string{"b.png.npy"},
		},
		{
			name: "links to files are followed, to folders not", args: []string{"in"},
			files: map[string][]byte{"in/a.png": img, "in/sub/o.png": img, "in/sub/t.txt": text, "other/o.png": img},
			links: map[string]string{"in/l.png": "sub/o.png", "in/t": "sub/t.txt", "in/dir": "../other", "in/up": "..", "in/again": "sub"},
			want:  []string{"a.png.npy", "l.png.npy", "sub/o.png.npy"}, stderr: []string{`^3 images, 0 failed, 5 skipped`},
		},
		{
			name: "links out of the folder", args: []string{"in"},
			files:  map[string][]byte{"in/a.png": img, "other/o.png": img, "other/t.txt": text},
			links:  map[string]string{"in/l.png": "../other/o.png", "in/t.png": "../other/t.txt"},
			want:   []string{"a.png.npy", "l.png.npy"},
			stderr: []string{`^infer-prep: in/t.png: left out: not an image`, `^2 images, 0 failed, 1 skipped`},
		},
		{
			name: "links out of the folder, allowed", args: []string{"--allow-outside", "in"},
			files: map[string][]byte{"in/a.png": img, "other/o.png": img},
			links: map[string]string{"in/l.png": "../other/o.png"},
			want:  []string{"a.png.npy", "l.png.npy"}, stderr: []string{`^2 images, 0 failed, 0 skipped`},
		},
		{
			name: "a link to a folder that is named", args: []string{"in"}, files: map[string][]byte{"other/o.png": img},
			links: map[string]string{"in": "other"}, want: []string{"o.png.npy"},
		},
		{
			name: "what a killed run left", args: []string{"in", "glob/.*"},
			files: map[string][]byte{"in/a.png": img, "in/.infer-prep-0123abcd.tmp": img, "glob/.b.png": img, "glob/.infer-prep-0123abcd.tmp": img},
			want:  []string{".b.png.npy", "a.png.npy"}, stderr: []string{`^2 images, 0 failed, 2 skipped`},
		},
		{
			name: "two stars", args: []string{"in/**/*.png", "x.png"}, files: map[string][]byte{"in/a/b.png": img, "in/a/b/c.png": img, "x.png": img},
			want: []string{"x.png.npy"}, status: 1, stderr: []string{`^infer-prep: in/\*\*/\*.png: no such file, and globs have no \*\*`},
		},
		{
			name: "an empty name", args: []string{"", "x.png"}, files: map[string][]byte{"x.png": img},
			want: []string{"x.png.npy"}, status: 1, stderr: []string{`^infer-prep: empty file name`},
		},
		{
			name: "standard input", args: []string{"-", "x.png"}, files: map[string][]byte{"x.png": img},
			want: []string{"x.png.npy"}, status: 1, stderr: []string{`^infer-prep: -: codec: invalid format: empty input: want an encoded image$`},
		},
		{
			name: "a name that moves the cursor", args: []string{"\x1b]2J\n\xff.png", "x.png"}, files: map[string][]byte{"x.png": img},
			want: []string{"x.png.npy"}, status: 1, stderr: []string{`^infer-prep: \\x1b\]2J\\n\\xff.png: no such file or folder$`},
		},
		{
			name: "an older output of an image that is refused stays", args: []string{"x.png"}, files: map[string][]byte{"x.png": img[:40], "out/x.png.npy": text},
			want: []string{"x.png.npy"}, status: 1,
		},
		{
			name: "a glob leaves the output folder out", args: []string{"*"}, flags: []string{"--format", "raw"}, files: map[string][]byte{"a/x.png": img, "out/old.png": img},
			want: []string{"old.png", "x.png.raw"}, stderr: []string{`^1 image, 0 failed, 0 skipped`},
		},
		{
			name: "a link to nowhere", args: []string{"in"}, files: map[string][]byte{"in/a.png": img}, links: map[string]string{"in/l.png": "none"},
			want: []string{"a.png.npy"}, status: 1, stderr: []string{`^infer-prep: in/l.png: no such file`, `^2 images, 1 failed`},
		},
		{
			name: "the output folder in the input folder", args: []string{"in"}, out: "in/out", flags: []string{"--format", "raw"},
			files: map[string][]byte{"in/a.png": img, "in/out/old.png": img}, want: []string{"a.png.raw", "old.png"}, stderr: []string{`^1 image, 0 failed, 0 skipped`},
		},
		{
			name: "the output folder is the input folder", args: []string{"in"}, out: "in",
			files: map[string][]byte{"in/a.png": img, "in/old.npy": []byte("x")}, want: []string{"a.png", "a.png.npy", "old.npy"},
		},
		{
			name: "two inputs of one name", args: []string{"a/x.png", "b/x.png", "c.png"},
			files: map[string][]byte{"a/x.png": img, "b/x.png": img, "c.png": img}, want: []string{"c.png.npy", "x.png.npy"}, status: 1,
			stderr: []string{`^infer-prep: b/x.png: its output out/x.png.npy is already the output of a/x.png; --keep-path keeps them apart by their folders$`, `^3 images, 1 failed`},
		},
		{
			name: "two folders with one name", args: []string{"a", "b"},
			files:  map[string][]byte{"a/s/x.png": img, "b/s/x.png": img, "b/y.png": img, "a/t": text, "b/t": text},
			want:   []string{"s/x.png.npy", "y.png.npy"},
			status: 1, stderr: []string{`b/s/x.png: .* already the output of a/s/x.png`, `^3 images, 1 failed, 2 skipped`},
		},
		{
			name: "what is no image takes no name", args: []string{"a", "b"}, files: map[string][]byte{"a/x": text, "b/x": img},
			want: []string{"x.npy"}, stderr: []string{`^1 image, 0 failed, 1 skipped`},
		},
		{
			name: "one input twice", args: []string{"x.png", "x.png"}, files: map[string][]byte{"x.png": img},
			want: []string{"x.png.npy"}, status: 1, stderr: []string{`already the output of x.png`},
		},
		{
			name: "an output that is an input", args: []string{"x.png", "x.png.npy"}, out: ".", files: map[string][]byte{"x.png": img, "x.png.npy": img},
			want: []string{"x.png", "x.png.npy", "x.png.npy.npy"}, status: 1, stderr: []string{`x.png: its output x.png.npy is an input`},
		},
		{
			name: "a missing file", args: []string{"none.png", "x.png"}, files: map[string][]byte{"x.png": img},
			want: []string{"x.png.npy"}, status: 1, stderr: []string{`^infer-prep: none.png: no such file or folder$`, `^2 images, 1 failed`},
		},
		{
			name: "a glob without a match", args: []string{"*.jpg", "x.png"}, files: map[string][]byte{"x.png": img},
			want: []string{"x.png.npy"}, status: 1, stderr: []string{`^infer-prep: \*.jpg: no file matches`},
		},
		{
			name: "not a glob either", args: []string{"[", "x.png"}, files: map[string][]byte{"x.png": img},
			want: []string{"x.png.npy"}, status: 1, stderr: []string{`^infer-prep: \[: no such file, and not a valid glob`},
		},
		{
			name: "an unknown scheme", args: []string{"none://example.com/cat.jpg", "x.png"}, files: map[string][]byte{"x.png": img},
			want: []string{"x.png.npy"}, status: 1, stderr: []string{`store: none://example.com/cat.jpg: no store for none:// in this program: want a path, or a URI of file`},
		},
		{
			name: "a named file that is no image", args: []string{"t.txt", "x.png"}, files: map[string][]byte{"x.png": img, "t.txt": text},
			want: []string{"x.png.npy"}, status: 1, stderr: []string{`^infer-prep: t.txt: codec: .*unknown format`},
		},
		{
			name: "an empty file", args: []string{"e", "x.png"}, files: map[string][]byte{"x.png": img, "e": nil},
			want: []string{"x.png.npy"}, status: 1, stderr: []string{`^infer-prep: e: codec: .*empty input: want an encoded image`},
		},
		{
			name: "a broken image in the middle", args: []string{"in"}, files: map[string][]byte{"in/a.png": img, "in/b.png": img[:len(img)/2], "in/c.png": img},
			want: []string{"a.png.npy", "c.png.npy"}, status: 1, stderr: []string{`^infer-prep: in/b.png: png: `, `^3 images, 1 failed`},
		},
		{
			name: "a refused image makes no folder", args: []string{"in"}, files: map[string][]byte{"in/a.png": img, "in/s/b.png": img[:40]},
			want: []string{"a.png.npy"}, status: 1,
		},
		{
			name: "only images that fail", args: []string{"b.png"}, files: map[string][]byte{"b.png": img[:40]},
			status: 1, stderr: []string{`^infer-prep: b.png: png: `, `^1 image, 1 failed`},
		},
		{
			name: "an empty folder", args: []string{"in"}, files: map[string][]byte{"in/": nil}, status: 1, stderr: []string{`^infer-prep: no images found$`},
		},
		{
			name: "a folder without images", args: []string{"in"}, files: map[string][]byte{"in/a": text, "in/b": text},
			status: 1, stderr: []string{`^infer-prep: no images found, 2 files skipped$`},
		},
		{
			name: "nothing but missing files", args: []string{"a", "b"}, files: map[string][]byte{},
			status: 1, stderr: []string{`^infer-prep: a: no such`, `^infer-prep: b: no such`, `^infer-prep: no images found; 2 inputs failed$`},
		},
		{
			name: "the output folder is a file", args: []string{"x.png", "y.png"}, out: "f", files: map[string][]byte{"x.png": img, "y.png": img, "f": text},
			want: []string{"."}, status: 1, stderr: []string{`^infer-prep: cannot write to the output folder: f: not a directory$`},
		},
		{
			name: "an output that cannot be written", args: []string{"a", "b/c"}, files: map[string][]byte{"a/x/y.png": img, "b/c/x/y.png": img, "out/x": text},
			want: []string{"x"}, status: 1, stderr: []string{`^infer-prep: a/x/y.png: cannot write out/x/y.png.npy: not a directory$`, `^infer-prep: b/c/x/y.png: its output .* already`},
		},
		{
			name: "an output that is a folder", args: []string{"x.png"}, files: map[string][]byte{"x.png": img, "out/x.png.npy/z": text},
			want: []string{"x.png.npy/z"}, status: 1, stderr: []string{`^infer-prep: x.png: cannot write out/x.png.npy: file exists$`},
		},
		{
			name: "the pixel limit", args: []string{"x.png"}, flags: []string{"--limit-pixels", "19"}, files: map[string][]byte{"x.png": img},
			status: 1, stderr: []string{`^infer-prep: x.png: png: limit exceeded: 5x4 is 20 pixels, the limit is 19; --limit-pixels raises the limit$`},
		},
		{
			name: "the byte limit, by the file's size", args: []string{"x.png"}, flags: []string{"--limit-bytes", "70"}, files: map[string][]byte{"x.png": img},
			status: 1, stderr: []string{`^infer-prep: x.png: codec: limit exceeded: the file has \d+ bytes, the limit is 70; --limit-bytes raises the limit$`},
		},
		{
			name: "limits can be off", args: []string{"x.png"}, flags: []string{"--limit-pixels", "0", "--limit-bytes", "0", "--jobs", "3"}, files: map[string][]byte{"x.png": img},
			want: []string{"x.png.npy"},
		},
		{
			name: "quiet", args: []string{"x.png", "y.png"}, flags: []string{"-q"}, files: map[string][]byte{"x.png": img},
			want: []string{"x.png.npy"}, status: 1, stderr: []string{`^infer-prep: y.png: no such`, `^infer-prep: 1 of 2 images failed$`},
		},
		{
			name: "a name that starts with a dash", args: []string{"--", "-x.png"}, files: map[string][]byte{"-x.png": img}, want: []string{"-x.png.npy"},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := tree(t, c.files)
			for link, target := range c.links {
				require.NoError(t, os.MkdirAll(filepath.Dir(filepath.Join(dir, link)), 0o777))
				require.NoError(t, os.Symlink(target, filepath.Join(dir, link)))
			}
			t.Chdir(dir)
			if c.out == "" {
				c.out = "out"
			}
			args := append([]string{"run", "--preset", "decode", "-o", c.out}, append(c.flags, c.args...)...)
			for range 2 { // the second time over the files of the first
				r := call(t, args...)
				require.Equal(t, c.status, r.status, r.stderr)
				require.Equal(t, c.want, listFiles(t, c.out))
				require.Empty(t, r.stdout)
				lines := strings.Split(r.stderr, "\n")
				for _, w := range c.stderr {
					n := 0
					for _, l := range lines {
						if regexp.MustCompile(w).MatchString(l) {
							n++
						}
					}
					if c.name == "the output folder is the input folder" {
						continue // its outputs are skipped the second time
					}
					require.Equal(t, 1, n, "%s is in %q", w, r.stderr)
				}
			}
			for _, w := range c.want {
				if strings.HasSuffix(w, ".npy") && w != "old.npy" && w != "x.png.npy" {
					requireDecoded(t, filepath.Join(c.out, w), 5, 4, 7)
				}
			}
		})
	}
}

// TestWriteFile writes to a link, and to a file without permission.
func TestWriteFile(t *testing.T) {
	t.Chdir(tree(t, map[string][]byte{"a": []byte("old")}))
	require.NoError(t, os.Symlink("a", "link"))
	require.NoError(t, newfile.Write(t.Context(), "link", func(w io.Writer) error { _, err := io.WriteString(w, "new"); return err }))
	b, err := os.ReadFile("a")
	require.NoError(t, err)
	require.Equal(t, "new", string(b))
	require.Equal(t, []string{"a", "link"}, listFiles(t, "."))
	require.Error(t, newfile.Write(t.Context(), "link", func(io.Writer) error { return io.ErrShortWrite }))
	require.Equal(t, []string{"a", "link"}, listFiles(t, "."))
	require.NoError(t, os.Mkdir("d", 0o777))
	require.Error(t, newfile.Write(t.Context(), "d", func(io.Writer) error { return nil }))
}

// TestRunPermissions: files have the permissions of the umask.
func TestRunPermissions(t *testing.T) {
	dir := tree(t, map[string][]byte{"a.png": pngBytes(t, 5, 4, 1)})
	require.Equal(t, command.ExitOK, call(t, "run", "--preset", "decode", "-o", dir, filepath.Join(dir, "a.png")).status)
	want, err := os.Stat(filepath.Join(dir, "a.png"))
	require.NoError(t, err)
	got, err := os.Stat(filepath.Join(dir, "a.png.npy"))
	require.NoError(t, err)
	require.Equal(t, want.Mode(), got.Mode())
}

func TestRunFormats(t *testing.T) {
	dir := tree(t, map[string][]byte{"a.png": pngBytes(t, 20, 10, 3)})
	img := filepath.Join(dir, "a.png")
	ref := filepath.Join(dir, "ref")
	require.Equal(t, command.ExitOK, call(t, "run", "--preset", "yolo", "--outputs", "all", "-o", ref, img).status)
	require.Equal(t, []string{"a.png.images.npy", "a.png.pad.npy", "a.png.scale.npy"}, listFiles(t, ref))
	want := map[string]*tensor.Tensor{}
	for _, o := range []string{"images", "scale", "pad"} {
		want[o] = readNPY(t, filepath.Join(ref, "a.png."+o+".npy"))
	}
	require.Equal(t, "float32 (3, 640, 640)", want["images"].Desc.String())
	open := func(t *testing.T, path string) *bytes.Reader {
		b, err := os.ReadFile(path)
		require.NoError(t, err)
		return bytes.NewReader(b)
	}
	const limit = 1 << 26
	for _, c := range []struct {
		format, outputs string
		files           []string
		read            func(t *testing.T, dir string) []tensor.Named
	}{
		{"npz", "all", []string{"a.png.npz"}, func(t *testing.T, dir string) []tensor.Named {
			r := open(t, filepath.Join(dir, "a.png.npz"))
			l, err := npz.Read(r, int64(r.Len()), limit)
			require.NoError(t, err)
			return l
		}},
		{"safetensors", "all", []string{"a.png.safetensors"}, func(t *testing.T, dir string) []tensor.Named {
			l, _, err := tensor.ReadSafetensors(open(t, filepath.Join(dir, "a.png.safetensors")), limit)
			require.NoError(t, err)
			return l
		}},
		{"pb", "all", []string{"a.png.images.pb", "a.png.pad.pb", "a.png.scale.pb"}, func(t *testing.T, dir string) (l []tensor.Named) {
			for _, o := range []string{"images", "scale", "pad"} {
				name, x, err := tensor.ReadTensorProto(open(t, filepath.Join(dir, "a.png."+o+".pb")), limit)
				require.NoError(t, err)
				l = append(l, tensor.Named{Name: name, T: x})
			}
			return l
		}},
		{"raw", "all", []string{"a.png.images.raw", "a.png.pad.raw", "a.png.scale.raw"}, func(t *testing.T, dir string) (l []tensor.Named) {
			for _, o := range []string{"images", "scale", "pad"} {
				x, err := tensor.ReadRaw(open(t, filepath.Join(dir, "a.png."+o+".raw")), want[o].Desc, limit)
				require.NoError(t, err)
				l = append(l, tensor.Named{Name: o, T: x})
			}
			return l
		}},
		{"npy", "main", []string{"a.png.npy"}, func(t *testing.T, dir string) []tensor.Named {
			return []tensor.Named{{Name: "images", T: readNPY(t, filepath.Join(dir, "a.png.npy"))}}
		}},
		{"pb", "main", []string{"a.png.pb"}, func(t *testing.T, dir string) []tensor.Named {
			name, x, err := tensor.ReadTensorProto(open(t, filepath.Join(dir, "a.png.pb")), limit)
			require.NoError(t, err)
			return []tensor.Named{{Name: name, T: x}}
		}},
		{"raw", "main", []string{"a.png.raw"}, func(t *testing.T, dir string) []tensor.Named {
			x, err := tensor.ReadRaw(open(t, filepath.Join(dir, "a.png.raw")), want["images"].Desc, limit)
			require.NoError(t, err)
			return []tensor.Named{{Name: "images", T: x}}
		}},
		{"npz", "main", []string{"a.png.npz"}, func(t *testing.T, dir string) []tensor.Named {
			r := open(t, filepath.Join(dir, "a.png.npz"))
			l, err := npz.Read(r, int64(r.Len()), limit)
			require.NoError(t, err)
			return l
		}},
	} {
		t.Run(c.format+" "+c.outputs, func(t *testing.T) {
			out := t.TempDir()
			r := call(t, "run", "--preset", "yolo", "--format", c.format, "--outputs", c.outputs, "-o", out, img)
			require.Equal(t, command.ExitOK, r.status, r.stderr)
			require.Equal(t, c.files, listFiles(t, out))
			got := c.read(t, out)
			n := map[string]int{"all": 3, "main": 1}[c.outputs]
			require.Len(t, got, n)
			for _, g := range got {
				w := want[g.Name]
				require.NotNil(t, w, g.Name)
				require.Equal(t, w.Desc, g.T.Desc, g.Name)
				require.Equal(t, w.Data, g.T.Data, g.Name)
			}
		})
	}
}

// TestRunChanges checks --dtype, --layout, --batch and --exif.
func TestRunChanges(t *testing.T) {
	dir := tree(t, map[string][]byte{"a.png": pngBytes(t, 20, 10, 3)})
	img := filepath.Join(dir, "a.png")
	for _, c := range []struct {
		flags []string
		want  map[string]string
	}{
		{[]string{"--preset", "decode"}, map[string]string{"": "uint8 (10, 20, 3)"}},
		{[]string{"--preset", "decode", "--layout", "CHW"}, map[string]string{"": "uint8 (3, 10, 20)"}},
		{[]string{"--preset", "decode", "--layout", "chw"}, map[string]string{"": "uint8 (3, 10, 20)"}},
		{[]string{"--preset", "decode", "--layout", "HWC"}, map[string]string{"": "uint8 (10, 20, 3)"}},
		{[]string{"--preset", "imagenet", "--layout", "HWC"}, map[string]string{"": "float32 (224, 224, 3)"}},
		{[]string{"--preset", "decode", "--dtype", "float32"}, map[string]string{"": "float32 (10, 20, 3)"}},
		{[]string{"--preset", "decode", "--dtype", "uint8"}, map[string]string{"": "uint8 (10, 20, 3)"}},
		{[]string{"--preset", "imagenet", "--dtype", "float16", "--batch"}, map[string]string{"": "float16 (1, 3, 224, 224)"}},
		{[]string{"--preset", "decode", "--batch"}, map[string]string{"": "uint8 (1, 10, 20, 3)"}},
		{[]string{"--preset", "yolo", "--dtype", "float64", "--batch", "--outputs", "all"}, map[string]string{
			"images": "float64 (1, 3, 640, 640)", "scale": "float32 (1, 2)", "pad": "int32 (1, 4)",
		}},
		{[]string{"--hf", "../../../testdata/configs/hf/qwen2-vl-2b-instruct.json", "--batch"}, map[string]string{
			"pixel_values": "float32 (24, 1176)", "image_grid_thw": "int64 (1, 3)",
		}},
		{[]string{"--preset", "decode", "--exif"}, map[string]string{"": "uint8 (10, 20, 3)"}},
	} {
		t.Run(strings.Join(c.flags, " "), func(t *testing.T) {
			out := t.TempDir()
			r := call(t, append([]string{"run", "-o", out, img}, c.flags...)...)
			require.Equal(t, command.ExitOK, r.status, r.stderr)
			require.Len(t, listFiles(t, out), len(c.want))
			for o, d := range c.want {
				name := "a.png.npy"
				if o != "" {
					name = "a.png." + o + ".npy"
				}
				require.Equal(t, d, readNPY(t, filepath.Join(out, name)).Desc.String())
			}
		})
	}

	out := t.TempDir()
	require.Equal(t, command.ExitOK, call(t, "run", "--preset", "decode", "--layout", "CHW", "-o", out, img).status)
	x := readNPY(t, filepath.Join(out, "a.png.npy"))
	for c, want := range []byte{7, 5, 3} { // the pixel at (7, 5), see pngBytes
		require.Equal(t, want, x.Data[c*200+5*20+7])
	}
}

// TestRunEXIF turns an image of the codec's test data upright, as the flag says
// or as the reader of an importer's reference does.
func TestRunEXIF(t *testing.T) {
	img := filepath.Join("..", "..", "..", "testdata", "images", "png_exif6.png")
	shape := func(flags ...string) []int {
		out := t.TempDir()
		r := call(t, append([]string{"run", "-o", out, img}, flags...)...)
		require.Equal(t, command.ExitOK, r.status, r.stderr)
		return readNPY(t, filepath.Join(out, "png_exif6.png.npy")).Shape.Slice()
	}
	plain, upright := shape("--preset", "decode"), shape("--preset", "decode", "--exif")
	require.NotEqual(t, plain[0], plain[1])
	require.Equal(t, []int{plain[1], plain[0], 3}, upright)
	blob := filepath.Join(t.TempDir(), "blob.json")
	require.NoError(t, os.WriteFile(blob, []byte(`{"datalayout":"NHWC"}`), 0o644))
	require.Equal(t, upright, shape("--opencv", blob))
	require.Equal(t, upright, shape("--opencv", blob, "--exif"))
	require.Equal(t, plain, shape("--opencv", blob, "--exif=false"))
}

func TestRunJSON(t *testing.T) {
	dir := tree(t, map[string][]byte{"in/a.png": pngBytes(t, 5, 4, 1), "in/b.png": []byte("\x89PNG\r\n\x1a\n"), "in/c.png": pngBytes(t, 2, 1, 1), "in/d.txt": []byte("x")})
	t.Chdir(dir)
	r := call(t, "run", "--preset", "yolo", "--outputs", "all", "--format", "npz", "--json", "-o", "out", "none.png", "in")
	require.Equal(t, command.ExitFailed, r.status)
	type line struct {
		Input   string       `json:"input"`
		Outputs []job.Output `json:"outputs"`
		Error   string       `json:"error"`
	}
	var lines []line
	for _, l := range strings.Split(strings.TrimSuffix(r.stdout, "\n"), "\n") {
		var x line
		d := json.NewDecoder(strings.NewReader(l))
		d.DisallowUnknownFields()
		require.NoError(t, d.Decode(&x), l)
		lines = append(lines, x)
	}
	outputs := func(name string) []job.Output {
		f := filepath.Join("out", name+".npz")
		return []job.Output{
			{Name: "images", File: f, DType: tensor.Float32, Shape: tensor.Dims(3, 640, 640)},
			{Name: "scale", File: f, DType: tensor.Float32, Shape: tensor.Dims(2)},
			{Name: "pad", File: f, DType: tensor.Int32, Shape: tensor.Dims(4)},
		}
	}
	require.Len(t, lines, 4)
	require.Equal(t, line{Input: "none.png", Error: "none.png: no such file or folder"}, lines[0])
	require.Equal(t, line{Input: filepath.Join("in", "a.png"), Outputs: outputs("a.png")}, lines[1])
	require.Equal(t, filepath.Join("in", "b.png"), lines[2].Input)
	require.NotEmpty(t, lines[2].Error)
	require.Empty(t, lines[2].Outputs)
	require.Equal(t, line{Input: filepath.Join("in", "c.png"), Outputs: outputs("c.png")}, lines[3])
	require.Regexp(t, `^infer-prep: none.png: .*\ninfer-prep: in/b.png: .*\ninfer-prep: 2 of 4 images failed\n$`, filepath.ToSlash(r.stderr))

	r = call(t, "run", "--preset", "decode", "--json", "-o", "out", "none.png")
	require.Equal(t, command.ExitFailed, r.status)
	require.Equal(t, `{"input":"none.png","error":"none.png: no such file or folder"}`+"\n", r.stdout)
}

// TestRunOrder: lines and messages are in the order of the inputs, and the
// files are the same, for any number of jobs.
func TestRunOrder(t *testing.T) {
	files := map[string][]byte{}
	for i := range 120 {
		size := 1 + (i*37)%90 // so that images take different times
		files[fmt.Sprintf("in/%03d.png", i)] = pngBytes(t, size, size, uint8(i))
		if i%7 == 3 {
			files[fmt.Sprintf("in/%03d.png", i)] = []byte("\x89PNG\r\n\x1a\n")
		}
	}
	dir := tree(t, files)
	t.Chdir(dir)
	var first called
	for _, jobs := range []string{"1", "2", "7"} {
		require.NoError(t, os.RemoveAll("out"))
		r := call(t, "run", "--preset", "decode", "--json", "--jobs", jobs, "-o", "out", "in")
		require.Equal(t, command.ExitFailed, r.status)
		if jobs == "1" {
			first = r
			require.Equal(t, 120, strings.Count(r.stdout, "\n"))
		}
		require.Equal(t, first, r)
		for i := range 120 {
			if i%7 != 3 {
				requireDecoded(t, fmt.Sprintf("out/%03d.png.npy", i), 1+(i*37)%90, 1+(i*37)%90, uint8(i))
			}
		}
	}
}

// TestRunMemory: jobs share the memory limit, so images that need most of it
// run one after another.
func TestRunMemory(t *testing.T) {
	files := map[string][]byte{}
	for i := range 12 {
		files[fmt.Sprintf("in/%02d.png", i)] = pngBytes(t, 200, 200, uint8(i))
	}
	dir := tree(t, files)
	t.Chdir(dir)
	r := call(t, "run", "--preset", "decode", "--limit-bytes", "150Ki", "--jobs", "4", "-o", "out", "in")
	require.Equal(t, command.ExitOK, r.status, r.stderr)
	require.Len(t, listFiles(t, "out"), 12)
	r = call(t, "run", "--preset", "decode", "--limit-bytes", "100000", "--jobs", "4", "-o", "out2", "in")
	require.Equal(t, command.ExitFailed, r.status)
	require.Equal(t, 12, strings.Count(r.stderr, "limit exceeded"), r.stderr)
	require.Empty(t, listFiles(t, "out2"))
}

// wholeFiles checks that a folder contains only complete .npy files, and counts
// them.
func wholeFiles(t *testing.T, dir string) int {
	t.Helper()
	files := listFiles(t, dir)
	for _, f := range files {
		require.True(t, strings.HasSuffix(f, ".npy"), f)
		readNPY(t, filepath.Join(dir, f))
	}
	return len(files)
}

func TestRunInterrupted(t *testing.T) {
	files := map[string][]byte{}
	for i := range 200 {
		files[fmt.Sprintf("in/%03d.png", i)] = pngBytes(t, 5, 4, uint8(i))
	}
	dir := tree(t, files)
	t.Chdir(dir)
	for _, jobs := range []string{"1", "4"} {
		out := "out" + jobs
		ctx, cancel := context.WithCancel(t.Context())
		var n atomic.Int32
		var stdout, stderr bytes.Buffer
		a := &command.App{Stdin: strings.NewReader(""), Stdout: &stdout, Stderr: &stderr, OnItem: func() {
			if n.Add(1) == 20 {
				cancel()
			}
		}}
		status := execute(ctx, a, []string{"run", "--preset", "decode", "--json", "--jobs", jobs, "-o", out, "in"})
		require.Equal(t, command.ExitInterrupted, status)
		got := wholeFiles(t, out)
		require.GreaterOrEqual(t, got, 20)
		require.LessOrEqual(t, got, 20+16*4, "up to 16 images for each worker were begun")
		require.Equal(t, got, strings.Count(stdout.String(), "\n"), "what is done is told")
		require.Equal(t, fmt.Sprintf("infer-prep: interrupted: %d of 200 files done; to go on: infer-prep run --skip-existing --preset decode --json --jobs %s -o %s in\n", got, jobs, out), stderr.String())
	}

	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var stderr bytes.Buffer
	require.Equal(t, command.ExitInterrupted, Run(ctx, []string{"run", "--preset", "decode", "-o", "out", "in"}, strings.NewReader(""), &stderr, &stderr))
	require.Empty(t, listFiles(t, "out"))
}

// TestSignal sends real signals to the program.
func TestSignal(t *testing.T) {
	if runtime.GOOS == "windows" || runtime.GOOS == "js" || runtime.GOOS == "wasip1" {
		t.Log("this system has no signals to send")
		return
	}
	bin := buildProgram(t)
	files := map[string][]byte{}
	img := pngBytes(t, 250, 250, 1)
	for i := range 3000 {
		files[fmt.Sprintf("in/%04d.png", i)] = img
	}
	dir := tree(t, files)
	want := map[string]int{"interrupt": 130, "terminated": 143, "hangup": 129}
	for _, sig := range ending {
		out := filepath.Join(t.TempDir(), "out")
		cmd := exec.Command(bin, "run", "--preset", "yolo", "-o", out, filepath.Join(dir, "in"))
		var stderr bytes.Buffer
		cmd.Stderr = &stderr
		require.NoError(t, cmd.Start())
		require.Eventually(t, func() bool { e, _ := os.ReadDir(out); return len(e) > 3 }, time.Minute, time.Millisecond)
		require.NoError(t, cmd.Process.Signal(sig))
		_ = cmd.Wait()
		require.Equal(t, want[sig.String()], cmd.ProcessState.ExitCode(), stderr.String())
		require.Contains(t, stderr.String(), "interrupted: ")
		require.Less(t, wholeFiles(t, out), 3000)
	}
}

// TestRunSaysWhat: at its end run says which tensors it wrote, and where. What
// a script reads on standard output does not change.
func TestRunSaysWhat(t *testing.T) {
	a, b := pngBytes(t, 5, 4, 1), pngBytes(t, 6, 4, 2)
	t.Chdir(tree(t, map[string][]byte{"in/a.png": a, "in/b.png": b, "graph.json": []byte(`{"infer_prep_graph":1,"inputs":[{"name":"image","dtype":"bytes","layout":"none","shape":[]}],"steps":[{"op":"decode","version":1,"in":["image"],"out":["image"],"params":{"color":"rgb","alpha":"drop","gray16":"clip","refuse":[],"orientation":"ignore","damage":"pillow","scale":"full"}},{"op":"image_size","version":1,"in":["image"],"out":["size"],"params":{"dtype":"int64"}}],"outputs":["image","size"]}`)}))
	for _, c := range []struct{ args, want string }{
		{"--preset imagenet -o out in", "2 tensors of float32 (3, 224, 224) in out\n"},
		{"--preset imagenet --batch -o out in/a.png", "1 tensor of float32 (1, 3, 224, 224) in out\n"},
		{"--preset decode -o out in", "2 tensors of uint8 (4, ?, 3) in out\n"},
		{"--preset imagenet --batch-size 2 --force -o batches in", "2 tensors of float32 (3, 224, 224) in batches in batches\n"},
		{"--preset imagenet --format webdataset -o shards in", "2 tensors of float32 (3, 224, 224) in shards\n"},
		{"--preset imagenet --format raw -o - in", "2 tensors of float32 (3, 224, 224) on standard output\n"},
		{"--graph graph.json -o two in", "image: 2 tensors of uint8 (4, ?, 3) in two\nsize: 2 tensors of int64 (2,) in two\n"},
		{"--graph graph.json --format npz -o three in", "image: 2 tensors of uint8 (4, ?, 3) in three\nsize: 2 tensors of int64 (2,) in three\n"},
	} {
		r := call(t, append([]string{"run"}, strings.Fields(c.args)...)...)
		require.Equal(t, command.ExitOK, r.status, r.stderr)
		_, after, _ := strings.Cut(r.stderr, "images/s\n")
		require.Equal(t, c.want, after, c.args)
		require.Equal(t, len(strings.Split(c.want, "\n"))-1, len(tensorsLine.FindAllString(after, -1)), c.args)
		if !strings.Contains(c.args, "-o -") {
			require.Empty(t, r.stdout)
			require.Empty(t, call(t, append([]string{"run", "-q"}, strings.Fields(strings.ReplaceAll(c.args, "-o ", "-o q"))...)...).stderr)
		}
	}
}

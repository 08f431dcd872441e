package cli

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/klauspost/compress/zstd"
	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/cmd/internal/cli/command"
	"github.com/infer-prep/infer-prep/internal/pipe"
	"github.com/infer-prep/infer-prep/recordio"
	"github.com/infer-prep/infer-prep/records"
	"github.com/infer-prep/infer-prep/records/tfrecord"
	"github.com/infer-prep/infer-prep/store"
)

// fileTree returns the files below a folder by name, with slashes.
func fileTree(t *testing.T, dir string) map[string]string {
	t.Helper()
	l := map[string]string{}
	for _, name := range listFiles(t, dir) {
		b, err := os.ReadFile(filepath.Join(dir, name))
		require.NoError(t, err)
		l[filepath.ToSlash(name)] = string(b)
	}
	return l
}

// entry is a member of a tar file.
type tarEntry struct {
	name string
	data []byte
}

func tarBytes(t *testing.T, l ...tarEntry) []byte {
	t.Helper()
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, e := range l {
		h := &tar.Header{Name: e.name, Size: int64(len(e.data)), Mode: 0o644, Typeflag: tar.TypeReg}
		if strings.HasSuffix(e.name, "/") {
			h.Typeflag = tar.TypeDir
		}
		require.NoError(t, w.WriteHeader(h))
		_, err := w.Write(e.data)
		require.NoError(t, err)
	}
	require.NoError(t, w.Close())
	return b.Bytes()
}

func gzipped(t *testing.T, b []byte) []byte {
	t.Helper()
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	_, err := w.Write(b)
	require.NoError(t, err)
	require.NoError(t, w.Close())
	return out.Bytes()
}

func zstded(t *testing.T, b []byte) []byte {
	t.Helper()
	w, err := zstd.NewWriter(nil)
	require.NoError(t, err)
	defer w.Close()
	return w.EncodeAll(b, nil)
}

// recordsIn returns a record file of a format with the images as a field.
func recordsIn(t *testing.T, format, field string, images ...[]byte) []byte {
	t.Helper()
	f, err := records.Lookup(format)
	require.NoError(t, err)
	name := filepath.Join(t.TempDir(), "x")
	w, err := f.Create(t.Context(), store.Local, name, records.WriteOptions{})
	require.NoError(t, err)
	for i, b := range images {
		var r records.Record
		r.Reset(fmt.Sprint(i), "", -1)
		r.AddBytes(field, b)
		if format == "imagerecord" {
			r.AddInt("cls", int64(i))
		}
		require.NoError(t, w.Write(&r))
	}
	require.NoError(t, w.Close())
	b, err := os.ReadFile(name)
	require.NoError(t, err)
	return b
}

// TestRunContainers: the images in containers of all formats become the tensors
// of the same images in files, from a file, standard input, and with any number
// of jobs.
func TestRunContainers(t *testing.T) {
	var images [][]byte
	for i := range 20 {
		images = append(images, pngBytes(t, 5+i, 4, uint8(i)))
	}
	var entries []tarEntry
	files := map[string][]byte{}
	for i, b := range images {
		name := fmt.Sprintf("a/b%02d.png", i)
		if i%5 == 0 {
			name = fmt.Sprintf("%d", i) // without an extension
		}
		entries = append(entries, tarEntry{"./" + name, b}, tarEntry{fmt.Sprintf("a/b%02d.json", i), []byte("{}")})
		files["ref/"+name] = b
	}
	archive := tarBytes(t, append(entries, tarEntry{"a/", nil}, tarEntry{"empty.png", nil})...)
	var raw, tfraw bytes.Buffer
	rw, err := recordio.NewWriter(&raw, 0)
	require.NoError(t, err)
	tw := tfrecord.NewWriter(&tfraw, 0)
	keyed := func(field string) map[string][]byte {
		l := map[string][]byte{}
		for i, b := range images {
			l[fmt.Sprintf("keyed-%s/%d.%s", field, i, field)] = b
		}
		return l
	}
	for _, b := range images {
		require.NoError(t, rw.Write(b))
		require.NoError(t, tw.Write(b))
	}
	require.NoError(t, rw.Write([]byte("no image")))
	require.NoError(t, tw.Write(nil))
	for _, field := range []string{"png", "data", "image%2Fencoded"} {
		for name, b := range keyed(field) {
			files[name] = b
		}
	}
	for name, b := range map[string][]byte{
		"p.tar": archive, "p.tar.gz": gzipped(t, archive), "p.tgz": gzipped(t, archive), "p.tar.zst": zstded(t, archive),
		"tar-of-no-name": archive, "zst.dat": zstded(t, archive),
		"r.rec": raw.Bytes(), "i.rec": recordsIn(t, "imagerecord", "png", images...), "i": recordsIn(t, "imagerecord", "png", images...),
		"t.tfrecord": tfraw.Bytes(), "e.tfrecord": recordsIn(t, "tfexample", "image/encoded", images...),
	} {
		files["in/"+name] = b
	}
	t.Chdir(tree(t, files))
	want := map[string]map[string]string{}
	for _, dir := range []string{"ref", "keyed-png", "keyed-data", "keyed-image%2Fencoded"} {
		require.Equal(t, command.ExitOK, call(t, "run", "--preset", "imagenet", "-o", "o-"+dir, dir).status)
		want[dir] = fileTree(t, "o-"+dir)
		require.Len(t, want[dir], len(images))
	}
	for _, c := range []struct {
		name, ref string
		skipped   int
	}{
		{"p.tar", "ref", 21}, {"p.tar.gz", "ref", 21}, {"p.tgz", "ref", 21}, {"p.tar.zst", "ref", 21}, {"tar-of-no-name", "ref", 21}, {"zst.dat", "ref", 21},
		{"r.rec", "keyed-data", 1}, {"i.rec", "keyed-png", 0}, {"i", "keyed-png", 0}, {"t.tfrecord", "keyed-data", 1}, {"e.tfrecord", "keyed-image%2Fencoded", 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			done := fmt.Sprintf("20 images, 0 failed, %d skipped", c.skipped)
			for _, jobs := range []string{"1", "3"} {
				out := t.TempDir()
				r := call(t, "run", "--preset", "imagenet", "--jobs", jobs, "-o", out, "in/"+c.name)
				require.Equal(t, command.ExitOK, r.status, r.stderr)
				require.Contains(t, r.stderr, done)
				require.Equal(t, want[c.ref], fileTree(t, filepath.Join(out, c.name)))
			}
			b, err := os.ReadFile("in/" + c.name)
			require.NoError(t, err)
			out := t.TempDir()
			r := callIn(t, string(b), "run", "--preset", "imagenet", "-o", out, "-")
			require.Equal(t, command.ExitOK, r.status, r.stderr)
			require.Contains(t, r.stderr, done)
			require.Equal(t, want[c.ref], fileTree(t, filepath.Join(out, "stdin")))

			// A glob opens containers, a walk does not.
			r = call(t, "run", "--preset", "imagenet", "-o", out, "in/"+c.name[:len(c.name)-1]+"["+c.name[len(c.name)-1:]+"]")
			require.Equal(t, command.ExitOK, r.status, r.stderr)
			require.Equal(t, want[c.ref], fileTree(t, filepath.Join(out, c.name)))
		})
	}
	r := call(t, "run", "--preset", "imagenet", "-o", "walked", "in")
	require.Equal(t, called{command.ExitFailed, "", "infer-prep: no images found, 11 files skipped\n"}, r)
}

// TestRunContainerNames: names that lead out of the output folder, that occur
// twice or that another input has are errors of their image.
func TestRunContainerNames(t *testing.T) {
	img := func(seed uint8) []byte { return pngBytes(t, 5, 4, seed) }
	archive := tarBytes(t, tarEntry{"../up.png", img(1)}, tarEntry{"/abs.png", img(2)}, tarEntry{"a/../b.png", img(3)},
		tarEntry{"c.png", img(4)}, tarEntry{"./c.png", img(5)}, tarEntry{"../note.txt", []byte("no image")}, tarEntry{"..png", img(6)},
		tarEntry{".infer-prep-0123abcd.tmp", img(7)}, tarEntry{"d.png", img(8)[:50]})
	t.Chdir(tree(t, map[string][]byte{"in/p.tar": archive, "other/p.tar": archive, "walk/p.tar/x.png": img(9), "walk/y.png": img(10)}))
	r := call(t, "run", "--preset", "decode", "-o", "out", "in/p.tar", "other/p.tar", "walk")
	require.Equal(t, command.ExitFailed, r.status)
	require.Equal(t, []string{"p.tar/..png.npy", "p.tar/c.png.npy", "y.png.npy"}, listFiles(t, "out"))
	requireDecoded(t, "out/p.tar/c.png.npy", 5, 4, 4)
	for _, s := range []string{
		"infer-prep: in/p.tar/../up.png: the name leads out of the output folder\n",
		"infer-prep: in/p.tar//abs.png: the name leads out of the output folder\n",
		"infer-prep: in/p.tar/a/../b.png: the name leads out of the output folder\n",
		"infer-prep: in/p.tar/./c.png: its output is already that of an earlier image of the same name in in/p.tar\n",
		"infer-prep: in/p.tar/d.png: png: ",
		"infer-prep: other/p.tar: its output folder out/p.tar is already that of in/p.tar; --keep-path keeps them apart by their folders\n",
		"infer-prep: walk/p.tar/x.png: its output is in the output folder out/p.tar of in/p.tar\n",
		"10 images, 7 failed, 2 skipped",
	} {
		require.Contains(t, r.stderr, s)
	}
	r = call(t, "run", "--preset", "decode", "-o", "in", "in/p.tar")
	require.Equal(t, called{command.ExitFailed, "", "infer-prep: in/p.tar: its output folder in/p.tar is an input\n1 image, 1 failed, 0 skipped, 0.0 s, 0 images/s\n"}, r)
}

// TestRunContainerNumbers: numbered outputs count the images of containers and
// files in order.
func TestRunContainerNumbers(t *testing.T) {
	img := func(seed uint8) []byte { return pngBytes(t, 5, 4, seed) }
	t.Chdir(tree(t, map[string][]byte{
		"a.png": img(0), "p.tar": tarBytes(t, tarEntry{"x.png", img(1)}, tarEntry{"n.txt", []byte("no")}, tarEntry{"y.png", img(2)}), "b.png": img(3),
		"f/b.png": img(4), "f/c.png": img(5),
	}))
	r := call(t, "run", "--preset", "decode", "--format", "onnx-test", "-o", "out", "a.png", "p.tar", "b.png", "f")
	require.Equal(t, command.ExitFailed, r.status)
	require.Contains(t, r.stderr, "infer-prep: f/b.png: an earlier image has the same name, b.png\n")
	b, err := os.ReadFile("out/test_data_sets.txt")
	require.NoError(t, err)
	require.Equal(t, "test_data_set_0\ta.png\ntest_data_set_1\tp.tar/x.png\ntest_data_set_2\tp.tar/y.png\ntest_data_set_3\tb.png\ntest_data_set_4\tc.png\n", string(b))
}

// TestRunContainerDamaged: the images before the damage are done, the container
// fails.
func TestRunContainerDamaged(t *testing.T) {
	var entries []tarEntry
	var images [][]byte
	for i := range 10 {
		images = append(images, pngBytes(t, 60, 40, uint8(i)))
		entries = append(entries, tarEntry{fmt.Sprintf("%d.png", i), images[i]})
	}
	archive := tarBytes(t, entries...)
	cut := func(b []byte) []byte { return b[:len(b)*6/10] }
	for name, b := range map[string][]byte{
		"p.tar": cut(archive), "p.tar.gz": cut(gzipped(t, archive)), "i.rec": cut(recordsIn(t, "imagerecord", "png", images...)),
		"e.tfrecord": cut(recordsIn(t, "tfexample", "image", images...)),
	} {
		t.Run(name, func(t *testing.T) {
			t.Chdir(tree(t, map[string][]byte{name: b, "z.png": images[0]}))
			r := call(t, "run", "--preset", "decode", "-o", "out", name, "z.png")
			require.Equal(t, command.ExitFailed, r.status, r.stderr)
			done := listFiles(t, filepath.Join("out", name))
			require.Greater(t, len(done), 3)
			require.Less(t, len(done), 9)
			for i, f := range done {
				requireDecoded(t, filepath.Join("out", name, f), 60, 40, uint8(i))
			}
			require.Equal(t, 1, strings.Count(r.stderr, "infer-prep: "), r.stderr)
			require.Regexp(t, name+`: at byte \d+: `, r.stderr)
			require.Contains(t, r.stderr, fmt.Sprintf("%d images, 1 failed, 0 skipped", len(done)+2))
			requireDecoded(t, "out/z.png.npy", 60, 40, 0)
		})
	}
}

// TestRunContainerLimit: an image above the limit fails, those after it are
// done. A stream is read up to the limit only.
func TestRunContainerLimit(t *testing.T) {
	small, large := pngBytes(t, 5, 4, 1), append(pngBytes(t, 5, 4, 2), make([]byte, 300_000)...)
	t.Chdir(tree(t, map[string][]byte{"p.tar": tarBytes(t, tarEntry{"a.png", large}, tarEntry{"b.png", small})}))
	r := call(t, "run", "--preset", "decode", "--limit-bytes", "200000", "-o", "out", "p.tar")
	require.Equal(t, command.ExitFailed, r.status)
	require.Regexp(t, `p.tar/a.png: .*limit exceeded: the file has \d+ bytes, the limit is 200000`, r.stderr)
	require.Equal(t, []string{"p.tar/b.png.npy"}, listFiles(t, "out"))

	endless := &counted{r: io.MultiReader(bytes.NewReader(large), zeroReader{})}
	var errs bytes.Buffer
	require.Equal(t, command.ExitFailed, Run(t.Context(), []string{"run", "--preset", "decode", "--limit-bytes", "200000", "-o", "out", "-"}, endless, io.Discard, &errs))
	require.Regexp(t, `-: .*limit exceeded: the input has more than 200000 bytes`, errs.String())
	require.Less(t, int(endless.n.Load()), 200_000+4*pipe.Buffer)
}

type zeroReader struct{}

func (zeroReader) Read(b []byte) (int, error) { return len(b), nil }

type counted struct {
	r io.Reader
	n atomic.Int64
}

func (c *counted) Read(b []byte) (int, error) {
	n, err := c.r.Read(b)
	c.n.Add(int64(n))
	return n, err
}

// TestStdinTwice: only one argument or flag reads standard input.
func TestStdinTwice(t *testing.T) {
	for _, args := range [][]string{
		{"run", "--graph", "-", "-o", "out", "-"}, {"run", "--preset", "decode", "-o", "out", "-", "-"}, {"diff", "--graph", "-", "-", "x"}, {"graph", "infer", "--hf", "-", "-"},
	} {
		r := callIn(t, "{}", args...)
		require.Equal(t, command.ExitUsage, r.status)
		require.Contains(t, r.stderr, "both read standard input: want only one")
	}
}

// TestImageOnStdin: the commands that take an image take it from standard
// input, with the output of the file.
func TestImageOnStdin(t *testing.T) {
	img := pngBytes(t, 300, 240, 7)
	t.Chdir(tree(t, map[string][]byte{"a.png": img}))
	require.Equal(t, command.ExitOK, call(t, "run", "--preset", "imagenet", "-o", "out", "a.png").status)
	r := callIn(t, string(img), "run", "--preset", "imagenet", "-o", "out", "--json", "-")
	require.Equal(t, command.ExitOK, r.status, r.stderr)
	require.Contains(t, r.stdout, `{"input":"-","outputs":[{"name":"image","file":"out/stdin.npy",`)
	l := fileTree(t, "out")
	require.Equal(t, l["a.png.npy"], l["stdin.npy"])

	for _, args := range [][]string{
		{"graph", "infer", "--preset", "imagenet"}, {"graph", "plan", "--preset", "imagenet"}, {"graph", "show", "--preset", "imagenet", "--steps", "steps"},
	} {
		file, stdin := call(t, append(args, "a.png")...), callIn(t, string(img), append(args, "-")...)
		require.Equal(t, command.ExitOK, stdin.status, stdin.stderr)
		require.Equal(t, strings.ReplaceAll(file.stdout, "a.png", "-"), stdin.stdout)
	}
	require.Equal(t, command.ExitOK, callIn(t, string(img), "diff", "--preset", "imagenet", "-", "--against", "out/a.png.npy").status)
	require.Equal(t, command.ExitOK, callIn(t, string(img), "diff", "--preset", "imagenet", "-", "steps").status)
	require.Equal(t, command.ExitUsage, callIn(t, "no image", "diff", "--preset", "imagenet", "-", "steps").status)
}

// TestRecordsOnStdin: the commands that read records read a stream as they
// read the file.
func TestRecordsOnStdin(t *testing.T) {
	images := [][]byte{pngBytes(t, 5, 4, 1), pngBytes(t, 6, 4, 2)}
	for format, b := range map[string][]byte{
		"webdataset": gzipped(t, tarBytes(t, tarEntry{"0.png", images[0]}, tarEntry{"0.cls", []byte("7")}, tarEntry{"1.png", images[1]})),
		"recordio":   recordsIn(t, "recordio", "data", images...), "imagerecord": recordsIn(t, "imagerecord", "png", images...),
		"tfrecord": recordsIn(t, "tfrecord", "data", images...), "tfexample": recordsIn(t, "tfexample", "image", images...),
	} {
		t.Run(format, func(t *testing.T) {
			t.Chdir(tree(t, map[string][]byte{"file": b}))
			for _, args := range [][]string{{"ls"}, {"ls", "--json"}, {"cat"}, {"verify"}} {
				file := call(t, append(append([]string{"records"}, args...), "file")...)
				require.Equal(t, command.ExitOK, file.status, file.stderr)
				r := callIn(t, string(b), append(append([]string{"records"}, args...), "-")...)
				require.Equal(t, command.ExitOK, r.status, r.stderr)
				fields := func(s string) []string {
					return strings.Fields(strings.NewReplacer("file:", "-:", `"file":"file"`, `"file":"-"`, `"file": "file"`, `"file": "-"`, "\nfile ", "\n- ").Replace(s))
				}
				require.Equal(t, fields(file.stdout), fields(r.stdout))
			}
			require.Equal(t, command.ExitOK, call(t, "records", "convert", "file", "--to", "tfexample", "-o", "a.tfrecord").status)
			r := callIn(t, string(b), "records", "convert", "-", "--to", "tfexample", "-o", "b.tfrecord")
			require.Equal(t, command.ExitOK, r.status, r.stderr)
			l := fileTree(t, ".")
			require.Equal(t, l["a.tfrecord"], l["b.tfrecord"])

			r = callIn(t, string(b[:len(b)-1]), "records", "verify", "-")
			require.Equal(t, command.ExitFailed, r.status)
			require.Contains(t, r.stdout, "damaged in 1 place")
		})
	}
	r := callIn(t, "what", "records", "cat", "-")
	require.Equal(t, command.ExitFailed, r.status)
	require.Contains(t, r.stderr, "infer-prep: -: unknown format: set --from to ")
	require.Equal(t, called{command.ExitFailed, "", "infer-prep: -: the index stands beside a file: want a file, not a pipe\n"}, call(t, "records", "index", "-"))
	r = call(t, "records", "convert", "-", "x.tar", "-o", "y.tar")
	require.Equal(t, command.ExitUsage, r.status)
	require.Contains(t, r.stderr, "- is a pipe: want it alone, or files")
}

// TestDiffStdin: diff reads a tensor from standard input by its content.
func TestDiffStdin(t *testing.T) {
	t.Chdir(tree(t, map[string][]byte{"a.png": pngBytes(t, 30, 40, 1), "b.png": pngBytes(t, 30, 40, 2)}))
	for _, format := range []string{"npy", "npz", "safetensors", "raw"} {
		require.Equal(t, command.ExitOK, call(t, "run", "--preset", "imagenet", "--format", format, "-o", format, "a.png", "b.png").status)
		a, err := os.ReadFile(filepath.Join(format, "a.png."+format))
		require.NoError(t, err)
		b, err := os.ReadFile(filepath.Join(format, "b.png."+format))
		require.NoError(t, err)
		args := []string{"diff", "-", filepath.Join(format, "a.png."+format)}
		if format == "raw" {
			args = append(args, "--like", "float32:3,224,224:CHW")
		}
		require.Equal(t, command.ExitOK, callIn(t, string(a), args...).status, format)
		require.Equal(t, command.ExitFailed, callIn(t, string(b), args...).status, format)
		args = []string{"diff", "--preset", "imagenet", "a.png", "--against", "-"}
		require.Equal(t, command.ExitOK, callIn(t, string(a), args...).status, format)
		r := callIn(t, string(a[:len(a)-1]), args...)
		require.Equal(t, command.ExitUsage, r.status, r.stderr)
		require.Contains(t, r.stderr, "infer-prep: -: ")
		if format != "npz" { // zip files may have text at their end
			require.Equal(t, command.ExitUsage, callIn(t, string(a)+"x", args...).status)
		}
	}
	r := callIn(t, "what", "diff", "-", "npy/a.png.npy")
	require.Equal(t, command.ExitUsage, r.status)
	require.Contains(t, r.stderr, "-: unknown format: a pipe holds npy, npz, safetensors")
}

// TestRunContainerMemory: the memory of a run does not grow with the size of a
// container: neither with its images nor with what they are among.
func TestRunContainerMemory(t *testing.T) {
	const images, each = 1500, 200_000 // 300 MB
	png := append(pngBytes(t, 5, 4, 1), make([]byte, each)...)
	other := make([]byte, 2*each)
	var early, late uint64
	stdin, w := io.Pipe()
	go func() {
		err := func() error {
			archive := tar.NewWriter(w)
			for i := range images {
				for _, e := range []tarEntry{{fmt.Sprintf("%d.png", i), png}, {fmt.Sprintf("%d.txt", i), other}} {
					if err := archive.WriteHeader(&tar.Header{Name: e.name, Size: int64(len(e.data)), Mode: 0o644}); err != nil {
						return err
					}
					if _, err := archive.Write(e.data); err != nil {
						return err
					}
				}
				if i == images/5 || i == images-1 {
					runtime.GC()
					var m runtime.MemStats
					runtime.ReadMemStats(&m)
					if late = m.HeapAlloc; i < images-1 {
						early = late
					}
				}
			}
			return archive.Close()
		}()
		_ = w.CloseWithError(err) // nil is the end
	}()
	var errs bytes.Buffer
	require.Equal(t, command.ExitOK, Run(t.Context(), []string{"run", "--preset", "decode", "--jobs", "2", "--limit-bytes", "10000000", "-o", t.TempDir(), "-"}, stdin, io.Discard, &errs), errs.String())
	require.Contains(t, errs.String(), fmt.Sprintf("%d images, 0 failed, %d skipped", images, images))
	require.Less(t, late, early+8<<20, "%d bytes, then %d", early, late)
}

// TestRunContainerAgain: a second run over a container skips the images that
// are done. A report has its images, and as a list of files it names the
// container. Members that could be taken for images are named.
func TestRunContainerAgain(t *testing.T) {
	img := func(seed uint8) []byte { return pngBytes(t, 5, 4, seed) }
	write := func(second uint8) {
		require.NoError(t, os.WriteFile("p.tar", tarBytes(t, tarEntry{"a.png", img(1)}, tarEntry{"b.png", img(second)}, tarEntry{"c.png", img(3)[:40]},
			tarEntry{"d.svg", []byte("<svg xmlns='http://www.w3.org/2000/svg'/>")}, tarEntry{"e.txt", []byte("text")}), 0o666))
	}
	t.Chdir(t.TempDir())
	write(2)
	run := func(args ...string) called {
		return call(t, append([]string{"run", "--preset", "decode", "-o", "out", "--report", "report.jsonl", "--skip-existing=content"}, args...)...)
	}
	r := run("p.tar")
	require.Equal(t, command.ExitFailed, r.status)
	require.Contains(t, r.stderr, "3 images, 1 failed, 2 skipped")
	require.Contains(t, r.stderr, "p.tar/d.svg")
	require.NotContains(t, r.stderr, "e.txt")
	b, err := os.ReadFile("report.jsonl")
	require.NoError(t, err)
	require.Regexp(t, `^\{"input":"p.tar/a.png","name":"p.tar/a.png","in":"p.tar","status":"done","outputs":\[.*
\{"input":"p.tar/b.png","name":"p.tar/b.png","in":"p.tar","status":"done".*
\{"input":"p.tar/c.png",.*"in":"p.tar","status":"failed","kind":"image".*
\{"input":"p.tar/d.svg","in":"p.tar","status":"skipped",.*
\{"input":"p.tar/e.txt","in":"p.tar","status":"skipped","why":"not an image"\}
\{"status":"end"\}
$`, string(b))
	before, err := os.Stat("out/p.tar/a.png.npy")
	require.NoError(t, err)

	write(7)
	require.NoError(t, os.Rename("report.jsonl", "first.jsonl"))
	r = run("--files-from", "first.jsonl")
	require.Equal(t, command.ExitFailed, r.status)
	requireDecoded(t, "out/p.tar/a.png.npy", 5, 4, 1)
	requireDecoded(t, "out/p.tar/b.png.npy", 5, 4, 7)
	after, err := os.Stat("out/p.tar/a.png.npy")
	require.NoError(t, err)
	require.True(t, os.SameFile(before, after), "the image was done again")
}

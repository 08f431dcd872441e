package cli

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/cmd/internal/cli/command"
	"github.com/infer-prep/infer-prep/codec"
	"github.com/infer-prep/infer-prep/recordio"
	"github.com/infer-prep/infer-prep/recordio/imagerecord"
)

// packed reads the records of a file.
func packed(t *testing.T, path string) (l []imagerecord.Record) {
	t.Helper()
	b, err := os.ReadFile(path)
	require.NoError(t, err)
	r := recordio.NewBytes(b, recordio.Options{})
	for {
		record, err := r.Next()
		if err != nil {
			return l
		}
		var i imagerecord.Record
		require.NoError(t, i.Parse(bytes.Clone(record)))
		l = append(l, i)
	}
}

// packTree creates ten images in three folders, and one file that is not an
// image.
func packTree(t *testing.T) {
	files := map[string][]byte{"in/dog/notes.txt": []byte("x")}
	for i, name := range []string{"in/a.png", "in/cat/1.png", "in/cat/2.PNG", "in/cat/3.png", "in/dog/1.png", "in/dog/2.png", "in/dog/3.png", "in/dog/4.png", "in/dog/5.png", "in/dog/6.png"} {
		files[name] = pngBytes(t, 30+i, 40, uint8(i))
	}
	t.Chdir(tree(t, files))
}

// notesLeft is the line about the file that is not an image.
const notesLeft = `infer-prep: 1 file on no list \(1 \.txt\): --exts lists more extensions\n`

func TestPackRecordIO(t *testing.T) {
	packTree(t)
	r := call(t, "pack", "recordio", "--recursive", "--no-shuffle", "--resize", "20", "--sums", "out/x", "in")
	require.Equal(t, command.ExitOK, r.status, r.stderr)
	require.Equal(t, ". 0\ncat 1\ndog 2\n", r.stdout)
	require.Regexp(t, `^`+notesLeft+`10 images in out/x\.rec, \d+ bytes\n$`, r.stderr)
	require.Equal(t, []string{"x.idx", "x.rec", "x.rec.sums"}, listFiles(t, "out"))
	l := packed(t, "out/x.rec")
	require.Len(t, l, 10)
	var labels []float32
	for i, rec := range l {
		labels = append(labels, rec.Labels...)
		info, err := codec.DecodeConfig(rec.Content, nil)
		require.NoError(t, err)
		require.Equal(t, []any{"jpeg", "baseline 4:2:0", 20}, []any{info.Format, info.Variant, min(info.Width, info.Height)})
		require.Equal(t, uint64(i), rec.ID)
	}
	require.Equal(t, []float32{0, 1, 1, 1, 2, 2, 2, 2, 2, 2}, labels)
	sums, err := os.ReadFile("out/x.rec.sums")
	require.NoError(t, err)
	s, err := recordio.ReadSums("", bytes.NewReader(sums))
	require.NoError(t, err)
	require.Len(t, s, 10)

	r = call(t, "records", "verify", "out/x.rec")
	require.Equal(t, called{command.ExitOK, "out/x.rec: imagerecord, 10 records, compared with out/x.idx, out/x.rec.sums: ok\n", ""}, r)

	// The files exist.
	r = call(t, "pack", "recordio", "-q", "out/x", "in")
	require.Equal(t, called{command.ExitFailed, "", "infer-prep: pack: out/x.rec: exists already; --force replaces it\n"}, r)
	r = call(t, "pack", "recordio", "-q", "--force", "--encoding", ".png", "--color", "0", "--center-crop", "--exts", ".PNG", "out/x", "in")
	require.Equal(t, called{command.ExitOK, "", ""}, r)
	require.Equal(t, []string{"x.idx", "x.rec"}, listFiles(t, "out"), "sums of other records are gone")
	l = packed(t, "out/x.rec")
	require.Len(t, l, 1)
	info, err := codec.DecodeConfig(l[0].Content, nil)
	require.NoError(t, err)
	require.Equal(t, []any{"png", codec.L, 30, 30}, []any{info.Format, info.Mode, info.Width, info.Height})

	// Flags that change the files, and one that does not.
	files := map[string]string{}
	for name, args := range map[string]string{
		"jobs 1": "--jobs 1", "jobs 5": "--jobs 5", "seed": "--seed 7", "quality": "--quality 50", "chroma": "--chroma 444", "unchanged": "--color -1 --encoding .png", "pass": "--pass-through",
	} {
		r := call(t, append(append([]string{"pack", "recordio", "-q", "--recursive"}, strings.Fields(args)...), "out/"+name, "in")...)
		require.Equal(t, called{command.ExitOK, "", ""}, r, name)
		b, err := os.ReadFile("out/" + name + ".rec")
		require.NoError(t, err)
		files[name] = string(b)
	}
	require.True(t, files["jobs 1"] == files["jobs 5"])
	delete(files, "jobs 5")
	different := map[string]bool{}
	for _, f := range files {
		different[f] = true
	}
	require.Len(t, different, len(files))
}

func TestPackRecordIOLists(t *testing.T) {
	packTree(t)
	r := call(t, "pack", "recordio", "--list", "--recursive", "--train-ratio", "0.75", "--test-ratio", "0.25", "out/x", "in")
	require.Equal(t, called{command.ExitOK, ". 0\ncat 1\ndog 2\n", "infer-prep: 1 file on no list (1 .txt): --exts lists more extensions\ninfer-prep: 1 image of 10 in no list, since the sizes of lists are rounded down as in im2rec\n"}, r)
	require.Equal(t, []string{"x_test.lst", "x_train.lst"}, listFiles(t, "out"))
	r = call(t, "pack", "recordio", "--list", "--train-ratio", "0.5", "out/x", "in")
	require.Equal(t, called{command.ExitFailed, "", "infer-prep: 2 folders on no list: --recursive lists their files\ninfer-prep: out/x_train.lst: the file exists; --force replaces it\n"}, r)
	require.NoError(t, os.WriteFile("out/x2.lst", []byte("an other list"), 0o666)) // im2rec would read it

	r = call(t, "pack", "recordio", "--resize", "10", "out/x", "in")
	require.Equal(t, command.ExitOK, r.status, r.stderr)
	require.Regexp(t, `^lists: out/x_test\.lst, out/x_train\.lst\n9 images in out/x_test\.rec, out/x_train\.rec, \d+ bytes\n$`, r.stderr)
	require.Len(t, packed(t, "out/x_test.rec"), 2)
	require.Len(t, packed(t, "out/x_train.rec"), 7)
	r = call(t, "pack", "recordio", "--recursive", "--force", "out/x", "in")
	require.Equal(t, command.ExitUsage, r.status)
	require.Contains(t, r.stderr, "--recursive applies to new lists, but out/x_test.lst exists: remove the list or the flag")

	// With --lst.
	require.NoError(t, os.WriteFile("my.lst", []byte("5\t1.5\t2\tdog/1.png\n\n7\t-1\tcat/1.png\n6\t3\t4\tcat/none.png\n"), 0o666))
	r = call(t, "pack", "recordio", "--lst", "my.lst", "--pack-label", "--pass-through", "out/y", "in")
	require.Equal(t, command.ExitFailed, r.status)
	require.Regexp(t, `^infer-prep: my\.lst: item 3: cat/none\.png: no such file or directory\n2 images in out/y\.rec, \d+ bytes, 1 could not be packed\n$`, r.stderr)
	l := packed(t, "out/y.rec")
	require.Equal(t, []any{[]float32{1.5, 2}, true, uint64(5)}, []any{l[0].Labels, l[0].Listed, l[0].ID})
	require.Equal(t, []any{[]float32{-1}, false, uint64(7)}, []any{l[1].Labels, l[1].Listed, l[1].ID})
	require.Equal(t, pngBytes(t, 34, 40, 4), l[0].Content)
	r = call(t, "pack", "recordio", "-q", "--lst", "my.lst", "out/z", "in")
	require.Equal(t, called{command.ExitFailed, "", "infer-prep: my.lst: item 3: cat/none.png: no such file or directory\n"}, r)
	require.Equal(t, []float32{1.5}, packed(t, "out/z.rec")[0].Labels)

	// A missing image ends the pack; once it exists, the pack resumes.
	r = call(t, "pack", "recordio", "--lst", "my.lst", "--bad", "fail", "out/w", "in")
	require.Equal(t, called{command.ExitFailed, "", "infer-prep: my.lst: item 3: cat/none.png: no such file or directory (2 of 3 images done; give the same command again to resume)\n"}, r)
	require.Equal(t, []string{"w.idx.part", "w.rec.pack", "w.rec.part"}, listFiles(t, "out")[:3])
	r = call(t, "pack", "recordio", "--lst", "my.lst", "--bad", "fail", "--quality", "7", "out/w", "in")
	require.Equal(t, called{command.ExitFailed, "", "infer-prep: pack: out/w.rec.pack: an unfinished pack with other parameters or items; --restart discards the unfinished pack and starts again\n"}, r)
	// Neither does it resume after an image that it has packed was changed.
	old, err := os.ReadFile("in/dog/1.png")
	require.NoError(t, err)
	require.NoError(t, os.WriteFile("in/dog/1.png", append(old, 0), 0o666))
	r = call(t, "pack", "recordio", "--lst", "my.lst", "--bad", "fail", "out/w", "in")
	require.Equal(t, called{command.ExitFailed, "", "infer-prep: pack: my.lst: item 1: dog/1.png: changed since it was packed: its size or modification time is not that of the packed image; --restart discards the unfinished pack and starts again\n"}, r)
	require.NoError(t, os.WriteFile("in/dog/1.png", old, 0o666))
	r = call(t, "pack", "recordio", "--restart", "--compare-content", "--lst", "my.lst", "--bad", "fail", "out/w", "in")
	require.Equal(t, command.ExitFailed, r.status)
	require.NoError(t, os.Chtimes("in/dog/1.png", time.Time{}, time.Unix(1e9, 0)))
	require.NoError(t, os.WriteFile("in/cat/none.png", pngBytes(t, 3, 3, 1), 0o666))
	r = call(t, "pack", "recordio", "--lst", "my.lst", "--bad", "fail", "out/w", "in")
	require.Contains(t, r.stderr, "an unfinished pack with other parameters or items")
	r = call(t, "pack", "recordio", "--compare-content", "--lst", "my.lst", "--bad", "fail", "out/w", "in")
	require.Equal(t, command.ExitOK, r.status, r.stderr)
	require.Regexp(t, `^3 images in out/w\.rec, \d+ bytes \(2 packed before\)\n$`, r.stderr)
	require.NoError(t, os.Remove("in/cat/none.png"))
	r = call(t, "pack", "recordio", "--force", "--lst", "my.lst", "--bad", "fail", "out/w", "in")
	require.Equal(t, command.ExitFailed, r.status)
	require.NoError(t, os.WriteFile("in/cat/none.png", pngBytes(t, 3, 3, 1), 0o666))
	r = call(t, "pack", "recordio", "--force", "--lst", "my.lst", "--bad", "fail", "out/w", "in")
	require.Equal(t, command.ExitOK, r.status, r.stderr)
	require.Regexp(t, `^3 images in out/w\.rec, \d+ bytes \(2 packed before\)\n$`, r.stderr)

	require.NoError(t, os.WriteFile("bad.lst", []byte("1\t2\ta.png\nx\t2\ta.png\n"), 0o666))
	r = call(t, "pack", "recordio", "--lst", "bad.lst", "out/v", "in")
	require.Equal(t, called{command.ExitFailed, "", "infer-prep: imagerecord: bad.lst:2: invalid line of a list: \"x\", want a number\n"}, r)
	r = call(t, "pack", "recordio", "--lst", "none.lst", "out/v", "in")
	require.Equal(t, called{command.ExitFailed, "", "infer-prep: none.lst: no such file or directory\n"}, r)
	r = call(t, "pack", "recordio", "--exts", ".bmp", "out/v", "in")
	require.Equal(t, called{command.ExitFailed, "", "infer-prep: 1 file on no list (1 .png): --exts lists more extensions; 2 folders on no list: --recursive lists their files\ninfer-prep: in: no images found: want files with the extension .bmp\n"}, r)
	r = call(t, "pack", "recordio", "out/v", "nowhere")
	require.Equal(t, called{command.ExitFailed, "", "infer-prep: nowhere: no such file or directory\n"}, r)
	r = call(t, "pack", "recordio", "out/v", "my.lst")
	require.Equal(t, called{command.ExitFailed, "", "infer-prep: my.lst: not a folder\n"}, r)
}

func TestPackRecordIOInterrupted(t *testing.T) {
	packTree(t)
	args := []string{"pack", "recordio", "--recursive", "--resize", "9", "-j", "2"}
	require.Equal(t, command.ExitOK, call(t, append(args, "whole/x", "in")...).status)
	ctx, cancel := context.WithCancel(t.Context())
	var out, errs bytes.Buffer
	n := 0
	a := &command.App{Stdin: strings.NewReader(""), Stdout: &out, Stderr: &errs, OnItem: func() {
		if n++; n == 4 {
			cancel()
		}
	}}
	require.Equal(t, command.ExitInterrupted, execute(ctx, a, append(args, "out/x", "in")))
	require.Regexp(t, `^`+notesLeft+`infer-prep: interrupted: \d+ of 10 images done; give the same command again to resume\n$`, errs.String())
	require.Equal(t, []string{"x.idx.part", "x.rec.pack", "x.rec.part"}, listFiles(t, "out"))
	r := call(t, append(args, "out/x", "in")...)
	require.Equal(t, command.ExitOK, r.status)
	require.Contains(t, r.stderr, " packed before)")
	for _, f := range []string{"x.idx", "x.rec"} {
		want, err := os.ReadFile(filepath.Join("whole", f))
		require.NoError(t, err)
		got, err := os.ReadFile(filepath.Join("out", f))
		require.NoError(t, err)
		require.Equal(t, want, got)
	}
}

func TestPackRecordIOUsage(t *testing.T) {
	packTree(t)
	for args, want := range map[string]string{
		"":                       "want a prefix and a folder, got 0 arguments",
		"a b c":                  "want a prefix and a folder, got 3 arguments",
		"out/ in":                `"out/" is not a valid prefix`,
		"--chunks 0 x in":        "--chunks 0: want at least 1",
		"--train-ratio 1.1 x in": "--train-ratio 1.1: want 0 to 1",
		"--train-ratio NaN x in": "--train-ratio NaN: want 0 to 1",
		"--test-ratio -0.1 x in": "--test-ratio -0.1: want 0 to 1",
		"--test-ratio 0.1 x in":  "no images are left for testing",
		"--train-ratio 0.6 --test-ratio 0.5 x in": "want a sum of at most 1",
		"--jobs 0 x in":                        "--jobs 0: want at least 1",
		"--resize -1 x in":                     "--resize -1: want 0 to 16777216",
		"--bad maybe x in":                     `--bad "maybe": want skip or fail`,
		"--exts jpg x in":                      `--exts "jpg": want extensions such as .jpg`,
		"--encoding .gif x in":                 `--encoding ".gif": want .jpg or .png`,
		"--encoding .png --chroma 444 x in":    "--chroma needs --encoding .jpg",
		"--encoding .png --quality 10 x in":    "--quality 10: want 1 to 9 for .png",
		"--quality 0 x in":                     "--quality 0: want 1 to 100 for .jpg",
		"--chroma 411 x in":                    `--chroma "411": want 420, 422 or 444`,
		"--encoder libjpeg x in":               `--encoder "libjpeg": want turbo or jpegli`,
		"--encoder jpegli x in":                "--encoder jpegli: not in this program: want turbo; the program infer-prep-full has it: in a clone, go install -C cmd/infer-prep-full .\n",
		"--encoding .png --encoder turbo x in": "--encoder needs --encoding .jpg",
		"--color 2 x in":                       "--color 2: want 1, 0 or -1",
		"--list --resize 5 x in":               "--resize applies to records, but --list writes none",
		"--lst a.lst --recursive x in":         "--recursive applies to new lists, but --lst names one",
		"--pass-through --resize 5 x in":       "--resize changes images, but --pass-through keeps them unchanged",
		"--nonsense x in":                      "unknown flag: --nonsense",
	} {
		r := call(t, append([]string{"pack", "recordio"}, strings.Fields(args)...)...)
		require.Equal(t, command.ExitUsage, r.status, args)
		require.Contains(t, r.stderr, want, args)
		require.Contains(t, r.stderr, "usage: infer-prep pack recordio [flags] PREFIX ROOT\n", args)
	}
	require.Empty(t, listFiles(t, "out"))
	r := call(t, "pack", "nonsense")
	require.Equal(t, command.ExitUsage, r.status)
	require.Contains(t, r.stderr, `unknown command "nonsense": want finish, plan, recordio or shards`)
	r = call(t, "pack")
	require.Equal(t, command.ExitOK, r.status)
	require.Contains(t, r.stdout, "recordio")
}

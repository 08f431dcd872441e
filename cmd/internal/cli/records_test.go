package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/cmd/internal/cli/command"
	"github.com/infer-prep/infer-prep/cmd/internal/cli/records"
	"github.com/infer-prep/infer-prep/recordio"
	"github.com/infer-prep/infer-prep/recordio/imagerecord"
	"github.com/infer-prep/infer-prep/records/kaldi"
	"github.com/infer-prep/infer-prep/records/tfexample"
	"github.com/infer-prep/infer-prep/records/tfrecord"
	"github.com/infer-prep/infer-prep/records/webdataset"
	"github.com/infer-prep/infer-prep/tensor"
)

const fakeJPEG = "\xff\xd8\xff image "

// recordsTree creates files of most formats in a new folder and changes to it.
func recordsTree(t *testing.T) {
	t.Helper()
	t.Chdir(t.TempDir())
	write := func(name string, f func(b *bytes.Buffer) error) {
		var b bytes.Buffer
		require.NoError(t, f(&b))
		require.NoError(t, os.WriteFile(name, b.Bytes(), 0o666))
	}
	write("images.rec", func(b *bytes.Buffer) error {
		w, err := recordio.NewWriter(b, 0)
		for i := range 5 {
			m := imagerecord.Record{ID: uint64(10 * i), Labels: []float32{float32(i) + 0.5}, Content: fmt.Append([]byte(fakeJPEG), i)}
			if i == 3 {
				m.Labels = []float32{1, 2}
			}
			require.NoError(t, w.Write(m.Append(nil)))
		}
		return err
	})
	write("plain.rec", func(b *bytes.Buffer) error {
		w, err := recordio.NewWriter(b, 0)
		for _, s := range []string{"one", "", "three"} {
			require.NoError(t, w.Write([]byte(s)))
		}
		return err
	})
	write("examples.tfrecord", func(b *bytes.Buffer) error {
		w := tfrecord.NewWriter(b, 0)
		for i := range 3 {
			require.NoError(t, w.Write(tfexample.Append(nil, []tfexample.Feature{
				{Name: "image/encoded", Kind: tfexample.Bytes, Bytes: [][]byte{fmt.Append([]byte(fakeJPEG), i)}},
				{Name: "image/label", Kind: tfexample.Int64, Ints: []int64{int64(i)}},
			})))
		}
		return nil
	})
	write("samples.tar", func(b *bytes.Buffer) error {
		w, err := webdataset.NewTarWriter(b, webdataset.TarOptions{})
		for i := range 4 {
			require.NoError(t, w.Write(&webdataset.Sample{Key: fmt.Sprintf("train/%04d", i), Fields: []webdataset.Field{
				{Ext: "cls", Data: fmt.Append(nil, i)}, {Ext: "jpg", Data: fmt.Append([]byte(fakeJPEG), i)}, {Ext: "txt", Data: []byte("a text")},
			}}))
		}
		require.NoError(t, w.Close())
		return err
	})
	write("feats.ark", func(b *bytes.Buffer) error {
		x, err := tensor.New(tensor.Desc{DType: tensor.Float32, Shape: tensor.Dims(2, 3)})
		require.NoError(t, err)
		w := kaldi.NewWriter(b, kaldi.WriterOptions{})
		require.NoError(t, w.Write("utt.1", x))
		return w.Write("utt.2", x)
	})
}

func TestRecordsLs(t *testing.T) {
	recordsTree(t)
	r := call(t, "records", "ls", "images.rec", "plain.rec", "examples.tfrecord", "samples.tar", "feats.ark")
	require.Equal(t, called{command.ExitOK, `file               format       records  bytes  fields
images.rec         imagerecord  5        228    label float32, jpg bytes
plain.rec          recordio     3        36     data bytes
examples.tfrecord  tfexample    3        222    image/encoded bytes, image/label int64
samples.tar        webdataset   4        20480  cls int64, jpg bytes, txt text
feats.ark          kaldi        2        90     data float32 (2, 3)
`, ""}, r)
	r = call(t, "records", "ls", "--json", "--from", "tfrecord", "examples.tfrecord")
	require.Equal(t, command.ExitOK, r.status, r.stderr)
	require.JSONEq(t, `[{"file": "examples.tfrecord", "format": "tfrecord", "records": 3, "bytes": 222, "fields": [{"name": "data", "dtype": "bytes", "shape": []}]}]`, r.stdout)

	// Damage ends the listing of one file only.
	b, err := os.ReadFile("images.rec")
	require.NoError(t, err)
	require.NoError(t, os.WriteFile("cut.rec", b[:100], 0o666))
	r = call(t, "records", "ls", "cut.rec", "missing.rec", "plain.rec")
	require.Equal(t, command.ExitFailed, r.status)
	require.Contains(t, r.stderr, "infer-prep: missing.rec: ")
	r = call(t, "records", "ls", "cut.rec", "plain.rec")
	require.Equal(t, command.ExitFailed, r.status)
	require.Contains(t, r.stderr, "recordio: cut.rec: at byte 88: ")
	require.Contains(t, r.stdout, "cut.rec    imagerecord  2        100    label")
	require.Contains(t, r.stdout, "plain.rec  recordio     3 ")
}

func TestRecordsCat(t *testing.T) {
	recordsTree(t)
	r := call(t, "records", "cat", "--limit", "1", "--skip", "1", "samples.tar")
	require.Equal(t, command.ExitOK, r.status, r.stderr)
	require.JSONEq(t, `{"key": "train/0001", "file": "samples.tar", "offset": 3072, "fields": {
		"cls": {"dtype": "int64", "shape": [], "bytes": 8, "sha256": "7c9fa136d4413fa6173637e883b6998d32e1d675f88cddff9dcbcf331820f4b8", "value": 1},
		"jpg": {"dtype": "bytes", "shape": [], "bytes": 11, "sha256": "30f4d880b23f9ebcc560591595eaf28c661a4b2990edde6026e5c21cb8db6527"},
		"txt": {"dtype": "bytes", "shape": [], "bytes": 6, "sha256": "734194ede5b063e654d63cb95a682ca1551b45e3cc86e88f1a85c1286eedd4ac", "text": "a text"}}}`,
		r.stdout)
	for _, c := range []struct {
		args []string
		keys []string
	}{
		{[]string{"images.rec"}, []string{"0", "10", "20", "30", "40"}},
		{[]string{"images.rec", "--from", "recordio"}, []string{"0", "1", "2", "3", "4"}},
		{[]string{"images.rec", "plain.rec", "--limit", "6"}, []string{"0", "10", "20", "30", "40", "0"}},
		{[]string{"images.rec", "--skip", "4"}, []string{"40"}},
		{[]string{"images.rec", "--limit", "0"}, nil},
		{[]string{"images.rec", "--keys", "30,10"}, []string{"10", "30"}},
		{[]string{"images.rec", "--keys", "30,10", "--skip", "1"}, []string{"30"}},
	} {
		r := call(t, append([]string{"records", "cat"}, c.args...)...)
		require.Equal(t, command.ExitOK, r.status, r.stderr)
		var keys []string
		d := json.NewDecoder(strings.NewReader(r.stdout))
		for d.More() {
			var x records.RecordJSON
			require.NoError(t, d.Decode(&x))
			keys = append(keys, x.Key)
		}
		require.Equal(t, c.keys, keys, c.args)
	}
	r = call(t, "records", "cat", "--keys", "20,7", "images.rec")
	require.Equal(t, command.ExitFailed, r.status)
	require.Equal(t, "infer-prep: no record has the key 7\n", r.stderr)

	r = call(t, "records", "cat", "--field", "jpg", "--keys", "20,40", "images.rec")
	require.Equal(t, called{command.ExitOK, fakeJPEG + "2" + fakeJPEG + "4", ""}, r)
	r = call(t, "records", "cat", "--field", "jpg", "-o", "out", "samples.tar")
	require.Equal(t, called{command.ExitOK, "", ""}, r)
	require.Equal(t, []string{"train%2F0000.jpg", "train%2F0001.jpg", "train%2F0002.jpg", "train%2F0003.jpg"}, listFiles(t, "out"))
	b, err := os.ReadFile("out/train%2F0002.jpg")
	require.NoError(t, err)
	require.Equal(t, fakeJPEG+"2", string(b))
	r = call(t, "records", "cat", "--field", "jpg", "-o", "out", "samples.tar")
	require.Equal(t, command.ExitFailed, r.status)
	require.Contains(t, r.stderr, "the file exists; --force replaces it")
	require.Equal(t, command.ExitOK, call(t, "records", "cat", "--field", "jpg", "-o", "out", "--force", "samples.tar").status)
	r = call(t, "records", "cat", "--field", "png", "samples.tar")
	require.Equal(t, called{command.ExitFailed, "", "infer-prep: samples.tar: at byte 0: record \"train/0000\" has no field \"png\"; it has cls, jpg, txt\n"}, r)
}

func TestRecordsIndexAndVerify(t *testing.T) {
	recordsTree(t)
	for _, c := range []struct {
		args, written []string
	}{
		{[]string{"--sums", "images.rec"}, []string{"images.idx", "images.rec.sums"}},
		{[]string{"plain.rec"}, []string{"plain.idx"}},
		{[]string{"samples.tar"}, []string{"samples.tar.index"}},
		{[]string{"feats.ark"}, []string{"feats.scp"}},
	} {
		r := call(t, append([]string{"records", "index"}, c.args...)...)
		require.Equal(t, called{command.ExitOK, strings.Join(c.written, "\n") + "\n", ""}, r)
		r = call(t, append([]string{"records", "index"}, c.args...)...)
		require.Equal(t, command.ExitFailed, r.status)
		require.Contains(t, r.stderr, c.written[0]+": the file exists; --force replaces it\n")
		require.Equal(t, command.ExitOK, call(t, append([]string{"records", "index", "--force"}, c.args...)...).status)
	}
	b, err := os.ReadFile("images.idx")
	require.NoError(t, err)
	require.Equal(t, "0\t0\n10\t44\n20\t88\n30\t132\n40\t184\n", string(b))

	files := []string{"images.rec", "plain.rec", "examples.tfrecord", "samples.tar", "feats.ark", "feats.scp"}
	r := call(t, append([]string{"records", "verify"}, files...)...)
	require.Equal(t, called{command.ExitOK, `images.rec: imagerecord, 5 records, compared with images.idx, images.rec.sums: ok
plain.rec: recordio, 3 records, compared with plain.idx: ok
examples.tfrecord: tfexample, 3 records: ok
samples.tar: webdataset, 4 records, compared with samples.tar.index: ok
feats.ark: kaldi, 2 records, compared with feats.scp (2 of 2 records): ok
feats.scp: kaldi, 2 records: ok
`, ""}, r)

	scp, err := os.ReadFile("feats.scp")
	require.NoError(t, err)
	for _, c := range []struct{ scp, want, stderr string }{
		{string(scp), "2 records, compared with feats.scp (2 of 2 records): ok\n", ""},
		{string(scp) + "utt.1 feats.ark:7\n", "damaged in 1 place\n", "kaldi: feats.ark: at byte 7: \"utt.1\": no object, line 3 of the script has one there\n"},
		{"utt.1", "damaged in 1 place\n", "kaldi: feats.scp: at byte 0: line 1: "},
	} {
		require.NoError(t, os.WriteFile("feats.scp", []byte(c.scp), 0o666))
		r := call(t, "records", "verify", "./feats.ark")
		require.Contains(t, strings.ReplaceAll(r.stdout, "./", ""), c.want)
		require.Contains(t, strings.ReplaceAll(r.stderr, "./", ""), c.stderr)
	}
	require.NoError(t, os.WriteFile("feats.scp", scp, 0o666))

	// With one changed byte in each file.
	for name, c := range map[string]struct {
		at   int
		want string
	}{
		"images.rec":        {44 + 40, "images.rec: at byte 44: a record of 35 bytes with the sum "},
		"plain.rec":         {1, "plain.rec: at byte 0: "},
		"examples.tfrecord": {200, "examples.tfrecord: at byte 148: the checksum of "},
		"samples.tar":       {512, "samples.tar: at byte 0: the checksum of sample "},
		"feats.ark":         {45, "at byte 51: \"utt.2\": the key is "},
	} {
		b, err := os.ReadFile(name)
		require.NoError(t, err)
		info, err := os.Stat(name)
		require.NoError(t, err)
		b[c.at] ^= 1
		require.NoError(t, os.WriteFile(name, b, 0o666))
		require.NoError(t, os.Chtimes(name, info.ModTime(), info.ModTime())) // the index of a shard contains the time
		from := map[string]string{"plain.rec": "recordio"}[name]
		args := []string{"records", "verify", name, "feats.scp"}
		if name == "feats.ark" || from != "" {
			args = args[:3]
		}
		if from != "" {
			args = append(args, "--from", from)
		}
		r := call(t, args...)
		require.Equal(t, command.ExitFailed, r.status, name)
		require.Contains(t, r.stderr, c.want)
		require.Contains(t, r.stdout, "damaged in ")
		if len(args) == 4 {
			require.Contains(t, r.stdout, "feats.scp: kaldi, 2 records: ok\n")
		}
	}
}

// TestRecordsLenient: --lenient continues after damage.
func TestRecordsLenient(t *testing.T) {
	recordsTree(t)
	b, err := os.ReadFile("images.rec")
	require.NoError(t, err)
	b[44] ^= 1 // the second record
	require.NoError(t, os.WriteFile("images.rec", b, 0o666))
	r := call(t, "records", "verify", "images.rec")
	require.Equal(t, command.ExitFailed, r.status)
	require.Equal(t, "images.rec: imagerecord, 1 record: damaged in 1 place\n", r.stdout)
	r = call(t, "records", "verify", "--lenient", "images.rec")
	require.Equal(t, command.ExitFailed, r.status)
	require.Equal(t, "images.rec: imagerecord, 4 records: damaged in 1 place\n", r.stdout)
	r = call(t, "records", "convert", "images.rec", "-o", "out.tar")
	require.Equal(t, command.ExitFailed, r.status)
	require.NoFileExists(t, "out.tar")
	r = call(t, "records", "convert", "--lenient", "images.rec", "-o", "out.tar")
	require.Equal(t, command.ExitOK, r.status, r.stderr)
	require.Contains(t, r.stderr, "infer-prep: skipped: recordio: images.rec: at byte 44: ")
	require.Contains(t, call(t, "records", "ls", "out.tar").stdout, "webdataset  4 ")
}

func TestRecordsConvert(t *testing.T) {
	recordsTree(t)
	ok := func(stderr string, args ...string) {
		t.Helper()
		require.Equal(t, called{command.ExitOK, "", stderr}, call(t, append([]string{"records", "convert"}, args...)...))
	}
	same := func(a, b string) {
		t.Helper()
		x, err := os.ReadFile(a)
		require.NoError(t, err)
		y, err := os.ReadFile(b)
		require.NoError(t, err)
		require.True(t, bytes.Equal(x, y), "%s and %s differ", a, b)
	}
	require.Equal(t, command.ExitOK, call(t, "records", "index", "images.rec").status)
	ok("", "images.rec", "-o", "a-%03d.tar", "--count", "2", "--index")
	require.Equal(t, []string{"a-000.tar", "a-000.tar.index", "a-001.tar", "a-001.tar.index", "a-002.tar", "a-002.tar.index"}, glob(t, "a-*"))
	require.Equal(t, command.ExitOK, call(t, "records", "verify", "a-{000..002}.tar").status)
	ok("", "a-{000..002}.tar", "--to", "imagerecord", "-o", "b.rec", "--index")
	same("images.rec", "b.rec")
	same("images.idx", "b.idx")
	ok("", "a-000.tar", "a-001.tar", "a-002.tar", "--to", "imagerecord", "-o", "b.rec", "--force")
	same("images.rec", "b.rec")
	ok("", "images.rec", "-o", "c.rec") // .rec is imagerecord if the input is
	same("images.rec", "c.rec")
	require.NoError(t, os.Remove("images.idx")) // plain records would take its keys
	ok("", "images.rec", "--from", "recordio", "-o", "c.tfrecord")
	ok("", "c.tfrecord", "--from", "tfrecord", "-o", "d.rec")
	same("images.rec", "d.rec")
	ok("", "examples.tfrecord", "-o", "e.tar.gz")
	ok("", "e.tar.gz", "--to", "tfexample", "-o", "f.tfrecord")
	same("examples.tfrecord", "f.tfrecord")
	ok("", "examples.tfrecord", "-o", "g.tfrecord")
	same("examples.tfrecord", "g.tfrecord")
	ok("", "feats.ark", "-o", "h.tar.zst")
	ok("", "h.tar.zst", "-o", "i.ark", "--index")
	same("feats.ark", "i.ark")
	ok("", "i.scp", "-o", "j.ark")
	same("feats.ark", "j.ark")

	ok("infer-prep: imagerecord: keys are replaced by the records' numbers\n", "samples.tar", "--to", "imagerecord", "--drop", "txt", "-o", "k.rec")
	ok("infer-prep: no record has a field \"png\"\n", "examples.tfrecord", "--rename", "image/encoded=jpg", "--rename", "image/label=cls", "--drop", "png", "-o", "l.tar")
	require.Contains(t, call(t, "records", "ls", "l.tar").stdout, "cls int64, jpg bytes\n")
	ok("", "l.tar", "--to", "imagerecord", "-o", "l.rec")
	require.Contains(t, call(t, "records", "cat", "--limit", "1", "--skip", "2", "l.rec").stdout, `"value":2`)

	// Without any record.
	require.NoError(t, os.WriteFile("empty.rec", nil, 0o666))
	for _, out := range []string{"empty.tar", "empty.tfrecord", "empty.ark", "empty2.rec"} {
		ok("", "empty.rec", "-o", out)
		require.FileExists(t, out)
		require.Equal(t, command.ExitOK, call(t, "records", "verify", out).status)
	}
}

func glob(t *testing.T, pattern string) []string {
	l, err := filepath.Glob(pattern)
	require.NoError(t, err)
	return l
}

func TestRecordsErrors(t *testing.T) {
	recordsTree(t)
	require.NoError(t, os.WriteFile("text.txt", []byte("a text, not records"), 0o666))
	require.NoError(t, os.WriteFile("text.rec", []byte("a text, not records"), 0o666))
	require.NoError(t, os.WriteFile("there.tar", []byte("mine"), 0o666))
	require.NoError(t, os.Mkdir("folder", 0o777))
	before := listFiles(t, ".")
	for _, c := range []struct {
		name   string
		args   []string
		status int
		want   string
	}{
		{"no command", []string{"ruin"}, command.ExitUsage, "want cat, convert, index, ls or verify"},
		{"no file", []string{"ls"}, command.ExitUsage, "records ls: no files: want at least one record file"},
		{"no file to convert", []string{"convert", "-o", "x.tar"}, command.ExitUsage, "records convert: no files: want at least one record file"},
		{"other than its name", []string{"ls", "text.rec"}, command.ExitFailed, "text.rec: the name suggests the format recordio, but the content does not match"},
		{"unknown file", []string{"ls", "text.txt"}, command.ExitFailed, "text.txt: unknown format: set --from to imagerecord, kaldi, mds, mindrecord, recordio, tfexample, tfrecord or webdataset"},
		{"missing", []string{"cat", "missing.rec"}, command.ExitFailed, "missing.rec: "},
		{"missing with a pattern", []string{"ls", "missing-{0..2}.tar"}, command.ExitFailed, "missing-0.tar: "},
		{"folder", []string{"ls", "folder"}, command.ExitFailed, "infer-prep: folder: is a folder: want a regular file"},
		{"unknown format", []string{"ls", "--from", "mxnet", "images.rec"}, command.ExitUsage, `--from "mxnet": want imagerecord, `},
		{"wrong format", []string{"ls", "--from", "tfrecord", "images.rec"}, command.ExitFailed, "tfrecord: images.rec: at byte 0: "},
		{"wrong format to verify", []string{"verify", "--from", "mxnet", "images.rec"}, command.ExitUsage, `--from "mxnet"`},
		{"folder without field", []string{"cat", "-o", "x", "images.rec"}, command.ExitUsage, "--field NAME"},
		{"limits", []string{"cat", "--limit", "-2", "images.rec"}, command.ExitUsage, "--limit -2"},
		{"no index", []string{"index", "examples.tfrecord"}, command.ExitFailed, "the format tfexample has no index"},
		{"no sums", []string{"index", "--sums", "samples.tar"}, command.ExitUsage, "a file of sums"},
		{"no output", []string{"convert", "images.rec"}, command.ExitUsage, "want -o OUT"},
		{"unknown output", []string{"convert", "images.rec", "-o", "x.bin"}, command.ExitUsage, "x.bin: unknown extension: set --to to"},
		{"unknown target", []string{"convert", "images.rec", "--to", "x", "-o", "x.tar"}, command.ExitUsage, `--to "x": want imagerecord, `},
		{"two formats", []string{"convert", "images.rec", "plain.rec", "-o", "x.tar"}, command.ExitUsage, "images.rec is imagerecord, but plain.rec is recordio"},
		{"exists", []string{"convert", "images.rec", "-o", "there.tar"}, command.ExitFailed, "there.tar: the file exists; --force replaces it"},
		{"itself", []string{"convert", "images.rec", "-o", "images.rec", "--force"}, command.ExitFailed, "the file is both input and output"},
		{"count of one file", []string{"convert", "images.rec", "-o", "x.tar", "--count", "2"}, command.ExitUsage, "data-%06d.tar"},
		{"count of one file only", []string{"convert", "samples.tar", "-o", "x.tfrecord", "--to", "tfexample", "--count", "2"}, command.ExitUsage, "unsupported option: a number of records or bytes for each file: the format writes one file"},
		{"no index for", []string{"convert", "samples.tar", "-o", "x.tfrecord", "--to", "tfexample", "--index"}, command.ExitUsage, "an index"},
		{"compressed index", []string{"convert", "images.rec", "-o", "x.tar.gz", "--index"}, command.ExitFailed, "a compressed shard has no index"},
		{"negative", []string{"convert", "images.rec", "-o", "x-%d.tar", "--count", "-1"}, command.ExitUsage, "--count -1"},
		{"misfit", []string{"convert", "samples.tar", "--to", "imagerecord", "-o", "x.rec"}, command.ExitFailed, `imagerecord: samples.tar: at byte 0: record "train/0000": field "txt": bytes beside the content "jpg", want one label, one image and perhaps id2 (drop it?)`},
		{"misfit by name", []string{"convert", "samples.tar", "-o", "x.rec"}, command.ExitFailed, `field "cls": want one field, data (drop this one, or rename it); or --to imagerecord`},
		{"misfit late", []string{"convert", "images.rec", "--to", "tfexample", "--drop", "jpg", "--rename", "label=x[0]", "-o", "x.tfrecord"}, command.ExitFailed, `record "0": field "x[0]"`},
		{"drop and rename", []string{"convert", "images.rec", "--drop", "jpg", "--rename", "jpg=png", "-o", "x.tar"}, command.ExitUsage, "want only one of them"},
		{"rename badly", []string{"convert", "images.rec", "--rename", "jpg", "-o", "x.tar"}, command.ExitUsage, "NAME=VALUE"},
		{"rename to another", []string{"convert", "images.rec", "--rename", "jpg=label", "-o", "x.tar"}, command.ExitFailed, `field "label": the record already has a field of that name`},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := call(t, append([]string{"records"}, c.args...)...)
			require.Equal(t, c.status, r.status, r.stderr)
			require.Contains(t, r.stderr, c.want)
			lines := 1
			if c.status == command.ExitUsage {
				lines = 3
			}
			require.Equal(t, lines, strings.Count(r.stderr, "\n"), r.stderr)
			require.Equal(t, before, listFiles(t, "."))
		})
	}
}

// TestRecordsInterrupted: an interrupted conversion leaves no file, not even a
// complete shard.
func TestRecordsInterrupted(t *testing.T) {
	recordsTree(t)
	before := listFiles(t, ".")
	for _, out := range []string{"x-%d.tar", "x.tar", "x.tfrecord"} {
		ctx, cancel := context.WithCancel(t.Context())
		var stdout, stderr bytes.Buffer
		n := 0
		a := &command.App{Stdin: strings.NewReader(""), Stdout: &stdout, Stderr: &stderr, OnItem: func() {
			if n++; n == 3 {
				cancel()
			}
		}}
		args := []string{"records", "convert", "samples.tar", "--to", "webdataset", "-o", out, "--count", "1", "--index"}
		if !strings.Contains(out, "%") {
			args = args[:7]
		}
		if out == "x.tfrecord" {
			args[4] = "tfexample"
		}
		require.Equal(t, command.ExitInterrupted, execute(ctx, a, args))
		require.Equal(t, "infer-prep: interrupted: nothing was written\n", stderr.String())
		require.Equal(t, before, listFiles(t, "."))
		cancel()
	}
	for name, why := range map[string]string{
		"ls": "the output is incomplete", "cat": "the output is incomplete", "verify": "some files were not checked", "index": "some indexes were not written",
	} {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		var stdout, stderr bytes.Buffer
		a := &command.App{Stdin: strings.NewReader(""), Stdout: &stdout, Stderr: &stderr}
		require.Equal(t, command.ExitInterrupted, execute(ctx, a, []string{"records", name, "images.rec"}), name)
		require.Contains(t, stderr.String(), "interrupted: "+why)
	}
}

func TestRecordsHelp(t *testing.T) {
	r := call(t, "records", "convert", "--help")
	require.Equal(t, command.ExitOK, r.status)
	for _, f := range []string{"imagerecord", "kaldi", "recordio", "tfexample", "tfrecord", "webdataset"} {
		require.Regexp(t, `(?m)^  `+f+` +\w`, r.stdout)
	}
}

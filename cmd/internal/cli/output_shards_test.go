package cli

import (
	"bytes"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/cmd/internal/cli/command"
	"github.com/infer-prep/infer-prep/job"
	"github.com/infer-prep/infer-prep/records"
	"github.com/infer-prep/infer-prep/records/tfexample"
	"github.com/infer-prep/infer-prep/records/webdataset"
	"github.com/infer-prep/infer-prep/store"
	"github.com/infer-prep/infer-prep/tensor"
	"github.com/infer-prep/infer-prep/tensor/npz"
)

// shardRecords reads the records of files in a format of package records.
func shardRecords(t *testing.T, format string, files ...string) (l []records.Record) {
	t.Helper()
	f, err := records.Lookup(format)
	require.NoError(t, err)
	r, err := f.Open(t.Context(), store.Local, files, records.ReadOptions{})
	require.NoError(t, err)
	defer r.Close()
	for {
		var x records.Record
		err := r.Next(&x)
		if err == io.EOF {
			return l
		}
		require.NoError(t, err)
		y := records.Record{Key: x.Key}
		for _, f := range x.Fields { // the next record reuses the memory
			y.Fields = append(y.Fields, records.Field{Name: f.Name, Value: *f.Value.Clone()})
		}
		l = append(l, y)
	}
}

// shardTensors returns the outputs in a record.
func shardTensors(t *testing.T, format string, r *records.Record) (key string, l []tensor.Named) {
	t.Helper()
	switch format {
	case "webdataset":
		for i := range r.Fields {
			l = append(l, tensor.Named{Name: r.Fields[i].Name, T: &r.Fields[i].Value})
		}
		return r.Key, l
	case "recordio":
		l, m, err := tensor.ReadSafetensors(bytes.NewReader(r.Fields[0].Value.Data), 1<<30)
		require.NoError(t, err)
		return m["key"], l
	}
	features, err := tfexample.Parse(r.Fields[0].Value.Data)
	require.NoError(t, err)
	m := map[string]tfexample.Feature{}
	for _, f := range features {
		m[f.Name] = f
	}
	for _, name := range []string{"images", "scale", "pad"} {
		d := tensor.Desc{}
		require.NoError(t, d.DType.UnmarshalText(m[name+"/dtype"].Bytes[0]))
		for _, n := range m[name+"/shape"].Ints {
			d.Shape = d.Shape.Append(int(n))
		}
		x, err := tensor.ReadRaw(bytes.NewReader(m[name].Bytes[0]), d, 1<<30)
		require.NoError(t, err)
		l = append(l, tensor.Named{Name: name, T: x})
	}
	require.Len(t, features, 10)
	return string(m["__key__"].Bytes[0]), l
}

// TestShards: shards hold every image that did not fail, in order, and the same
// bytes for any number of jobs.
func TestShards(t *testing.T) {
	imageFolder(t, 7)
	require.Equal(t, command.ExitFailed, call(t, "run", "--preset", "yolo", "--outputs", "all", "-o", "each", "in").status)
	for _, c := range []struct {
		format string
		files  []string
		key    string
	}{
		{"webdataset", []string{"data-00000.tar", "data-00001.tar", "data-00002.tar"}, "%03d"},
		{"recordio", []string{"data-00000.idx", "data-00000.rec", "data-00001.idx", "data-00001.rec", "data-00002.idx", "data-00002.rec"}, "%03d.png"},
		{"tfrecord", []string{"data-00000.tfrecord", "data-00001.tfrecord", "data-00002.tfrecord"}, "%03d.png"},
	} {
		var shards []string
		for _, jobs := range []string{"1", "4"} {
			out := c.format + jobs
			r := call(t, "run", "--preset", "yolo", "--outputs", "all", "--format", c.format, "--samples-per-file", "3", "--json", "-j", jobs, "-o", out, "in")
			require.Equal(t, command.ExitFailed, r.status)
			require.Equal(t, c.files, listFiles(t, out))
			sameFiles(t, c.format+"1", out)
			n := 0
			for _, l := range imageLines(t, r.stdout) {
				if l.Outputs == nil {
					continue
				}
				require.Equal(t, filepath.Join("in", fmt.Sprintf("%03d.png", n)), l.Input)
				for _, o := range l.Outputs {
					require.Equal(t, n%3, *o.Row)
					shard := filepath.Join(out, fmt.Sprintf("data-%05d", n/3))
					require.Equal(t, shard, strings.TrimSuffix(o.File, filepath.Ext(o.File)))
				}
				n++
			}
			require.Equal(t, 7, n)
		}
		for _, f := range c.files {
			if !strings.HasSuffix(f, ".idx") {
				shards = append(shards, filepath.Join(c.format+"1", f))
			}
		}
		l := shardRecords(t, c.format, shards...)
		require.Len(t, l, 7)
		for i := range l {
			key, ts := shardTensors(t, c.format, &l[i])
			require.Equal(t, fmt.Sprintf(c.key, i), key)
			require.Len(t, ts, 3)
			for _, x := range ts {
				want := readNPY(t, fmt.Sprintf("each/%03d.png.%s.npy", i, x.Name))
				require.Equal(t, want.Desc, x.T.Desc)
				require.Equal(t, want.Data, x.T.Data)
			}
		}
	}
	// The index of a shard and the detection of its format.
	r := call(t, "records", "verify", "recordio1/data-00000.rec", "tfrecord1/data-00001.tfrecord")
	require.Equal(t, command.ExitOK, r.status, r.stderr)
	require.Contains(t, r.stdout, "data-00000.rec: recordio, 3 records, compared with recordio1/data-00000.idx: ok")
	require.Contains(t, r.stdout, "data-00001.tfrecord: tfexample, 3 records")
}

// TestShardBytes: a shard ends with the sample that reaches the size.
func TestShardBytes(t *testing.T) {
	imageFolder(t, 5)
	require.Equal(t, command.ExitFailed, call(t, "run", "--preset", "decode", "--format", "webdataset", "--bytes-per-file", "61", "-o", "out", "in").status)
	require.Equal(t, []string{"data-00000.tar", "data-00001.tar", "data-00002.tar"}, listFiles(t, "out"))
	require.Len(t, shardRecords(t, "webdataset", "out/data-00000.tar"), 2)
	require.Len(t, shardRecords(t, "webdataset", "out/data-00002.tar"), 1)
}

// TestShardKeys: a key has no extension and keeps its folder; a second image
// with a key fails, since readers would join the two samples.
func TestShardKeys(t *testing.T) {
	img := pngBytes(t, 5, 4, 1)
	t.Chdir(tree(t, map[string][]byte{"in/a.png": img, "in/a.b.png": img, "in/c/a.png": img, "in/a.PNG": img, "50%d/x.png": img}))
	r := call(t, "run", "--preset", "decode", "--format", "webdataset", "-o", "100%d", "in", "50%d")
	require.Equal(t, command.ExitFailed, r.status)
	require.Equal(t, "infer-prep: "+filepath.Join("in", "a.png")+": its key \"a\" is already that of an earlier image\n", withoutSummary(r).stderr)
	require.Equal(t, []string{"data-00000.tar"}, listFiles(t, "100%d"), "the folder's name is no pattern")
	var keys []string
	for _, x := range shardRecords(t, "webdataset", "100%d/data-00000.tar") {
		keys = append(keys, x.Key)
	}
	require.Equal(t, []string{"a", "a.b", "c/a", "x"}, keys)
	require.Equal(t, ".png", webdataset.ImageKey(".png"))
	require.Equal(t, "a/.png", webdataset.ImageKey("a/.png"))

	// Names that look like numbers, and equal names of two folders.
	t.Chdir(tree(t, map[string][]byte{"a/0": img, "a/1.png": img, "b/1.png": img}))
	for _, f := range shardFormats() {
		r := call(t, "run", "--preset", "decode", "--format", f.Name, "-o", f.Name, "a", "b")
		require.Equal(t, command.ExitFailed, r.status)
		key := map[bool]string{true: "1", false: "1.png"}[f.Name == "webdataset"]
		require.Equal(t, "infer-prep: "+filepath.Join("b", "1.png")+": its key \""+key+"\" is already that of an earlier image\n", withoutSummary(r).stderr)
		require.Len(t, shardRecords(t, f.Name, f.Name+"/data-00000"+f.Ext), 2)
	}

	r = call(t, "run", "--preset", "decode", "--format", "webdataset", "-o", "none", "--limit-bytes", "10", "a")
	require.Equal(t, command.ExitFailed, r.status)
	require.Empty(t, listFiles(t, "none"), "no shard without a sample")
}

// TestStdout: -o - writes an image's file to standard output, and in formats
// whose files can follow one another those of several images.
func TestStdout(t *testing.T) {
	imageFolder(t, 3)
	for _, f := range job.Formats() {
		if f.Folder || f.List != "" || f.Shards {
			continue
		}
		require.Equal(t, command.ExitOK, call(t, "run", "--preset", "imagenet", "--batch", "--format", f.Name, "-o", "out", "in/001.png").status)
		r := call(t, "run", "--preset", "imagenet", "--batch", "--format", f.Name, "-o", "-", "in/001.png")
		require.Equal(t, command.ExitOK, r.status, r.stderr)
		require.Equal(t, readText(t, "out/001.png"+f.Ext), r.stdout, f.Name)

		r = call(t, "run", "-q", "--preset", "imagenet", "--format", f.Name, "-o", "-", "in/001.png", "in/002.png", "in/missing.png")
		require.Equal(t, command.ExitFailed, r.status)
		if f.Name != "npy" && f.Name != "raw" {
			require.Empty(t, r.stdout, f.Name)
			require.Equal(t, "infer-prep: -o -: standard output holds the file of one image with --format "+f.Name+": want --format npy or raw, --batch-size, or -o DIR\n", r.stderr)
			continue
		}
		want := ""
		for _, img := range []string{"001", "002"} {
			require.Equal(t, command.ExitOK, call(t, "run", "--preset", "imagenet", "--format", f.Name, "-o", "out", "in/"+img+".png").status)
			want += readText(t, "out/"+img+".png"+f.Ext)
		}
		require.Equal(t, want, r.stdout, f.Name)
	}
	require.Equal(t, command.ExitFailed, call(t, "run", "--preset", "imagenet", "--batch-size", "2", "--format", "npz", "-o", "out", "in").status)
	r := call(t, "run", "--preset", "imagenet", "--batch-size", "3", "--format", "npz", "-o", "-", "in")
	require.Equal(t, command.ExitFailed, r.status, "a broken image")
	l, err := npz.Read(strings.NewReader(r.stdout), int64(len(r.stdout)), 1<<30)
	require.NoError(t, err)
	require.Equal(t, tensor.Dims(3, 3, 224, 224), l[0].T.Shape)
	require.Equal(t, []string{"batch-000000.jsonl", "batch-000000.npz", "batch-000001.jsonl", "batch-000001.npz"}, slices.DeleteFunc(listFiles(t, "out"), func(s string) bool { return !strings.HasPrefix(s, "batch") }))
	require.NoDirExists(t, "-")
}

// TestStdoutShards: a shard on standard output equals its file.
func TestStdoutShards(t *testing.T) {
	imageFolder(t, 4)
	for _, f := range shardFormats() {
		require.Equal(t, command.ExitFailed, call(t, "run", "--preset", "decode", "--format", f.Name, "-o", "out", "in").status)
		r := call(t, "run", "--preset", "decode", "--format", f.Name, "-o", "-", "in")
		require.Equal(t, command.ExitFailed, r.status)
		require.Equal(t, readText(t, "out/data-00000"+f.Ext), r.stdout)
	}
}

// TestStdoutFull: an error of standard output ends the run.
func TestStdoutFull(t *testing.T) {
	imageFolder(t, 4)
	for _, f := range []string{"npy", "npz", "webdataset", "recordio", "tfrecord"} {
		var stderr bytes.Buffer
		a := &command.App{Stdin: strings.NewReader(""), Stdout: fullDisk{}, Stderr: &stderr}
		require.Equal(t, command.ExitFailed, execute(t.Context(), a, []string{"run", "--preset", "imagenet", "--format", f, "-o", "-", "in/000.png"}))
		require.Equal(t, "infer-prep: cannot write to standard output: no space left\n", stderr.String(), f)
	}
}

// shardFormats are the formats of shards.
func shardFormats() []job.Format {
	return slices.DeleteFunc(job.Formats(), func(f job.Format) bool { return !f.Shards })
}

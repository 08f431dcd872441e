package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/minio/minio-go/v7"
	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/dataset"
	"github.com/infer-prep/infer-prep/dataset/imagerecord"
	"github.com/infer-prep/infer-prep/dataset/kaldi"
	"github.com/infer-prep/infer-prep/dataset/mindrecord"
	"github.com/infer-prep/infer-prep/dataset/tfrecord"
	"github.com/infer-prep/infer-prep/dataset/webdataset"
	"github.com/infer-prep/infer-prep/internal/spec"
	"github.com/infer-prep/infer-prep/pullpipe"
	"github.com/infer-prep/infer-prep/recordio"
	"github.com/infer-prep/infer-prep/records"
	"github.com/infer-prep/infer-prep/store"
	"github.com/infer-prep/infer-prep/store/hdfs/hdfstest"
	"github.com/infer-prep/infer-prep/store/s3/s3test"
	"github.com/infer-prep/infer-prep/tensor"
)

// place is where the test data lies: in a folder of the local disk, and below a
// URI.
type place struct{ local, remote string }

func (p place) at(name string) (local, remote string) {
	return store.Join(p.local, name), store.Join(p.remote, name)
}

// stage copies the repository's test data to a local folder, together with
// files that are made of it, and all of that to each store that has a server
// here: S3, and HDFS with the variable of make store-test.
func stage(t *testing.T, srv *s3test.Server) []place {
	t.Helper()
	bases := []string{"s3://" + srv.Bucket + "/data"}
	if os.Getenv(s3test.Required) != "" {
		bases = append(bases, hdfs(t)+"/data")
	}
	local := t.TempDir()
	for _, dir := range []string{"datasets", "recordio", "webdataset", "kaldi"} {
		require.NoError(t, os.CopyFS(filepath.Join(local, dir), os.DirFS("../../testdata/"+dir)))
	}
	untar(t, "../../testdata/mindrecord/files.tar.gz", filepath.Join(local, "mindrecord"))
	var l []place
	for _, base := range bases {
		l = append(l, place{local, base})
	}
	convert(t, local)
	for _, name := range []string{"kaldi/float.scp", "kaldi/kaldiio.scp"} {
		b, err := os.ReadFile(filepath.Join(local, name))
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(filepath.Join(local, name), absolute(b, filepath.Join(local, "kaldi")), 0o666))
	}
	for _, p := range l {
		require.NoError(t, filepath.WalkDir(local, func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			rel, err := filepath.Rel(local, path)
			require.NoError(t, err)
			b, err := os.ReadFile(path)
			require.NoError(t, err)
			if filepath.Ext(path) == ".scp" { // which has whole names
				b = []byte(strings.ReplaceAll(string(b), local, p.remote))
			}
			return store.WriteFile(t.Context(), store.URI, store.Join(p.remote, filepath.ToSlash(rel)), b)
		}))
	}
	return l
}

// hdfs starts a Hadoop cluster and returns its URI.
func hdfs(t *testing.T) string {
	t.Helper()
	c, err := hdfstest.Start()
	require.NoError(t, err)
	t.Cleanup(c.Close)
	return c.URIs[0]
}

// absolute returns a Kaldi script whose files lie in dir. Relative paths would
// be those of the working directory.
func absolute(script []byte, dir string) []byte {
	var b []byte
	for line := range strings.Lines(string(script)) {
		key, file, _ := strings.Cut(line, " ")
		b = append(b, key+" "+store.Join(dir, file)...)
	}
	return b
}

func untar(t *testing.T, name, dir string) {
	t.Helper()
	f, err := os.Open(name)
	require.NoError(t, err)
	defer f.Close()
	z, err := gzip.NewReader(f)
	require.NoError(t, err)
	require.NoError(t, os.Mkdir(dir, 0o777))
	for r := tar.NewReader(z); ; {
		h, err := r.Next()
		if err == io.EOF {
			return
		}
		require.NoError(t, err)
		b, err := io.ReadAll(r)
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(filepath.Join(dir, filepath.Base(h.Name)), b, 0o666))
	}
}

// made are the files that convert makes, by format.
var made = map[string]string{
	"recordio": "made/raw.rec", "imagerecord": "made/images.rec", "tfrecord": "made/plain.tfrecord", "tfexample": "made/examples.tfrecord",
	"webdataset": "made/shard.tar", "kaldi": "made/matrices.ark", "mindrecord": "made/rows.mindrecord",
}

// sample returns a record that the format can hold.
func sample(t *testing.T, format string, i int) *records.Record {
	t.Helper()
	r := &records.Record{Key: fmt.Sprintf("%06d", i)}
	image, err := os.ReadFile(fmt.Sprintf("../../testdata/datasets/celeba/img_align_celeba/%06d.jpg", i%7+1))
	require.NoError(t, err)
	switch format {
	case "recordio", "tfrecord":
		r.Key = ""
		r.AddBytes("data", image)
	case "kaldi":
		x, err := tensor.New(tensor.Desc{DType: tensor.Float32, Shape: tensor.Dims(3, 5)})
		require.NoError(t, err)
		for k := range tensor.View[float32](x) {
			tensor.View[float32](x)[k] = float32(i*100 + k)
		}
		r.Fields = append(r.Fields, records.Field{Name: "data", Value: *x})
	default:
		r.Key = fmt.Sprint(i)
		r.AddBytes("jpg", image)
		r.AddInt("cls", int64(i))
	}
	return r
}

// write writes a file of a format, with an index if it has one.
func write(t *testing.T, format, name string) error {
	f, err := records.Lookup(format)
	require.NoError(t, err)
	o, err := store.Of(store.URI, name)
	require.NoError(t, err)
	w, err := f.Create(t.Context(), o, name, records.WriteOptions{Index: f.Index != nil})
	if err != nil {
		return err
	}
	for i := range 50 {
		if err := w.Write(sample(t, format, i)); err != nil {
			return errors.Join(err, w.Abort())
		}
	}
	return w.Close()
}

// convert writes a file of each format to a local folder.
func convert(t *testing.T, local string) {
	require.NoError(t, os.Mkdir(filepath.Join(local, "made"), 0o777))
	for format, name := range made {
		require.NoError(t, write(t, format, filepath.Join(local, name)), format)
	}
}

// read returns the records of files as text, and the error that ended them.
func read(t *testing.T, f records.Format, names ...string) (l []string, err error) {
	o, err := store.Of(store.URI, names[0])
	require.NoError(t, err)
	r, err := f.Open(t.Context(), o, names, records.ReadOptions{})
	if err != nil {
		return nil, err
	}
	defer func() { require.NoError(t, r.Close()) }()
	var x records.Record
	for {
		err := r.Next(&x)
		if err == io.EOF {
			return l, nil
		}
		if err != nil {
			return l, err
		}
		s := fmt.Sprintf("%q %d", x.Key, x.Offset)
		for _, f := range x.Fields {
			s += fmt.Sprintf(" %q %v %t %.4x", f.Name, f.Value.Desc, f.Text, sha256.Sum256(f.Value.Data))
		}
		l = append(l, s)
	}
}

// TestStores reads and writes everything in every store, as on the local disk.
func TestStores(t *testing.T) {
	// store.URI opens S3 once, so that its tests have one server.
	srv := s3test.Start(t)
	srv.Setenv(t)
	t.Run("PackPlan", func(t *testing.T) { packPlan(t, srv) })
	for _, p := range stage(t, srv) {
		scheme, _, _ := strings.Cut(p.remote, "://")
		t.Run(scheme, func(t *testing.T) {
			t.Run("Records", p.records)
			t.Run("Parts", p.parts)
			t.Run("Index", p.index)
			t.Run("Writers", p.writers)
			t.Run("Sources", p.sources)
		})
	}
}

// records reads all record files of the test data with every format.
func (p place) records(t *testing.T) {
	files := 0
	for _, dir := range []string{"recordio", "webdataset", "kaldi", "mindrecord", "made"} {
		in, err := os.ReadDir(filepath.Join(p.local, dir))
		require.NoError(t, err)
		for _, e := range in {
			local, remote := p.at(dir + "/" + e.Name())
			f, err := records.Detect(t.Context(), store.Local, local)
			g, gerr := records.Detect(t.Context(), store.URI, remote)
			require.Equal(t, f.Name, g.Name, remote)
			require.Equal(t, err == nil, gerr == nil, remote)
			if err != nil {
				continue
			}
			want, err := read(t, f, local)
			got, gerr := read(t, f, remote)
			require.Equal(t, want, got, remote)
			if err == nil {
				require.NoError(t, gerr, remote)
			} else {
				require.EqualError(t, gerr, strings.ReplaceAll(err.Error(), local, remote))
			}
			files++
		}
	}
	require.Greater(t, files, 60)
	t.Logf("%d record files", files)
}

// parts reads RecordIO in parts and by index, in several orders.
func (p place) parts(t *testing.T) {
	all := func(base string, o recordio.SplitOptions, index bool) (l []string) {
		if index {
			o.Index = store.Join(base, "recordio/a.idx")
		}
		names := []string{store.Join(base, "recordio/a.rec")}
		if !index {
			names = append(names, store.Join(base, `recordio/[bc]\.rec`))
		}
		s, err := recordio.OpenSplit(t.Context(), store.URI, names, o)
		require.NoError(t, err)
		defer func() { require.NoError(t, s.Close()) }()
		for {
			b, err := s.Next()
			if err == io.EOF {
				return l
			}
			require.NoError(t, err)
			l = append(l, string(b))
		}
	}
	total := 0
	for part := range 3 {
		for _, o := range []recordio.SplitOptions{{Part: part, Parts: 3}, {Part: part, Parts: 3, Pieces: 2, Seed: 1}, {Part: part, Parts: 3, Chunk: 1000}} {
			want := all(p.local, o, false)
			require.Equal(t, want, all(p.remote, o, false))
			total += len(want)
		}
		for _, o := range []recordio.SplitOptions{{Part: part, Parts: 3}, {Part: part, Parts: 3, Random: true, Seed: 7}} {
			require.Equal(t, all(p.local, o, true), all(p.remote, o, true))
		}
	}
	require.Positive(t, total)
}

// index writes the indexes of record files again, and verifies the files.
func (p place) index(t *testing.T) {
	for format, name := range made {
		f, err := records.Lookup(format)
		require.NoError(t, err)
		_, remote := p.at(name)
		if f.Index != nil {
			beside, err := f.Index(t.Context(), store.URI, []string{remote}, records.IndexOptions{})
			require.NoError(t, err, remote)
			for _, b := range beside {
				if format == "webdataset" {
					continue // it has the shard's time; Verify reads it
				}
				rel := strings.TrimPrefix(b, p.remote)
				want, err := os.ReadFile(filepath.Join(p.local, rel))
				require.NoError(t, err)
				got, err := store.ReadFile(t.Context(), store.URI, b, nil, 1<<20)
				require.NoError(t, err)
				if filepath.Ext(b) == ".scp" { // which has whole names
					want = []byte(strings.ReplaceAll(string(want), p.local, p.remote))
				}
				require.True(t, bytes.Equal(want, got), b)
			}
		}
		if f.Verify != nil {
			_, err := f.Verify(t.Context(), store.URI, []string{remote}, records.ReadOptions{}, func(err error) { require.NoError(t, err) })
			require.NoError(t, err, remote)
		}
	}
}

// writers writes a file of each format: it has the bytes of the local one.
func (p place) writers(t *testing.T) {
	for format, name := range made {
		written := store.Join(p.remote, "written/"+filepath.Base(name))
		require.NoError(t, write(t, format, written), format)
		in, err := os.ReadDir(filepath.Join(p.local, "made"))
		require.NoError(t, err)
		compared := 0
		stem := strings.TrimSuffix(filepath.Base(name), filepath.Ext(name))
		for _, e := range in {
			if strings.HasPrefix(e.Name(), stem+".") && !strings.HasSuffix(e.Name(), ".tar.index") { // that has the shard's time
				want, err := os.ReadFile(filepath.Join(p.local, "made", e.Name()))
				require.NoError(t, err)
				got, err := store.ReadFile(t.Context(), store.URI, store.Join(p.remote, "written/"+e.Name()), nil, 1<<26) // a page of MindRecord has 32 MiB
				require.NoError(t, err)
				if filepath.Ext(e.Name()) == ".scp" { // which has whole names
					want = []byte(strings.ReplaceAll(string(want), filepath.Join(p.local, "made"), store.Join(p.remote, "written")))
				}
				require.True(t, bytes.Equal(want, got), e.Name())
				compared++
			}
		}
		require.Positive(t, compared)
	}
}

// rows returns the samples of a source.
func rows(t *testing.T, src dataset.Source, base string) (l []string) {
	t.Helper()
	b, err := dataset.Build(t.Context(), dataset.From(src), dataset.Options{Store: store.URI})
	require.NoError(t, err)
	defer func() { require.NoError(t, b.Close()) }()
	run, err := pullpipe.New(b, nil)
	require.NoError(t, err)
	for s, err := range run.All(t.Context()) {
		require.NoError(t, err)
		text := strings.ReplaceAll(s.Key, base, "BASE")
		for i := range s.Values {
			text += fmt.Sprintf(" %s %v %.4x", b.Columns()[i].Name, s.Values[i].Desc, sha256.Sum256(s.Values[i].Data))
		}
		l = append(l, text)
	}
	return l
}

// sources reads the test data of every source, with the parameters of its
// goldens.
func (p place) sources(t *testing.T) {
	seen := map[string]int{}
	compare := func(source string, params func(base string) string) {
		t.Helper()
		var got [2][]string
		for i, base := range []string{p.local, p.remote} {
			var src dataset.Source
			for _, n := range dataset.Nodes() {
				if n.Name == source {
					src = n.New().(dataset.Source)
				}
			}
			require.NotNil(t, src, source)
			require.NoError(t, spec.Unmarshal([]byte(params(base)), src), "%s %s", source, params(base))
			got[i] = rows(t, src, base)
		}
		require.NotEmpty(t, got[0], "%s %s", source, params(""))
		require.Equal(t, got[0], got[1], "%s %s", source, params(""))
		seen[source] += len(got[0])
	}
	goldens, err := filepath.Glob("../../testdata/datasets/*/*.json")
	require.NoError(t, err)
	for _, name := range goldens {
		b, err := os.ReadFile(name)
		require.NoError(t, err)
		var f struct {
			Cases []struct {
				Name   string
				Source string
				Params map[string]any
			}
		}
		if json.Unmarshal(b, &f) != nil {
			continue // data
		}
		dir := filepath.Base(filepath.Dir(name))
		for _, c := range f.Cases {
			if c.Params == nil {
				continue // another reader of the same cases
			}
			if dir == "csv" && c.Name == "unnamed" {
				continue // the source refuses it; see its own test
			}
			source := c.Source
			if source == "" {
				source = map[string]string{"textfile": "text_file"}[dir]
				if source == "" {
					source = dir
				}
			}
			compare(source, func(base string) string {
				params := map[string]any{}
				for k, v := range c.Params {
					at := func(s string) string {
						// The folder of a published set is one level deeper.
						if up, below, ok := strings.Cut(s, "../testdata/"); ok && strings.Trim(up, "./") == "" {
							return store.Join(base, below)
						}
						return store.Join(base, "datasets/"+dir+"/"+s)
					}
					switch k {
					case "dir", "file", "annotations":
						v = at(v.(string))
					case "files":
						var l []string
						for _, s := range v.([]any) {
							l = append(l, at(s.(string)))
						}
						v = l
					}
					params[k] = v
				}
				b, err := json.Marshal(params)
				require.NoError(t, err)
				return string(b)
			})
		}
	}
	text := func(n dataset.Node) string {
		b, err := json.Marshal(n)
		require.NoError(t, err)
		return string(b)
	}
	for part := range 2 {
		compare("image_record", func(base string) string {
			s := imagerecord.New(store.Join(base, made["imagerecord"]))
			s.Part, s.Parts = part, 2
			return text(s)
		})
		compare("image_record", func(base string) string {
			s := imagerecord.New(store.Join(base, made["imagerecord"]))
			s.Index = store.Join(base, "made/images.idx")
			s.Part, s.Parts = part, 2
			return text(s)
		})
	}
	compare("webdataset", func(base string) string { return text(webdataset.New(store.Join(base, "made/*.tar"))) })
	compare("tfrecord", func(base string) string { return text(tfrecord.New(store.Join(base, made["tfrecord"]))) })
	compare("kaldi", func(base string) string { return text(kaldi.New(store.Join(base, made["kaldi"]))) })
	compare("mind_record", func(base string) string { return text(mindrecord.New(store.Join(base, made["mindrecord"]))) })
	var names []string
	for n := range seen {
		names = append(names, n)
	}
	slices.Sort(names)
	t.Log(seen)
	require.GreaterOrEqual(t, len(names), 15, "sources: %v", names)
}

// TestCommands packs images into a store and reads the packs, as a user does.
func TestCommands(t *testing.T) {
	srv := s3test.Start(t)
	// The environment's store is that of the first test, so the program is
	// another process.
	program := filepath.Join(t.TempDir(), "infer-prep-full")
	out, err := exec.Command("go", "build", "-ldflags=-w", "-o", program, ".").CombinedOutput()
	require.NoError(t, err, "%s", out)
	srv.Setenv(t)
	call := func(args ...string) (string, error) {
		c := exec.Command(program, args...)
		out, err := c.CombinedOutput()
		return string(out), err
	}
	run := func(args ...string) string {
		t.Helper()
		out, err := call(args...)
		require.NoError(t, err, "%v: %s", args, out)
		return out
	}
	dir := t.TempDir()
	base := "s3://" + srv.Bucket
	images := "../../testdata/datasets/imagefolder/flat"
	for _, format := range []string{"webdataset", "recordio"} {
		plan := dir + "/plan-" + format + ".json"
		run("pack", "plan", "-o", plan, "--input", "classes", "--format", format, "--shards", "2", "--seed", "1", images)
		for _, to := range []string{dir, base} {
			for _, part := range []string{"0/2", "1/2", "1/2"} { // a part twice changes nothing
				run("pack", "-q", "--plan", plan, "--root", images, "--shard", part, "-o", to+"/"+format)
			}
			run("pack", "finish", "--plan", plan, "-o", to+"/"+format)
		}
	}
	for _, to := range []string{dir, base} {
		run("run", "-q", "--preset", "decode", "-o", to+"/tensors", images)
	}
	require.NoError(t, errors.Join(os.Remove(dir+"/plan-webdataset.json"), os.Remove(dir+"/plan-webdataset.list"), os.Remove(dir+"/plan-recordio.json"), os.Remove(dir+"/plan-recordio.list")))
	same := 0
	require.NoError(t, filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || strings.HasSuffix(path, ".tar.index") {
			return err
		}
		rel, err := filepath.Rel(dir, path)
		require.NoError(t, err)
		want, err := os.ReadFile(path)
		require.NoError(t, err)
		o, err := srv.Client(t).GetObject(t.Context(), srv.Bucket, filepath.ToSlash(rel), minio.GetObjectOptions{})
		require.NoError(t, err)
		got, err := io.ReadAll(o)
		require.NoError(t, err, rel)
		require.True(t, bytes.Equal(want, got), rel)
		same++
		return nil
	}))
	require.Greater(t, same, 8)
	for _, pattern := range []string{"webdataset/*.tar", "recordio/*.rec"} {
		l, err := filepath.Glob(filepath.Join(dir, pattern))
		require.NoError(t, err)
		require.Len(t, l, 2)
		for _, local := range l {
			remote := strings.ReplaceAll(local, dir, base)
			require.Equal(t, strings.Fields(strings.ReplaceAll(run("records", "ls", local), dir, base)), strings.Fields(run("records", "ls", remote)))
			run("run", "-q", "--preset", "decode", "-o", base+"/again", remote)
		}
	}
	t.Setenv("AWS_SECRET_ACCESS_KEY", "WRONGSECRET")
	for _, args := range [][]string{
		{"records", "ls", base + "/recordio/x.rec"}, {"run", "--preset", "decode", "-o", dir + "/x", base + "/tensors"}, {"run", "--preset", "decode", "-o", base + "/x", images},
	} {
		out, err := call(args...)
		require.Error(t, err, "%v", args)
		require.Contains(t, out, "permission denied")
		for _, s := range []string{"WRONGSECRET", srv.AccessKey, srv.SecretKey, "Signature="} {
			require.NotContains(t, out, s)
		}
		t.Log(out)
	}
}

//go:build linux

// Command store runs infer-prep for store.py.
package main

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"runtime/pprof"
	"strconv"
	"strings"
	"time"

	"github.com/minio/crc64nvme"
	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"

	"github.com/infer-prep/infer-prep/bench/internal/peer"
	_ "github.com/infer-prep/infer-prep/codec/jpeg"
	"github.com/infer-prep/infer-prep/datagraph"
	"github.com/infer-prep/infer-prep/dataset"
	"github.com/infer-prep/infer-prep/dataset/imagefolder"
	source "github.com/infer-prep/infer-prep/dataset/webdataset"
	"github.com/infer-prep/infer-prep/pipeline"
	"github.com/infer-prep/infer-prep/records/webdataset"
	"github.com/infer-prep/infer-prep/store"
	_ "github.com/infer-prep/infer-prep/store/s3"
	t "github.com/infer-prep/infer-prep/transforms"
)

func main() {
	if name := os.Getenv("CPUPROFILE"); name != "" {
		f, err := os.Create(name)
		if err == nil {
			err = pprof.StartCPUProfile(f)
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, "store:", err)
		}
		defer pprof.StopCPUProfile()
	}
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "store:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	switch {
	case len(args) == 4 && args[0] == "make":
		return makeShards(args[1], args[2], args[3])
	case len(args) == 3 && args[0] == "copy":
		return copyTree(args[1], args[2])
	case len(args) == 2 && args[0] == "bucket":
		return bucket(args[1])
	case len(args) == 2 && args[0] == "read":
		return read(args[1])
	case len(args) == 2 && args[0] == "get":
		return get(args[1])
	case len(args) == 4 && (args[0] == "epoch" || args[0] == "first"):
		return epoch(args[0] == "first", args[1], args[2], args[3])
	}
	return fmt.Errorf("%q: want make IMAGES FOLDER SHARDS, bucket NAME, copy FOLDER URI, read FOLDER, get FOLDER, or epoch or first with shards or folder, FOLDER and WORKERS", args)
}

// makeShards packs the files IMAGES/CLASS/*.jpg into shards with indexes.
func makeShards(images, folder, shards string) error {
	names, err := filepath.Glob(filepath.Join(images, "*", "*.jpg"))
	if err != nil {
		return err
	}
	n, err := strconv.Atoi(shards)
	if err != nil || n < 1 || len(names) < n {
		return fmt.Errorf("%d images for %s shards: want one for each at least", len(names), shards)
	}
	w, err := webdataset.NewWriter(context.Background(), store.Local, filepath.Join(folder, "%06d.tar"), webdataset.WriterOptions{Count: (len(names) + n - 1) / n, Index: true})
	if err != nil {
		return err
	}
	for i := range names {
		// The classes in turn, as a shuffled pack has them.
		name := names[i*7919%len(names)]
		b, err := os.ReadFile(name)
		if err != nil {
			return errors.Join(err, w.Abort())
		}
		class := strings.TrimPrefix(filepath.Base(filepath.Dir(name)), "class")
		if err := w.Write(&webdataset.Sample{Key: fmt.Sprintf("%06d", i), Fields: []webdataset.Field{{Ext: "jpg", Data: b}, {Ext: "cls", Data: []byte(class)}}}); err != nil {
			return errors.Join(err, w.Abort())
		}
	}
	return w.Close()
}

// client returns a client of the server of the environment.
func client() (*minio.Client, error) {
	u, err := url.Parse(os.Getenv("AWS_ENDPOINT_URL_S3"))
	if err != nil {
		return nil, err
	}
	return minio.New(u.Host, &minio.Options{Creds: credentials.NewEnvAWS()})
}

// bucket makes a bucket on the server of the environment.
func bucket(name string) error {
	c, err := client()
	if err != nil {
		return err
	}
	return c.MakeBucket(context.Background(), name, minio.MakeBucketOptions{})
}

// copyTree copies a folder of the local disk to a store. It makes the indexes
// of shards again, since they have the times of their shards. Other files get a
// checksum, as Amazon's tools store them.
func copyTree(from, to string) error {
	ctx := context.Background()
	c, err := client()
	if err != nil {
		return err
	}
	return filepath.WalkDir(from, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(path) == ".index" {
			return err
		}
		rel, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		b, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		name := store.Join(to, filepath.ToSlash(rel))
		if filepath.Ext(path) != ".tar" {
			bucket, key, _ := strings.Cut(strings.TrimPrefix(name, "s3://"), "/")
			_, err := minio.Core{Client: c}.PutObject(ctx, bucket, key, bytes.NewReader(b), int64(len(b)), "", "", minio.PutObjectOptions{
				UserMetadata: map[string]string{"x-amz-checksum-crc64nvme": base64.StdEncoding.EncodeToString(binary.BigEndian.AppendUint64(nil, crc64nvme.Checksum(b)))},
			})
			return err
		}
		if err := store.WriteFile(ctx, store.URI, name, b); err != nil {
			return err
		}
		x, err := webdataset.MakeIndex(ctx, store.URI, name, webdataset.Options{})
		if err != nil {
			return err
		}
		return webdataset.SaveIndex(ctx, store.URI, name, x)
	})
}

// read reads the shards of a folder in order, every byte of every sample.
func read(folder string) error {
	ctx := context.Background()
	shards, err := webdataset.Shards(ctx, store.URI, folder+"/*.tar", nil)
	if err != nil {
		return err
	}
	all := func(use func([]byte)) (n int, err error) {
		for _, name := range shards {
			k, err := shard(ctx, name, use)
			if n += k; err != nil {
				return n, err
			}
		}
		return n, nil
	}
	if _, err := all(sum); err != nil {
		return err
	}
	return peer.Serve("this commit", peer.Answers{
		Go:    func() (int, error) { return all(sum) },
		Check: func(w io.Writer) error { _, err := all(func(b []byte) { _, _ = w.Write(b) }); return err },
	})
}

func shard(ctx context.Context, name string, use func([]byte)) (n int, err error) {
	o, err := store.Of(store.URI, name)
	if err != nil {
		return 0, err
	}
	r, err := webdataset.Open(ctx, o, name, webdataset.Options{})
	if err != nil {
		return 0, err
	}
	defer r.Close()
	for ; ; n++ {
		s, err := r.Next()
		if err == io.EOF {
			return n, nil
		}
		if err != nil {
			return n, err
		}
		for _, f := range s.Fields {
			use(f.Data)
		}
	}
}

// get reads the bytes of the shards of a folder in S3 with net/http alone,
// without looking for samples: no client in Go is faster on one core.
func get(folder string) error {
	ctx := context.Background()
	c, err := client()
	if err != nil {
		return err
	}
	shards, err := webdataset.Shards(ctx, store.URI, folder+"/*.tar", nil)
	if err != nil {
		return err
	}
	samples := 0
	var urls []string
	for _, name := range shards {
		bucket, key, _ := strings.Cut(strings.TrimPrefix(name, "s3://"), "/")
		u, err := c.PresignedGetObject(ctx, bucket, key, time.Hour, nil)
		if err != nil {
			return err
		}
		urls = append(urls, u.String())
		n, err := shard(ctx, name, sum)
		if err != nil {
			return err
		}
		samples += n
	}
	buf := make([]byte, 256<<10)
	all := func() (int, error) {
		for _, u := range urls {
			if err := body(u, buf); err != nil {
				return 0, err
			}
		}
		return samples, nil
	}
	if _, err := all(); err != nil {
		return err
	}
	return peer.Serve(runtime.Version(), peer.Answers{Go: all})
}

func body(url string, buf []byte) error {
	r, err := http.Get(url)
	if err != nil {
		return err
	}
	defer r.Body.Close()
	if r.StatusCode != http.StatusOK {
		return errors.New(r.Status)
	}
	for {
		n, err := r.Body.Read(buf)
		sum(buf[:n])
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// sum reads every byte, as eight-byte numbers.
func sum(b []byte) {
	var x, y uint64
	for ; len(b) >= 16; b = b[16:] {
		x += binary.LittleEndian.Uint64(b)
		y += binary.LittleEndian.Uint64(b[8:])
	}
	for _, c := range b {
		x += uint64(c)
	}
	runtime.KeepAlive(x + y)
}

// readers is the number of goroutines that read images of a store: they wait
// for it. A local disk needs one.
const readers = 8

// epoch runs a training input over the shards or the images of a folder. With
// first it ends after the first batch.
func epoch(first bool, kind, folder, workers string) error {
	n, err := strconv.Atoi(workers)
	if err != nil {
		return err
	}
	var src dataset.Source
	stage := "batch/map/shuffle/image_folder"
	switch kind {
	case "folder":
		src = imagefolder.New(folder)
	case "shards":
		src = source.New(folder + "/*.tar")
		stage = "batch/map/shuffle/webdataset"
	default:
		return fmt.Errorf("%q: want folder or shards", kind)
	}
	g := datagraph.New(t.NewDecode(), t.NewRandomResizedCrop(224, 224), t.NewRandomHorizontalFlip(), t.NewToTensor(),
		t.NewNormalize([]float64{0.485, 0.456, 0.406}, []float64{0.229, 0.224, 0.225}))
	ctx := context.Background()
	size := 32
	if first {
		size = 1
	}
	o, err := store.Of(store.URI, folder)
	if err != nil {
		return err
	}
	b, err := dataset.Build(ctx, dataset.From(src).Shuffle().Map(g).Batch(size), dataset.Options{Seed: 1, Store: o})
	if err != nil {
		return err
	}
	defer b.Close()
	stages := map[string]int{stage: 1}
	if !store.IsLocal(store.URI, folder) {
		stages[stage] = readers
	}
	p, err := pipeline.New(b, pipeline.Options{Workers: n, StageWorkers: stages}, nil)
	if err != nil {
		return err
	}
	defer p.Close()
	if first {
		s, err := p.Next(ctx)
		if err != nil {
			return err
		}
		fmt.Println(s.Column("image").Desc)
		return nil
	}
	all := func() (images int, err error) {
		for {
			s, err := p.Next(ctx)
			if err == io.EOF {
				return images, p.NextEpoch()
			}
			if err != nil {
				return 0, err
			}
			images += s.Column("label").Tensor.Shape.At(0)
		}
	}
	if _, err := all(); err != nil {
		return err
	}
	return peer.Serve("this commit", peer.Answers{Go: all})
}

// Planscale measures what a plan of package pack costs as the data set grows:
// time, memory and the size of the listing for a simulated input of many files,
// and time and memory to read one shard's part of it. With -pack it packs that
// many small images instead, and prints the packer's largest memory.
//
//	go run ./tools/planscale -n 100000000 -shards 50000
//	go run ./tools/planscale -pack -n 100000
package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"image"
	"image/jpeg"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	_ "github.com/infer-prep/infer-prep/codec/all"
	"github.com/infer-prep/infer-prep/pack"
	"github.com/infer-prep/infer-prep/store"
	_ "github.com/infer-prep/infer-prep/transforms/all" // every op
)

// perFolder is the number of files of a simulated folder.
const perFolder = 10_000

// simulated is a store of n files sim://x/NNNNN/SSSSSSSSSS.jpg that are in no
// memory. All of them have the same content. Other names are local.
type simulated struct {
	store.Opener
	n        int64
	content  []byte
	versions bool
}

// file returns the name and the time of file i. Names of a content's digest do
// not compress, as those of a crawled data set do not.
func (s *simulated) file(i int64) store.Info {
	x := uint64(i) * 0x9e3779b97f4a7c15
	x ^= x >> 29
	f := store.Info{Name: fmt.Sprintf("sim://x/%05d/%04d%010x.jpg", i/perFolder, i%perFolder, x&(1<<40-1)), Size: int64(len(s.content)), Modified: time.Unix(1_700_000_000+i/1000, int64(x%1e9))}
	if s.versions {
		f.Version = fmt.Sprintf("%032x", x)
	}
	return f
}

func (s *simulated) List(ctx context.Context, folder string) ([]store.Info, error) {
	name, ok := strings.CutPrefix(folder, "sim://x")
	if !ok {
		return s.Opener.List(ctx, folder)
	}
	var l []store.Info
	if name == "" {
		for f := int64(0); f*perFolder < s.n; f++ {
			l = append(l, store.Info{Name: fmt.Sprintf("sim://x/%05d", f), Folder: true})
		}
		return l, nil
	}
	f, err := strconv.ParseInt(strings.TrimPrefix(name, "/"), 10, 64)
	if err != nil {
		return nil, &fs.PathError{Op: "list", Path: folder, Err: fs.ErrNotExist}
	}
	for i := f * perFolder; i < min((f+1)*perFolder, s.n); i++ {
		l = append(l, s.file(i))
	}
	return l, nil
}

func (s *simulated) Open(ctx context.Context, name string) (store.File, error) {
	if !strings.HasPrefix(name, "sim://") {
		return s.Opener.Open(ctx, name)
	}
	return content{bytes.NewReader(s.content)}, nil
}

// content is an open file of a simulated store.
type content struct{ *bytes.Reader }

func (content) Close() error { return nil }

// peak samples the memory that the process has from the system, until stop is
// called.
func peak() (stop func() uint64) {
	var most atomic.Uint64
	done := make(chan struct{})
	go func() {
		for {
			var m runtime.MemStats
			runtime.ReadMemStats(&m)
			most.Store(max(most.Load(), m.Sys-m.HeapReleased))
			select {
			case <-done:
				return
			case <-time.After(50 * time.Millisecond):
			}
		}
	}()
	return func() uint64 { close(done); return most.Load() }
}

func main() {
	n := flag.Int64("n", 1_000_000, "number of files")
	shards := flag.Int("shards", 0, "number of shards; 0: 2000 files each")
	seed := flag.Uint64("seed", 1, "seed of the shuffle; 0: sorted")
	versions := flag.Bool("versions", true, "the files have versions, as in an object store")
	packs := flag.Bool("pack", false, "pack the images")
	limit := flag.Int("limit", 0, "fail if packing takes more `MB` of memory; 0 means no limit")
	dir := flag.String("dir", "", "work in this folder (default a temporary one)")
	flag.Parse()
	if err := run(*n, *shards, *seed, *versions, *packs, *limit, *dir); err != nil {
		fmt.Fprintln(os.Stderr, "planscale:", err)
		os.Exit(1)
	}
}

func run(n int64, shards int, seed uint64, versions, packs bool, limit int, dir string) (err error) {
	if dir == "" {
		if dir, err = os.MkdirTemp("", "planscale-"); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	}
	ctx := context.Background()
	var b bytes.Buffer
	if err := jpeg.Encode(&b, image.NewRGBA(image.Rect(0, 0, 32, 32)), nil); err != nil {
		return err
	}
	files := &simulated{store.Local, n, b.Bytes(), versions}
	p := &pack.Plan{Output: pack.PlanShards, Shards: shards, Image: pack.ImageOptions{Resize: 16}}
	if seed != 0 {
		p.Seed = &seed
	}
	name := filepath.Join(dir, "plan.json")
	start, stop := time.Now(), peak()
	l, err := pack.WritePlan(ctx, files, name, p, pack.PlanInput{Name: "sim://x"}, pack.PlanWrite{Force: true})
	if err != nil {
		return err
	}
	fmt.Printf("plan: %d files, %d shards: %.1f s, peak %d MB, listing %.1f MB (%.1f bytes a file)\n", l.Samples, l.Shards, time.Since(start).Seconds(), stop()>>20, float64(l.Size)/1e6, float64(l.Size)/float64(n))
	q, err := pack.ReadPlan(ctx, files, name, pack.PlanRead{})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, q.Close()) }()
	runtime.GC()
	start, stop = time.Now(), peak()
	k := 0
	for _, err := range q.Entries(ctx, q.Shards/2) {
		if err != nil {
			return err
		}
		k++
	}
	fmt.Printf("one shard: %d entries: %.1f ms, peak %d MB\n", k, 1e3*time.Since(start).Seconds(), stop()>>20)
	if !packs {
		return nil
	}
	out := filepath.Join(dir, "out")
	if err := os.MkdirAll(out, 0o777); err != nil {
		return err
	}
	runtime.GC()
	start, stop = time.Now(), peak()
	r, err := (&pack.PlanPart{Plan: q, Out: out}).Run(ctx)
	if err != nil {
		return err
	}
	most := stop() >> 20
	fmt.Printf("pack: %d images in %d shards: %.1f s, peak %d MB\n", r.Records, r.Shards, time.Since(start).Seconds(), most)
	if limit > 0 && most > uint64(limit) {
		return fmt.Errorf("packing %d images took %d MB of memory: want at most %d", n, most, limit)
	}
	_, err = q.Finish(ctx, out, pack.PlanFinish{})
	return err
}

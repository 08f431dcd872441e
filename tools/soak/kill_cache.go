package main

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync/atomic"

	"github.com/infer-prep/infer-prep/dataset"
	"github.com/infer-prep/infer-prep/dataset/imagefolder"
	"github.com/infer-prep/infer-prep/pipeline"
	"github.com/infer-prep/infer-prep/tensor"
)

// made counts the samples that were made below a cache.
var made atomic.Int64

func init() {
	dataset.RegisterFunc("soak/count", dataset.MapFunc(func(_ *dataset.Call, dst []*dataset.Value, src []*tensor.Tensor) error {
		made.Add(1)
		dst[0].Share(src[0])
		return nil
	}))
}

// cached returns the samples of a folder, in a cache unless file is empty.
func cached(photos, file string) *dataset.Dataset {
	count := &dataset.Func{Name: "soak/count", In: []string{"label"}, Out: []dataset.OutColumn{{Name: "label", Desc: tensor.Desc{DType: tensor.Int32}}}}
	d := dataset.Of(count, dataset.From(imagefolder.New(photos)).Map(plain(64)))
	if file != "" {
		d = d.FileCache(file, 1<<30)
	}
	return d.Shuffle()
}

// cacheChild writes a cache: it reads an epoch with two workers.
func cacheChild(ctx context.Context, s *settings, args []string) (err error) {
	var warning atomic.Pointer[error]
	defer func() {
		if w := warning.Load(); w != nil {
			err = errors.Join(err, *w) // nothing keeps the cache from being used
		}
	}()
	o := dataset.Options{Seed: s.Seed, OnWarning: func(e error) { warning.Store(&e) }}
	b, err := dataset.Build(ctx, cached(args[0], args[1]), o)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, b.Close()) }()
	p, err := pipeline.New(b, pipeline.Options{Workers: 2}, nil)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, p.Close()) }()
	_, err = readAll(ctx, p, false)
	return err
}

// cacheProgress reports whether a cache has a sample: an offset in its table,
// which starts at byte 128 (docs/format/cache.md).
func cacheProgress(out string) bool {
	f, err := os.Open(filepath.Join(out, "cache"))
	if err != nil {
		return false
	}
	defer f.Close()
	var head [72]byte
	if _, err := f.ReadAt(head[:], 0); err != nil {
		return false
	}
	table := make([]byte, 8*min(1<<20, binary.LittleEndian.Uint64(head[16:])))
	_, err = f.ReadAt(table, 128)
	return err == nil && bytes.ContainsFunc(table, func(r rune) bool { return r != 0 })
}

// newCacheVictim returns the writer of a cache. Its folder must have the one
// file alone.
func newCacheVictim(ctx context.Context, s *settings, photos string) (*victim, error) {
	want, err := whole(ctx, subject{d: cached(photos, "")}, dataset.Options{Seed: s.Seed}, 0)
	if err != nil {
		return nil, err
	}
	file := func(out string) string { return filepath.Join(out, "cache") }
	runs := 0
	command := func(out string) (*exec.Cmd, error) {
		if runs++; runs%2 == 0 {
			if err := overwrite(file(out), 512, int64(runs)); err != nil && !errors.Is(err, os.ErrNotExist) {
				return nil, err
			}
		}
		return s.command(ctx, "cache", photos, file(out))
	}
	check := func(out string) error {
		made.Store(0)
		got, err := whole(ctx, subject{d: cached(photos, file(out))}, dataset.Options{Seed: s.Seed}, 0)
		if err != nil {
			return err
		}
		if d := differ(got, want); d != "" {
			return errors.New(d)
		}
		if n := made.Load(); n > 0 {
			return fmt.Errorf("%d samples are not in the cache", n)
		}
		l, err := os.ReadDir(out)
		if err == nil && len(l) != 1 {
			err = fmt.Errorf("%s is left over", l[1].Name())
		}
		return err
	}
	return &victim{
		"writer of a `dataset.FileCache`", "caches", command, cacheProgress,
		func(string) (bool, error) { return false, nil }, check,
	}, nil
}

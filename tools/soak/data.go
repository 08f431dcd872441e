package main

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	_ "github.com/infer-prep/infer-prep/codec/all"
	"github.com/infer-prep/infer-prep/datagraph"
	"github.com/infer-prep/infer-prep/dataset"
	"github.com/infer-prep/infer-prep/dataset/imagefolder"
	"github.com/infer-prep/infer-prep/dataset/imagerecord"
	"github.com/infer-prep/infer-prep/dataset/webdataset"
	t "github.com/infer-prep/infer-prep/transforms"
	_ "github.com/infer-prep/infer-prep/transforms/all" // every op
)

// images returns the names of the test images with one of the extensions and at
// most the given number of bytes, sorted.
func images(dir string, bytes int64, extensions ...string) (names []string, err error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		i, err := e.Info()
		if err != nil {
			return nil, err
		}
		if i.Mode().IsRegular() && i.Size() <= bytes && slices.Contains(extensions, filepath.Ext(e.Name())) {
			names = append(names, e.Name())
		}
	}
	if len(names) == 0 {
		return nil, fmt.Errorf("%s: no images", dir)
	}
	return names, nil
}

// fill creates the folder root with n images in classes subfolders. Image i is
// a copy of the i-th name, from the first again after the last.
func fill(root, from string, names []string, n, classes int) error {
	for i := range n {
		name := names[i%len(names)]
		b, err := os.ReadFile(filepath.Join(from, name))
		if err != nil {
			return err
		}
		class := filepath.Join(root, fmt.Sprintf("class%d", i%classes))
		if err := os.MkdirAll(class, 0o777); err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(class, fmt.Sprintf("%04d_%s", i, name)), b, 0o666); err != nil {
			return err
		}
	}
	return nil
}

// corpus is a small set of images as a folder, a RecordIO file and tar shards.
type corpus struct {
	photos, records, shards string
	n                       int
}

// newCorpus makes a corpus of n PNG images. The program infer-prep packs it.
func newCorpus(ctx context.Context, s *settings, n int) (*corpus, error) {
	names, err := images(s.Images, 4<<10, ".png")
	if err != nil {
		return nil, err
	}
	c := &corpus{
		photos: filepath.Join(s.Dir, "photos"), records: filepath.Join(s.Dir, "records"), shards: filepath.Join(s.Dir, "shards"), n: n,
	}
	if err := fill(c.photos, s.Images, names, n, 2); err != nil {
		return nil, err
	}
	if err := os.Mkdir(c.records, 0o777); err != nil {
		return nil, err
	}
	for _, args := range [][]string{
		{"pack", "recordio", "--quiet", "--recursive", "--pass-through", filepath.Join(c.records, "photos"), c.photos},
		{"pack", "shards", "--quiet", "--classes", "--index", "--samples-per-file", fmt.Sprint((n + 1) / 2), "-o", c.shards, c.photos},
	} {
		if out, err := exec.CommandContext(ctx, s.Binary, args...).CombinedOutput(); err != nil {
			return nil, fmt.Errorf("infer-prep %s: %w\n%s", strings.Join(args, " "), err, out)
		}
	}
	return c, nil
}

// folder, recordFile and tar are the sources of the corpus.
func (c *corpus) folder() *dataset.Dataset {
	return dataset.From(imagefolder.New(c.photos))
}

func (c *corpus) recordFile() *dataset.Dataset {
	x := imagerecord.New(filepath.Join(c.records, "photos.rec"))
	x.Index = filepath.Join(c.records, "photos.idx")
	return dataset.From(x)
}

func (c *corpus) tar() *dataset.Dataset {
	return dataset.From(webdataset.New(filepath.Join(c.shards, "data-{00000..00001}.tar")))
}

// augment returns a training graph whose images have the given edge.
func augment(edge int) *datagraph.Graph {
	return datagraph.New(t.NewDecode(), t.NewRandomResizedCrop(edge, edge), t.NewRandomHorizontalFlip(), t.NewToTensor(),
		t.NewNormalize([]float64{0.485, 0.456, 0.406}, []float64{0.229, 0.224, 0.225}))
}

// plain returns a graph without random numbers.
func plain(edge int) *datagraph.Graph {
	return datagraph.New(t.NewDecode(), t.NewResize(edge, edge))
}

// item is a sample: its key, empty for a part of a batch, and a digest of its
// values.
type item struct {
	key    string
	digest uint64
}

// items returns the items of a sample, or of all elements of a batch.
func items(s *dataset.Sample, batch bool) ([]item, error) {
	n, key := 1, s.Key
	if batch {
		n, key = s.Column("image").Shape.At(0), ""
	}
	l := make([]item, n)
	for i := range l {
		h := sha256.New()
		for k := range s.Values {
			v := &s.Values[k]
			if len(v.Data)%n != 0 {
				return nil, fmt.Errorf("sample %q: column %d has %d bytes in %d elements", s.Key, k, len(v.Data), n)
			}
			size := len(v.Data) / n
			shape := fmt.Sprint(v.Desc)
			if batch {
				shape = fmt.Sprint(v.DType)
			}
			fmt.Fprintf(h, "%s %d\n", shape, size)
			h.Write(v.Data[i*size : (i+1)*size])
		}
		l[i] = item{key, binary.LittleEndian.Uint64(h.Sum(nil))}
	}
	return l, nil
}

// read returns the items of up to n samples or batches, or of all if n is
// negative. It returns io.EOF at the end of the epoch.
func read(ctx context.Context, p run, n int, batch bool) (l []item, err error) {
	for ; n != 0; n-- {
		s, err := p.Next(ctx)
		if err != nil {
			return l, err
		}
		x, err := items(s, batch)
		if err != nil {
			return l, err
		}
		l = append(l, x...)
	}
	return l, nil
}

// readAll returns the items of the rest of the epoch.
func readAll(ctx context.Context, p run, batch bool) ([]item, error) {
	l, err := read(ctx, p, -1, batch)
	if err == io.EOF {
		err = nil
	}
	return l, err
}

// differ describes the first difference of two lists, empty if there is none.
func differ(got, want []item) string {
	for i := range min(len(got), len(want)) {
		if got[i] != want[i] {
			return fmt.Sprintf("sample %d of %d is %v, want %v", i, len(want), got[i], want[i])
		}
	}
	if len(got) != len(want) {
		return fmt.Sprintf("%d samples, want %d", len(got), len(want))
	}
	return ""
}

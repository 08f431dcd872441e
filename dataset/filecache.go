package dataset

import (
	"crypto/sha256"
	"errors"
	"fmt"

	"github.com/infer-prep/infer-prep/dataset/internal/filecache"
	"github.com/infer-prep/infer-prep/tensor"
)

// FileCache is a Cache in a file, which later runs of the program find again, and
// which several processes may use at the same time: what one of them made, all of
// them have. Docs/format/cache.md describes the file.
//
// A file that was made of something else, or is damaged, is never used: it is
// replaced where its beginning shows it, and single samples of it are made again
// where theirs shows it. "Something else" is another definition below the cache,
// another length of a source, or another Stamp; of the data below it nothing is
// known: images that change under the same names and functions that change under
// theirs want another Stamp. What is below must have a written form, so that it
// can be told from others; functions need names.
//
// On Linux, macOS, FreeBSD, NetBSD and DragonFly the file is mapped into memory,
// its samples are views of the mapping, valid until the Built is closed, and
// writers lock the file (flock, which network file systems may not have). On other
// systems only one process may use a file at a time, and samples are copied. No
// program may shorten the file while it is in use.
//
// A file that cannot grow, since the disk is full, say, is as one without room.
type FileCache struct {
	File  string `json:"file"`
	Bytes int64  `json:"bytes"` // of the file, at most
	Stamp string `json:"stamp"` // names what else the samples depend on; may be empty
}

func init() {
	Register(Info{Name: "file_cache", Version: 1, New: func() Node { return &FileCache{Bytes: 16 << 30} }, Doc: "samples kept in a file"})
}

// FileCache keeps samples in a file of up to so many bytes.
func (d *Dataset) FileCache(file string, bytes int64) *Dataset {
	return d.then(&FileCache{File: file, Bytes: bytes})
}

// Validate wants a file and a size.
func (n *FileCache) Validate() error {
	if n.File == "" || n.Bytes < 0 {
		return paramErr("file %q of %d bytes, want a name and 0 or more", n.File, n.Bytes)
	}
	return nil
}

func (n *FileCache) build(b *Built, s *step) error {
	in, err := s.passes()
	if err != nil {
		return err
	}
	if err := in.finite("a cache"); err != nil {
		return err
	}
	if x := in.changing(); x != nil {
		return defErr("%s below a cache is not the same in every epoch; put it above", x.path)
	}
	print, err := b.print(in, n.Stamp)
	if err != nil {
		return err
	}
	if need := filecache.MinSize(in.size); in.size > 1<<60 || need > n.Bytes {
		return defErr("the table of %d rows has %d bytes, the limit is %d", in.size, need, n.Bytes)
	}
	descs := make([]tensor.Desc, len(in.columns))
	for i, c := range in.columns {
		descs[i] = c.Desc
	}
	c, err := filecache.Open(n.File, descs, in.size, n.Bytes, print)
	if err != nil {
		switch {
		case errors.Is(err, filecache.ErrNotRegular):
			err = fmt.Errorf("%w: %w", ErrParam, err)
		case errors.Is(err, filecache.ErrContended):
			err = fmt.Errorf("%w: %w", ErrDefinition, err)
		}
		return fmt.Errorf("cache %s: %w", n.File, err)
	}
	b.open = append(b.open, c)
	s.state = fileKeeper{c}
	return nil
}

// print is the fingerprint of the samples of s.
func (b *Built) print(s *step, stamp string) (sum [32]byte, err error) {
	text, err := s.definition().MarshalJSON()
	if err != nil {
		return sum, err
	}
	h := sha256.New()
	fmt.Fprintf(h, "%s\n%q\n", text, stamp)
	var walk func(s *step)
	walk = func(s *step) {
		if s.data != nil {
			fmt.Fprintf(h, "%d rows\n", s.size)
		}
		if _, ok := s.node.(*Func); ok { // may draw numbers
			fmt.Fprintf(h, "seed %d %s\n", b.options.Seed, s.path)
		}
		for _, in := range s.in {
			walk(in)
		}
	}
	walk(s)
	return [32]byte(h.Sum(nil)), nil
}

// definition is what s was built from.
func (s *step) definition() *Dataset {
	d := &Dataset{Node: s.node}
	for _, in := range s.in {
		d.In = append(d.In, in.definition())
	}
	return d
}

// fileSample is a Sample for package filecache. An interface of it needs no
// memory.
type fileSample struct{ s *Sample }

func (f fileSample) Key() string                { return f.s.Key }
func (f fileSample) Len() int                   { return len(f.s.Values) }
func (f fileSample) Value(i int) *tensor.Tensor { return &f.s.Values[i].Tensor }

func (f fileSample) Reset(n int, key string) {
	f.s.resize(n)
	f.s.Key = key
}

func (f fileSample) Set(i int, t tensor.Tensor, shared bool) error {
	v := &f.s.Values[i]
	if shared {
		v.Tensor = t
		return nil
	}
	return v.copyTensor(&t)
}

// fileKeeper is the keeper of a FileCache.
type fileKeeper struct{ *filecache.File }

func (k fileKeeper) get(row int64, s *Sample) (bool, error) { return k.Get(row, fileSample{s}) }
func (k fileKeeper) keep(row int64, s *Sample) error        { return k.Keep(row, fileSample{s}) }

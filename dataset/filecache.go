package dataset

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"github.com/infer-prep/infer-prep/dataset/internal/filecache"
	"github.com/infer-prep/infer-prep/device"
	"github.com/infer-prep/infer-prep/tensor"
)

// FileCache is a Cache in a file that stays where the definition has it. Later
// runs of the program use it, and several processes can share it.
// docs/format/cache.md specifies the file.
//
// The file belongs to a definition: the nodes below the cache, the lengths of
// their sources, the sizes and modification times of the files that the sources
// open or look up in Open, and Stamp. A file of another definition, or one with
// a damaged header, is replaced. A sample that is damaged when a process first
// uses it is computed again; the file must not be changed after that.
//
// Sources that read a file for each row are Stamped. Their samples are compared
// with the row's key and label, and with the size and modification time of its
// file, before every use: one Stat for each. A sample that differs is computed
// again and appended; the old one keeps its room. A source that is not Stamped
// is compared by the files that it opens in Open alone. Choose another Stamp
// when a function changes, when data changes that is not in such files, or when
// a file changes without its size or modification time. The nodes below must
// have a written form, so functions need names.
//
// On Linux, macOS, FreeBSD, NetBSD and DragonFly the file is mapped into
// memory. Its samples are views of the mapping, valid until the Built is
// closed. Writers lock the file with flock, which network file systems may
// lack. On other systems one process at a time may use the file, and samples
// are copied. No program may truncate the file while it is in use.
//
// The run goes on without the cache, and Options.OnWarning is called once, if
// the file cannot be opened for writing, if there is no room for its header, or
// if another process holds its lock for more than 5 seconds. A file that can no
// longer be written is still read; OnWarning is called once. A missing folder,
// and a name that is not a regular file, are errors.
type FileCache struct {
	File  string `json:"file"`
	Bytes int64  `json:"bytes"` // maximum size of the file
	Stamp string `json:"stamp"` // names what else the samples depend on; optional
}

func init() {
	Register(Info{Name: "file_cache", Version: 1, New: func() Node { return &FileCache{Bytes: 16 << 30} }, Doc: "samples kept in a file"})
}

// FileCache keeps samples in a file of up to bytes bytes.
func (d *Dataset) FileCache(file string, bytes int64) *Dataset {
	return d.then(&FileCache{File: file, Bytes: bytes})
}

// Validate requires a file name and a size of 0 or more.
func (n *FileCache) Validate() error {
	if n.File == "" || n.Bytes < 0 {
		return paramErr("file %q of %d bytes, want a name and 0 or more", n.File, n.Bytes)
	}
	return nil
}

func (n *FileCache) traits() traits { return traits{caches: true, persists: true} }

func (n *FileCache) build(b *Built, s *step) error {
	in := s.inherit()
	if err := in.requireFinite("a cache"); err != nil {
		return err
	}
	if x := in.changing(); x != nil {
		return defErr("%s below a cache differs between epochs; put it above", x.path)
	}
	fingerprint, err := b.cacheFingerprint(in, n.Stamp)
	if err != nil {
		return err
	}
	if need := filecache.MinSize(in.size); in.size > 1<<60 || need > n.Bytes {
		return defErr("the table of %d rows has %d bytes, want at most %d", in.size, need, n.Bytes)
	}
	descs := make([]tensor.Desc, len(in.columns))
	for i, c := range in.columns {
		descs[i] = c.Desc
	}
	c, err := filecache.Open(b.building, n.File, descs, in.size, n.Bytes, fingerprint)
	if err != nil {
		switch {
		case errors.Is(err, filecache.ErrNotRegular):
			err = fmt.Errorf("%w: %w", ErrParam, err)
		case errors.Is(err, filecache.ErrContended):
			err = fmt.Errorf("%w: %w", ErrDefinition, err)
		case !errors.Is(err, fs.ErrNotExist) && b.building.Err() == nil:
			b.warn(s, fmt.Errorf("cache %s: not used: %w", n.File, err))
			s.state = &cacheState{keeper: noKeeper{}}
			return nil
		}
		return fmt.Errorf("cache %s: %w", n.File, err)
	}
	b.open = append(b.open, c)
	keeper := &fileKeeper{c, func(err error) { b.warn(s, fmt.Errorf("cache %s: no longer written: %w", n.File, err)) }}
	s.state = &cacheState{keeper: keeper}
	return nil
}

func (n *FileCache) index(o *opener, s *step, f feed) (iterator, error) { return o.openCache(s, f) }

// cacheFingerprint returns the fingerprint of the samples of s.
func (b *Built) cacheFingerprint(s *step, stamp string) (sum [32]byte, err error) {
	text, err := s.definition().MarshalJSON()
	if err != nil {
		return sum, err
	}
	h := sha256.New()
	fmt.Fprintf(h, "%s\n%q\n", text, stamp)
	var walk func(s *step)
	walk = func(s *step) {
		if s.data != nil {
			fmt.Fprintf(h, "%d rows %x\n", s.size, s.files)
		}
		if s.traits.draws {
			fmt.Fprintf(h, "seed %d %s\n", b.options.Seed, s.path)
		}
		if t, ok := s.state.(*joinState); ok {
			fmt.Fprintf(h, "table %x\n", t.digest)
		}
		for _, in := range s.in {
			walk(in)
		}
	}
	walk(s)
	if d := b.options.Device; d != nil && b.options.DeviceLeast < device.Exact {
		fmt.Fprintf(h, "device %s %v\n", d.Name(), b.options.DeviceLeast)
	}
	return [32]byte(h.Sum(nil)), nil
}

// definition returns the definition that s was built from.
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
	f.s.Resize(n)
	f.s.Key = key
}

func (f fileSample) Set(i int, t tensor.Tensor, shared bool) error {
	v := &f.s.Values[i]
	if shared {
		v.Tensor = t
		return nil
	}
	return v.Copy(&t)
}

// fileKeeper is the keeper of a FileCache.
type fileKeeper struct {
	file *filecache.File
	warn func(error)
}

func (k *fileKeeper) get(row int64, stamp [32]byte, s *Sample) (bool, error) {
	return k.file.Get(row, stamp, fileSample{s})
}

func (k *fileKeeper) keep(ctx context.Context, row int64, stamp [32]byte, s *Sample) error {
	err := k.file.Keep(ctx, row, stamp, fileSample{s})
	if err != nil && ctx.Err() == nil {
		k.warn(err) // once: the file takes no more samples
		return nil
	}
	return err
}

// noKeeper is the keeper of a FileCache that cannot be used.
type noKeeper struct{}

func (noKeeper) get(int64, [32]byte, *Sample) (bool, error) { return false, nil }

func (noKeeper) keep(context.Context, int64, [32]byte, *Sample) error { return nil }

// persists reports whether a node keeps samples for later runs.
func (d *Dataset) persists(depth int) bool {
	if d == nil || depth > maxDepth { // an error of step
		return false
	}
	return traitsOf(d.Node).persists || slices.ContainsFunc(d.In, func(in *Dataset) bool { return in.persists(depth + 1) })
}

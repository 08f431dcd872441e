package recordio

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"

	"github.com/infer-prep/infer-prep/records"
	"github.com/infer-prep/infer-prep/store"
)

// Cached is a Split that writes its first epoch to a cache file and reads later
// epochs from it, also in later programs. Use it for files that are slow to
// read.
//
// The file appears under its name when it is complete: at the end of the first
// epoch, or at the first Reset, which reads the rest of the epoch. It records
// the names, sizes and times of the source files, the part and the options, and
// has a checksum. A cache of other files, or a damaged one, is replaced.
// docs/format/splitcache.md describes the format.
type Cached struct {
	split  *Split
	opener store.Opener
	ctx    context.Context
	name   string
	print  [sha256.Size]byte

	file   store.File    // nil in the first epoch
	out    store.NewFile // nil after the first epoch
	sum    uint32
	count  uint64
	at     int64 // position in file
	end    int64
	in     chunked
	broken error // error of out
}

// cacheName returns the name of a part's cache file, as dmlc-core does.
func cacheName(cache string, part, parts int) string {
	if parts <= 1 {
		return cache
	}
	return fmt.Sprintf("%s.split%d.part%d", cache, parts, part)
}

const (
	splitMagic  = "IPsplit\n"
	splitHeader = 8 + 4 + 4 + sha256.Size // magic, version, zeros, fingerprint
	splitChunk  = 4 + 4 + 8 + 8           // file number, zeros, offset in it, length
	splitEnd    = 1<<32 - 1               // the file number after the last chunk; its length is the number of chunks
)

// OpenCached opens a Split with a cache. With several parts, ".splitN.partK" is
// appended to the name of the cache. The cache keeps the files' order: Random,
// Pieces and Lenient are errors.
func OpenCached(ctx context.Context, o store.Opener, names []string, cache string, options SplitOptions) (*Cached, error) {
	if options.Random || options.Pieces > 0 || options.Lenient {
		return nil, fmt.Errorf("recordio: cache: %s: want neither Random, Pieces nor Lenient: a cache has the files' own order", store.RedactAll(names))
	}
	s, err := OpenSplit(ctx, o, names, options)
	if err != nil {
		return nil, err
	}
	c := &Cached{split: s, opener: o, ctx: ctx, name: cacheName(cache, s.o.Part, s.o.Parts)}
	h := sha256.New()
	fmt.Fprintf(h, "%d of %d, text %v, index %q, limit %d\n", s.o.Part, s.o.Parts, s.o.Text, s.o.Index, s.o.Limit)
	for _, f := range s.stream.files {
		fmt.Fprintf(h, "%q %d %d\n", f.Name, f.Size, f.Modified.UnixNano())
	}
	h.Sum(c.print[:0])
	c.in.fill = c.nextChunk
	if err := c.open(); err != nil {
		return nil, errors.Join(err, c.Close())
	}
	if c.file == nil {
		err = c.create()
	}
	if err != nil {
		return nil, errors.Join(err, c.Close())
	}
	return c, nil
}

// open opens the cache file if it exists and is valid.
func (c *Cached) open() error {
	f, err := c.opener.Open(c.ctx, c.name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("recordio: cache: %w", err)
	}
	ok, err := c.check(f)
	if err != nil || !ok {
		return errors.Join(err, f.Close())
	}
	c.file, c.at, c.end = f, splitHeader, f.Size()
	return nil
}

func (c *Cached) header() []byte {
	b := append(make([]byte, 0, splitHeader), splitMagic...)
	b = binary.LittleEndian.AppendUint32(b, 1) // version
	b = binary.LittleEndian.AppendUint32(b, 0)
	return append(b, c.print[:]...)
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// check reads a cache file and reports whether it is valid and of this split.
func (c *Cached) check(f store.File) (ok bool, err error) {
	size := f.Size()
	if size < splitHeader+splitChunk+4 {
		return false, nil
	}
	sum := uint32(0)
	var end, head []byte
	b := make([]byte, bufferSize)
	for at := int64(0); at < size-4; {
		part := b[:min(int64(len(b)), size-4-at)]
		if _, err := f.ReadAt(part, at); err != nil {
			return false, fmt.Errorf("recordio: cache %s: %w", store.Redact(c.name), err)
		}
		if at == 0 {
			head = append(head, part[:splitHeader]...)
		}
		sum = crc32.Update(sum, castagnoli, part)
		at += int64(len(part))
	}
	end = make([]byte, 4)
	if _, err := f.ReadAt(end, size-4); err != nil {
		return false, fmt.Errorf("recordio: cache %s: %w", store.Redact(c.name), err)
	}
	return sum == word(end) && string(head) == string(c.header()), nil
}

// create begins a new cache file.
func (c *Cached) create() (err error) {
	if c.out, err = c.opener.Create(c.ctx, c.name); err != nil {
		return fmt.Errorf("recordio: cache: %w", err)
	}
	c.sum, c.count, c.broken = 0, 0, nil
	c.write(c.header())
	return nil
}

func (c *Cached) write(b []byte) {
	if c.broken != nil {
		return
	}
	c.sum = crc32.Update(c.sum, castagnoli, b)
	if _, err := c.out.Write(b); err != nil {
		c.broken = fmt.Errorf("recordio: cache %s: %w", store.Redact(c.name), err)
	}
}

func (c *Cached) writeChunk(file uint32, offset, length int64) {
	b := binary.LittleEndian.AppendUint32(nil, file)
	b = binary.LittleEndian.AppendUint32(b, 0)
	b = binary.LittleEndian.AppendUint64(b, uint64(offset))
	c.write(binary.LittleEndian.AppendUint64(b, uint64(length)))
}

// nextChunk returns the next chunk, from the files or from the cache.
func (c *Cached) nextChunk(to *Chunk) error {
	if c.file != nil {
		return c.readChunk(to)
	}
	err := c.split.NextChunk(to)
	switch {
	case err == io.EOF:
		if err := c.finish(); err != nil {
			return err
		}
	case err == nil:
		i := 0
		for c.split.stream.files[i].Name != to.File {
			i++
		}
		c.writeChunk(uint32(i), to.Offset, int64(len(to.Data)))
		c.write(to.Data)
		c.count++
	}
	return err
}

// finish completes the cache file. A failed write is reported here, after all
// records were returned.
func (c *Cached) finish() error {
	if c.out == nil {
		return nil
	}
	c.writeChunk(splitEnd, 0, int64(c.count))
	sum := c.sum
	c.write(binary.LittleEndian.AppendUint32(nil, sum))
	out := c.out
	c.out = nil
	if c.broken != nil {
		return errors.Join(c.broken, out.Abort())
	}
	if err := out.Close(); err != nil {
		return fmt.Errorf("recordio: cache: %w", err)
	}
	return nil
}

// readChunk returns the next chunk of the cache file, whose checksum was
// verified by open.
func (c *Cached) readChunk(to *Chunk) error {
	var head [splitChunk]byte
	if _, err := c.file.ReadAt(head[:], c.at); err == io.EOF {
		return records.Corruptf(formatName, c.name, c.at, "the cache ends within a chunk's head")
	} else if err != nil {
		return fmt.Errorf("recordio: cache %s: %w", store.Redact(c.name), err)
	}
	i, n := word(head[:]), int64(binary.LittleEndian.Uint64(head[16:]))
	if i == splitEnd {
		return io.EOF
	}
	at := c.at + splitChunk
	if int(i) >= len(c.split.stream.files) || n < 0 || n > c.end-at {
		return records.Corruptf(formatName, c.name, c.at, "the cache was changed while it was in use")
	}
	to.Text, to.limit = c.split.o.Text, c.split.o.Limit
	to.File, to.Offset = c.split.stream.files[i].Name, int64(binary.LittleEndian.Uint64(head[8:]))
	to.Data = nil
	if b := store.MappedBytes(c.file); b != nil {
		to.Data = b[at : at+n : at+n]
	}
	if to.Data == nil {
		if int64(cap(to.own)) < n {
			to.own = make([]byte, n)
		}
		to.Data = to.own[:n]
		if _, err := c.file.ReadAt(to.Data, at); err != nil {
			return fmt.Errorf("recordio: cache %s: %w", store.Redact(c.name), err)
		}
	}
	c.at = at + n
	return nil
}

// Next returns the next record or line of the part, valid until the next call,
// and io.EOF at the end of the epoch. It returns any other error again until
// Reset.
func (c *Cached) Next() ([]byte, error) { return c.in.next() }

// Reset begins the next epoch. In the first epoch it reads the rest, to
// complete the cache.
func (c *Cached) Reset() error {
	for c.out != nil {
		if err := c.nextChunk(&c.in.chunk); err == io.EOF {
			break
		} else if err != nil {
			c.in.in, c.in.err = nil, err
			return err
		}
	}
	if c.file == nil {
		if err := c.open(); err != nil {
			return err
		}
		if c.file == nil {
			return fmt.Errorf("recordio: cache %s: it is not there, or damaged, right after it was written", store.Redact(c.name))
		}
	}
	c.in.begin()
	c.at = splitHeader
	return nil
}

// Size returns the total size of all files, not of the part.
func (c *Cached) Size() int64 { return c.split.Size() }

// Close closes the files. It discards an incomplete cache.
func (c *Cached) Close() error {
	err := c.split.Close()
	if c.out != nil {
		err = errors.Join(err, c.out.Abort())
		c.out = nil
	}
	if c.file != nil {
		err = errors.Join(err, c.file.Close())
		c.file = nil
	}
	return err
}

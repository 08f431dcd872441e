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
	"strings"

	"github.com/infer-prep/infer-prep/records"
	"github.com/infer-prep/infer-prep/store"
)

// Cached is a Split whose first epoch is written to a file, from which later
// epochs, and later programs, read. It is for files that are slow to read.
//
// The file is made under another name and takes its own when it is whole: with the
// end of the first epoch, or with the first Reset, which goes through what is left.
// It says of which files (names, sizes, times), part and options it was made, and has a checksum; a file that is
// of others, or damaged, is made anew. docs/format/splitcache.md describes it.
type Cached struct {
	split  *Split
	opener store.Opener
	ctx    context.Context
	name   string
	print  [sha256.Size]byte

	file   store.File    // of an epoch that is read from it; nil in the first
	out    store.NewFile // in the first
	sum    uint32
	count  uint64
	at     int64 // in file
	end    int64
	in     chunked
	broken error // of out
}

// CacheName is the name of a part's cache: dmlc-core's.
func CacheName(cache string, part, parts int) string {
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

// OpenCached is OpenSplit with a cache of this name, which CacheName makes the
// part's. The order must be that of the files: neither Random nor Pieces, and not Lenient.
func OpenCached(ctx context.Context, o store.Opener, names []string, cache string, options SplitOptions) (*Cached, error) {
	if options.Random || options.Pieces > 0 || options.Lenient {
		return nil, fmt.Errorf("recordio: cache: %s: Random, Pieces and Lenient must not be set: a cache has the files' own order", strings.Join(names, ", "))
	}
	s, err := OpenSplit(ctx, o, names, options)
	if err != nil {
		return nil, err
	}
	c := &Cached{split: s, opener: o, ctx: ctx, name: CacheName(cache, s.o.Part, s.o.Parts)}
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

// open opens the file if it is there and good.
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

// check reads all of a file. Not ok if it is another's, or damaged.
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
			return false, fmt.Errorf("recordio: cache %s: %w", c.name, err)
		}
		if at == 0 {
			head = append(head, part[:splitHeader]...)
		}
		sum = crc32.Update(sum, castagnoli, part)
		at += int64(len(part))
	}
	end = make([]byte, 4)
	if _, err := f.ReadAt(end, size-4); err != nil {
		return false, fmt.Errorf("recordio: cache %s: %w", c.name, err)
	}
	return sum == word(end) && string(head) == string(c.header()), nil
}

// create begins a new file.
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
		c.broken = fmt.Errorf("recordio: cache %s: %w", c.name, err)
	}
}

func (c *Cached) writeChunk(file uint32, offset, length int64) {
	b := binary.LittleEndian.AppendUint32(nil, file)
	b = binary.LittleEndian.AppendUint32(b, 0)
	b = binary.LittleEndian.AppendUint64(b, uint64(offset))
	c.write(binary.LittleEndian.AppendUint64(b, uint64(length)))
}

// nextChunk is the next chunk, of the files or of the cache.
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

// finish puts the file under its name. One that could not be written is an error now,
// when all records were given.
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

// readChunk is the next chunk of the cache, which was checked when it was opened.
func (c *Cached) readChunk(to *Chunk) error {
	var head [splitChunk]byte
	if _, err := c.file.ReadAt(head[:], c.at); err == io.EOF {
		return records.Corruptf(formatName, c.name, c.at, "the cache ends within a chunk's head")
	} else if err != nil {
		return fmt.Errorf("recordio: cache %s: %w", c.name, err)
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
			return fmt.Errorf("recordio: cache %s: %w", c.name, err)
		}
	}
	c.at = at + n
	return nil
}

// Next is the next record or line of the part, valid until the next call; io.EOF
// at the end of the epoch. After another error there is nothing more, until Reset.
func (c *Cached) Next() ([]byte, error) { return c.in.next() }

// Reset begins the next epoch. In the first one it goes through what is left, so
// that the cache is whole.
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
			return fmt.Errorf("recordio: cache %s: it is not there, or damaged, right after it was written", c.name)
		}
	}
	c.in.begin()
	c.at = splitHeader
	return nil
}

// Size is the bytes of all files, of which the part is one.
func (c *Cached) Size() int64 { return c.split.Size() }

// Close closes the files. A cache that is not whole is dropped.
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

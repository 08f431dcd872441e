// Package filecache stores samples in a file that later runs and other
// processes read. docs/format/cache.md specifies the file. Package dataset uses
// it for its FileCache node.
package filecache

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/infer-prep/infer-prep/internal/filelock"
	"github.com/infer-prep/infer-prep/internal/mapfile"
	"github.com/infer-prep/infer-prep/tensor"
)

var (
	// ErrNotRegular reports a name that is not a regular file.
	ErrNotRegular = errors.New("not a regular file")
	// ErrContended reports that other processes keep replacing the file.
	ErrContended = errors.New("other processes keep replacing the file, since their definitions differ")
)

// Sample is a sample to write, or to fill.
type Sample interface {
	Key() string
	// Len returns the number of values.
	Len() int
	// Value returns value i.
	Value(i int) *tensor.Tensor
	// Reset gives the sample n values and a key.
	Reset(n int, key string)
	// Set sets value i. A shared t is valid, and not written, until the File is
	// closed; the data of any other t is valid during the call alone.
	Set(i int, t tensor.Tensor, shared bool) error
}

// File is an open cache. Its methods are safe for concurrent use, except Close.
//
// A writer holds the file's lock. It appends a sample, then writes the new end
// of the samples, then the sample's offset into the table. If the process is
// killed in between, the file has the whole sample or none of it. Samples never
// move and are never overwritten, so readers need no lock. Checksums detect
// what a system crash or a disk did to the file.
type File struct {
	values []tensor.Desc
	rows   int64
	limit  int64
	f      *os.File
	mem    []byte // a mapping of limit bytes, or of the file if that is larger; nil without a mapping
	// seen has the samples whose checksums were compared, by row.
	seen []atomic.Pointer[seenSample]
	pool sync.Pool // of *[]byte, to read into without a mapping

	mu   sync.Mutex
	head []byte
	full bool // writing failed: no more samples are written
}

type seenSample struct {
	at  int64
	key string
}

// lockWait is how long Open and Keep wait for the lock of another process.
var lockWait = 5 * time.Second

// maxReplaced is how often Open tries again after another process has replaced
// the file. A process replaces it once for each definition.
const maxReplaced = 1000

// Open opens the cache of a dataset of rows samples with these values, and
// creates it if it does not exist. limit is the file's maximum size in bytes,
// at least MinSize(rows). A file with other rows or another fingerprint is
// replaced, as is one with a damaged header. Open waits up to 5 seconds for the
// lock of another process, then returns filelock.ErrLocked. ctx bounds Open
// alone.
func Open(ctx context.Context, name string, values []tensor.Desc, rows, limit int64, fingerprint [32]byte) (_ *File, err error) {
	if i, err := os.Stat(name); err == nil && !i.Mode().IsRegular() { // opening a pipe could block
		return nil, fmt.Errorf("%s: %w", name, ErrNotRegular)
	}
	ctx, cancel := context.WithTimeoutCause(ctx, lockWait, filelock.ErrLocked)
	defer cancel()
	c := &File{values: values, rows: rows, limit: limit, seen: make([]atomic.Pointer[seenSample], rows)}
	for range maxReplaced {
		f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o644)
		if err != nil {
			return nil, err
		}
		size, ok, err := c.accept(ctx, f, name, fingerprint)
		if err == nil && ok {
			c.f = f
			if shared {
				c.mem = mapfile.Map(f, max(size, limit)) // nil if mapping fails: samples are read
			}
			return c, nil
		}
		if err := errors.Join(err, f.Close()); err != nil {
			return nil, err
		}
	}
	return nil, ErrContended
}

// accept checks f, which was opened under name, while it holds the file's lock.
// ok is false if another process has replaced f, or accept did.
func (c *File) accept(ctx context.Context, f *os.File, name string, fingerprint [32]byte) (size int64, ok bool, err error) {
	if err := lock(ctx, f); err != nil {
		return 0, false, err
	}
	defer func() { err = errors.Join(err, filelock.Unlock(f)) }()
	i, err := f.Stat()
	if err != nil {
		return 0, false, err
	}
	if !i.Mode().IsRegular() {
		return 0, false, fmt.Errorf("%s: %w", name, ErrNotRegular)
	}
	if now, err := os.Stat(name); err != nil || !os.SameFile(i, now) {
		return 0, false, ignoreMissing(err)
	}
	head := make([]byte, headerSize)
	if _, err := f.ReadAt(head, 0); err != nil && err != io.EOF {
		return 0, false, err
	}
	if _, ok := parseHeader(head, c.rows, fingerprint, i.Size()); ok {
		return i.Size(), true, nil
	}
	return 0, false, c.replace(f, name, fingerprint)
}

// lock takes the lock of f, or returns the cause of ctx's end. It polls,
// because no system call waits for a lock and a context.
func lock(ctx context.Context, f *os.File) error {
	wait := 100 * time.Microsecond // a writer holds the lock about as long
	for {
		err := filelock.TryLock(f)
		if !errors.Is(err, filelock.ErrLocked) {
			return err
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(wait):
		}
		wait = min(2*wait, 10*time.Millisecond)
	}
}

func ignoreMissing(err error) error {
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	return err
}

// replace puts an empty cache under the name of f. Where other processes may
// use f, the new cache is another file, so that f stays valid for them.
func (c *File) replace(f *os.File, name string, fingerprint [32]byte) (err error) {
	if shared {
		// The lock of the file under name also protects the temporary name.
		tmp := name + ".new"
		if f, err = os.OpenFile(tmp, os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o644); err != nil {
			return err
		}
		defer func() {
			if err = errors.Join(err, f.Close()); err == nil {
				err = os.Rename(tmp, name)
			} else {
				err = errors.Join(err, os.Remove(tmp))
			}
		}()
	} else if err := f.Truncate(0); err != nil {
		return err
	}
	// The table is all zeros, which most file systems store as a hole.
	if err := f.Truncate(firstSample(c.rows)); err != nil {
		return err
	}
	_, err = f.WriteAt(newHeader(c.rows, fingerprint), 0)
	return err
}

// Close unmaps and closes the file.
func (c *File) Close() error {
	err := mapfile.Unmap(c.mem)
	c.mem = nil
	return errors.Join(err, c.f.Close())
}

// word reads a number that another process may write meanwhile.
func (c *File) word(at int64) uint64 {
	if c.mem != nil {
		return loadWord(c.mem[at:])
	}
	var b [8]byte
	if _, err := c.f.ReadAt(b[:], at); err != nil {
		return 0
	}
	return binary.LittleEndian.Uint64(b[:])
}

// end returns the end of the samples. ok is false if it is damaged.
func (c *File) end() (end int64, ok bool) {
	var b [16]byte
	binary.LittleEndian.PutUint64(b[:], c.word(endOffset))
	binary.LittleEndian.PutUint64(b[8:], c.word(endOffset+8))
	return parseEnd(b[:], c.rows)
}

// offset returns the offset of a row's sample, 0 if the file has none.
func (c *File) offset(row int64) int64 {
	u := c.word(headerSize + 8*row)
	if u%alignment != 0 || int64(u) < firstSample(c.rows) {
		return 0
	}
	return int64(u)
}

// sample returns the sample of a row at an offset. It is a view of the mapping,
// or of buf, which sample grows as needed. ok is false if it is missing or
// damaged.
func (c *File) sample(row, at int64, buf *[]byte) (x stored, ok bool) {
	b, ok := c.bytes(at, buf)
	if !ok {
		return x, false
	}
	if x, ok = parse(b, row); !ok || x.n != len(c.values) {
		return x, false
	}
	k := c.seen[row].Load()
	if k != nil && k.at == at && c.mem != nil {
		return x, true
	}
	if !intact(b) {
		return x, false
	}
	if k == nil || k.at != at {
		c.seen[row].Store(&seenSample{at, string(x.key)})
	}
	return x, true
}

// bytes returns the bytes of the sample at an offset, as sample does.
func (c *File) bytes(at int64, buf *[]byte) (b []byte, ok bool) {
	// Reading a mapping beyond the written part of the file would crash.
	end, ok := c.end()
	if !ok || at > end-sampleHead {
		return nil, false
	}
	if c.mem != nil {
		end = min(end, int64(len(c.mem)))
		if at > end-sampleHead {
			return nil, false // written by a process with a higher limit
		}
		n, ok := sampleLength(c.mem[at:end], end-at)
		if !ok {
			return nil, false
		}
		return c.mem[at : at+n], true
	}
	var head [sampleHead]byte
	if _, err := c.f.ReadAt(head[:], at); err != nil {
		return nil, false
	}
	// The file's size bounds the allocation below.
	n, ok := sampleLength(head[:], end-at)
	if i, err := c.f.Stat(); !ok || err != nil || n > i.Size()-at {
		return nil, false
	}
	if int64(cap(*buf)) < n {
		*buf = tensor.Alloc(int(n))
	}
	b = (*buf)[:n]
	if _, err := c.f.ReadAt(b, at); err != nil {
		return nil, false
	}
	return b, true
}

// Get fills s with a row's sample. ok is false if the file does not have it, or
// has it with another stamp.
func (c *File) Get(row int64, stamp [32]byte, s Sample) (ok bool, err error) {
	at := c.offset(row)
	if at == 0 {
		return false, nil
	}
	var buf *[]byte
	if c.mem == nil {
		if buf, _ = c.pool.Get().(*[]byte); buf == nil {
			buf = &[]byte{}
		}
		defer c.pool.Put(buf)
	}
	x, ok := c.sample(row, at, buf)
	if !ok || x.stamp != stamp {
		return false, nil
	}
	s.Reset(x.n, c.seen[row].Load().key)
	for i := range x.n {
		t, ok := x.value(i, c.values[i])
		if !ok {
			return false, nil
		}
		if err := s.Set(i, t, c.mem != nil); err != nil {
			return false, err
		}
	}
	return true, nil
}

// Keep writes a row's sample, unless the file has it with this stamp or has no
// room. If the file cannot be written, on a full disk for example, or if
// another process holds its lock for more than 5 seconds, Keep returns an error
// once. Later calls then write nothing and return nil.
func (c *File) Keep(ctx context.Context, row int64, stamp [32]byte, s Sample) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.full {
		return nil
	}
	waiting, cancel := context.WithTimeoutCause(ctx, lockWait, filelock.ErrLocked)
	defer cancel()
	err := lock(waiting, c.f)
	if err == nil {
		err = errors.Join(c.append(row, stamp, s), filelock.Unlock(c.f))
	}
	c.full = err != nil && ctx.Err() == nil
	return err
}

// append writes a sample, if no other process has done so before.
func (c *File) append(row int64, stamp [32]byte, s Sample) error {
	end, ok := c.end()
	if !ok {
		return errors.New("its header was damaged while it was open")
	}
	if at := c.offset(row); at != 0 {
		var buf []byte
		if x, ok := c.sample(row, at, &buf); ok && x.stamp == stamp {
			return nil
		}
	}
	head, n, ok := appendHead(c.head[:0], row, stamp, s)
	c.head = head
	if !ok || aligned(n) > c.limit-end {
		return nil
	}
	return c.write(end, row, head, s)
}

var zeros [alignment]byte

// write writes a sample at end, then the new end, then the table's entry.
func (c *File) write(end, row int64, head []byte, s Sample) error {
	at, sum := end, crc32.Checksum(head[4:], castagnoli)
	put := func(b []byte) error {
		_, err := c.f.WriteAt(b, at)
		at += int64(len(b))
		return err
	}
	if err := put(head); err != nil {
		return err
	}
	for i := range s.Len() {
		t := s.Value(i)
		if t.DType != tensor.Bytes && !t.Dense() {
			t = t.Clone()
		}
		data := t.Data[:dense(t)]
		gap := zeros[:aligned(at)-at]
		sum = crc32.Update(crc32.Update(sum, castagnoli, gap), castagnoli, data)
		if err := errors.Join(put(gap), put(data)); err != nil {
			return err
		}
	}
	binary.LittleEndian.PutUint32(head, sum)
	if _, err := c.f.WriteAt(head[:4], end); err != nil {
		return err
	}
	// Readers may access the mapping up to the aligned end.
	if err := put(zeros[:aligned(at)-at]); err != nil {
		return err
	}
	var b [16]byte
	putEnd(b[:], at)
	if _, err := c.f.WriteAt(b[:], endOffset); err != nil {
		return err
	}
	binary.LittleEndian.PutUint64(b[:], uint64(end))
	_, err := c.f.WriteAt(b[:8], headerSize+8*row)
	return err
}

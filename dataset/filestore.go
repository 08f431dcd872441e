package dataset

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"sync"
	"sync/atomic"

	"github.com/infer-prep/infer-prep/internal/filelock"
	"github.com/infer-prep/infer-prep/internal/mapfile"
	"github.com/infer-prep/infer-prep/tensor"
)

// fileStore is an open file of a FileCache.
//
// Whoever appends a sample holds the lock, and writes first the sample, behind all
// others, then the new end of them, then the sample's place into the table. So at
// any time a process may be killed: what it wrote is not there, or there as a whole.
// Samples never move and are never overwritten, so readers need no lock; checksums
// tell them what a crash of the system, or a disk, did to the file.
type fileStore struct {
	columns []Column
	rows    int64
	limit   int64
	f       *os.File
	mem     []byte // a mapping of limit bytes, or of the file if that is larger; nil: none
	// seen are the samples that were found intact.
	seen []atomic.Pointer[seenSample]
	pool sync.Pool // of *[]byte, to read into without a mapping

	mu   sync.Mutex
	head []byte
	full bool // nothing can be written
}

type seenSample struct {
	at  int64
	key string
}

// openFileStore opens the file, or makes a new one if there is none, or another.
func openFileStore(name string, columns []Column, rows, limit int64, print [32]byte) (_ *fileStore, err error) {
	c := &fileStore{columns: columns, rows: rows, limit: limit, seen: make([]atomic.Pointer[seenSample], rows)}
	// Another process may put a new file in the place of the one that was opened,
	// before it is locked. It does so once for each definition.
	const most = 1000
	for range most {
		f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o644)
		if err != nil {
			return nil, err
		}
		size, ok, err := c.accept(f, name, print)
		if err == nil && ok {
			c.f = f
			if sharedFiles {
				c.mem = mapfile.Map(f, max(size, limit)) // without it samples are read
			}
			return c, nil
		}
		if err := errors.Join(err, f.Close()); err != nil {
			return nil, err
		}
	}
	return nil, fmt.Errorf("%w: other processes replace the file all the time: they have other definitions for it", ErrDefinition)
}

// accept locks the file, which was opened by its name, for as long as it looks at
// it. Not ok if it is another file by now, or was replaced.
func (c *fileStore) accept(f *os.File, name string, print [32]byte) (size int64, ok bool, err error) {
	if err := filelock.Lock(f); err != nil {
		return 0, false, err
	}
	defer func() { err = errors.Join(err, filelock.Unlock(f)) }()
	i, err := f.Stat()
	if err != nil {
		return 0, false, err
	}
	if !i.Mode().IsRegular() {
		return 0, false, fmt.Errorf("%w: %s is no file", ErrParam, name)
	}
	if now, err := os.Stat(name); err != nil || !os.SameFile(i, now) {
		return 0, false, ignoreMissing(err)
	}
	head := make([]byte, cacheTable)
	if _, err := f.ReadAt(head, 0); err != nil && err != io.EOF {
		return 0, false, err
	}
	if _, ok := parseHeader(head, c.rows, print, i.Size()); ok {
		return i.Size(), true, nil
	}
	return 0, false, c.replace(f, name, print)
}

func ignoreMissing(err error) error {
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	return err
}

// replace puts a new file in the place of f. Processes that use f go on with it:
// where there may be any, it is another file under the name.
func (c *fileStore) replace(f *os.File, name string, print [32]byte) (err error) {
	if sharedFiles {
		// Who has the lock of the file of this name is alone with the other name too.
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
	// The table is zeros, which take no place on most file systems.
	if err := f.Truncate(firstSample(c.rows)); err != nil {
		return err
	}
	_, err = f.WriteAt(cacheHeader(c.rows, print), 0)
	return err
}

// Close lets go of the mapping and the file.
func (c *fileStore) Close() error {
	err := mapfile.Unmap(c.mem)
	c.mem = nil
	return errors.Join(err, c.f.Close())
}

// word reads a number of the file that others may write.
func (c *fileStore) word(at int64) uint64 {
	if c.mem != nil {
		return littleWord(c.mem[at:])
	}
	var b [8]byte
	if _, err := c.f.ReadAt(b[:], at); err != nil {
		return 0
	}
	return binary.LittleEndian.Uint64(b[:])
}

// end is the end of the samples; not ok if there is none.
func (c *fileStore) end() (int64, bool) {
	var b [16]byte
	binary.LittleEndian.PutUint64(b[:], c.word(cacheEnd))
	binary.LittleEndian.PutUint64(b[8:], c.word(cacheEnd+8))
	return parseEnd(b[:], c.rows)
}

// at is the place of a row's sample; 0 if there is none.
func (c *fileStore) at(row int64) int64 {
	u := c.word(cacheTable + 8*row)
	if u%cacheAlign != 0 || int64(u) < firstSample(c.rows) {
		return 0
	}
	return int64(u)
}

// sample is the sample of a row at a place: a view of the mapping, or the content
// of buf, which it lets grow. Not ok if it is damaged, or there is none.
func (c *fileStore) sample(row, at int64, buf *[]byte) (x cached, ok bool) {
	// A place beyond what is written would be a fault of memory.
	end, ok := c.end()
	if !ok || at > end-sampleHead {
		return x, false
	}
	var b []byte
	if c.mem != nil {
		end = min(end, int64(len(c.mem)))
		if at > end-sampleHead {
			return x, false // another process has a higher limit
		}
		n, ok := sampleLength(c.mem[at:end], end-at)
		if !ok {
			return x, false
		}
		b = c.mem[at : at+n]
	} else {
		var head [sampleHead]byte
		if _, err := c.f.ReadAt(head[:], at); err != nil {
			return x, false
		}
		// The file is as long as its end says, so this is no more than it has.
		n, ok := sampleLength(head[:], end-at)
		if i, err := c.f.Stat(); !ok || err != nil || n > i.Size()-at {
			return x, false
		}
		if int64(cap(*buf)) < n {
			*buf = tensor.Alloc(int(n))
		}
		b = (*buf)[:n]
		if _, err := c.f.ReadAt(b, at); err != nil {
			return x, false
		}
	}
	if x, ok = parseSample(b, row); !ok || x.n != len(c.columns) {
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

func (c *fileStore) get(row int64, s *Sample) (bool, error) {
	at := c.at(row)
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
	if !ok {
		return false, nil
	}
	s.resize(x.n)
	for i := range s.Values {
		t, ok := x.value(i, c.columns[i].Desc)
		if !ok {
			return false, nil
		}
		if c.mem != nil {
			s.Values[i].Share(&t)
		} else if err := s.Values[i].copyFrom(&Value{Tensor: t}); err != nil {
			return false, err
		}
	}
	s.Key = c.seen[row].Load().key
	return true, nil
}

func (c *fileStore) keep(row int64, s *Sample) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.full {
		return nil
	}
	if err := filelock.Lock(c.f); err != nil {
		return err
	}
	return errors.Join(c.append(row, s), filelock.Unlock(c.f))
}

// append writes a sample, if no other process did so first.
func (c *fileStore) append(row int64, s *Sample) error {
	end, ok := c.end()
	if !ok {
		c.full = true // damaged since it was opened: the next run makes a new one
		return nil
	}
	if at := c.at(row); at != 0 {
		var buf []byte
		if _, ok := c.sample(row, at, &buf); ok {
			return nil
		}
	}
	head, n, ok := appendSampleHead(c.head[:0], row, s)
	c.head = head
	if !ok || aligned(n) > c.limit-end {
		return nil
	}
	if err := c.write(end, n, row, head, s); err != nil {
		c.full = true
	}
	return nil
}

var zeros [cacheAlign]byte

func (c *fileStore) write(end, n, row int64, head []byte, s *Sample) error {
	at, sum := end, crc32.Checksum(head[4:], castagnoli)
	put := func(b []byte) error {
		_, err := c.f.WriteAt(b, at)
		at += int64(len(b))
		return err
	}
	if err := put(head); err != nil {
		return err
	}
	for i := range s.Values {
		t := &s.Values[i].Tensor
		if t.DType != tensor.Bytes && !t.Dense() {
			t = t.Clone()
		}
		data := t.Data[:s.Values[i].dense()]
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
	// What is mapped must be in the file, to its last page.
	if err := put(zeros[:aligned(at)-at]); err != nil {
		return err
	}
	var b [16]byte
	putEnd(b[:], at)
	if _, err := c.f.WriteAt(b[:], cacheEnd); err != nil {
		return err
	}
	binary.LittleEndian.PutUint64(b[:], uint64(end))
	_, err := c.f.WriteAt(b[:8], cacheTable+8*row)
	return err
}

package remote

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"log"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/infer-prep/infer-prep/internal/filelock"
	"github.com/infer-prep/infer-prep/internal/sorts"
)

// cache is a folder of blocks of objects that have a version. Several processes
// share it. A nil cache is empty.
//
// A block is a file. Its name is the digest of the service, the object's name
// and version, and the block's place. It starts with a CRC-32C of the digest
// and the content. It appears under its name when it is complete, so readers
// need no lock. Its modification time is when it was used last.
//
// Writers hold the lock of the file "lock", which holds the sum of the sizes.
// The one whose block exceeds the limit removes the blocks that were used
// least recently, and corrects the sum.
//
// For each object there is also a file with its version, so that opening the
// object needs one small request to learn that the version is still that.
type cache struct {
	dir      string
	limit    int64
	warn     func(error)
	counters *counters
	service  func() string // "" if names tell the service
	disabled atomic.Bool

	mu   sync.Mutex
	lock *os.File
}

const (
	// headSize is the size of a block's checksum.
	headSize = 4
	// lockWait is how long a writer waits for those of other processes, before
	// it leaves its block out.
	lockWait = 100 * time.Millisecond
	// maxEntry bounds the file with an object's version.
	maxEntry = 64 << 10
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// newCache opens the cache folder, and makes it if it does not exist. It
// returns nil if the options name none, or if it cannot be used.
func newCache(o Options, b Backend, counters *counters) *cache {
	if o.Cache == "" {
		return nil
	}
	c := &cache{dir: o.Cache, limit: o.CacheSize, warn: o.OnWarning, counters: counters, service: func() string { return "" }}
	if l, ok := b.(Located); ok {
		c.service = sync.OnceValue(l.Service)
	}
	if c.warn == nil {
		c.warn = func(err error) { log.Printf("WARN %v", err) }
	}
	if err := c.open(); err != nil {
		c.disable(err)
		return nil
	}
	return c
}

// open makes the folder and opens the lock. Who else can write there could
// replace what is read, and who else can read there sees what is private.
func (c *cache) open() error {
	blocks := filepath.Join(c.dir, "blocks")
	if err := os.MkdirAll(blocks, 0o700); err != nil {
		return err
	}
	for dir, forbidden := range map[string]fs.FileMode{c.dir: 0o022, blocks: 0o077} {
		i, err := os.Lstat(dir)
		if err == nil {
			err = private(i, forbidden)
		}
		if err == nil && !i.IsDir() {
			err = fmt.Errorf("%v, want a folder and no link", i.Mode())
		}
		if err != nil {
			return fmt.Errorf("%s: %w", dir, err)
		}
	}
	name := filepath.Join(c.dir, "lock")
	if i, err := os.Lstat(name); err == nil && !i.Mode().IsRegular() {
		return fmt.Errorf("%s: %v, want a regular file and no link", name, i.Mode())
	}
	f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE|noFollow, 0o600)
	if err != nil {
		return err
	}
	i, err := f.Stat()
	if err == nil {
		err = private(i, 0o077)
	}
	if err == nil && !i.Mode().IsRegular() {
		err = fmt.Errorf("%v, want a regular file", i.Mode())
	}
	if err != nil {
		return errors.Join(fmt.Errorf("%s: %w", name, err), f.Close())
	}
	c.lock = f
	return nil
}

// on reports whether the cache is in use.
func (c *cache) on() bool { return c != nil && !c.disabled.Load() }

// disable turns the cache off and warns, once.
func (c *cache) disable(err error) {
	if !c.disabled.Swap(true) {
		c.warn(fmt.Errorf("remote: the cache folder %s is not used from now on: %w", c.dir, err))
	}
}

// digest returns what identifies a block of an object, or with a length of -1
// the file with the object's version.
func (c *cache) digest(name string, id identity, off, length int64) (d [sha256.Size]byte) {
	b := make([]byte, 0, 256)
	service := c.service()
	b = binary.AppendUvarint(b, uint64(len(service)))
	b = append(b, service...)
	b = binary.AppendUvarint(b, uint64(len(name)))
	b = append(b, name...)
	b = binary.AppendUvarint(b, uint64(len(id.version)))
	b = append(b, id.version...)
	b = binary.AppendVarint(b, id.size)
	b = binary.AppendVarint(b, off)
	b = binary.AppendVarint(b, length)
	return sha256.Sum256(b)
}

func (c *cache) path(d [sha256.Size]byte) string {
	return filepath.Join(c.dir, "blocks", hex.EncodeToString(d[:]))
}

// sumOf returns the checksum of a file.
func sumOf(d [sha256.Size]byte, content []byte) uint32 {
	return crc32.Update(crc32.Checksum(d[:], castagnoli), castagnoli, content)
}

// get reads the bytes of an object at off, if they are here.
func (c *cache) get(name string, id identity, off int64, b []byte) bool {
	if !c.on() || id.version == "" {
		return false
	}
	d := c.digest(name, id, off, int64(len(b)))
	got, ok := c.read(d, b)
	ok = ok && len(got) == len(b)
	if ok {
		c.counters.hits.Add(1)
	} else {
		c.counters.misses.Add(1)
	}
	return ok
}

// read reads a file into b, whose capacity bounds it. It removes a damaged one.
func (c *cache) read(d [sha256.Size]byte, b []byte) ([]byte, bool) {
	path := c.path(d)
	f, err := os.Open(path)
	if err != nil {
		return nil, false // most often it does not exist; writing tells the rest
	}
	defer f.Close()
	var head [headSize]byte
	i, err := f.Stat()
	if err != nil || !i.Mode().IsRegular() {
		return nil, false
	}
	n := i.Size() - headSize
	if n >= 0 && n <= int64(cap(b)) {
		b = b[:n]
		_, err = io.ReadFull(f, head[:])
		if err == nil {
			_, err = io.ReadFull(f, b)
		}
		if err == nil && binary.LittleEndian.Uint32(head[:]) == sumOf(d, b) {
			now := time.Now()
			_ = os.Chtimes(path, now, now) // it may just have been evicted
			return b, true
		}
	}
	_ = os.Remove(path) // the sum is too high until the next eviction
	return nil, false
}

// has reports whether the bytes of an object at off are here.
func (c *cache) has(name string, id identity, off, length int64) bool {
	if !c.on() || id.version == "" {
		return false
	}
	_, err := os.Stat(c.path(c.digest(name, id, off, length)))
	return err == nil
}

// put stores the bytes of an object at off.
func (c *cache) put(name string, id identity, off int64, b []byte) {
	if c.on() && id.version != "" {
		c.write(c.digest(name, id, off, int64(len(b))), b, false)
	}
}

// entry is the content of the file with an object's version.
type entry struct {
	Version  string
	Size     int64
	Modified time.Time
}

// known returns the identity that an object had last.
func (c *cache) known(name string) (identity, bool) {
	if !c.on() {
		return identity{}, false
	}
	b, ok := c.read(c.digest(name, identity{}, 0, -1), make([]byte, 0, maxEntry))
	var e entry
	if !ok || json.Unmarshal(b, &e) != nil || e.Version == "" || e.Size <= 0 {
		return identity{}, false
	}
	return identity{e.Version, e.Size, e.Modified}, true
}

// remember stores the identity of an object.
func (c *cache) remember(name string, id identity) {
	if !c.on() || id.version == "" || id.size <= 0 {
		return
	}
	if b, err := json.Marshal(entry{id.version, id.size, id.modified}); err == nil && len(b) <= maxEntry {
		c.write(c.digest(name, identity{}, 0, -1), b, true)
	}
}

// write stores a file, unless it exists and is not to be replaced.
func (c *cache) write(d [sha256.Size]byte, b []byte, replace bool) {
	err := c.locked(func(sum int64) (int64, error) {
		path, n := c.path(d), int64(headSize+len(b))
		if i, err := os.Stat(path); err == nil {
			if !replace {
				return sum, nil
			}
			sum -= i.Size()
		}
		if n > c.limit {
			return sum, nil
		}
		if sum+n > c.limit {
			var err error
			if sum, err = c.evict(n); err != nil {
				return sum, err
			}
		}
		// The sum counts the file before it exists: if this process is killed,
		// the sum is too high, never too low.
		if err := c.setSum(sum + n); err != nil {
			return sum, err
		}
		f, err := os.CreateTemp(filepath.Join(c.dir, "blocks"), "new-*")
		if err != nil {
			return sum, err
		}
		var head [headSize]byte
		binary.LittleEndian.PutUint32(head[:], sumOf(d, b))
		_, err = f.Write(head[:])
		if err == nil {
			_, err = f.Write(b)
		}
		if err = errors.Join(err, f.Close()); err == nil {
			err = os.Rename(f.Name(), path)
		}
		if err != nil {
			return sum, errors.Join(err, os.Remove(f.Name()))
		}
		return sum + n, nil
	})
	if err != nil {
		c.disable(err)
	}
}

// evict removes files until n more bytes fit, and a sixteenth of the limit
// besides, so that it has nothing to do for a while. It returns the sum of the
// remaining sizes.
func (c *cache) evict(n int64) (sum int64, err error) {
	dir := filepath.Join(c.dir, "blocks")
	in, err := os.ReadDir(dir)
	if err != nil {
		return 0, err
	}
	files := make([]fs.FileInfo, 0, len(in))
	for _, e := range in {
		i, err := e.Info()
		if errors.Is(err, fs.ErrNotExist) {
			continue // a reader removed a damaged file
		}
		if err != nil {
			return 0, err
		}
		if i.Mode().IsRegular() {
			files = append(files, i)
			sum += i.Size()
		}
	}
	sorts.Func(files, func(a, b fs.FileInfo) int {
		return cmp.Or(a.ModTime().Compare(b.ModTime()), cmp.Compare(a.Name(), b.Name()))
	})
	for _, i := range files {
		if sum+n <= c.limit-c.limit/16 || sum == 0 {
			break
		}
		if err := os.Remove(filepath.Join(dir, i.Name())); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return 0, err
		}
		sum -= i.Size()
	}
	return sum, nil
}

// locked calls do with the sum of the sizes of all files, while no other
// process writes, and stores the sum that do returns. It does not call do if
// another process holds the lock for long.
func (c *cache) locked(do func(sum int64) (int64, error)) (err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for end := time.Now().Add(lockWait); ; time.Sleep(100 * time.Microsecond) {
		err := filelock.TryLock(c.lock)
		if err == nil {
			break
		}
		if !errors.Is(err, filelock.ErrLocked) {
			return err
		}
		if time.Now().After(end) {
			return nil
		}
	}
	defer func() { err = errors.Join(err, filelock.Unlock(c.lock)) }()
	var b [8]byte
	n, err := c.lock.ReadAt(b[:], 0)
	if err != nil && err != io.EOF {
		return err
	}
	sum := int64(binary.LittleEndian.Uint64(b[:]))
	if n < len(b) || sum < 0 { // new, or damaged
		if sum, err = c.evict(0); err != nil {
			return err
		}
	}
	after, err := do(sum)
	if err != nil || after == sum {
		return err
	}
	return c.setSum(after)
}

func (c *cache) setSum(sum int64) error {
	var b [8]byte
	binary.LittleEndian.PutUint64(b[:], uint64(sum))
	_, err := c.lock.WriteAt(b[:], 0)
	return err
}

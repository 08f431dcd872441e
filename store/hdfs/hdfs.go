// Package hdfs reads and writes files of Hadoop's HDFS. Importing it adds these
// to the names that [store.URI] opens:
//
//	hdfs://HOST:PORT/PATH     a namenode; without :PORT port 8020
//	hdfs://NAMESERVICE/PATH   a name service with several namenodes
//	hdfs:///PATH              fs.defaultFS of the configuration
//
// The configuration is core-site.xml and hdfs-site.xml in HADOOP_CONF_DIR, or
// in HADOOP_HOME/conf. The user is HADOOP_USER_NAME, by default the system's
// user. Paths are not escaped: a % is a %. HDFS has no names with a colon.
//
// If hadoop.security.authentication is kerberos, the tickets of kinit are used:
// those of KRB5CCNAME, by default of /tmp/krb5cc_UID, with KRB5_CONFIG or
// /etc/krb5.conf. Kerberos is the library's work and was not tested here.
//
// All bytes that are read are checked against HDFS's own checksums. A replica
// that differs or does not answer is replaced by another one.
//
// A file is written under a hidden name beside its own, .NAME.tmpXXXXXXXX, and
// renamed when it is closed. HDFS replaces an existing file by a rename in one
// step, so readers see the old content or the new one. A process that is killed
// leaves the hidden file. Missing folders are created. A datanode that fails
// during a write makes the write fail: no other one takes its place.
package hdfs

import (
	"bufio"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/colinmarc/hdfs/v2"
	"github.com/colinmarc/hdfs/v2/hadoopconf"

	"github.com/infer-prep/infer-prep/store"
	"github.com/infer-prep/infer-prep/store/remote"
)

const scheme = "hdfs"

func init() {
	store.Register(scheme, func() (store.Opener, error) {
		b, err := New()
		if err != nil {
			return nil, err
		}
		return remote.New(b, remote.Options{}), nil
	})
}

// Backend is the remote.Backend of HDFS. It is safe for concurrent use. Its
// errors do not repeat the name, which a remote.Store adds.
type Backend struct {
	conf hadoopconf.HadoopConf

	mu       sync.Mutex
	clusters map[string]*cluster // by authority
}

// New returns a backend with the configuration of the environment, which the
// comment of the package describes. The first use of a name connects to its
// namenode.
func New() (*Backend, error) {
	conf, err := hadoopconf.LoadFromEnvironment()
	if err != nil {
		return nil, fmt.Errorf("hdfs: configuration: %w", err)
	}
	return &Backend{conf: conf, clusters: map[string]*cluster{}}, nil
}

// Service implements remote.Located: the configuration chooses the cluster of
// hdfs:///path and of logical names.
func (b *Backend) Service() string {
	var l []string
	for k, v := range b.conf {
		if strings.HasPrefix(k, "fs.default") || strings.HasPrefix(k, "dfs.namenode.rpc-address") {
			l = append(l, k+"="+v)
		}
	}
	slices.Sort(l)
	return strings.Join(l, " ")
}

// split returns the cluster and the path of a name.
func (b *Backend) split(name string) (*cluster, string, error) {
	rest, ok := strings.CutPrefix(name, scheme+"://")
	authority, file, _ := strings.Cut(rest, "/")
	if !ok || strings.ContainsAny(authority, "@?#") {
		return nil, "", errors.New("invalid name: want hdfs://HOST:PORT/PATH or hdfs:///PATH")
	}
	c, err := b.cluster(authority)
	return c, path.Clean("/" + file), err
}

// call makes a call with a client.
func (b *Backend) call(ctx context.Context, name string, do func(c *client, path string) error) error {
	cl, file, err := b.split(name)
	if err != nil {
		return err
	}
	c, err := cl.take(ctx)
	if err == nil {
		err = do(c, file)
		c.release(err)
	}
	return wrap(ctx, err)
}

// version identifies the content of a file. A rename over the file changes its
// id, appending changes length and time.
func version(i fs.FileInfo) string {
	s := i.Sys().(*hdfs.FileStatus)
	return fmt.Sprintf("%d-%d-%d", s.GetFileId(), s.GetModificationTime(), s.GetLength())
}

// Get implements remote.Backend.
func (b *Backend) Get(ctx context.Context, name string, off, n int64, version string) (*remote.Object, error) {
	cl, file, err := b.split(name)
	if err != nil {
		return nil, err
	}
	if off < 0 || n < 0 {
		return nil, fmt.Errorf("%d bytes from %d on: want neither to be negative", n, off)
	}
	c, err := cl.take(ctx)
	if err != nil {
		return nil, wrap(ctx, err)
	}
	o, err := get(c, file, off, n, version)
	if err != nil {
		c.release(err)
		return nil, wrap(ctx, err)
	}
	o.Body.(*body).ctx = ctx
	return o, nil
}

func get(c *client, file string, off, n int64, known string) (*remote.Object, error) {
	f, err := c.Open(file)
	if err != nil {
		return nil, err
	}
	i := f.Stat()
	if i.IsDir() {
		return nil, errFolder
	}
	o := &remote.Object{Size: i.Size(), Modified: i.ModTime(), Version: version(i)}
	if known != "" && known != o.Version {
		return nil, remote.ErrChanged
	}
	o.Length = min(n, max(0, o.Size-off))
	in := &body{client: c, file: f}
	in.r = bufio.NewReaderSize(io.LimitReader(checked{f}, o.Length), 1024)
	o.Body = in
	if o.Length == 0 {
		return o, nil
	}
	if _, err := f.Seek(off, io.SeekStart); err != nil {
		return nil, err
	}
	// The first byte makes the library ask for the file's blocks, by name. They
	// are those of another file if that took the name since Open.
	if _, err := in.r.Peek(1); err != nil {
		_ = f.Close()
		return nil, err
	}
	j, err := c.Stat(file)
	if err == nil && version(j) != o.Version {
		err = &remote.TemporaryError{Err: remote.ErrChanged}
		if known != "" {
			err = remote.ErrChanged
		}
	}
	if err != nil {
		_ = f.Close()
		return nil, err
	}
	return o, nil
}

// checked reads a file less than a chunk of a checksum at a time: the library
// (v2.4.0) returns the bytes of a chunk that it knows to be wrong if more are
// asked for. dfs.bytes-per-checksum is 512 or more.
type checked struct{ f *hdfs.FileReader }

func (c checked) Read(p []byte) (n int, err error) {
	// Return now and then, so that a slow server is not a stalled one.
	p = p[:min(len(p), 64<<10)]
	for n < len(p) && err == nil {
		var k int
		k, err = c.f.Read(p[n:min(len(p), n+511)])
		n += k
	}
	return n, err
}

// body is the body of an Object.
type body struct {
	client *client
	file   *hdfs.FileReader
	r      *bufio.Reader
	ctx    context.Context
	err    error // the last
	closed bool
}

func (b *body) Read(p []byte) (int, error) {
	n, err := b.r.Read(p)
	if err != nil && err != io.EOF {
		b.err = err
		err = wrap(b.ctx, err)
	}
	return n, err
}

func (b *body) Close() error {
	if b.closed {
		return nil
	}
	b.closed = true
	_ = b.file.Close()
	b.client.release(b.err)
	return nil
}

// Stat implements remote.Backend.
func (b *Backend) Stat(ctx context.Context, name string) (i store.Info, err error) {
	err = b.call(ctx, name, func(c *client, file string) error {
		s, err := c.Stat(file)
		if err == nil {
			i = info(name, s)
		}
		return err
	})
	return i, err
}

// info describes a file of that name.
func info(name string, i fs.FileInfo) store.Info {
	if i.IsDir() {
		return store.Info{Name: name, Folder: true, Modified: i.ModTime()}
	}
	return store.Info{Name: name, Size: i.Size(), Modified: i.ModTime(), Version: version(i)}
}

// page is how many entries of a folder are asked for at once: as many as a
// namenode answers with by default (dfs.ls.limit).
const page = 1000

// List implements remote.Backend.
func (b *Backend) List(ctx context.Context, folder string) (l []store.Info, err error) {
	err = b.call(ctx, folder, func(c *client, file string) error {
		d, err := c.Open(file)
		if err != nil {
			return err
		}
		if !d.Stat().IsDir() {
			return errFile
		}
		for {
			in, err := d.Readdir(page)
			for _, i := range in {
				if i.IsDir() || i.Mode().IsRegular() {
					l = append(l, info(strings.TrimRight(folder, "/")+"/"+i.Name(), i))
				}
			}
			if err == io.EOF {
				return nil
			}
			if err != nil {
				return err
			}
			remote.Alive(ctx)
		}
	})
	if err != nil {
		return nil, err
	}
	slices.SortFunc(l, func(a, b store.Info) int { return strings.Compare(a.Name, b.Name) })
	return l, nil
}

// Create implements remote.Backend. ctx is that of the whole writing.
func (b *Backend) Create(ctx context.Context, name string) (store.NewFile, error) {
	cl, file, err := b.split(name)
	if err != nil {
		return nil, err
	}
	c, err := cl.take(ctx)
	if err != nil {
		return nil, wrap(ctx, err)
	}
	w := &writer{b: b, ctx: ctx, name: name, client: c, path: file, tmp: temporary(file)}
	err = w.create()
	if err != nil && w.file != nil {
		return nil, errors.Join(wrap(ctx, err), w.Abort())
	}
	if err != nil {
		c.release(err)
		return nil, wrap(ctx, err)
	}
	return w, nil
}

// temporary returns the hidden name of a file that is being written. HDFS's
// names have at most 255 bytes.
func temporary(file string) string {
	dir, base := path.Split(file)
	base = strings.ToValidUTF8(base[:min(len(base), 200)], "")
	return dir + "." + base + ".tmp" + strings.ToLower(rand.Text()[:8])
}

// writer is a file that is being written.
type writer struct {
	b      *Backend
	ctx    context.Context
	name   string
	path   string
	tmp    string
	client *client
	file   *hdfs.FileWriter
	size   int64
	err    error // of Write
	done   bool

	blockSize int64
	left      int64 // of the current block
	blocks    int   // that are complete
}

func (w *writer) create() error {
	i, err := w.client.Stat(w.path)
	if err == nil && i.IsDir() {
		return errFolder
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	w.file, err = w.client.Create(w.tmp)
	if errors.Is(err, fs.ErrNotExist) {
		if err = w.client.MkdirAll(path.Dir(w.path), 0o755); err == nil {
			w.file, err = w.client.Create(w.tmp)
		}
	}
	if err != nil {
		return err
	}
	if i, err = w.client.Stat(w.tmp); err != nil {
		return err
	}
	w.blockSize = int64(i.Sys().(*hdfs.FileStatus).GetBlocksize())
	w.left = w.blockSize
	return nil
}

// Write implements store.NewFile.
func (w *writer) Write(p []byte) (n int, err error) {
	if w.done {
		return 0, w.fail("write", fs.ErrClosed)
	}
	for n < len(p) && w.err == nil {
		if w.left == 0 {
			if w.err = w.nextBlock(); w.err != nil {
				break
			}
		}
		// The library copies what it is given into a buffer.
		var k int
		k, w.err = w.file.Write(p[n:min(int64(len(p)), int64(n)+min(w.left, 64<<10))])
		n += k
		w.left -= int64(k)
	}
	w.size += int64(n)
	return n, w.fail("write", wrap(w.ctx, w.err))
}

// fail names the file in an error.
func (w *writer) fail(op string, err error) error {
	if err == nil {
		return nil
	}
	return &fs.PathError{Op: op, Path: w.name, Err: err}
}

// nextBlock closes the file at the end of a block and opens it again. The
// library can begin a block itself, but fails if the namenode has not heard yet
// that the one before the last is stored.
func (w *writer) nextBlock() error {
	if err := w.complete(); err != nil {
		return err
	}
	f, err := w.client.Append(w.tmp)
	if err != nil {
		return err
	}
	w.file, w.left = f, w.blockSize
	return nil
}

// complete closes the file. It waits until its blocks are stored.
func (w *writer) complete() error {
	w.blocks++
	remote.CountRequest(w.ctx, strconv.Itoa(w.blocks), w.blockSize-w.left)
	err := w.file.Close()
	for wait := firstWait; err != nil && hdfs.IsErrReplicating(err) && wait < lastWait; wait *= 2 {
		if err = sleep(w.ctx, wait); err == nil {
			err = w.file.Close()
		}
	}
	return err
}

// The waits for datanodes and the namenode double from the first to the last.
const (
	firstWait = 20 * time.Millisecond
	lastWait  = 30 * time.Second
)

func sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-t.C:
		return nil
	}
}

// Close implements store.NewFile.
func (w *writer) Close() error {
	if w.done {
		return nil
	}
	err := w.err
	if err == nil {
		err = w.finish()
	}
	if err == nil {
		w.done = true
		w.client.release(nil)
		return nil
	}
	return errors.Join(w.fail("create", wrap(w.ctx, err)), w.Abort())
}

// finish completes the temporary file and renames it.
func (w *writer) finish() error {
	if err := w.complete(); err != nil {
		return err
	}
	i, err := w.client.Stat(w.tmp)
	if err != nil {
		return err
	}
	if i.Size() != w.size {
		return fmt.Errorf("%w: %d bytes of %d", errSize, i.Size(), w.size)
	}
	err = w.client.Rename(w.tmp, w.path)
	if err == nil || answered(err) {
		return err
	}
	// The namenode may have renamed the file without telling.
	file, check := i.Sys().(*hdfs.FileStatus).GetFileId(), errors.New("unknown")
	for wait := firstWait; check != nil && wait < lastWait; wait *= 2 {
		if err := sleep(w.ctx, wait); err != nil {
			return err
		}
		check = w.b.call(w.ctx, w.name, func(c *client, to string) error {
			if j, err := c.Stat(to); err == nil && j.Sys().(*hdfs.FileStatus).GetFileId() == file {
				return nil
			}
			return c.Rename(w.tmp, to)
		})
	}
	return check
}

// Abort implements store.NewFile.
func (w *writer) Abort() error {
	if w.done {
		return nil
	}
	w.done = true
	w.client.cut()
	_ = w.file.Close() // ends the library's goroutines
	w.client.release(nil)
	ctx, cancel := context.WithTimeout(context.WithoutCancel(w.ctx), dialTimeout)
	defer cancel()
	err := w.b.call(ctx, w.name, func(c *client, _ string) error {
		return c.Remove(w.tmp)
	})
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return w.fail("remove", err)
}

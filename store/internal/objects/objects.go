// Package objects makes a remote.Backend of a service that has objects in
// buckets. Folders are prefixes of keys that end with a slash. Nothing in a
// name is unescaped.
package objects

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/infer-prep/infer-prep/store"
	"github.com/infer-prep/infer-prep/store/remote"
)

// Service is a service's client. Its methods are safe for concurrent use and
// make one attempt each; Upload may repeat requests. Their errors are those of
// the client; Explain tells what they mean. An Explained, and an error that
// wraps one of package fs, or remote.ErrChanged, needs no explanation.
//
// A Service is also a Creator or an Uploader.
type Service interface {
	// Get is that of remote.Backend. Past the end it returns an Answer with
	// the status 416.
	Get(ctx context.Context, bucket, key string, off, n int64, version string) (*remote.Object, error)
	// Head describes an object. Its Body is nil.
	Head(ctx context.Context, bucket, key string) (*remote.Object, error)
	// List lists the objects whose keys begin with a prefix, and the folders
	// directly below it. With a max above 0 it may end after as many. It calls
	// remote.Alive between pages.
	List(ctx context.Context, bucket, prefix string, max int) ([]Entry, error)
	// Service is that of remote.Located.
	Service() string
	// Explain returns the answer of the service that an error is made of, nil
	// if there was none.
	Explain(err error) *Answer
}

// Creator is a Service that writes objects by itself.
type Creator interface {
	// Create is that of remote.Backend, for the object key in a bucket.
	Create(ctx context.Context, name, bucket, key string) (store.NewFile, error)
}

// Uploader is a Service that reads what it uploads.
type Uploader interface {
	// Upload creates an object of the bytes of r, or replaces it. It appears
	// only after r's io.EOF, and never if r or ctx ends with an error. It
	// returns the size that the service has.
	Upload(ctx context.Context, bucket, key string, r io.Reader) (int64, error)
}

// Explained is an error that a Backend returns as Err, unless ctx has ended.
type Explained struct{ Err error }

func (e *Explained) Error() string { return e.Err.Error() }

// Entry is an object, or a folder, whose Key ends with a slash.
type Entry struct {
	Key      string
	Size     int64
	Modified time.Time
	Version  string // that of a remote.Object
}

// Answer is a service's answer that is an error. Text holds no credentials.
type Answer struct {
	Status int // of HTTP
	Text   string
	After  string // the header Retry-After
}

func (a *Answer) Error() string { return fmt.Sprintf("status %d: %s", a.Status, a.Text) }

// Backend is a remote.Backend. Its errors do not repeat the name, which a
// remote.Store adds.
type Backend struct {
	scheme string
	s      Service
	bucket string // what the service calls a bucket
}

// New returns the backend of a service with names such as
// scheme://bucket/key. bucket is what the service calls a bucket.
func New(scheme, bucket string, s Service) *Backend { return &Backend{scheme, s, bucket} }

// Service implements remote.Located.
func (b *Backend) Service() string { return b.s.Service() }

// split returns the bucket and the key of a name. The key is empty for the
// bucket itself.
func (b *Backend) split(name string) (bucket, key string, err error) {
	rest, ok := strings.CutPrefix(name, b.scheme+"://")
	bucket, key, _ = strings.Cut(rest, "/")
	if !ok || bucket == "" || strings.ContainsAny(bucket, "@?#") {
		return "", "", fmt.Errorf("invalid name: want %s://%s/KEY", b.scheme, strings.ToUpper(b.bucket))
	}
	return bucket, key, nil
}

// splitObject is split for the name of an object.
func (b *Backend) splitObject(name string) (bucket, key string, err error) {
	bucket, key, err = b.split(name)
	if err == nil && (key == "" || strings.HasSuffix(key, "/")) {
		err = fmt.Errorf("the name of a folder, want %s://%s/KEY: %w", b.scheme, strings.ToUpper(b.bucket), fs.ErrNotExist)
	}
	return bucket, key, err
}

// prefix returns what the keys in a folder begin with.
func prefix(key string) string {
	if key = strings.TrimSuffix(key, "/"); key == "" {
		return ""
	}
	return key + "/"
}

// wrap makes a backend's error of a service's.
func (b *Backend) wrap(ctx context.Context, err error) error {
	if err == nil {
		return nil
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if x, ok := errors.AsType[*Explained](err); ok {
		return x.Err
	}
	var t *remote.TemporaryError
	for _, known := range []error{fs.ErrNotExist, fs.ErrPermission, remote.ErrChanged} {
		if errors.Is(err, known) || errors.As(err, &t) {
			return err
		}
	}
	a := b.s.Explain(err)
	if a == nil {
		if ue, ok := errors.AsType[*url.Error](err); ok {
			err = ue.Err // the URL may hold a signature
		}
		return &remote.TemporaryError{Err: err}
	}
	switch c := a.Status; {
	case c == http.StatusNotFound || c == http.StatusGone:
		return fmt.Errorf("%w: %w", fs.ErrNotExist, a)
	case c == http.StatusUnauthorized || c == http.StatusForbidden:
		return fmt.Errorf("%w: %w", fs.ErrPermission, a)
	case c == http.StatusPreconditionFailed:
		return fmt.Errorf("%w: %w", remote.ErrChanged, a)
	case c == http.StatusRequestTimeout || c == http.StatusTooManyRequests || c >= 500:
		return &remote.TemporaryError{Err: a, After: after(a.After)}
	}
	return a
}

// after returns the pause that a header Retry-After asks for.
func after(s string) time.Duration {
	if n, err := strconv.Atoi(s); err == nil && n > 0 {
		return time.Duration(min(n, 3600)) * time.Second
	}
	if t, err := http.ParseTime(s); err == nil {
		return max(0, time.Until(t))
	}
	return 0
}

// Get implements remote.Backend.
func (b *Backend) Get(ctx context.Context, name string, off, n int64, version string) (*remote.Object, error) {
	bucket, key, err := b.splitObject(name)
	if err != nil {
		return nil, err
	}
	if off < 0 || n <= 0 {
		return nil, fmt.Errorf("invalid range: %d bytes from %d on", n, off)
	}
	o, err := b.s.Get(ctx, bucket, key, off, n, version)
	if a := b.answer(err); a != nil && a.Status == http.StatusRequestedRangeNotSatisfiable {
		// That answer does not tell size and version.
		if o, err = b.s.Head(ctx, bucket, key); err == nil {
			o.Body = http.NoBody
		}
	}
	if err != nil {
		return nil, b.wrap(ctx, err)
	}
	if version != "" && o.Version != version { // a service that ignores conditions
		return nil, errors.Join(remote.ErrChanged, o.Body.Close())
	}
	return o, nil
}

func (b *Backend) answer(err error) *Answer {
	if err == nil {
		return nil
	}
	return b.s.Explain(err)
}

// Stat implements remote.Backend. A folder exists if an object lies below it.
func (b *Backend) Stat(ctx context.Context, name string) (store.Info, error) {
	bucket, key, err := b.split(name)
	if err != nil {
		return store.Info{}, err
	}
	missing := error(fs.ErrNotExist)
	if key != "" && !strings.HasSuffix(key, "/") {
		o, err := b.s.Head(ctx, bucket, key)
		if err == nil {
			return store.Info{Name: name, Size: o.Size, Modified: o.Modified, Version: o.Version}, nil
		}
		if missing = b.wrap(ctx, err); !errors.Is(missing, fs.ErrNotExist) {
			return store.Info{}, missing
		}
		remote.Alive(ctx)
	}
	l, err := b.s.List(ctx, bucket, prefix(key), 1)
	if err != nil {
		return store.Info{}, b.wrap(ctx, err)
	}
	if len(l) == 0 && prefix(key) != "" {
		return store.Info{}, missing
	}
	return store.Info{Name: name, Folder: true}, nil
}

// List implements remote.Backend. It leaves out keys with an empty element,
// such as a//b, which no name of a folder leads to.
func (b *Backend) List(ctx context.Context, folder string) ([]store.Info, error) {
	bucket, key, err := b.split(folder)
	if err != nil {
		return nil, err
	}
	prefix := prefix(key)
	in, err := b.s.List(ctx, bucket, prefix, 0)
	if err != nil {
		return nil, b.wrap(ctx, err)
	}
	if len(in) == 0 && prefix != "" {
		return nil, fmt.Errorf("no folder: %w", fs.ErrNotExist)
	}
	var l []store.Info
	for _, e := range in {
		path, isFolder := strings.CutSuffix(e.Key, "/")
		if len(path) <= len(prefix) || strings.HasSuffix(path, "/") {
			continue // a marker of the folder itself, or an empty element
		}
		i := store.Info{Name: b.scheme + "://" + bucket + "/" + path, Folder: isFolder}
		if !isFolder {
			i.Size, i.Version = e.Size, e.Version
			i.Modified = e.Modified.Truncate(time.Second) // as a header has it
		}
		l = append(l, i)
	}
	slices.SortFunc(l, func(a, b store.Info) int { return strings.Compare(a.Name, b.Name) })
	return l, nil
}

// Create implements remote.Backend. ctx is that of the whole upload.
func (b *Backend) Create(ctx context.Context, name string) (store.NewFile, error) {
	bucket, key, err := b.splitObject(name)
	if err != nil {
		return nil, err
	}
	if c, ok := b.s.(Creator); ok {
		return c.Create(ctx, name, bucket, key)
	}
	s, ok := b.s.(Uploader)
	if !ok {
		return nil, errors.ErrUnsupported
	}
	w := &writer{b: b, name: name, done: make(chan struct{})}
	w.ctx, w.cancel = context.WithCancel(ctx)
	r, pw := io.Pipe()
	w.pipe = pw
	go func() {
		defer close(w.done)
		w.has, w.err = s.Upload(w.ctx, bucket, key, r)
		if w.err = b.wrap(ctx, w.err); w.err == nil {
			w.err = errClosed // of a Write that comes too late
			w.whole = true
		}
		r.CloseWithError(w.err)
	}()
	return w, nil
}

var errClosed = fmt.Errorf("write: %w", fs.ErrClosed)

// writer is an object that is being written.
type writer struct {
	b      *Backend
	name   string
	ctx    context.Context
	cancel context.CancelFunc
	pipe   *io.PipeWriter
	size   int64
	ended  bool // Close or Abort was called

	// done is closed when the upload has ended; then the rest is set.
	done  chan struct{}
	has   int64 // the size that the service has
	whole bool
	err   error
}

// Write implements store.NewFile.
func (w *writer) Write(p []byte) (int, error) {
	n, err := w.pipe.Write(p)
	w.size += int64(n)
	return n, w.fail("write", err)
}

// fail names the object in an error.
func (w *writer) fail(op string, err error) error {
	if err == nil {
		return nil
	}
	return &fs.PathError{Op: op, Path: w.name, Err: err}
}

// Close implements store.NewFile.
func (w *writer) Close() error {
	if w.ended {
		return nil
	}
	w.ended = true
	_ = w.pipe.CloseWithError(w.ctx.Err()) // never fails; nil is io.EOF
	<-w.done
	w.cancel()
	switch {
	case !w.whole:
		return w.fail("create", w.err)
	case w.has != w.size:
		return w.fail("create", fmt.Errorf("the service has %d bytes of %d that were written", w.has, w.size))
	}
	return nil
}

// Abort implements store.NewFile.
func (w *writer) Abort() error {
	if w.ended {
		return nil
	}
	w.ended = true
	w.cancel()
	_ = w.pipe.CloseWithError(context.Canceled) // never fails
	<-w.done
	return nil
}

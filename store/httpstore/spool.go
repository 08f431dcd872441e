package httpstore

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"sync"
	"time"

	"github.com/infer-prep/infer-prep/store/remote"
)

const (
	// spoolSize bounds the temporary files of a store, in bytes. A file of a
	// server without ranges has at most as many.
	spoolSize = 4 << 30
	// maxSpools bounds their number.
	maxSpools = 64
)

// spools are whole files of servers without ranges, in temporary files. The
// zero value is empty.
type spools struct {
	mu    sync.Mutex
	files map[string]*spool
	used  int64 // bytes
	tick  int64
	limit int64 // spoolSize, but in tests
}

// spool is a temporary file. It is closed, and so removed, when it is no longer
// in the map and nobody reads it.
type spool struct {
	f        *os.File
	named    bool // the file has a name, since the system could not remove it
	size     int64
	version  string // the ETag, or the digest of the content
	etag     string
	modified time.Time
	last     int64 // tick of the last use
	refs     int   // readers, and the map
}

// get returns a part of a file that is here and has the version.
func (s *spools) get(name string, off, n int64, version string) *remote.Object {
	s.mu.Lock()
	defer s.mu.Unlock()
	if p := s.files[name]; p != nil && p.version == version {
		return s.object(p, off, n)
	}
	return nil
}

// object opens a part of a spool.
func (s *spools) object(p *spool, off, n int64) *remote.Object {
	s.tick++
	p.last = s.tick
	p.refs++
	n = max(0, min(n, p.size-off))
	return &remote.Object{
		Body: &spoolBody{io.NewSectionReader(p.f, off, n), s, p}, Length: n, Size: p.size, Version: p.version, Modified: p.modified,
	}
}

// spoolBody is a part of a spool that is being read.
type spoolBody struct {
	io.Reader
	s *spools
	p *spool
}

func (b *spoolBody) Close() error {
	if b.p == nil {
		return nil
	}
	b.s.mu.Lock()
	defer b.s.mu.Unlock()
	err := b.s.release(b.p)
	b.p = nil
	return err
}

// release removes a reader.
func (s *spools) release(p *spool) error {
	p.refs--
	if p.refs > 0 {
		return nil
	}
	s.used -= p.size
	return p.close()
}

func (p *spool) close() error {
	err := p.f.Close()
	if p.named {
		err = errors.Join(err, os.Remove(p.f.Name()))
	}
	return err
}

// download returns a part of the file whose whole content a is, and closes a.
// If the file is here and a's validators are those of it, nothing is
// downloaded.
func (s *spools) download(ctx context.Context, name string, a *http.Response, off, n int64) (*remote.Object, error) {
	defer a.Body.Close()
	etag, mod := version(a.Header), modified(a.Header)
	limit := s.limit
	if limit == 0 {
		limit = spoolSize
	}
	s.mu.Lock()
	if p := s.files[name]; p != nil && (etag != "" || !mod.IsZero()) && p.etag == etag && p.modified.Equal(mod) && (a.ContentLength < 0 || a.ContentLength == p.size) {
		defer s.mu.Unlock()
		return s.object(p, off, n), nil
	}
	s.mu.Unlock()
	switch {
	case a.ContentLength > limit:
		return nil, fmt.Errorf("the server does not serve ranges, and the file has %d bytes: want at most %d: download it", a.ContentLength, limit)
	case a.ContentLength < 0 && len(a.TransferEncoding) == 0:
		// The connection's end is the file's, so that a cut would go unnoticed.
		return nil, errors.New("the server serves no ranges and tells no length: download the file")
	}
	p, err := fill(ctx, a, limit)
	if err != nil {
		return nil, err
	}
	p.etag, p.modified = etag, mod
	if etag != "" {
		p.version = etag
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.used += p.size
	if s.files == nil {
		s.files = map[string]*spool{}
	}
	if old := s.files[name]; old != nil {
		err = s.release(old)
	}
	s.files[name] = p
	o := s.object(p, off, n)
	for err == nil && len(s.files) > 1 && (s.used > limit || len(s.files) > maxSpools) {
		oldest := ""
		for name, p := range s.files {
			if oldest == "" || p.last < s.files[oldest].last {
				oldest = name
			}
		}
		err = s.release(s.files[oldest])
		delete(s.files, oldest)
	}
	return o, err
}

// fill downloads a body into a temporary file.
func fill(ctx context.Context, a *http.Response, limit int64) (_ *spool, err error) {
	f, err := os.CreateTemp("", "infer-prep-*")
	if err != nil {
		return nil, err
	}
	p := &spool{f: f, refs: 1}
	// Where the system permits, the file vanishes with the process.
	p.named = os.Remove(f.Name()) != nil
	defer func() {
		if err != nil {
			err = errors.Join(err, p.close())
		}
	}()
	h := sha256.New()
	b := make([]byte, 256<<10)
	for {
		n, rerr := a.Body.Read(b)
		if n > 0 {
			remote.Alive(ctx)
			h.Write(b[:n])
			if p.size += int64(n); p.size > limit {
				return nil, fmt.Errorf("the server does not serve ranges, and the file has more than %d bytes: download it", limit)
			}
			if _, err := f.Write(b[:n]); err != nil {
				return nil, err
			}
		}
		if rerr == io.EOF {
			break
		}
		if rerr != nil {
			return nil, transportError(ctx, rerr)
		}
	}
	if a.ContentLength >= 0 && p.size != a.ContentLength {
		return nil, &remote.TemporaryError{Err: io.ErrUnexpectedEOF}
	}
	p.version = "sha256:" + hex.EncodeToString(h.Sum(nil))
	return p, nil
}

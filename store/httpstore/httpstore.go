// Package httpstore reads files over HTTP. Importing it registers the schemes
// http and https with store.URI. Names are URLs, also presigned ones; errors
// show them without their query. A server cannot list or create files.
//
// Files are read in ranges. A file of a server without ranges is downloaded
// into a temporary file if it has more than 1 MiB. HTTP_PROXY, HTTPS_PROXY and
// NO_PROXY are honoured. docs/stores.md describes the rest for users.
package httpstore

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/infer-prep/infer-prep/store"
	"github.com/infer-prep/infer-prep/store/remote"
)

func init() {
	open := sync.OnceValue(func() store.Opener { return New(remote.Options{}) })
	for _, scheme := range []string{"http", "https"} {
		store.Register(scheme, func() (store.Opener, error) { return open(), nil })
	}
}

// maxRedirects is the most redirects that are followed, as in net/http.
const maxRedirects = 10

// New returns a store of URLs with the scheme http or https.
func New(o remote.Options) *remote.Store { return remote.New(newBackend(), o) }

// backend is a remote.Backend.
type backend struct {
	transport http.RoundTripper
	netrc     func() (netrc, error)
	spools    spools
}

func newBackend() *backend {
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.DisableCompression = true // bytes arrive as they are stored
	t.MaxIdleConns, t.MaxIdleConnsPerHost = 0, 64
	t.ReadBufferSize = 64 << 10
	// One connection for each request is faster than HTTP/2's one for all:
	// TCP then adapts to each, and no stream waits for another's.
	t.Protocols = new(http.Protocols)
	t.Protocols.SetHTTP1(true)
	return &backend{transport: t, netrc: sync.OnceValues(readNetrc)}
}

// parse parses a name.
func parse(name string) (*url.URL, error) {
	u, err := url.Parse(name)
	var escape url.EscapeError // other errors have the query, or what may be a password
	switch {
	case errors.As(err, &escape):
		return nil, fmt.Errorf("invalid URL: %w", escape)
	case err != nil:
		return nil, errors.New("invalid URL")
	case u.Scheme != "http" && u.Scheme != "https" || u.Host == "":
		return nil, errors.New("want a URL as http://host/path or https://host/path")
	case u.User != nil:
		return nil, errors.New("a user in a URL is not supported: want a line \"machine HOST login USER password PASSWORD\" in ~/.netrc, or in the file that NETRC names")
	}
	u.Fragment, u.RawFragment = "", ""
	return u, nil
}

// do sends a request and follows redirects. The caller closes the body.
func (b *backend) do(ctx context.Context, method, name string, header http.Header) (*http.Response, error) {
	u, err := parse(name)
	if err != nil {
		return nil, err
	}
	own := true // no redirect has led to another host, port or scheme
	for range maxRedirects + 1 {
		r := (&http.Request{Method: method, URL: u, Host: u.Host, Header: header.Clone(), Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1}).WithContext(ctx)
		r.Header.Set("Accept-Encoding", "identity")
		r.Header.Set("User-Agent", "infer-prep")
		rc, err := b.netrc()
		if err != nil {
			return nil, err
		}
		if e, ok := rc.find(u.Hostname()); ok && own {
			r.SetBasicAuth(e.login, e.password)
		}
		a, err := b.transport.RoundTrip(r)
		if err != nil {
			return nil, transportError(ctx, err)
		}
		switch a.StatusCode {
		case http.StatusMovedPermanently, http.StatusFound, http.StatusSeeOther, http.StatusTemporaryRedirect, http.StatusPermanentRedirect:
		default:
			return a, nil
		}
		discard(a.Body)
		to, err := u.Parse(a.Header.Get("Location"))
		switch {
		case err != nil || a.Header.Get("Location") == "" || to.Host == "":
			return nil, fmt.Errorf("%s: invalid Location", a.Status)
		case to.Scheme != "https" && (to.Scheme != "http" || u.Scheme == "https"):
			return nil, fmt.Errorf("%s: a redirect from %s to %s is not followed", a.Status, u.Scheme, to.Scheme)
		}
		to.User, to.Fragment, to.RawFragment = nil, "", ""
		own = own && to.Scheme == u.Scheme && strings.EqualFold(to.Hostname(), u.Hostname()) && port(to) == port(u)
		u = to
	}
	return nil, fmt.Errorf("more than %d redirects", maxRedirects)
}

// port returns the port of a URL.
func port(u *url.URL) string {
	if p := u.Port(); p != "" {
		return p
	}
	return map[string]string{"http": "80", "https": "443"}[u.Scheme]
}

// discard reads the rest of a short body, so that its connection can be used
// again, and closes it.
func discard(body io.ReadCloser) {
	_, _ = io.CopyN(io.Discard, body, 16<<10) // nobody needs the bytes
	_ = body.Close()
}

// transportError returns the error of a request without an answer. Another
// attempt may get one, unless the server is not whom it claims to be.
func transportError(ctx context.Context, err error) error {
	if ue, ok := errors.AsType[*url.Error](err); ok {
		err = ue.Err // ue has the query
	}
	var (
		host  x509.HostnameError
		auth  x509.UnknownAuthorityError
		cert  *tls.CertificateVerificationError
		plain tls.RecordHeaderError
	)
	if ctx.Err() != nil || errors.As(err, &host) || errors.As(err, &auth) || errors.As(err, &cert) || errors.As(err, &plain) {
		return err
	}
	return &remote.TemporaryError{Err: err}
}

// statusError returns the error of an answer that has no part of the file. The
// body of the answer is not shown: it can repeat the request's signature.
func statusError(a *http.Response) error {
	switch c := a.StatusCode; {
	case c == http.StatusNotFound || c == http.StatusGone:
		return fmt.Errorf("%w: %s", fs.ErrNotExist, a.Status)
	case c == http.StatusUnauthorized || c == http.StatusForbidden || c == http.StatusProxyAuthRequired:
		return fmt.Errorf("%w: %s", fs.ErrPermission, a.Status)
	case c == http.StatusPreconditionFailed:
		return remote.ErrChanged
	case c == http.StatusRequestTimeout || c == http.StatusTooEarly || c == http.StatusTooManyRequests || c >= 500:
		return &remote.TemporaryError{Err: errors.New(a.Status), After: retryAfter(a.Header.Get("Retry-After"), time.Now())}
	}
	return fmt.Errorf("unexpected status %s", a.Status)
}

// version returns what identifies the content of an answer: its ETag if that is
// a strong one.
func version(h http.Header) string {
	if e := h.Get("ETag"); len(e) >= 2 && e[0] == '"' && e[len(e)-1] == '"' {
		return e
	}
	return ""
}

// modified returns the modification time of an answer.
func modified(h http.Header) time.Time {
	t, err := http.ParseTime(h.Get("Last-Modified"))
	if err != nil {
		return time.Time{}
	}
	return t
}

// Get implements remote.Backend.
func (b *backend) Get(ctx context.Context, name string, off, n int64, v string) (*remote.Object, error) {
	if off > 0 {
		if o := b.spools.get(name, off, n, v); o != nil {
			return o, nil
		}
	}
	h := http.Header{}
	span := fmt.Sprintf("bytes=%d-", off) // a request without a range may get a compressed body
	if n < math.MaxInt64-off {
		span += strconv.FormatInt(off+n-1, 10)
	}
	h.Set("Range", span)
	if strings.HasPrefix(v, `"`) {
		h.Set("If-Match", v)
	}
	a, err := b.do(ctx, http.MethodGet, name, h)
	if err != nil {
		return nil, err
	}
	o := &remote.Object{Body: a.Body, Length: a.ContentLength, Size: -1, Version: version(a.Header), Modified: modified(a.Header)}
	switch a.StatusCode {
	case http.StatusPartialContent:
		from, to, size, err := parseContentRange(a.Header.Get("Content-Range"))
		switch {
		case err != nil:
		case from != off || to < from || to-from >= n:
			err = fmt.Errorf("Content-Range %d-%d where %s was requested", from, to, span)
		case o.Length >= 0 && o.Length != to-from+1:
			err = &remote.TemporaryError{Err: fmt.Errorf("Content-Length %d, but Content-Range %d-%d", o.Length, from, to)}
		}
		if err != nil {
			_ = a.Body.Close() // err tells more
			return nil, err
		}
		o.Length, o.Size = to-from+1, size
		o.Sum, o.NewHash = parseDigest(a.Header.Get("Content-Digest"))
		return o, nil
	case http.StatusOK:
		if off == 0 && a.ContentLength >= 0 && a.ContentLength <= n {
			o.Size = o.Length
			o.Sum, o.NewHash = parseDigest(a.Header.Get("Content-Digest"))
			return o, nil
		}
		// The server has no ranges.
		return b.spools.download(ctx, name, a, off, n)
	case http.StatusRequestedRangeNotSatisfiable:
		discard(a.Body)
		if _, _, size, err := parseContentRange(a.Header.Get("Content-Range")); err == nil && size >= 0 && off >= size {
			o.Body, o.Length, o.Size = http.NoBody, 0, size
			return o, nil
		}
		return nil, errors.New(a.Status)
	}
	discard(a.Body)
	return nil, statusError(a)
}

// Stat implements remote.Backend. HTTP has no folders.
func (b *backend) Stat(ctx context.Context, name string) (store.Info, error) {
	a, err := b.do(ctx, http.MethodHead, name, http.Header{})
	if err != nil {
		return store.Info{}, err
	}
	discard(a.Body)
	if a.StatusCode == http.StatusOK && a.ContentLength >= 0 {
		return store.Info{Name: name, Size: a.ContentLength, Modified: modified(a.Header)}, nil
	}
	if c := a.StatusCode; c == http.StatusNotFound || c == http.StatusGone || c == http.StatusUnauthorized || c == http.StatusRequestTimeout || c == http.StatusTooManyRequests || c >= 500 && c != http.StatusNotImplemented {
		return store.Info{}, statusError(a)
	}
	// The server has no HEAD, or the URL is signed for GET, or the answer has
	// no length.
	o, err := b.Get(ctx, name, 0, 1, "")
	if err != nil {
		return store.Info{}, err
	}
	if err := o.Body.Close(); err != nil || o.Size < 0 {
		return store.Info{}, errors.New("the server does not tell the file's size")
	}
	return store.Info{Name: name, Size: o.Size, Modified: o.Modified}, nil
}

// List implements remote.Backend.
func (b *backend) List(context.Context, string) ([]store.Info, error) {
	return nil, fmt.Errorf("HTTP has no folders: want the names of files, for example in a manifest, or a store that lists, such as s3://: %w", errors.ErrUnsupported)
}

// Create implements remote.Backend.
func (b *backend) Create(context.Context, string) (store.NewFile, error) {
	return nil, fmt.Errorf("HTTP servers are only read: want a path, or a store that is written, such as s3://: %w", errors.ErrUnsupported)
}

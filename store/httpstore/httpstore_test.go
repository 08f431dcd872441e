package httpstore

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/infer-prep/infer-prep/store"
	"github.com/infer-prep/infer-prep/store/remote"
	"github.com/infer-prep/infer-prep/store/storetest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// open returns a store with connections of its own, and its backend.
func open(t *testing.T, o remote.Options) (*remote.Store, *backend) {
	t.Helper()
	t.Setenv("NETRC", filepath.Join(t.TempDir(), "none"))
	b := newBackend()
	t.Cleanup(b.transport.(*http.Transport).CloseIdleConnections)
	t.Cleanup(func() {
		for _, p := range b.spools.files {
			require.Equal(t, 1, p.refs, "a part of a spool is open")
			require.NoError(t, p.close())
		}
	})
	return remote.New(b, o), b
}

func serve(t *testing.T, h http.HandlerFunc) string {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	return s.URL
}

func content(n int) []byte {
	b := make([]byte, n)
	_, _ = rand.NewChaCha8([32]byte{byte(n)}).Read(b)
	return b
}

// TestStore runs the suite of all stores on the file server of net/http, with
// and without ETags, and on one without ranges.
func TestStore(t *testing.T) {
	for name, wrap := range map[string]func(http.Handler) http.HandlerFunc{
		"plain": func(h http.Handler) http.HandlerFunc { return h.ServeHTTP },
		"etag": func(h http.Handler) http.HandlerFunc {
			return func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("ETag", `"`+r.URL.Path[len(r.URL.Path)-1:]+`"`)
				h.ServeHTTP(w, r)
			}
		},
		"no ranges": func(h http.Handler) http.HandlerFunc {
			return func(w http.ResponseWriter, r *http.Request) {
				r.Header.Del("Range")
				h.ServeHTTP(w, r)
			}
		},
		"no ranges, no length, no time": func(h http.Handler) http.HandlerFunc {
			return func(w http.ResponseWriter, r *http.Request) {
				r.Header.Del("Range")
				h.ServeHTTP(&unlabelled{w}, r)
			}
		},
		"no HEAD": func(h http.Handler) http.HandlerFunc {
			return func(w http.ResponseWriter, r *http.Request) {
				if r.Method == http.MethodHead {
					http.Error(w, "not signed for HEAD", http.StatusForbidden)
					return
				}
				h.ServeHTTP(w, r)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			url := serve(t, wrap(http.FileServer(http.Dir(dir))))
			s, _ := open(t, remote.Options{})
			storetest.Run(t, storetest.Config{Store: s, Folder: url + "/data", NoList: true, Put: func(t *testing.T, path string, b []byte) {
				path = filepath.Join(dir, "data", filepath.FromSlash(path))
				require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
				require.NoError(t, os.WriteFile(path, b, 0o600))
			}})
		})
	}
}

// unlabelled removes the headers that tell about a file.
type unlabelled struct{ http.ResponseWriter }

func (u *unlabelled) WriteHeader(c int) {
	u.Header().Del("Content-Length")
	u.Header().Del("Last-Modified")
	u.ResponseWriter.WriteHeader(c)
	if f, ok := u.ResponseWriter.(http.Flusher); ok && c == http.StatusOK {
		f.Flush()
	}
}

// TestFaults: what a server does, what reading then returns, and how many
// requests it takes.
func TestFaults(t *testing.T) {
	whole := content(300 << 10)
	for name, c := range map[string]struct {
		// serve answers request n, from 1. file serves the file.
		serve    func(n int64, w http.ResponseWriter, r *http.Request, file func())
		want     error // nil if the file is read
		text     string
		requests int64
		stalls   int64
	}{
		"500": {func(n int64, w http.ResponseWriter, _ *http.Request, file func()) {
			if n < 3 {
				http.Error(w, "oops", http.StatusInternalServerError)
				return
			}
			file()
		}, nil, "", 3, 0},
		"503 always": {func(n int64, w http.ResponseWriter, _ *http.Request, _ func()) {
			http.Error(w, "oops", http.StatusServiceUnavailable)
		}, nil, "3 attempts: 503 Service Unavailable", 3, 0},
		"404":  {status(404), fs.ErrNotExist, "file does not exist: 404 Not Found", 1, 0},
		"410":  {status(410), fs.ErrNotExist, "410 Gone", 1, 0},
		"401":  {status(401), fs.ErrPermission, "permission denied: 401 Unauthorized", 1, 0},
		"403":  {status(403), fs.ErrPermission, "403 Forbidden", 1, 0},
		"408":  {status(408), nil, "3 attempts: 408 Request Timeout", 3, 0},
		"429":  {status(429), nil, "3 attempts: 429 Too Many Requests", 3, 0},
		"400":  {status(400), nil, "unexpected status 400 Bad Request", 1, 0},
		"416":  {status(416), nil, "416", 1, 0},
		"204":  {status(204), nil, "unexpected status 204", 1, 0},
		"drop": {func(int64, http.ResponseWriter, *http.Request, func()) { panic(http.ErrAbortHandler) }, nil, "3 attempts: ", 3, 0},
		"cut": {func(n int64, w http.ResponseWriter, r *http.Request, file func()) {
			if n < 5 {
				w.Header().Set("Content-Range", fmt.Sprintf("bytes %d-%d/%d", start(r), len(whole)-1, len(whole)))
				w.Header().Set("Content-Length", fmt.Sprint(len(whole)-start(r)))
				w.WriteHeader(http.StatusPartialContent)
				_, _ = w.Write(whole[start(r) : start(r)+10000])
				panic(http.ErrAbortHandler)
			}
			file()
		}, nil, "", 5, 0},
		"cut always": {func(n int64, w http.ResponseWriter, r *http.Request, file func()) {
			w.Header().Set("Content-Range", fmt.Sprintf("bytes %d-%d/%d", start(r), len(whole)-1, len(whole)))
			w.Header().Set("Content-Length", fmt.Sprint(len(whole)-start(r)))
			w.WriteHeader(http.StatusPartialContent)
			if n == 1 {
				_, _ = w.Write(whole[:12345])
			}
			panic(http.ErrAbortHandler)
		}, io.ErrUnexpectedEOF, "at byte 12345: 3 attempts: unexpected EOF: EOF", 3, 0},
		"length too small": {func(n int64, w http.ResponseWriter, r *http.Request, file func()) {
			w.Header().Set("Content-Range", fmt.Sprintf("bytes %d-%d/%d", start(r), len(whole)-1, len(whole)))
			w.Header().Set("Content-Length", "100")
			w.WriteHeader(http.StatusPartialContent)
			_, _ = w.Write(whole[:100])
		}, nil, "3 attempts: Content-Length 100, but Content-Range 0-307199", 3, 0},
		"range too small": {func(n int64, w http.ResponseWriter, r *http.Request, file func()) {
			end := min(len(whole), start(r)+100000)
			w.Header().Set("Content-Range", fmt.Sprintf("bytes %d-%d/%d", start(r), end-1, len(whole)))
			w.WriteHeader(http.StatusPartialContent)
			_, _ = w.Write(whole[start(r):end])
		}, nil, "", 4, 0},
		"another range": {func(n int64, w http.ResponseWriter, r *http.Request, file func()) {
			w.Header().Set("Content-Range", fmt.Sprintf("bytes 1-%d/%d", len(whole)-1, len(whole)))
			w.WriteHeader(http.StatusPartialContent)
			_, _ = w.Write(whole[1:])
		}, nil, "Content-Range 1-307199 where bytes=0- was requested", 1, 0},
		"no range": {func(n int64, w http.ResponseWriter, r *http.Request, file func()) {
			w.WriteHeader(http.StatusPartialContent)
		}, nil, `invalid Content-Range ""`, 1, 0},
		"changed": {func(n int64, w http.ResponseWriter, r *http.Request, file func()) {
			w.Header().Set("ETag", fmt.Sprintf(`"%d"`, n))
			if n == 1 {
				cutOff(w, whole)
			}
			file()
		}, remote.ErrChanged, "at byte 5: the object has changed since it was opened", 2, 0},
		"changed, and If-Match ignored": {func(n int64, w http.ResponseWriter, r *http.Request, file func()) {
			w.Header().Set("ETag", fmt.Sprintf(`"%d"`, n))
			r.Header.Del("If-Match")
			if n == 1 {
				cutOff(w, whole)
			}
			file()
		}, remote.ErrChanged, `version "1" is now "2"`, 2, 0},
		"corrupt": {func(n int64, w http.ResponseWriter, r *http.Request, file func()) {
			digest(w, whole)
			if n == 1 {
				w.Header().Set("Content-Range", fmt.Sprintf("bytes 0-%d/%d", len(whole)-1, len(whole)))
				w.WriteHeader(http.StatusPartialContent)
				_, _ = w.Write(make([]byte, len(whole)))
				return
			}
			file()
		}, nil, "", 2, 0},
		"always corrupt": {func(n int64, w http.ResponseWriter, r *http.Request, file func()) {
			digest(w, whole[1:])
			file()
		}, remote.ErrChecksum, "at byte 0: 3 attempts: the checksum does not match", 3, 0},
		"stall": {func(n int64, w http.ResponseWriter, r *http.Request, file func()) {
			if n == 1 {
				<-r.Context().Done()
				return
			}
			file()
		}, nil, "", 2, 1},
		"stall in the body": {func(n int64, w http.ResponseWriter, r *http.Request, file func()) {
			if n == 1 {
				w.Header().Set("Content-Range", fmt.Sprintf("bytes 0-%d/%d", len(whole)-1, len(whole)))
				w.Header().Set("Content-Length", fmt.Sprint(len(whole)))
				w.WriteHeader(http.StatusPartialContent)
				_, _ = w.Write(whole[:100000])
				_ = http.NewResponseController(w).Flush()
				<-r.Context().Done()
				return
			}
			file()
		}, nil, "", 2, 1},
		"no length": {func(n int64, w http.ResponseWriter, r *http.Request, file func()) {
			c, rw, err := http.NewResponseController(w).Hijack()
			if err == nil {
				_, _ = rw.WriteString("HTTP/1.0 200 OK\r\n\r\nperhaps not all")
				_, _ = rw.Flush(), c.Close()
			}
		}, nil, "the server serves no ranges and tells no length: download the file", 1, 0},
	} {
		t.Run(name, func(t *testing.T) {
			var n atomic.Int64
			url := serve(t, func(w http.ResponseWriter, r *http.Request) {
				c.serve(n.Add(1), w, r, func() { http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(whole)) })
			})
			o := remote.Options{Attempts: 3}
			if c.stalls > 0 {
				o.Stall = 200 * time.Millisecond
			}
			s, _ := open(t, o)
			b, err := store.ReadFile(t.Context(), s, url+"/a?sig=SECRET", nil, 1<<20)
			if c.text == "" {
				require.NoError(t, err)
				require.True(t, bytes.Equal(whole, b))
			} else {
				require.ErrorContains(t, err, c.text)
				require.ErrorContains(t, err, "/a?xxxxx")
				require.NotContains(t, err.Error(), "SECRET")
				if c.want != nil {
					require.ErrorIs(t, err, c.want)
				}
			}
			st := s.Stats()
			require.Equal(t, c.requests, n.Load())
			require.Equal(t, c.requests, st.Requests)
			require.Equal(t, c.requests-1, st.Retries)
			require.Equal(t, c.stalls, st.Stalls)
		})
	}
}

func status(c int) func(int64, http.ResponseWriter, *http.Request, func()) {
	return func(_ int64, w http.ResponseWriter, _ *http.Request, _ func()) { w.WriteHeader(c) }
}

func digest(w http.ResponseWriter, b []byte) {
	sum := sha256.Sum256(b)
	w.Header().Set("Content-Digest", "sha-256=:"+base64.StdEncoding.EncodeToString(sum[:])+":")
}

// start returns the first byte of a request's range.
func start(r *http.Request) (n int) {
	_, _ = fmt.Sscanf(r.Header.Get("Range"), "bytes=%d-", &n)
	return n
}

// TestRetryAfter: the pause is as long as the server asks.
func TestRetryAfter(t *testing.T) {
	var first, second time.Time
	url := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if first.IsZero() {
			first = time.Now()
			w.Header().Set("Retry-After", "1")
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		second = time.Now()
		_, _ = w.Write([]byte("data"))
	})
	s, _ := open(t, remote.Options{})
	b, err := store.ReadFile(t.Context(), s, url+"/a", nil, 100)
	require.NoError(t, err)
	require.Equal(t, "data", string(b))
	require.GreaterOrEqual(t, second.Sub(first), time.Second)
}

// TestRefused: there is nobody at the address.
func TestRefused(t *testing.T) {
	server := httptest.NewServer(http.NotFoundHandler())
	server.Close()
	s, _ := open(t, remote.Options{Attempts: 2})
	_, err := s.Open(t.Context(), server.URL+"/a?sig=SECRET")
	require.ErrorContains(t, err, "2 attempts: ")
	require.NotContains(t, err.Error(), "SECRET")
	require.EqualValues(t, 2, s.Stats().Requests)
}

func TestRedirects(t *testing.T) {
	var n atomic.Int64
	target := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Range") != "bytes=0-" {
			w.WriteHeader(http.StatusTeapot)
			return
		}
		_, _ = w.Write([]byte("data"))
	})
	to := map[string]string{
		"/rel": "there", "/there": target + "/a", "/loop": "/loop", "/none": "", "/file": "file:///etc/passwd", "/user": "http://u:SECRET@" + target[7:] + "/a",
		"/bad": "http://h:SECRET:port/?sig=SECRET",
	}
	h := func(w http.ResponseWriter, r *http.Request) {
		n.Add(1)
		w.Header().Set("Location", to[r.URL.Path])
		w.WriteHeader([]int{301, 302, 303, 307, 308}[n.Load()%5])
	}
	url := serve(t, h)
	s, _ := open(t, remote.Options{})
	for _, path := range []string{"/rel", "/there", "/user"} {
		b, err := store.ReadFile(t.Context(), s, url+path, nil, 100)
		require.NoError(t, err, path)
		require.Equal(t, "data", string(b))
	}
	for path, text := range map[string]string{
		"/loop": "more than 10 redirects", "/none": "invalid Location", "/file": "invalid Location", "/bad": "invalid Location",
	} {
		_, err := s.Open(t.Context(), url+path)
		require.ErrorContains(t, err, text)
		require.NotContains(t, err.Error(), "SECRET")
	}
	secure := httptest.NewTLSServer(http.HandlerFunc(h))
	defer secure.Close()
	s, b := open(t, remote.Options{})
	_, err := s.Open(t.Context(), secure.URL+"/there")
	require.ErrorContains(t, err, "certificate")
	require.EqualValues(t, 1, s.Stats().Requests)
	b.transport.(*http.Transport).TLSClientConfig = secure.Client().Transport.(*http.Transport).TLSClientConfig.Clone()
	_, err = s.Open(t.Context(), secure.URL+"/there")
	require.ErrorContains(t, err, "a redirect from https to http is not followed")
}

func TestNames(t *testing.T) {
	s, _ := open(t, remote.Options{})
	for name, text := range map[string]string{
		"http://user:SECRET@host/a":       "open http://xxxxx@host/a: a user in a URL is not supported: want a line \"machine HOST login USER password PASSWORD\" in ~/.netrc",
		"http:///a?SECRET":                "open http:///a?xxxxx: want a URL as http://host/path",
		"ftp://host/a":                    "want a URL as http://host/path",
		"http://host/%zz?SECRET":          "open http://host/%zz?xxxxx: invalid URL: invalid URL escape \"%zz\"",
		"http://host:port/?SECRET":        "invalid URL",
		"http://user:SECRET/SECRET@host/": "open http://xxxxx@host/: invalid URL",
		"http://host/a\x00b?sig=SECRET":   "invalid URL",
		"http://ho st/a?X-Amz-Sig=SECRET": "invalid URL",
	} {
		_, err := s.Open(t.Context(), name)
		require.ErrorContains(t, err, text, "%q", name)
		require.NotContains(t, err.Error(), "SECRET")
		_, err = s.Stat(t.Context(), name)
		require.ErrorContains(t, err, text[strings.Index(text, ": ")+1:], "%q", name)
		require.NotContains(t, err.Error(), "SECRET")
	}
	_, err := s.List(t.Context(), "http://host/a")
	require.ErrorIs(t, err, errors.ErrUnsupported)
	require.ErrorContains(t, err, "HTTP has no folders: want the names of files")
	_, err = s.Create(t.Context(), "http://host/a")
	require.ErrorIs(t, err, errors.ErrUnsupported)
	require.Contains(t, store.Schemes(), "http")
	require.Contains(t, store.Schemes(), "https")
	a, err := store.Of(store.URI, "http://host/a")
	require.NoError(t, err)
	b, err := store.Of(store.URI, "https://host/a")
	require.NoError(t, err)
	require.Same(t, a, b)
}

// TestCredentials: those of the netrc file are sent to their host alone.
func TestCredentials(t *testing.T) {
	var user, password string
	url := serve(t, func(w http.ResponseWriter, r *http.Request) {
		user, password, _ = r.BasicAuth()
		_, _ = w.Write([]byte("data"))
	})
	file := filepath.Join(t.TempDir(), "netrc")
	require.NoError(t, os.WriteFile(file, []byte("machine elsewhere login e password e\nmachine 127.0.0.1 login me password SECRET"), 0o600))
	s, b := open(t, remote.Options{})
	t.Setenv("NETRC", file)
	_, err := store.ReadFile(t.Context(), s, url+"/a", nil, 100)
	require.NoError(t, err)
	require.Equal(t, "me SECRET", user+" "+password)
	_, err = store.ReadFile(t.Context(), s, strings.Replace(url, "127.0.0.1", "localhost", 1)+"/a", nil, 100)
	if err == nil { // there may be no localhost
		require.Empty(t, user)
	}
	require.NoError(t, os.WriteFile(file, []byte("machine 127.0.0.1\nlogin me passwort SECRET"), 0o600))
	b.netrc = readNetrc
	_, err = store.ReadFile(t.Context(), s, url+"/a", nil, 100)
	require.ErrorContains(t, err, "line 2: unknown word: want machine, default, login, password, account or macdef")
	require.NotContains(t, err.Error(), "SECRET")
}

func TestNetrc(t *testing.T) {
	rc, err := parseNetrc("# hosts\r\nmachine a login \"x y\\\"z\" password p#1 # not a word\n" +
		"macdef init\nmachine ignored\n\nmachine\nB\nlogin b account c password \"\"\ndefault login anonymous password me\nmachine never login n")
	require.NoError(t, err)
	require.Equal(t, netrc{{"a", `x y"z`, "p#1"}, {"B", "b", ""}, {"", "anonymous", "me"}, {"never", "n", ""}}, rc)
	for host, want := range map[string]string{"a": `x y"z`, "b": "b", "other": "anonymous", "never": "anonymous"} {
		c, ok := rc.find(host)
		require.True(t, ok)
		require.Equal(t, want, c.login)
	}
	_, ok := rc[:2].find("other")
	require.False(t, ok)
	for text, want := range map[string]string{
		"machine":              "machine at the end has no value",
		"login x":              "line 1: login comes before any machine",
		"machine \"a":          "line 1: a quote does not end",
		"machine a\npassword":  "password at the end has no value",
		"machine \"\" login x": "line 1: machine has no name",
		"<html>":               "line 1: unknown word",
	} {
		_, err := parseNetrc(text)
		require.ErrorContains(t, err, want, "%q", text)
	}
	t.Setenv("NETRC", t.TempDir())
	_, err = readNetrc()
	require.Error(t, err)
	t.Setenv("NETRC", "")
	t.Setenv("HOME", t.TempDir())
	rc, err = readNetrc()
	require.NoError(t, err)
	require.Empty(t, rc)
}

func TestHeaders(t *testing.T) {
	for text, want := range map[string][3]int64{
		"bytes 0-9/100": {0, 9, 100}, "bytes 5-5/*": {5, 5, -1}, "bytes */100": {0, -1, 100}, "Bytes 0-0/1": {0, 0, 1},
	} {
		from, to, size, err := parseContentRange(text)
		require.NoError(t, err, text)
		require.Equal(t, want, [3]int64{from, to, size})
	}
	for _, text := range []string{
		"", "bytes", "bytes */*", "bytes 9-0/100", "bytes 0-100/100", "items 0-9/100", "bytes 0-9", "bytes -9/100", "bytes +1-9/100", "bytes 0-9/1e9",
		"bytes 0-99999999999999999999/*", "bytes 0-9223372036854775808/*",
	} {
		_, _, _, err := parseContentRange(text)
		require.Error(t, err, text)
	}
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for text, want := range map[string]time.Duration{
		"": 0, "7": 7 * time.Second, "-1": 0, "x": 0, "Fri, 02 Jan 2026 03:04:15 GMT": 10 * time.Second, "Fri, 02 Jan 2026 03:04:00 GMT": 0, "99999999999999": 1 << 20 * time.Second,
	} {
		require.Equal(t, want, retryAfter(text, now), text)
	}
	for _, text := range []string{"", "sha-256=:AA==:", "md5=:AAAA:", "sha-256=AAAA", "sha-256=:::", ","} {
		sum, _ := parseDigest(text)
		require.Nil(t, sum, text)
	}
	want := sha256.Sum256(nil)
	sum, h := parseDigest("md5=:AAAA:, sha-256=:" + base64.StdEncoding.EncodeToString(want[:]) + ":;q=1")
	require.Equal(t, want[:], sum)
	require.Equal(t, want[:], h().Sum(nil))
}

// TestSpool: a file of a server without ranges is downloaded once, as long as
// it stays the same; the oldest make room.
func TestSpool(t *testing.T) {
	var mu sync.Mutex
	files := map[string][]byte{"/a": content(3 << 20), "/b": content(3<<20 + 1)}
	gets, etags := 0, true
	url := serve(t, func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		b := files[r.URL.Path]
		if etags {
			w.Header().Set("ETag", fmt.Sprintf(`"%d"`, len(b)))
		}
		gets++
		mu.Unlock()
		w.Header().Set("Content-Length", fmt.Sprint(len(b)))
		_, _ = w.Write(b)
	})
	s, b := open(t, remote.Options{Memory: 1 << 20})
	b.spools.limit = 5 << 20
	read := func(path string) error {
		got, err := store.ReadFile(t.Context(), s, url+path, nil, 10<<20)
		if err == nil && !bytes.Equal(files[path], got) {
			err = errors.New("other bytes")
		}
		return err
	}
	require.NoError(t, read("/a"))
	require.Equal(t, 1, gets)
	require.NoError(t, read("/a"))
	require.Equal(t, 2, gets, "the validator is asked for")
	require.Len(t, b.spools.files, 1)
	require.NoError(t, read("/b"))
	require.Len(t, b.spools.files, 1, "a file that is read in order, once, is not kept")
	require.NoError(t, read("/b"))
	require.Len(t, b.spools.files, 1, "the limit")
	require.EqualValues(t, 3<<20+1, b.spools.used)

	f, err := s.Open(t.Context(), url+"/b")
	require.NoError(t, err)
	require.NoError(t, read("/a")) // evicts b, which is open
	mu.Lock()
	files["/b"] = content(3<<20 + 2)
	mu.Unlock()
	_, err = store.ReadAll(f, nil)
	require.ErrorIs(t, err, remote.ErrChanged)
	require.NoError(t, f.Close())

	etags = false
	f, err = s.Open(t.Context(), url+"/b")
	require.NoError(t, err)
	require.NoError(t, read("/a"))
	got, err := store.ReadAll(f, nil) // downloaded again: the digest is the version
	require.NoError(t, err)
	require.True(t, bytes.Equal(files["/b"], got))
	require.NoError(t, f.Close())

	b.spools.limit = 3 << 20
	require.NoError(t, read("/a"))
	require.ErrorContains(t, read("/b"), "the server does not serve ranges, and the file has 3145730 bytes: want at most 3145728: download it")
}

func FuzzContentRange(f *testing.F) {
	f.Add("bytes 0-9/100")
	f.Add("bytes */100")
	f.Add("bytes 5-5/*")
	f.Fuzz(func(t *testing.T, text string) {
		from, to, size, err := parseContentRange(text)
		if err == nil && (from < 0 || to < from && to != -1 || size < -1 || size >= 0 && to >= size) {
			t.Errorf("%q: %d-%d/%d", text, from, to, size)
		}
		sum, h := parseDigest(text)
		if sum != nil && h == nil || retryAfter(text, time.Now()) < 0 {
			t.Errorf("%q", text)
		}
	})
}

func FuzzNetrc(f *testing.F) {
	f.Add("machine a login \"x y\" password p # c\nmacdef init\nx\n\ndefault login l")
	f.Fuzz(func(t *testing.T, text string) {
		rc, err := parseNetrc(text)
		if err == nil {
			rc.find("a")
		}
	})
}

// cutOff answers a request for a whole file and breaks the connection after 5
// bytes.
func cutOff(w http.ResponseWriter, whole []byte) {
	w.Header().Set("Content-Range", fmt.Sprintf("bytes 0-%d/%d", len(whole)-1, len(whole)))
	w.Header().Set("Content-Length", fmt.Sprint(len(whole)))
	w.WriteHeader(http.StatusPartialContent)
	_, _ = w.Write(whole[:5])
	_ = http.NewResponseController(w).Flush()
	panic(http.ErrAbortHandler)
}

// TestNetrcRedirects: credentials follow a redirect to the same host and port
// alone, also if the file has an entry for the other host.
func TestNetrcRedirects(t *testing.T) {
	var got []string
	note := func(r *http.Request) { got = append(got, r.Host+" "+r.Header.Get("Authorization")) }
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		note(r)
		if back := r.URL.Query().Get("back"); back != "" {
			http.Redirect(w, r, back, http.StatusFound)
			return
		}
		w.WriteHeader(http.StatusNotFound)
	}))
	defer other.Close()
	var first *httptest.Server
	first = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		note(r)
		switch to := r.URL.Query().Get("to"); to {
		case "":
			w.WriteHeader(http.StatusNotFound)
		case "back":
			http.Redirect(w, r, other.URL+"/?back="+first.URL+"/end", http.StatusFound)
		default:
			http.Redirect(w, r, to, http.StatusFound)
		}
	}))
	defer first.Close()
	file := filepath.Join(t.TempDir(), "netrc")
	require.NoError(t, os.WriteFile(file, []byte("machine 127.0.0.1 login u password p\nmachine localhost login l password p\ndefault login d password p"), 0o600))
	t.Setenv("NETRC", file)
	a, b := first.Listener.Addr().String(), other.Listener.Addr().String()
	const basic = " Basic dTpw"
	_, port, _ := strings.Cut(a, ":")
	for to, want := range map[string][]string{
		first.URL + "/end":               {a + basic, a + basic},
		"/end":                           {a + basic, a + basic},
		other.URL + "/end":               {a + basic, b + " "},
		"http://localhost:" + port + "/": {a + basic, "localhost:" + port + " "},
		"back":                           {a + basic, b + " ", a + " "},
	} {
		got = nil
		_, err := New(remote.Options{}).Stat(t.Context(), first.URL+"/?to="+to)
		require.ErrorIs(t, err, fs.ErrNotExist, to)
		require.Equal(t, want, got, to)
	}
}

package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/records/webdataset"
	"github.com/infer-prep/infer-prep/store"
	"github.com/infer-prep/infer-prep/store/remote"
	"github.com/infer-prep/infer-prep/store/s3"
	"github.com/infer-prep/infer-prep/store/s3/s3test"
)

// proxy is a server in front of versitygw that answers with faults.
type proxy struct {
	URL   string
	mu    sync.Mutex
	fault func(n int, w http.ResponseWriter, r *http.Request, next http.Handler)
	n     int // requests since the fault was set
}

func newProxy(t *testing.T, to string) *proxy {
	t.Helper()
	u, err := url.Parse(to)
	require.NoError(t, err)
	p := &proxy{}
	next := &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) {
		r.SetURL(u)
		r.Out.Host = r.In.Host // which is signed
	}, ErrorLog: log.New(io.Discard, "", 0)}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	srv := &http.Server{ErrorLog: log.New(io.Discard, "", 0), Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		p.mu.Lock()
		n, fault := p.n, p.fault
		p.n++
		p.mu.Unlock()
		if fault == nil {
			next.ServeHTTP(w, r)
			return
		}
		fault(n, w, r, next)
	})}
	go func() { _ = srv.Serve(l) }()
	t.Cleanup(func() { _ = srv.Close() })
	p.URL = "http://" + l.Addr().String()
	return p
}

// set sets what happens to requests, which are counted from 0.
func (p *proxy) set(fault func(n int, w http.ResponseWriter, r *http.Request, next http.Handler)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.fault, p.n = fault, 0
}

func (p *proxy) requests() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.n
}

// inRanges cuts a whole object after 2 MiB, so that the rest takes several
// requests.
func inRanges(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet && r.Header.Get("Range") == "" {
			w = &cutter{ResponseWriter: w, left: 2 << 20}
		}
		next.ServeHTTP(w, r)
	})
}

// cut passes on n bytes of a body and then drops the connection.
func cut(w http.ResponseWriter, r *http.Request, next http.Handler, n int) {
	next.ServeHTTP(&cutter{ResponseWriter: w, left: n}, r)
}

type cutter struct {
	http.ResponseWriter
	left int
}

func (c *cutter) Write(p []byte) (int, error) {
	if len(p) > c.left {
		_, _ = c.ResponseWriter.Write(p[:c.left])
		_ = http.NewResponseController(c.ResponseWriter).Flush()
		panic(http.ErrAbortHandler)
	}
	c.left -= len(p)
	return c.ResponseWriter.Write(p)
}

// answer answers with an error as S3 does.
func answer(w http.ResponseWriter, status int, code string) {
	w.WriteHeader(status)
	_, _ = fmt.Fprintf(w, "<Error><Code>%s</Code><Message>a fault of the test</Message></Error>", code)
}

// TestFaults reads a shard through a server with faults: the samples are right
// and the repeated requests are counted, or the error has a name.
func TestFaults(t *testing.T) {
	srv := s3test.Start(t)
	p := newProxy(t, srv.URL)
	var logged bytes.Buffer
	log.SetOutput(&logged)
	t.Cleanup(func() { log.SetOutput(os.Stderr) })
	secrets := func(err error) {
		t.Helper()
		for _, s := range []string{srv.AccessKey, srv.SecretKey, "Signature=", "Credential="} {
			require.NotContains(t, fmt.Sprintf("%v %+v", err, err), s)
			require.NotContains(t, logged.String(), s)
		}
	}
	open := func(o remote.Options) *remote.Store {
		b, err := s3.New(s3.Options{Endpoint: p.URL, Credentials: srv.Credentials()})
		require.NoError(t, err)
		return remote.New(b, o)
	}
	folder := "s3://" + srv.Bucket + "/"
	name := folder + "shard.tar"
	// A shard of 20 MB, so that there are many requests.
	var file bytes.Buffer
	w, err := webdataset.NewTarWriter(&file, webdataset.TarOptions{})
	require.NoError(t, err)
	for i := range 200 {
		require.NoError(t, w.Write(&webdataset.Sample{Key: fmt.Sprintf("%04d", i), Fields: []webdataset.Field{
			{Ext: "bin", Data: bytes.Repeat([]byte{byte(i), byte(i >> 3), 7}, 30000+i)}, {Ext: "cls", Data: strconv.AppendInt(nil, int64(i), 10)},
		}}))
	}
	require.NoError(t, w.Close())
	shard := file.Bytes()
	require.NoError(t, store.WriteFile(t.Context(), open(remote.Options{}), name, shard))
	read := func(ctx context.Context, s *remote.Store) (n int, err error) {
		r, err := webdataset.Open(ctx, s, name, webdataset.Options{})
		if err != nil {
			return 0, err
		}
		defer func() { err = errors.Join(err, r.Close()) }()
		for ; ; n++ {
			x, err := r.Next()
			if err == io.EOF {
				return n, nil
			} else if err != nil {
				return n, err
			}
			if want := bytes.Repeat([]byte{byte(n), byte(n >> 3), 7}, 30000+n); !bytes.Equal(x.Fields[0].Data, want) {
				return n, fmt.Errorf("sample %d has other bytes", n)
			}
		}
	}

	for what, fault := range map[string]func(n int, w http.ResponseWriter, r *http.Request, next http.Handler){
		"cut": func(n int, w http.ResponseWriter, r *http.Request, next http.Handler) {
			if n%2 == 0 {
				cut(w, r, next, 100000+n*1000)
			}
			next.ServeHTTP(w, r)
		},
		"dropped": func(n int, w http.ResponseWriter, r *http.Request, next http.Handler) {
			if n%3 == 0 {
				panic(http.ErrAbortHandler)
			}
			next.ServeHTTP(w, r)
		},
		"500": func(n int, w http.ResponseWriter, r *http.Request, next http.Handler) {
			if n%3 == 0 {
				answer(w, 500, "InternalError")
				return
			}
			next.ServeHTTP(w, r)
		},
		"503": func(n int, w http.ResponseWriter, r *http.Request, next http.Handler) {
			if n == 1 {
				w.Header().Set("Retry-After", "1")
				answer(w, 503, "SlowDown")
				return
			}
			next.ServeHTTP(w, r)
		},
		"stall": func(n int, w http.ResponseWriter, r *http.Request, next http.Handler) {
			if n == 1 || n == 3 {
				<-r.Context().Done() // the client gives up
				return
			}
			next.ServeHTTP(w, r)
		},
		"stall in a body": func(n int, w http.ResponseWriter, r *http.Request, next http.Handler) {
			if n == 1 {
				next.ServeHTTP(&staller{w, r, 200000}, r)
				return
			}
			next.ServeHTTP(w, r)
		},
	} {
		t.Run(what, func(t *testing.T) {
			p.set(func(n int, w http.ResponseWriter, r *http.Request, next http.Handler) { fault(n, w, r, inRanges(next)) })
			s := open(remote.Options{Attempts: 20, Stall: 500 * time.Millisecond})
			start := time.Now()
			n, err := read(t.Context(), s)
			require.NoError(t, err)
			require.Equal(t, 200, n)
			st := s.Stats()
			t.Logf("%v, %+v", time.Since(start).Round(time.Millisecond), st)
			require.Positive(t, st.Retries, "%+v", st)
			if what != "dropped" {
				require.EqualValues(t, p.requests(), st.Requests, "every request is counted: %+v", st)
			}
			switch what {
			case "dropped":
				// net/http itself repeats a request whose kept connection was
				// closed before any answer.
				require.GreaterOrEqual(t, int64(p.requests()), st.Requests)
			case "503":
				require.EqualValues(t, 2, st.Retries, "the other one is that of inRanges")
				require.GreaterOrEqual(t, time.Since(start), time.Second, "Retry-After")
			case "stall":
				// A busy machine may stall a further request.
				require.GreaterOrEqual(t, st.Stalls, int64(2))
			}
			secrets(nil)
		})
	}

	t.Run("always 500", func(t *testing.T) {
		p.set(func(_ int, w http.ResponseWriter, _ *http.Request, _ http.Handler) { answer(w, 500, "InternalError") })
		s := open(remote.Options{Attempts: 3})
		_, err := read(t.Context(), s)
		require.ErrorContains(t, err, "3 attempts")
		require.ErrorContains(t, err, "InternalError")
		require.ErrorContains(t, err, name)
		require.Equal(t, 3, p.requests())
		secrets(err)
		_, err = s.Stat(t.Context(), name)
		require.Error(t, err)
		secrets(err)
		_, err = s.List(t.Context(), folder)
		require.Error(t, err)
		secrets(err)
	})
	t.Run("403", func(t *testing.T) {
		p.set(func(_ int, w http.ResponseWriter, _ *http.Request, _ http.Handler) { answer(w, 403, "AccessDenied") })
		s := open(remote.Options{})
		_, err := read(t.Context(), s)
		require.ErrorIs(t, err, fs.ErrPermission)
		require.Equal(t, 1, p.requests(), "another attempt cannot help")
		secrets(err)
	})
	t.Run("deadline", func(t *testing.T) {
		p.set(func(n int, w http.ResponseWriter, r *http.Request, next http.Handler) {
			if n == 0 {
				inRanges(next).ServeHTTP(w, r)
				return
			}
			<-r.Context().Done()
		})
		ctx, cancel := context.WithTimeout(t.Context(), 700*time.Millisecond)
		defer cancel()
		start := time.Now()
		_, err := read(ctx, open(remote.Options{}))
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.Less(t, time.Since(start), 5*time.Second)
		secrets(err)
	})
	t.Run("deadline between attempts", func(t *testing.T) {
		p.set(func(_ int, w http.ResponseWriter, _ *http.Request, _ http.Handler) {
			w.Header().Set("Retry-After", "60")
			answer(w, 503, "SlowDown")
		})
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		start := time.Now()
		_, err := read(ctx, open(remote.Options{}))
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.Less(t, time.Since(start), 5*time.Second)
		require.Equal(t, 1, p.requests())
		secrets(err)
	})
	t.Run("changed", func(t *testing.T) {
		direct, err := s3.New(s3.Options{Endpoint: srv.URL, Credentials: srv.Credentials()})
		require.NoError(t, err)
		var once sync.Once
		p.set(func(n int, w http.ResponseWriter, r *http.Request, next http.Handler) {
			if n >= 2 {
				once.Do(func() {
					other := bytes.Clone(shard)
					copy(other[len(other)/2:], "replaced")
					if err := store.WriteFile(t.Context(), remote.New(direct, remote.Options{}), name, other); err != nil {
						t.Error(err)
					}
				})
			}
			inRanges(next).ServeHTTP(w, r)
		})
		n, err := read(t.Context(), open(remote.Options{Memory: 1 << 20}))
		require.ErrorIs(t, err, remote.ErrChanged)
		require.ErrorContains(t, err, name)
		require.Less(t, n, 200)
		secrets(err)
		p.set(nil)
		require.NoError(t, store.WriteFile(t.Context(), open(remote.Options{}), name, shard))
	})
	t.Run("damaged", func(t *testing.T) {
		p.set(nil)
		small := []byte(strings.Repeat("content", 1000))
		require.NoError(t, store.WriteFile(t.Context(), open(remote.Options{}), folder+"small", small))
		p.set(func(n int, w http.ResponseWriter, r *http.Request, next http.Handler) {
			if n == 0 {
				next.ServeHTTP(&flipper{ResponseWriter: w}, r)
				return
			}
			next.ServeHTTP(w, r)
		})
		b, err := store.ReadFile(t.Context(), open(remote.Options{}), folder+"small", nil, 1<<20)
		require.NoError(t, err)
		require.Equal(t, small, b, "a flipped bit is received again")
		require.Equal(t, 2, p.requests())
		p.set(func(_ int, w http.ResponseWriter, r *http.Request, next http.Handler) {
			next.ServeHTTP(&flipper{ResponseWriter: w}, r)
		})
		_, err = store.ReadFile(t.Context(), open(remote.Options{}), folder+"small", nil, 1<<20)
		require.ErrorIs(t, err, remote.ErrChecksum)
		secrets(err)
	})
	t.Run("upload", func(t *testing.T) {
		p.set(func(n int, w http.ResponseWriter, r *http.Request, next http.Handler) {
			switch {
			case n%4 == 1:
				answer(w, 503, "SlowDown")
			case n%4 == 3:
				panic(http.ErrAbortHandler)
			default:
				next.ServeHTTP(w, r)
			}
		})
		big := bytes.Repeat(shard, 3)
		require.NoError(t, store.WriteFile(t.Context(), open(remote.Options{}), folder+"big", big))
		p.set(nil)
		b, err := store.ReadFile(t.Context(), open(remote.Options{}), folder+"big", nil, 1<<30)
		require.NoError(t, err)
		require.True(t, bytes.Equal(big, b))
		// The answer to the last request of an upload is lost.
		lost := false
		p.set(func(_ int, w http.ResponseWriter, r *http.Request, next http.Handler) {
			if r.Method == http.MethodPost && r.URL.Query().Has("uploadId") && !lost {
				lost = true
				next.ServeHTTP(&discard{h: http.Header{}}, r)
				panic(http.ErrAbortHandler)
			}
			next.ServeHTTP(w, r)
		})
		require.NoError(t, store.WriteFile(t.Context(), open(remote.Options{}), folder+"big2", big))
		require.True(t, lost)
		// Nothing appears of an upload whose context ends.
		p.set(func(n int, w http.ResponseWriter, r *http.Request, next http.Handler) {
			if r.URL.Query().Has("partNumber") {
				<-r.Context().Done()
				return
			}
			next.ServeHTTP(w, r)
		})
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		err = store.WriteFile(ctx, open(remote.Options{}), folder+"never", big)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		secrets(err)
		p.set(nil)
		_, err = open(remote.Options{}).Stat(t.Context(), folder+"never")
		require.ErrorIs(t, err, fs.ErrNotExist)
		require.Eventually(t, func() bool {
			for range srv.Client(t).ListIncompleteUploads(t.Context(), srv.Bucket, "", true) {
				return false
			}
			return true
		}, 10*time.Second, 100*time.Millisecond, "no upload is left")
	})
	secrets(nil)
}

// staller passes on some bytes, and then nothing until the client gives up.
type staller struct {
	http.ResponseWriter
	r    *http.Request
	left int
}

func (s *staller) Write(p []byte) (int, error) {
	if len(p) > s.left {
		_, _ = s.ResponseWriter.Write(p[:s.left])
		_ = http.NewResponseController(s.ResponseWriter).Flush()
		<-s.r.Context().Done()
		return 0, s.r.Context().Err()
	}
	s.left -= len(p)
	return s.ResponseWriter.Write(p)
}

// flipper flips a bit of the first byte.
type flipper struct {
	http.ResponseWriter
	done bool
}

func (f *flipper) Write(p []byte) (int, error) {
	if !f.done && len(p) > 0 {
		f.done = true
		p = bytes.Clone(p)
		p[0] ^= 1
	}
	return f.ResponseWriter.Write(p)
}

// discard is an answer that is lost.
type discard struct{ h http.Header }

func (d *discard) Header() http.Header         { return d.h }
func (d *discard) Write(p []byte) (int, error) { return len(p), nil }
func (d *discard) WriteHeader(int)             {}

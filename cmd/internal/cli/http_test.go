package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
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

	"github.com/infer-prep/infer-prep/cmd/internal/cli/bench"
	"github.com/infer-prep/infer-prep/cmd/internal/cli/command"
)

// secret is what no output of the program may contain.
const secret = "0123456789abcdef"

// TestRunHTTP tests images of HTTP servers.
func TestRunHTTP(t *testing.T) {
	dir := photos(t)
	t.Chdir(dir)
	require.Equal(t, command.ExitOK, call(t, "pack", "shards", "-q", "-o", "shards", "sub/deep").status)
	require.Equal(t, command.ExitOK, call(t, "bundle", "create", "--preset", "decode", "-o", "cat.bundle").status)
	var busy atomic.Int64 // answers 503 so many times
	files := http.FileServer(http.Dir(dir))
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch q := r.URL.Query(); {
		case busy.Add(-1) >= 0:
			w.WriteHeader(http.StatusServiceUnavailable)
		case r.URL.Path == "/signed.png" && q.Get("X-Amz-Signature") != secret:
			w.WriteHeader(http.StatusForbidden)
		case r.URL.Path == "/signed.png":
			http.ServeFile(w, r, "a.png")
		case r.URL.Path == "/photo":
			http.ServeFile(w, r, q.Get("id")+".png")
		case r.URL.Path == "/whole.png": // a server without ranges
			b, _ := os.ReadFile("a.png")
			_, _ = w.Write(b)
		default:
			files.ServeHTTP(w, r)
		}
	}))
	defer server.Close()
	at := server.URL
	for _, c := range []struct {
		name   string
		args   []string
		status int
		want   string // outputs
		stderr []string
	}{
		{"a file", []string{at + "/sub/c.png"}, command.ExitOK, "c.png.npy", nil},
		{"escaped", []string{at + "/odd/x%20y.png"}, command.ExitOK, "x%20y.png.npy", nil},
		{"without ranges", []string{at + "/whole.png"}, command.ExitOK, "whole.png.npy", nil},
		{"keep path", []string{"--keep-path", at + "/sub/c.png"}, command.ExitOK, strings.ReplaceAll(at[len("http://"):], ":", "_") + "/sub/c.png.npy", nil},
		{"a query", []string{at + "/photo?id=a"}, command.ExitOK, "photo.npy", nil},
		{"queries", []string{at + "/photo?id=a", at + "/photo?id=b"}, command.ExitFailed, "photo.npy", []string{"photo?xxxxx: its output out/photo.npy is already the output of " + at + "/photo?xxxxx; --keep-path"}},
		{"signed", []string{at + "/signed.png?X-Amz-Signature=" + secret}, command.ExitOK, "signed.png.npy", nil},
		{"wrong signature", []string{at + "/signed.png?X-Amz-Signature=" + secret[1:] + "x"}, command.ExitFailed, "", []string{at + "/signed.png?xxxxx: ", "1 image, 1 failed"}},
		{"a password", []string{at + "/none?pw=" + secret, at + "/none?" + secret, at + "/none?%73ig=" + secret, at + "/none#" + secret}, command.ExitFailed, "", []string{at + "/none?xxxxx: no such file or folder\n"}},
		{"a user", []string{"http://u:" + secret + "@" + at[len("http://"):] + "/none"}, command.ExitFailed, "", []string{"http://xxxxx@"}},
		{"missing", []string{at + "/none.png", at + "/none"}, command.ExitFailed, "", []string{at + "/none.png: no such file or folder\n", at + "/none: no such file or folder\n"}},
		{"a page", []string{at + "/"}, command.ExitFailed, "", []string{at + "/: codec: unsupported: an HTML page: "}},
		{"a container", []string{at + "/shards/data-00000.tar"}, command.ExitOK, "data-00000.tar/d.png.npy", nil},
		{"a bundle", []string{"--bundle", at + "/cat.bundle", at + "/a.png"}, command.ExitOK, "a.png.npy", nil},
		{"an output", []string{"-o", at + "/out", at + "/a.png"}, command.ExitUsage, "", []string{"-o " + at + "/out: the store is only read: want a folder, or a URI of a store that takes files"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			require.NoError(t, os.RemoveAll("out"))
			args := append([]string{"run", "--preset", "decode", "--report", "report", "-o", "out"}, c.args...)
			if c.args[0] == "--bundle" {
				args = append([]string{"run", "--report", "report", "-o", "out"}, c.args...)
			}
			r := call(t, args...)
			require.Equal(t, c.status, r.status, r.stderr)
			require.Equal(t, c.want, strings.Join(listFiles(t, "out"), " "))
			for _, w := range c.stderr {
				require.Contains(t, r.stderr, w)
			}
			if c.status != command.ExitUsage {
				require.Regexp(t, `\nstore: \d+ requests?, 0 retried, [\d.]+ k?B received\n$`, r.stderr)
			}
			j := call(t, append(args, "--json")...)
			for _, s := range []string{r.stderr, r.stdout, j.stderr, j.stdout, readText(t, "report")} {
				require.NotContains(t, s, secret)
				require.NotContains(t, s, secret[1:])
			}
		})
	}

	// Lists, and what the stores did in JSON.
	require.NoError(t, os.WriteFile("list", []byte(at+"/a.png\n"+at+"/b.png\n"), 0o666))
	require.NoError(t, os.RemoveAll("out"))
	busy.Store(1)
	r := call(t, "run", "--preset", "decode", "--json", "--files-from", "list", "-o", "out")
	require.Equal(t, command.ExitOK, r.status, r.stderr)
	lines := strings.Split(strings.TrimSpace(r.stdout), "\n")
	require.Len(t, lines, 3)
	var last struct{ Store command.StoreStats }
	require.NoError(t, json.Unmarshal([]byte(lines[2]), &last))
	require.EqualValues(t, 3, last.Store.Requests)
	require.EqualValues(t, 1, last.Store.Retries)
	require.EqualValues(t, len(readText(t, "a.png"))+len(readText(t, "b.png")), last.Store.Received)

	require.Equal(t, command.ExitOK, callIn(t, at+"/a.png\n{\"path\":\""+at+"/b.png\",\"id\":1}\n", "run", "--preset", "decode", "--lines", "-o", "lines").status)
	require.Len(t, listFiles(t, "lines"), 2)
	require.Contains(t, call(t, "graph", "infer", "--preset", "decode", at+"/a.png").stdout, "uint8 HWC (4, 6, 3)")
}

// TestHTTPSecrets tests that no command prints what grants access.
func TestHTTPSecrets(t *testing.T) {
	dir := photos(t)
	t.Chdir(dir)
	require.Equal(t, command.ExitOK, call(t, "pack", "recordio", "-q", "--pass-through", "packed", "odd").status)
	require.Equal(t, command.ExitOK, call(t, "bundle", "create", "--preset", "decode", "--golden", "a.png", "-o", "cat.bundle").status)
	require.Equal(t, command.ExitOK, call(t, "graph", "import", "--preset", "decode", "-o", "graph.json").status)
	require.Equal(t, command.ExitOK, call(t, "run", "-q", "--preset", "decode", "-o", ".", "a.png").status)
	files := http.FileServer(http.Dir(dir))
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Query().Get("sig") != secret {
			w.WriteHeader(http.StatusForbidden)
			return
		}
		files.ServeHTTP(w, r)
	}))
	defer server.Close()
	at := func(name string) string { return server.URL + "/" + name + "?sig=" + secret }
	for _, c := range [][]string{
		{"graph", "infer", "--preset", "decode", "--json", at("a.png")},
		{"graph", "show", "--preset", "decode", at("a.png")},
		{"graph", "show", "--preset", "decode", "--svg", "-", at("a.png")},
		{"graph", "plan", "--graph", at("graph.json"), "--json", at("a.png")},
		{"records", "ls", "--json", at("packed.rec")},
		{"records", "cat", at("packed.rec")},
		{"records", "verify", at("packed.rec")},
		{"records", "convert", at("packed.rec"), "-o", "x.tar"},
		{"diff", "--json", at("a.png.npy"), at("a.png.npy")},
		{"diff", "--preset", "decode", at("a.png"), "--against", at("a.png.npy")},
		{"bundle", "verify", "--json", at("cat.bundle")},
		{"bundle", "ls", "--json", at("cat.bundle")},
		{"bundle", "create", "--graph", at("graph.json"), "--model", at("a.png"), "--golden", at("a.png"), "-o", "new.bundle"},
		{"bundle", "cat", "new.bundle", "manifest"},
		{"run", "--bundle", at("cat.bundle"), "--json", "-o", "out", at("a.png")},
	} {
		r := call(t, c...)
		require.Equal(t, command.ExitOK, r.status, "%s: %s", c, r.stderr)
		require.NotContains(t, r.stdout+r.stderr, secret, c)
		for i := range c { // and the errors
			c[i] = strings.ReplaceAll(c[i], "/a.png?", "/none.png?")
			c[i] = strings.ReplaceAll(c[i], "/packed.rec?", "/none.rec?")
			c[i] = strings.ReplaceAll(c[i], "/cat.bundle?", "/none.bundle?")
		}
		r = call(t, c...)
		require.NotContains(t, r.stdout+r.stderr, secret, c)
	}
	require.NotContains(t, readText(t, "new.bundle"), secret)
	lines := callIn(t, at("none.png")+"\n", "run", "--preset", "decode", "--lines", "-o", "out")
	require.Equal(t, 1, strings.Count(lines.stdout, secret), "the input as the program gave it, and no error")
}

// TestVerifyQuery tests that files beside a URL with a query are compared if
// the query is valid for them, and that the result says so if it is not.
func TestVerifyQuery(t *testing.T) {
	dir := photos(t)
	t.Chdir(dir)
	require.Equal(t, command.ExitOK, call(t, "pack", "recordio", "-q", "--pass-through", "a", "odd").status)
	require.Equal(t, command.ExitOK, call(t, "pack", "shards", "-q", "-o", ".", "--name", "a-%05d.tar", "odd").status)
	require.Equal(t, command.ExitOK, call(t, "records", "index", "--force", "a-00000.tar").status)
	files := http.FileServer(http.Dir(dir))
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		q := r.URL.Query()
		if q.Get("token") == secret || q.Get("sig") == secret+r.URL.Path {
			files.ServeHTTP(w, r)
			return
		}
		w.WriteHeader(http.StatusForbidden)
	}))
	defer server.Close()
	for name, index := range map[string]string{"/a.rec": "/a.idx", "/a-00000.tar": "/a-00000.tar.index"} {
		r := call(t, "records", "verify", server.URL+name+"?token="+secret)
		require.Equal(t, command.ExitOK, r.status, r.stderr)
		require.Contains(t, r.stdout, ", compared with "+server.URL+index)
		require.NotContains(t, r.stdout, secret)
		r = call(t, "records", "verify", server.URL+name+"?sig="+secret+name)
		require.Equal(t, command.ExitOK, r.status, r.stderr)
		require.Contains(t, r.stdout, " (no index or checksums were compared: the query gives no access to files beside this one): ok\n")
		require.NotContains(t, r.stdout, secret)

		b, err := os.ReadFile(filepath.Join(dir, index))
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(filepath.Join(dir, index), append(b, "99\t1000000\n"...), 0o666))
		r = call(t, "records", "verify", server.URL+name+"?token="+secret)
		require.Equal(t, command.ExitFailed, r.status, r.stdout)
		require.NotContains(t, r.stdout+r.stderr, secret)
		// Without the file there is nothing to compare with.
		require.NoError(t, os.Remove(filepath.Join(dir, index)))
		r = call(t, "records", "verify", server.URL+name+"?token="+secret)
		require.Equal(t, command.ExitOK, r.status, r.stderr)
		require.NotContains(t, r.stdout, "compared")
	}
}

// TestHTTPLatency tests that images wait for a slow server together.
func TestHTTPLatency(t *testing.T) {
	const images = 200
	dir := t.TempDir()
	var list bytes.Buffer
	b := pngBytes(t, 20, 20, 1)
	b = append(b, make([]byte, 50_000-len(b))...) // a decoder does not read on
	var gets atomic.Int64
	together := newGate(bench.RemoteReads / 2)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		gets.Add(1)
		together.wait(r.Context())
		http.ServeContent(w, r, r.URL.Path, time.Time{}, bytes.NewReader(b))
	}))
	defer server.Close()
	for i := range images {
		fmt.Fprintf(&list, "%s/%d.png\n", server.URL, i)
	}
	file := filepath.Join(dir, "list")
	require.NoError(t, os.WriteFile(file, list.Bytes(), 0o666))
	r := call(t, "run", "--preset", "decode", "--jobs", "2", "--files-from", file, "-o", filepath.Join(dir, "out"))
	require.Equal(t, command.ExitOK, r.status, r.stderr)
	require.EqualValues(t, images, gets.Load(), "an image is one request")
	require.True(t, together.opened(), "%d requests at once", together.most)
}

// gate lets nobody pass before most callers wait at once. A slow machine
// changes nothing about how many wait.
type gate struct {
	most    int64
	waiting atomic.Int64
	once    sync.Once
	open    chan struct{}
}

func newGate(most int64) *gate { return &gate{most: most, open: make(chan struct{})} }

// wait gives up after a minute, or when ctx ends.
func (g *gate) wait(ctx context.Context) {
	if g.waiting.Add(1) >= g.most {
		g.once.Do(func() { close(g.open) })
	}
	defer g.waiting.Add(-1)
	select {
	case <-g.open:
	case <-ctx.Done():
	case <-time.After(time.Minute):
	}
}

func (g *gate) opened() bool {
	select {
	case <-g.open:
		return true
	default:
		return false
	}
}

// TestHTTPInterrupted tests that commands do not wait for a server that does
// not answer once they are interrupted.
func TestHTTPInterrupted(t *testing.T) {
	t.Chdir(tree(t, map[string][]byte{"a.png": pngBytes(t, 4, 4, 1)}))
	stop := make(chan struct{})
	asked := make(chan struct{}, 100)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked <- struct{}{}
		select {
		case <-stop:
		case <-r.Context().Done():
		}
	}))
	defer server.Close()
	defer close(stop)
	at := server.URL + "/file?sig=" + secret
	for _, c := range []struct {
		want string
		args []string
	}{
		{"interrupted: 0 of 1 file done", []string{"run", "--preset", "decode", "-o", "out", server.URL + "/a.png?sig=" + secret}},
		{"interrupted: nothing was done", []string{"run", "--preset", "decode", "-o", "out", at}},
		{"interrupted", []string{"run", "--graph", at, "-o", "out", "a.png"}},
		{"interrupted", []string{"run", "--bundle", at, "-o", "out", "a.png"}},
		{"interrupted", []string{"run", "--preset", "decode", "--files-from", at, "-o", "out"}},
		{"interrupted", []string{"graph", "infer", "--preset", "decode", at}},
		{"interrupted", []string{"records", "ls", at}},
		{"the output is incomplete", []string{"records", "ls", "--from", "recordio", at}},
		{"interrupted", []string{"records", "verify", at}},
		{"interrupted", []string{"records", "convert", at, "-o", "x.tar"}},
		{"interrupted", []string{"diff", at, "a.npy"}},
		{"interrupted", []string{"bundle", "ls", at}},
		{"interrupted", []string{"pack", "recordio", "--pass-through", "x", at}},
		{"interrupted: nothing was done", []string{"pack", "shards", "-o", "x", at}},
		{"interrupted", []string{"train-bench", at}},
		{"interrupted: nothing was measured", []string{"bench", "--preset", "decode", at}},
	} {
		t.Run(strings.Join(c.args[:2], " "), func(t *testing.T) {
			ctx, cancel := context.WithCancelCause(t.Context())
			go func() {
				<-asked
				cancel(stopped(2))
			}()
			var out, errs bytes.Buffer
			start := time.Now()
			status := Run(ctx, c.args, strings.NewReader(""), &out, &errs)
			require.Equal(t, 130, status, errs.String())
			require.Less(t, time.Since(start), time.Minute)
			require.Contains(t, errs.String(), c.want+"\n")
			require.NotContains(t, errs.String(), secret)
			require.NotContains(t, errs.String(), "stopped")
			require.NotContains(t, errs.String(), "usage")
		})
	}
}

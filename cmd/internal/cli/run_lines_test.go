package cli

import (
	"bufio"
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/cmd/internal/cli/command"
	"github.com/infer-prep/infer-prep/cmd/internal/cli/run"
	"github.com/infer-prep/infer-prep/internal/paths"
	"github.com/infer-prep/infer-prep/internal/pipe"
	"github.com/infer-prep/infer-prep/job"
	"github.com/infer-prep/infer-prep/tensor"
)

// testAnswer is an answer as a client reads it.
type testAnswer struct {
	Line    int
	ID      any
	Input   string
	Outputs []struct {
		Name, File string
		DType      tensor.DType
		Shape      tensor.Shape
		Data       []byte
	}
	Error *run.AnswerError
}

func answersOf(t *testing.T, stdout string) []testAnswer {
	t.Helper()
	var l []testAnswer
	for i, line := range strings.Split(strings.TrimSuffix(stdout, "\n"), "\n") {
		var x testAnswer
		require.NoError(t, json.Unmarshal([]byte(line), &x), line)
		require.Equal(t, i+1, x.Line)
		l = append(l, x)
	}
	return l
}

func base64Line(id string, b []byte) string {
	return fmt.Sprintf(`{"id": %s, "image": "%s"}`, id, base64.StdEncoding.EncodeToString(b))
}

// TestLines: the answers, and the files with -o, have the tensors of run over
// the files.
func TestLines(t *testing.T) {
	a, b := pngBytes(t, 300, 250, 1), pngBytes(t, 40, 90, 2)
	t.Chdir(tree(t, map[string][]byte{"in/a.png": a, "in/sub/b.png": b}))
	abs := filepath.Join(paths.Abs("in"), "a.png")
	lines := strings.Join([]string{
		"in/a.png", `{"path": "in/sub/b.png", "id": "b", "more": [1]}`, base64Line(`"x/y"`, b) + "\r", base64Line("-17.5", a), `{"path":"./in/../in/a.png"}`, abs,
	}, "\n") // without an end of the last line
	of := []string{"a.png", "sub/b.png", "sub/b.png", "a.png", "a.png", "a.png"}
	for _, flags := range [][]string{{"--preset", "imagenet"}, {"--preset", "yolo", "--outputs", "all"}, {"--preset", "imagenet", "--batch", "--dtype", "float16"}} {
		args := append([]string{"run", "--jobs", "3"}, flags...)
		require.Equal(t, command.ExitOK, call(t, append(args, "-o", "ref", "in")...).status)
		ref := fileTree(t, "ref")
		for _, out := range [][]string{nil, {"-o", "-"}} {
			r := callIn(t, lines, append(append(args, "--lines"), out...)...)
			require.Equal(t, called{command.ExitOK, r.stdout, ""}, r)
			l := answersOf(t, r.stdout)
			require.Len(t, l, len(of))
			for i, x := range l {
				require.Nil(t, x.Error)
				for _, o := range x.Outputs {
					name := of[i] + ".npy"
					if len(x.Outputs) > 1 {
						name = of[i] + "." + o.Name + ".npy"
					}
					want, err := tensor.ReadNPY(strings.NewReader(ref[name]), 1<<30)
					require.NoError(t, err)
					require.Equal(t, want.DType, o.DType)
					require.Equal(t, want.Shape, o.Shape)
					var raw bytes.Buffer
					require.NoError(t, tensor.WriteRaw(&raw, want))
					require.Equal(t, raw.Bytes(), o.Data)
				}
			}
			require.Equal(t, []any{nil, "b", "x/y", -17.5, nil, nil}, []any{l[0].ID, l[1].ID, l[2].ID, l[3].ID, l[4].ID, l[5].ID})
			require.Equal(t, []string{"in/a.png", "", "", "", "./in/../in/a.png", abs}, []string{l[0].Input, l[1].Input, l[2].Input, l[3].Input, l[4].Input, l[5].Input})
		}

		out := t.TempDir()
		r := callIn(t, lines, append(args, "--lines", "-o", out, "--format", "npz")...)
		require.Equal(t, called{command.ExitOK, r.stdout, ""}, r)
		require.Equal(t, command.ExitOK, call(t, append(args, "-o", "npz", "--format", "npz", "in")...).status)
		ref = fileTree(t, "npz")
		got := fileTree(t, out)
		names := []string{"in/a.png", "in/sub/b.png", "x%2Fy", "-17.5", "in/a.png", strings.TrimPrefix(filepath.ToSlash(abs), "/")}
		require.Len(t, got, len(names)-1)
		for i, x := range answersOf(t, r.stdout) {
			require.Equal(t, filepath.Join(out, filepath.FromSlash(names[i])+".npz"), x.Outputs[0].File)
			require.Nil(t, x.Outputs[0].Data)
			require.Equal(t, ref[of[i]+".npz"], got[names[i]+".npz"])
		}
	}
}

// TestLinesErrors: a line that fails is an answer, and the next one is done.
func TestLinesErrors(t *testing.T) {
	img := pngBytes(t, 5, 4, 1)
	large := pngBytes(t, 1000, 1000, 1)
	long := bytes.Repeat([]byte("x"), run.MaxLine+1)
	t.Chdir(tree(t, map[string][]byte{"a.png": img, "cut.png": img[:40], "text": []byte("text"), "large.png": large, "heic": []byte("\x00\x00\x00\x18ftypheic\x00\x00\x00\x00mif1heic"), "blocked/a.png.npy/": nil}))
	var in []string
	var kinds []string
	for _, c := range [][2]string{
		{"a.png", ""}, {"", "line"}, {"-", "line"}, {"{", "line"}, {"{}", "line"}, {`{"path":"a.png","image":""}`, "line"}, {`{"path":"a.png"} x`, "line"},
		{`{"path":7}`, "line"}, {`{"path":"a.png","id":{}}`, "line"}, {`{"path":"a.png","id":null}`, "line"}, {`{"path":""}`, "line"}, {`{"image":"%"}`, "line"},
		{string(long), "line"}, {string(long[:run.MaxLine]), "line"}, {strings.Repeat("x", run.MaxPath), "read"}, {"nope", "missing"}, {"blocked", "read"}, {"text", "image"}, {"cut.png", "image"}, {`{"image":""}`, "image"},
		{"large.png", "limit"}, {base64Line("1", append(img, make([]byte, 3_000_000)...)), "limit"}, {"heic", "unsupported"}, {base64Line(`"blocked/a"`, img), ""}, {"a.png", ""},
	} {
		in = append(in, c[0])
		kinds = append(kinds, c[1])
	}
	args := []string{"run", "--preset", "decode", "--limit-pixels", "500000", "--limit-bytes", "2000000", "--lines"}
	r := callIn(t, strings.Join(in, "\n"), args...)
	require.Equal(t, command.ExitOK, r.status, r.stderr)
	require.Empty(t, r.stderr)
	for i, x := range answersOf(t, r.stdout) {
		name := in[i][:min(len(in[i]), 80)]
		if kinds[i] == "" {
			require.Nil(t, x.Error, name)
			require.Len(t, x.Outputs, 1)
			continue
		}
		require.NotNil(t, x.Error, name)
		require.EqualValues(t, kinds[i], x.Error.Kind, "%s: %s", name, x.Error.Message)
		require.Empty(t, x.Outputs)
	}

	require.NoError(t, os.MkdirAll("out/a.png.npy", 0o777))
	l := answersOf(t, callIn(t, "a.png\n", append(args, "-o", "out")...).stdout)
	require.Equal(t, job.KindWrite, l[0].Error.Kind, l[0].Error.Message)

	for _, c := range []struct {
		args []string
		text string
	}{
		{[]string{"a.png"}, "--lines reads the images' paths from standard input: want no arguments"},
		{[]string{"--json"}, "--json does not apply to --lines"},
		{[]string{"--format", "npz"}, "--format applies to files: want -o DIR"},
		{[]string{"--format", "onnx-test", "-o", "out"}, "--format onnx-test does not apply to --lines"},
		{[]string{"--format", "webdataset", "-o", "out"}, "--format webdataset does not apply to --lines"},
		{[]string{"--batch-size", "3", "-o", "out"}, "--batch-size does not apply to --lines"},
		{[]string{"--triton", "-"}, "both read standard input"},
	} {
		r := callIn(t, "", append(args, c.args...)...)
		require.Equal(t, command.ExitUsage, r.status)
		require.Contains(t, r.stderr, c.text)
	}
}

// TestLinesAtOnce: an answer does not wait for further lines, or for the end of
// the input. The worker reads no lines beyond a bounded number that wait for
// the client.
func TestLinesAtOnce(t *testing.T) {
	img := base64Line("1", pngBytes(t, 5, 4, 1)) + "\n"
	stdin, w := io.Pipe()
	r, stdout := io.Pipe()
	ended := make(chan int, 1)
	const jobs = 2
	go func() {
		ended <- Run(t.Context(), []string{"run", "--preset", "decode", "--lines", "--jobs", fmt.Sprint(jobs)}, stdin, stdout, io.Discard)
		_ = stdout.Close()
	}()
	answers := bufio.NewScanner(r)
	for range 20 {
		_, err := io.WriteString(w, img)
		require.NoError(t, err)
		require.True(t, answers.Scan())
	}
	var sent atomic.Int64
	go func() {
		for range 2000 {
			if _, err := io.WriteString(w, img); err != nil {
				break
			}
			sent.Add(1)
		}
		_ = w.Close()
	}()
	last := int64(-1)
	for last != sent.Load() {
		last = sent.Load()
		time.Sleep(200 * time.Millisecond)
	}
	require.Less(t, int(last), 16*jobs+jobs+3*pipe.Buffer/len(img)+10)
	n := 0
	for answers.Scan() {
		n++
	}
	require.Equal(t, 2000, n)
	require.Equal(t, command.ExitOK, <-ended)
}

// TestLinesInterrupted: the lines that were begun are answered.
func TestLinesInterrupted(t *testing.T) {
	line := base64Line("1", pngBytes(t, 5, 4, 1)) + "\n"
	for range 10 {
		stdin, w := io.Pipe()
		ctx, cancel := context.WithCancel(t.Context())
		var begun atomic.Int64
		var out, errs bytes.Buffer
		a := &command.App{Stdin: stdin, Stdout: &out, Stderr: &errs, OnItem: func() {
			if begun.Add(1) == 5 {
				cancel()
			}
			time.Sleep(20 * time.Millisecond)
		}}
		var sending sync.WaitGroup
		sending.Go(func() {
			for {
				if _, err := io.WriteString(w, line); err != nil {
					return
				}
			}
		})
		require.Equal(t, command.ExitInterrupted, execute(ctx, a, []string{"run", "--preset", "decode", "--lines", "--jobs", "2"}))
		require.Contains(t, errs.String(), "interrupted: the lines that were begun are answered")
		l := answersOf(t, out.String())
		require.Len(t, l, int(begun.Load()))
		for _, x := range l {
			require.Nil(t, x.Error)
		}
		_ = w.Close()
		_ = stdin.Close()
		sending.Wait()
		cancel()
	}
}

// lineSource makes lines until it has made n. It calls at with their number so
// far.
type lineSource struct {
	line    []byte
	n, made int
	rest    []byte
	at      func(made int)
}

func (s *lineSource) Read(b []byte) (int, error) {
	if len(s.rest) == 0 {
		if s.at(s.made); s.made == s.n {
			return 0, io.EOF
		}
		s.rest = s.line
		s.made++
	}
	n := copy(b, s.rest)
	s.rest = s.rest[n:]
	return n, nil
}

// TestLinesMemory: memory does not grow with the number of lines.
func TestLinesMemory(t *testing.T) {
	const lines = 3000
	img := pngBytes(t, 64, 48, 1)
	dir := tree(t, map[string][]byte{"a.png": img})
	for name, line := range map[string]string{"image": base64Line("1", img), "path": filepath.Join(dir, "a.png"), "error": "{", "missing": "nope"} {
		t.Run(name, func(t *testing.T) {
			var early, late uint64
			in := &lineSource{line: []byte(line + "\n"), n: lines, at: func(made int) {
				if made == lines/5 || made == lines {
					runtime.GC()
					var m runtime.MemStats
					runtime.ReadMemStats(&m)
					if late = m.HeapAlloc; made < lines {
						early = late
					}
				}
			}}
			answers := &countLines{}
			require.Equal(t, command.ExitOK, Run(t.Context(), []string{"run", "--preset", "decode", "--lines", "--jobs", "2", "--limit-bytes", "100000"}, in, answers, io.Discard))
			require.Equal(t, lines, answers.n)
			const room = 4 << 20 // of images on their way
			require.Less(t, late, early+room, "%d bytes after %d lines, %d after %d", early, lines/5, late, lines)
		})
	}
}

type countLines struct{ n int }

func (c *countLines) Write(b []byte) (int, error) {
	c.n += bytes.Count(b, []byte("\n"))
	return len(b), nil
}

//go:build unix

package cli

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/cmd/internal/cli/command"
	"github.com/infer-prep/infer-prep/tensor"
)

// serving is a server that runs in this process.
type serving struct {
	url  string
	stop func() called // as a signal does
}

// startServe starts serve on a free port.
func startServe(t *testing.T, args ...string) serving {
	t.Helper()
	r, w := io.Pipe()
	var printed bytes.Buffer
	ctx, cancel := context.WithCancel(t.Context())
	status := make(chan int, 1)
	go func() {
		status <- Run(ctx, append([]string{"serve", "--listen", "127.0.0.1:0"}, args...), strings.NewReader(""), io.Discard, w)
		w.Close()
	}()
	lines := bufio.NewReader(io.TeeReader(r, &printed))
	url := ""
	for url == "" { // an importer may say before what it took
		line, err := lines.ReadString('\n')
		require.NoError(t, err, printed.String())
		if l, ok := strings.CutPrefix(strings.TrimSpace(line), "serving model "); ok {
			_, url, _ = strings.Cut(l, " on ")
		}
	}
	rest := make(chan struct{})
	go func() { _, _ = io.Copy(io.Discard, lines); close(rest) }()
	stop := sync.OnceValue(func() called {
		cancel()
		<-rest
		return called{<-status, "", printed.String()}
	})
	t.Cleanup(func() { stop() })
	return serving{url, stop}
}

// infer sends an image and returns the output's raw elements and shape.
func infer(t *testing.T, url, model string, images ...[]byte) (raw []byte, shape []int) {
	t.Helper()
	var tail []byte
	for _, b := range images {
		tail = append(binary.LittleEndian.AppendUint32(tail, uint32(len(b))), b...)
	}
	head := fmt.Sprintf(`{"inputs":[{"name":"image","shape":[%d],"datatype":"BYTES","parameters":{"binary_data_size":%d}}],"parameters":{"binary_data_output":true}}`, len(images), len(tail))
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url+"/v2/models/"+model+"/infer", bytes.NewReader(append([]byte(head), tail...)))
	require.NoError(t, err)
	r.Header.Set("Inference-Header-Content-Length", strconv.Itoa(len(head)))
	resp, err := http.DefaultClient.Do(r)
	require.NoError(t, err)
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	require.Equal(t, 200, resp.StatusCode, "%s", b)
	n, err := strconv.Atoi(resp.Header.Get("Inference-Header-Content-Length"))
	require.NoError(t, err)
	var j struct{ Outputs []struct{ Shape []int } }
	require.NoError(t, json.Unmarshal(b[:n], &j))
	return b[n:], j.Outputs[0].Shape
}

// rawOf returns a tensor's elements.
func rawOf(t *testing.T, x *tensor.Tensor) []byte {
	var b bytes.Buffer
	require.NoError(t, tensor.WriteRaw(&b, x))
	return b.Bytes()
}

// TestServe: the server's tensors are those of run, with the same flags.
func TestServe(t *testing.T) {
	dir := tree(t, map[string][]byte{"a.png": pngBytes(t, 300, 200, 1), "b.png": pngBytes(t, 40, 90, 2)})
	a, b := filepath.Join(dir, "a.png"), filepath.Join(dir, "b.png")
	for _, flags := range [][]string{{"--preset", "imagenet"}, {"--preset", "clip", "--dtype", "float16", "--layout", "HWC", "--model-name", "x", "--outputs", "all"}} {
		out := t.TempDir()
		run := flags
		model := "imagenet"
		if len(flags) > 2 {
			run, model = flags[:6], "x"
		}
		succeed(t, append([]string{"run", "-q", "-o", out, a, b}, run...)...)
		s := startServe(t, flags...)
		x, y := readNPY(t, filepath.Join(out, "a.png.npy")), readNPY(t, filepath.Join(out, "b.png.npy"))
		raw, shape := infer(t, s.url, model, pngBytes(t, 300, 200, 1), pngBytes(t, 40, 90, 2))
		require.Equal(t, append([]int{2}, x.Shape.Slice()...), shape)
		require.True(t, bytes.Equal(append(rawOf(t, x), rawOf(t, y)...), raw))
		r := s.stop()
		require.Equal(t, command.ExitOK, r.status)
		require.Equal(t, fmt.Sprintf("serving model %s on %s\nstopped: 1 request answered\n", model, s.url), r.stderr)
	}
}

func TestServeNames(t *testing.T) {
	dir := tree(t, map[string][]byte{"a.png": pngBytes(t, 30, 20, 1), "vit/preprocessor_config.json": []byte(`{"image_processor_type": "ViTImageProcessor"}`)})
	t.Chdir(dir)
	succeed(t, "bundle", "create", "--preset", "imagenet", "--golden", "a.png", "--meta", "name=cats", "--meta", "version=7", "-o", "x.bundle")
	succeed(t, "bundle", "create", "--preset", "imagenet", "--golden", "a.png", "-o", "y.bundle")
	succeed(t, "graph", "import", "--preset", "clip", "-o", "z.json")
	for _, c := range []struct{ args, path string }{
		{"--bundle x.bundle", "cats/versions/7"},
		{"--bundle x.bundle --model-name dogs --model-version 8", "dogs/versions/8"},
		{"--bundle y.bundle", "y/versions/1"},
		{"--graph z.json", "z/versions/1"},
		{"--preset yolo", "yolo/versions/1"},
		{"--hf vit", "vit/versions/1"},
	} {
		s := startServe(t, strings.Fields(c.args)...)
		resp, err := http.Get(s.url + "/v2/models/" + c.path + "/ready")
		require.NoError(t, err)
		resp.Body.Close()
		require.Equal(t, 200, resp.StatusCode, c.args)
		s.stop()
	}
}

func TestServeErrors(t *testing.T) {
	t.Chdir(tree(t, map[string][]byte{"a.png": pngBytes(t, 30, 20, 1)}))
	taken := startServe(t, "--preset", "imagenet")
	for _, c := range []struct {
		args   string
		status int
		stderr string
	}{
		{"", command.ExitUsage, "no graph: want --prep, --preset"},
		{"--preset imagenet --listen 8000", command.ExitUsage, `--listen "8000": want HOST:PORT`},
		{"--preset imagenet --listen " + strings.TrimPrefix(taken.url, "http://"), command.ExitFailed, "address already in use"},
		{"--preset imagenet --jobs 0", command.ExitUsage, "--jobs 0: want at least 1"},
		{"--preset imagenet --queue -1", command.ExitUsage, "--queue -1: want at least 0"},
		{"--preset imagenet --timeout 0s", command.ExitUsage, "--timeout 0s: want more than 0"},
		{"--preset imagenet --drain -1s", command.ExitUsage, "--drain -1s: want at least 0"},
		{"--preset imagenet --limit-body 0", command.ExitUsage, "--limit-body 0: want at least 1"},
		{"--preset imagenet --limit-held 0", command.ExitUsage, "--limit-held 0: want at least 1"},
		{"--preset imagenet --limit-connections 0", command.ExitUsage, "--limit-connections 0: want at least 1"},
		{"--preset imagenet --limit-images 0", command.ExitUsage, "--limit-images 0: want 1 to 65536"},
		{"--preset imagenet --outputs some", command.ExitUsage, `--outputs "some": want main or all`},
		{"--preset imagenet --model-name a/b", command.ExitUsage, `"a/b" cannot be a part of a URL: want --model-name`},
		{"--preset imagenet --model-version ..", command.ExitUsage, "want --model-version"},
		{"--preset imagenet --infer", command.ExitUsage, "--infer: no model"},
		{"--preset imagenet --model a.png", command.ExitFailed, "use ort:cpu for the model"},
		{"--preset imagenet --device x", command.ExitUsage, "--device x: "},
		{"--preset imagenet a.png", command.ExitUsage, `serve: unexpected argument "a.png"`},
	} {
		r := call(t, append([]string{"serve"}, strings.Fields(c.args)...)...)
		require.Equal(t, c.status, r.status, "%s: %s", c.args, r.stderr)
		require.Contains(t, r.stderr, c.stderr, c.args)
	}
}

// TestServeEverywhere: another address than loopback is a warning.
func TestServeEverywhere(t *testing.T) {
	var stderr bytes.Buffer
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	require.Equal(t, command.ExitOK, Run(ctx, []string{"serve", "--preset", "imagenet", "-q", "--listen", ":0"}, strings.NewReader(""), io.Discard, &stderr))
	require.Regexp(t, `^infer-prep: serve: warning: \[::\]:\d+ is open to other machines, without encryption or authentication\n$`, stderr.String())
}

// buildProgram builds the program and returns its path.
func buildProgram(t *testing.T) string {
	t.Helper()
	bin := filepath.Join(t.TempDir(), "infer-prep")
	build := exec.Command("go", "build", "-ldflags=-w", "-o", bin, "github.com/infer-prep/infer-prep/cmd/infer-prep")
	if b, err := build.CombinedOutput(); err != nil {
		require.NoError(t, err, "%s", b)
	}
	return bin
}

// serveProcess starts a server in a process of its own. It returns what the
// server prints after its address.
func serveProcess(t *testing.T, bin string, args ...string) (cmd *exec.Cmd, url string, lines *bufio.Reader) {
	t.Helper()
	cmd = exec.Command(bin, append([]string{"serve", "--preset", "imagenet", "--listen", "127.0.0.1:0"}, args...)...)
	pipe, err := cmd.StderrPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	t.Cleanup(func() { _ = cmd.Process.Kill() })
	lines = bufio.NewReader(pipe)
	line, err := lines.ReadString('\n')
	require.NoError(t, err)
	_, url, _ = strings.Cut(strings.TrimSpace(line), " on ")
	return cmd, url, lines
}

// memory returns a figure of /proc/PID/status in bytes.
func memory(t *testing.T, pid int, name string) int64 {
	t.Helper()
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		t.Skip("this system has no /proc")
	}
	_, after, ok := strings.Cut(string(b), name+":")
	require.True(t, ok)
	kib, err := strconv.ParseInt(strings.Fields(after)[0], 10, 64)
	require.NoError(t, err)
	return kib << 10
}

// TestServeHeld: 500 bodies that never arrive, and three requests that are all
// id, number or key, take no more memory than --limit-held. A SIGTERM then ends
// the server soon, with status 0.
func TestServeHeld(t *testing.T) {
	const limit = 512 << 20
	cmd, url, lines := serveProcess(t, buildProgram(t), "--limit-held", strconv.Itoa(limit), "--queue", "600", "--timeout", "1h")
	before := memory(t, cmd.Process.Pid, "VmRSS")
	address := strings.TrimPrefix(url, "http://")
	var wg sync.WaitGroup
	open := func(size int) net.Conn {
		conn, err := net.Dial("tcp", address)
		require.NoError(t, err)
		t.Cleanup(func() { conn.Close() })
		_, err = fmt.Fprintf(conn, "POST /v2/models/imagenet/infer HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n", size)
		require.NoError(t, err)
		return conn
	}
	for range 500 {
		open(60 << 20)
	}
	require.Eventually(t, func() bool {
		resp, err := http.Get(url + "/metrics")
		require.NoError(t, err)
		defer resp.Body.Close()
		b, err := io.ReadAll(resp.Body)
		require.NoError(t, err)
		return strings.Contains(string(b), "infer_prep_requests_in_flight 500\n")
	}, time.Minute, 10*time.Millisecond)
	const size = 30 << 20
	for _, body := range []string{
		`{"id":"` + strings.Repeat("<", size) + `"}`,
		`{"parameters":{"timeout":` + strings.Repeat("1", size) + `}}`,
		`{"` + strings.Repeat("\xff", size) + `":1}`,
	} {
		wg.Go(func() {
			conn := open(len(body))
			_, err := io.WriteString(conn, body)
			if err != nil {
				t.Error(err)
				return
			}
			resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
			if err != nil {
				t.Error(err)
				return
			}
			defer resp.Body.Close()
			b, err := io.ReadAll(resp.Body)
			if err != nil || resp.StatusCode != 400 || len(b) > 1100 {
				t.Errorf("status %d, %d bytes, %v", resp.StatusCode, len(b), err)
			}
		})
	}
	wg.Wait()
	most := memory(t, cmd.Process.Pid, "VmHWM")
	t.Logf("%d MiB at most, %d MiB before", most>>20, before>>20)
	require.Less(t, most-before, int64(limit))
	signalled := time.Now()
	require.NoError(t, cmd.Process.Signal(syscall.SIGTERM))
	rest, err := io.ReadAll(lines)
	require.NoError(t, err)
	require.NoError(t, cmd.Wait(), "the exit status is 0")
	t.Logf("the server ended after %v", time.Since(signalled))
	require.Less(t, time.Since(signalled), 15*time.Second) // 3 s on an idle machine
	require.Equal(t, "stopped: 503 requests answered\n", string(rest))
}

// TestServeSignal: a SIGTERM under load loses no accepted request, and the exit
// status is 0.
func TestServeSignal(t *testing.T) {
	bin := buildProgram(t)
	body := pngBytes(t, 400, 300, 1)
	for _, sig := range []os.Signal{syscall.SIGTERM, os.Interrupt} {
		cmd, url, lines := serveProcess(t, bin)
		var good atomic.Int64
		var ending atomic.Bool
		var wg sync.WaitGroup
		for range 8 {
			wg.Go(func() {
				for {
					r, err := http.NewRequest(http.MethodPost, url+"/v2/models/imagenet/infer", bytes.NewReader(body))
					if err != nil {
						t.Error(err)
						return
					}
					r.Header.Set("Inference-Header-Content-Length", "0")
					resp, err := http.DefaultClient.Do(r)
					if err != nil {
						if !ending.Load() {
							t.Error(err)
						}
						return
					}
					_, err = io.Copy(io.Discard, resp.Body)
					resp.Body.Close()
					if err != nil || resp.StatusCode != 200 {
						t.Errorf("status %d: %v", resp.StatusCode, err)
						return
					}
					good.Add(1)
				}
			})
		}
		require.Eventually(t, func() bool { return good.Load() > 20 }, time.Minute, time.Millisecond)
		ending.Store(true)
		require.NoError(t, cmd.Process.Signal(sig))
		rest, err := io.ReadAll(lines)
		require.NoError(t, err)
		require.NoError(t, cmd.Wait(), "the exit status is 0")
		wg.Wait()
		require.Equal(t, fmt.Sprintf("stopped: %d requests answered\n", good.Load()), string(rest))
	}
}

// TestDeviceServe: with a model, the server has the model's outputs, those of
// run --infer.
func TestDeviceServe(t *testing.T) {
	needORT(t)
	want := inClassifier(t)
	b, out := classifierBundle(t), t.TempDir()
	succeed(t, "run", "--bundle", b, "--device", "ort:cpu", "--infer", "-q", "-o", out, "images")
	s := startServe(t, "--bundle", b, "--device", "ort:cpu", "--infer", "--jobs", "2")
	var images [][]byte
	var all []byte
	for name := range want {
		image, err := os.ReadFile(filepath.Join("images", name))
		require.NoError(t, err)
		images = append(images, image)
		all = append(all, rawOf(t, readNPY(t, filepath.Join(out, name+".npy")))...)
	}
	raw, shape := infer(t, s.url, "classifier", images...)
	require.Equal(t, []int{len(images), len(raw) / 4 / len(images)}, shape)
	require.True(t, bytes.Equal(all, raw))
	require.Equal(t, command.ExitOK, s.stop().status)
	s = startServe(t, "--bundle", b, "--device", "ort:cpu") // without the model
	_, shape = infer(t, s.url, "classifier", images[0])
	require.Len(t, shape, 4)
	require.Equal(t, command.ExitOK, s.stop().status)
}

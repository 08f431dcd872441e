package main

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/codec"
	"github.com/infer-prep/infer-prep/tensor"
)

const (
	model  = "../vlm/model"
	photos = "../../testdata/images"
)

// chat is a conversation and what transformers makes of it.
type chat struct {
	Name     string
	Messages []map[string]any
	Text     string
	Shape    []int
	SHA256   string
	Grid     [][]int
	Colors   []string
}

// chats returns the goldens, with images in place of their names.
func chats(t *testing.T) []chat {
	b, err := os.ReadFile("testdata/expected.json")
	require.NoError(t, err)
	var list []chat
	require.NoError(t, json.Unmarshal(b, &list))
	for _, c := range list {
		for _, m := range c.Messages {
			parts, _ := m["content"].([]any)
			for _, p := range parts {
				if u, ok := p.(map[string]any)["image_url"].(map[string]any); ok {
					u["url"] = file(t, u["url"].(string))
				}
			}
		}
	}
	return list
}

// file returns a file as a URL.
func file(t *testing.T, name string) string {
	b, err := os.ReadFile(filepath.Join(photos, name))
	require.NoError(t, err)
	return "data:image/" + strings.TrimPrefix(filepath.Ext(name), ".") + ";base64," + base64.StdEncoding.EncodeToString(b)
}

// engine passes every input to seen before Colors answers it.
type engine struct {
	seen func(ctx context.Context, in Input) error
}

func (e engine) Generate(ctx context.Context, in Input) (string, error) {
	if err := e.seen(ctx, in); err != nil {
		return "", err
	}
	return Colors{}.Generate(ctx, in)
}

func open(t *testing.T, l Limits) *Door {
	d, err := Open(t.Context(), model, l)
	require.NoError(t, err)
	return d
}

// post sends a body and returns the status, the answer's text, and the error.
func post(t *testing.T, url string, body []byte) (status int, answer, message, param string) {
	r, err := http.Post(url+"/v1/chat/completions", "application/json", bytes.NewReader(body))
	require.NoError(t, err)
	defer r.Body.Close()
	b, err := io.ReadAll(r.Body)
	require.NoError(t, err)
	require.Equal(t, "application/json", r.Header.Get("Content-Type"))
	var v struct {
		Choices []struct {
			Message struct{ Role, Content string }
		}
		Error *struct{ Message, Type, Param string }
	}
	require.NoError(t, json.Unmarshal(b, &v), "%s", b)
	if v.Error != nil {
		require.NotEqual(t, http.StatusOK, r.StatusCode)
		return r.StatusCode, "", v.Error.Message, v.Error.Param
	}
	require.Len(t, v.Choices, 1)
	require.Equal(t, "assistant", v.Choices[0].Message.Role)
	return r.StatusCode, v.Choices[0].Message.Content, "", ""
}

func body(t *testing.T, v any) []byte {
	b, err := json.Marshal(v)
	require.NoError(t, err)
	return b
}

func conversation(t *testing.T, messages any) []byte {
	return body(t, map[string]any{"model": "m", "messages": messages})
}

// check compares an input with the reference's.
func check(c chat, in Input) error {
	if in.Prompt != c.Text {
		return fmt.Errorf("%s: prompt %q, want %q", c.Name, in.Prompt, c.Text)
	}
	if c.Shape == nil {
		if in.Tensors != nil {
			return fmt.Errorf("%s: tensors without images", c.Name)
		}
		return nil
	}
	x, grid := in.Tensors["pixel_values"], in.Tensors["image_grid_thw"]
	got := fmt.Sprintf("%v %x %v", x.Desc, sha256.Sum256(x.Data), tensor.View[int64](grid))
	var flat []int
	for _, g := range c.Grid {
		flat = append(flat, g...)
	}
	want := fmt.Sprintf("float32 (%d, %d) %s %v", c.Shape[0], c.Shape[1], c.SHA256, flat)
	if got != want {
		return fmt.Errorf("%s: %s, want %s", c.Name, got, want)
	}
	return nil
}

func (c chat) answer() string {
	if c.Grid == nil {
		return "no images"
	}
	var lines []string
	for i, g := range c.Grid {
		lines = append(lines, fmt.Sprintf("image %d: %d x %d patches, average color %s", i+1, g[1], g[2], c.Colors[i]))
	}
	return strings.Join(lines, "\n")
}

// TestReference: many requests at once get the prompt, the tensors and the
// average colors that transformers and NumPy make.
func TestReference(t *testing.T) {
	list := chats(t)
	require.Len(t, list, 3)
	byText := map[string]chat{}
	for _, c := range list {
		byText[c.Text] = c
	}
	limits := DefaultLimits()
	limits.Requests = 64
	s := httptest.NewServer(NewHandler(open(t, limits), engine{func(_ context.Context, in Input) error {
		c, ok := byText[in.Prompt]
		if !ok {
			return fmt.Errorf("prompt %q is not the reference's", in.Prompt)
		}
		return check(c, in)
	}}))
	defer s.Close()
	var wg sync.WaitGroup
	for range 6 {
		for _, c := range list {
			b := conversation(t, c.Messages)
			wg.Go(func() {
				status, answer, message, _ := post(t, s.URL, b)
				if status != http.StatusOK || answer != c.answer() {
					t.Errorf("%s: status %d, %s%s, want %s", c.Name, status, answer, message, c.answer())
				}
			})
		}
	}
	wg.Wait()
}

func TestRefused(t *testing.T) {
	limits := DefaultLimits()
	limits.Body, limits.Image, limits.Images, limits.Messages, limits.Codec.Pixels, limits.Tensors = 1<<20, 200_000, 2, 3, 2_000_000, 8<<20
	s := httptest.NewServer(NewHandler(open(t, limits), Colors{}))
	defer s.Close()
	text := func(s string) map[string]any { return map[string]any{"type": "text", "text": s} }
	url := func(s string) map[string]any {
		return map[string]any{"type": "image_url", "image_url": map[string]any{"url": s}}
	}
	raw := func(b []byte) map[string]any {
		return url("data:image/png;base64," + base64.StdEncoding.EncodeToString(b))
	}
	user := func(content any) []byte {
		return conversation(t, []any{map[string]any{"role": "user", "content": content}})
	}
	small := url(file(t, "png_rgb8.png"))
	photo, err := os.ReadFile(filepath.Join(photos, "jpeg_large.jpg"))
	require.NoError(t, err)
	// A PNG file with a header of 100,000 x 100,000 pixels.
	huge, err := os.ReadFile(filepath.Join(photos, "png_rgb8.png"))
	require.NoError(t, err)
	copy(huge[16:], []byte{0, 1, 0x86, 0xa0, 0, 1, 0x86, 0xa0})
	binary.BigEndian.PutUint32(huge[29:], crc32.ChecksumIEEE(huge[12:29]))
	const bad = http.StatusBadRequest
	for _, c := range []struct {
		name    string
		body    []byte
		status  int
		param   string
		message string
	}{
		{"no JSON", []byte("{"), bad, "", "no request in JSON"},
		{"empty", nil, bad, "", "no request in JSON"},
		{"types", []byte(`{"messages": 3}`), bad, "", "no request in JSON"},
		{"no messages", []byte(`{}`), bad, "messages", "0 messages"},
		{"stream", []byte(`{"stream": true}`), bad, "stream", "not supported"},
		{"n", []byte(`{"n": 2}`), bad, "n", "want 1"},
		{"max_tokens", []byte(`{"max_tokens": -1}`), bad, "max_tokens", "-1"},
		{"messages", conversation(t, []any{text(""), text(""), text(""), text("")}), bad, "messages[0].role", `""`},
		{"role", conversation(t, []any{map[string]any{"role": "tool", "content": "x"}}), bad, "messages[0].role", `"tool"`},
		{"no content", conversation(t, []any{map[string]any{"role": "user"}}), bad, "messages[0].content", "want a string or a list"},
		{"null", user(nil), bad, "messages[0].content", "want a string or a list"},
		{"number", user(3), bad, "messages[0].content", "want a string or a list"},
		{"part", user([]any{map[string]any{"type": "input_audio"}}), bad, "messages[0].content[0]", `"input_audio"`},
		{"text and image", user([]any{map[string]any{"type": "text", "text": "", "image_url": map[string]any{}}}), bad, "messages[0].content[0]", `"text"`},
		{"placeholder", user([]any{small, text("x <|image_pad|>")}), bad, "messages[0].content[1]", "<|image_pad|>"},
		{"split token", user([]any{text("<|im_"), text("end|>")}), bad, "messages[0].content[1]", "<|im_end|>"},
		{"http", user([]any{url("http://localhost/cat.png")}), bad, "messages[0].content[0]", "want data:"},
		{"no base64", user([]any{url("data:image/png,xyz")}), bad, "messages[0].content[0]", "want data:"},
		{"damaged base64", user([]any{url("data:image/png;base64,****")}), bad, "messages[0].content[0]", "illegal base64"},
		{"empty image", user([]any{raw([]byte{})}), bad, "messages[0].content[0]", "codec"},
		{"no image", user([]any{small, raw([]byte("hello"))}), bad, "messages[0].content[1]", "codec"},
		{"damaged image", user([]any{raw(photo[:3000])}), bad, "messages", "jpeg"},
		{"images", user([]any{small, text("x"), small, small}), bad, "messages[0].content[3]", "more than 2 images"},
		{"pixels", user([]any{raw(huge)}), http.StatusRequestEntityTooLarge, "messages[0].content[0]", "100000"},
		{"bytes", user([]any{raw(make([]byte, 200_001))}), http.StatusRequestEntityTooLarge, "messages[0].content[0]", "200001 bytes"},
		{"tensors", user([]any{raw(photo), raw(photo)}), 200, "", ""},
		{"body", make([]byte, 1<<20+1), http.StatusRequestEntityTooLarge, "", "1048576 bytes"},
	} {
		status, _, message, param := post(t, s.URL, c.body)
		require.Equal(t, c.status, status, "%s: %s", c.name, message)
		require.Equal(t, c.param, param, c.name)
		require.Contains(t, message, c.message, c.name)
	}
	limits.Tensors = 4 << 20
	d := open(t, limits)
	_, err = d.Prepare(t.Context(), []Message{{"user", []Part{{Image: photo}, {Image: photo}}}})
	var e *requestError
	require.ErrorAs(t, err, &e)
	require.Equal(t, http.StatusRequestEntityTooLarge, e.status)
	require.Equal(t, "messages[0].content[1]", e.param)
	_, err = d.Prepare(t.Context(), make([]Message, 4))
	require.EqualError(t, err, "messages: 4 messages: want 1 to 3")
	_, err = d.Prepare(t.Context(), []Message{{"user", []Part{{Image: huge}}}})
	require.ErrorIs(t, err, codec.ErrLimit)

	for path, want := range map[string]int{"/v1/chat/completions": http.StatusMethodNotAllowed, "/v1/models": http.StatusNotFound} {
		r, err := http.Get(s.URL + path)
		require.NoError(t, err)
		require.NoError(t, r.Body.Close())
		require.Equal(t, want, r.StatusCode)
	}
}

// TestBusy: a request over the limit is refused at once, and one whose engine
// fails does not say why.
func TestBusy(t *testing.T) {
	limits := DefaultLimits()
	limits.Requests = 1
	entered, leave := make(chan struct{}), make(chan struct{})
	s := httptest.NewServer(NewHandler(open(t, limits), engine{func(context.Context, Input) error {
		entered <- struct{}{}
		<-leave
		return fmt.Errorf("the secret path /model")
	}}))
	defer s.Close()
	b := conversation(t, chats(t)[2].Messages)
	done := make(chan struct{})
	go func() {
		defer close(done)
		status, _, message, _ := post(t, s.URL, b)
		if status != http.StatusInternalServerError || message != "internal error" {
			t.Errorf("status %d: %s", status, message)
		}
	}()
	<-entered
	status, _, message, _ := post(t, s.URL, b)
	require.Equal(t, http.StatusTooManyRequests, status, message)
	close(leave)
	<-done
}

// TestCancel: the engine learns that the client has gone.
func TestCancel(t *testing.T) {
	entered, gone := make(chan struct{}), make(chan error, 1)
	s := httptest.NewServer(NewHandler(open(t, DefaultLimits()), engine{func(ctx context.Context, _ Input) error {
		close(entered)
		<-ctx.Done()
		gone <- context.Cause(ctx)
		return ctx.Err()
	}}))
	defer s.Close()
	ctx, cancel := context.WithCancel(t.Context())
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, s.URL+"/v1/chat/completions", bytes.NewReader(conversation(t, chats(t)[0].Messages)))
	require.NoError(t, err)
	go func() {
		<-entered
		cancel()
	}()
	_, err = http.DefaultClient.Do(r)
	require.ErrorIs(t, err, context.Canceled)
	require.ErrorIs(t, <-gone, context.Canceled)

	// Preprocessing ends too.
	photo, err := os.ReadFile(filepath.Join(photos, "jpeg_large.jpg"))
	require.NoError(t, err)
	_, err = open(t, DefaultLimits()).Prepare(ctx, []Message{{"user", []Part{{Image: photo}}}})
	require.ErrorIs(t, err, context.Canceled)
}

// TestDrain: after the end of its context a server answers the requests that
// run, takes no new ones, and gives up after the grace time.
func TestDrain(t *testing.T) {
	for _, grace := range []time.Duration{time.Minute, time.Nanosecond} {
		l, err := net.Listen("tcp", "localhost:0")
		require.NoError(t, err)
		ctx, end := context.WithCancel(t.Context())
		entered, leave := make(chan struct{}), make(chan struct{})
		h := NewHandler(open(t, DefaultLimits()), engine{func(ctx context.Context, _ Input) error {
			close(entered)
			select {
			case <-leave:
				return nil
			case <-ctx.Done():
				return ctx.Err()
			}
		}})
		served := make(chan error, 1)
		go func() { served <- Serve(ctx, l, h, grace) }()
		c := chats(t)[1]
		answered := make(chan struct{})
		go func() {
			defer close(answered)
			r, err := http.Post("http://"+l.Addr().String()+"/v1/chat/completions", "", bytes.NewReader(conversation(t, c.Messages)))
			if grace == time.Minute {
				if err != nil || r.StatusCode != http.StatusOK {
					t.Errorf("the request that ran: %v, %v", r, err)
				}
			}
			if err == nil {
				_ = r.Body.Close()
			}
		}()
		<-entered
		end()
		if grace == time.Minute {
			require.Eventually(t, func() bool {
				c, err := net.Dial("tcp", l.Addr().String())
				if err == nil {
					_ = c.Close()
				}
				return err != nil
			}, time.Minute, time.Millisecond)
			close(leave)
			require.NoError(t, <-served)
		} else {
			require.ErrorIs(t, <-served, context.DeadlineExceeded)
		}
		<-answered
	}
}

// TestProgram runs the program, and ends it as ctrl-C does.
func TestProgram(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("os.Interrupt cannot be sent on Windows")
	}
	program := filepath.Join(t.TempDir(), "chat")
	out, err := exec.CommandContext(t.Context(), "go", "build", "-o", program, ".").CombinedOutput()
	require.NoError(t, err, "%s", out)
	c := exec.CommandContext(t.Context(), program, model, "localhost:0")
	stderr, err := c.StderrPipe()
	require.NoError(t, err)
	require.NoError(t, c.Start())
	line, err := bufio.NewReader(stderr).ReadString('\n')
	require.NoError(t, err)
	url, ok := strings.CutPrefix(strings.TrimSpace(line), "listening on ")
	require.True(t, ok, line)
	g := chats(t)[0]
	status, answer, message, _ := post(t, url, conversation(t, g.Messages))
	require.Equal(t, http.StatusOK, status, message)
	require.Equal(t, g.answer(), answer)
	require.NoError(t, c.Process.Signal(os.Interrupt))
	require.NoError(t, c.Wait())

	out, err = exec.CommandContext(t.Context(), program, model).CombinedOutput()
	require.Error(t, err)
	require.Contains(t, string(out), "usage: chat")
}

func TestOpen(t *testing.T) {
	_, err := Open(t.Context(), t.TempDir(), DefaultLimits())
	require.Error(t, err)
	dir := t.TempDir()
	for name, text := range map[string]string{
		"processor_config.json":    `{"processor_class": "Qwen2_5_VLProcessor"}`,
		"preprocessor_config.json": `{"image_processor_type": "Qwen2VLImageProcessor"}`,
		"tokenizer_config.json":    `{}`,
	} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	_, err = Open(t.Context(), dir, DefaultLimits())
	require.ErrorContains(t, err, "want Qwen2VLProcessor")
}

func TestColors(t *testing.T) {
	x, err := tensor.New(tensor.Desc{DType: tensor.Float32, Shape: tensor.Dims(2, channels*perChannel)})
	require.NoError(t, err)
	values := tensor.View[float32](x)
	for i := range values { // red in one patch, and half of it in the other
		switch p, c := i/(channels*perChannel), i/perChannel%channels; {
		case c == 0 && p == 0:
			values[i] = float32((1 - mean[0]) / std[0])
		case c == 0:
			values[i] = float32((0.5 - mean[0]) / std[0])
		default:
			values[i] = float32(-mean[c] / std[c])
		}
	}
	grid, err := tensor.New(tensor.Desc{DType: tensor.Int64, Shape: tensor.Dims(1, 3)})
	require.NoError(t, err)
	copy(tensor.View[int64](grid), []int64{1, 1, 2})
	in := Input{Tensors: map[string]*tensor.Tensor{"pixel_values": x, "image_grid_thw": grid}}
	answer, err := Colors{}.Generate(t.Context(), in)
	require.NoError(t, err)
	require.Equal(t, "image 1: 1 x 2 patches, average color #bf0000", answer)
	for _, g := range [][]int64{{1, 1, 1}, {1, 1, 3}, {0, 1, 1}, {1, -1, -2}, {1 << 40, 1 << 40, 1}} {
		copy(tensor.View[int64](grid), g)
		_, err = Colors{}.Generate(t.Context(), in)
		require.ErrorContains(t, err, "colors:", "%v", g)
	}
	_, err = Colors{}.Generate(t.Context(), Input{Tensors: map[string]*tensor.Tensor{"pixel_values": grid, "image_grid_thw": x}})
	require.ErrorContains(t, err, "want pixel_values")
	_, err = Colors{}.Generate(t.Context(), Input{Tensors: map[string]*tensor.Tensor{}})
	require.ErrorContains(t, err, "want pixel_values")
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(`{"messages":[{"role":"user","content":[{"type":"text","text":"a"},{"type":"image_url","image_url":{"url":"data:image/png;base64,AAAA"}}]}]}`))
	f.Add([]byte(`{"messages":[{"role":"user","content":"x"}],"n":1}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		_, messages, err := parse(b)
		if err != nil {
			var e *requestError
			require.ErrorAs(t, err, &e)
			return
		}
		for _, m := range messages {
			text := ""
			for _, p := range m.Content {
				text += p.Text
				if p.Image != nil {
					text = ""
				}
				for _, s := range special {
					require.NotContains(t, text, s)
				}
			}
		}
	})
}

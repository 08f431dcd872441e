package serve

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"compress/zlib"
	"context"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/codec"
	_ "github.com/infer-prep/infer-prep/codec/all"
	"github.com/infer-prep/infer-prep/datagraph"
	"github.com/infer-prep/infer-prep/device"
	"github.com/infer-prep/infer-prep/device/cpu"
	"github.com/infer-prep/infer-prep/importer/preset"
	"github.com/infer-prep/infer-prep/internal/kserve"
	"github.com/infer-prep/infer-prep/internal/short"
	"github.com/infer-prep/infer-prep/tensor"
	"github.com/infer-prep/infer-prep/transforms"
	_ "github.com/infer-prep/infer-prep/transforms/all" // every op
)

func compile(t testing.TB, name string, limits codec.Limits) *datagraph.Plan {
	t.Helper()
	g, err := preset.Graph(name)
	require.NoError(t, err)
	plan, err := datagraph.Compile(g, datagraph.CompileOptions{Limits: limits})
	require.NoError(t, err)
	return plan
}

// options are those of tests, for preset imagenet.
func options(t testing.TB) Options {
	return Options{
		Model: "m", Version: "1", Program: "test", Plan: compile(t, "imagenet", codec.Limits{}), Jobs: 2, Queue: 8, Images: 16, Connections: 1000,
		Body: 8 << 20, Held: 256 << 20, Timeout: time.Minute, Log: log.New(t.Output(), "", 0),
	}
}

// start starts a server and returns it and the URL of its model.
func start(t *testing.T, o Options) (*Server, string) {
	t.Helper()
	s, err := New(o)
	require.NoError(t, err)
	h := httptest.NewServer(s.Handler())
	t.Cleanup(func() {
		h.Close()
		require.Zero(t, s.held, "memory of requests that have ended")
		require.Zero(t, s.admitted)
	})
	return s, h.URL + "/v2/models/m"
}

func image(t testing.TB, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("..", "..", "..", "testdata", "images", name))
	require.NoError(t, err)
	return b
}

// reference computes the batches of a plan's outputs.
func reference(t *testing.T, plan *datagraph.Plan, images ...[]byte) []*tensor.Tensor {
	t.Helper()
	var samples [][]*tensor.Tensor
	r := plan.NewRunner()
	for _, b := range images {
		out, err := r.Run(tensor.FromBytes(b))
		require.NoError(t, err)
		var l []*tensor.Tensor
		for _, o := range out {
			l = append(l, o.Clone())
		}
		samples = append(samples, l)
	}
	batch, err := plan.Collate(samples)
	require.NoError(t, err)
	return batch
}

// elements writes images as the binary form of BYTES.
func elements(images ...[]byte) []byte {
	var b []byte
	for _, i := range images {
		b = append(binary.LittleEndian.AppendUint32(b, uint32(len(i))), i...)
	}
	return b
}

// binaryBody returns a request with images behind the JSON object, and the
// length of the object.
func binaryBody(outputs string, images ...[]byte) (body []byte, header int) {
	tail := elements(images...)
	head := fmt.Sprintf(`{"id":"7","inputs":[{"name":"image","shape":[%d],"datatype":"BYTES","parameters":{"binary_data_size":%d}}]%s}`, len(images), len(tail), outputs)
	return append([]byte(head), tail...), len(head)
}

// jsonBody returns a request with images in base64.
func jsonBody(outputs string, images ...[]byte) []byte {
	var l []string
	for _, i := range images {
		l = append(l, base64.StdEncoding.EncodeToString(i))
	}
	data, _ := json.Marshal(l) // strings
	return fmt.Appendf(nil, `{"inputs":[{"name":"image","shape":[%d,1],"datatype":"BYTES","data":%s}]%s}`, len(images), data, outputs)
}

// multipartBody returns a form with images, whose boundary is x.
func multipartBody(field string, images ...[]byte) []byte {
	var b []byte
	for i, image := range images {
		b = fmt.Appendf(b, "--x\r\nContent-Disposition: form-data; name=%q; filename=\"%d.jpg\"\r\nContent-Type: image/jpeg\r\n\r\n%s\r\n", field, i, image)
	}
	return append(b, "--x--\r\n"...)
}

// answered is a response.
type answered struct {
	status int
	header http.Header
	body   []byte
}

func (a answered) error(t *testing.T) string {
	t.Helper()
	var e struct{ Error string }
	require.NoError(t, json.Unmarshal(a.body, &e), "%s", a.body)
	return e.Error
}

// send sends a request. header is negative for JSON alone; more holds names and
// values of headers.
func send(t *testing.T, url string, body []byte, header int, more ...string) answered {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, bytes.NewReader(body))
	require.NoError(t, err)
	if header >= 0 {
		r.Header.Set(headerLength, strconv.Itoa(header))
	}
	for i := 0; i < len(more); i += 2 {
		r.Header.Set(more[i], more[i+1])
	}
	return do(t, r)
}

func do(t *testing.T, r *http.Request) answered {
	t.Helper()
	resp, err := http.DefaultClient.Do(r)
	require.NoError(t, err)
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	return answered{resp.StatusCode, resp.Header, b}
}

// got is an output of a response.
type got struct {
	Name, Datatype string
	Shape          []int
	Parameters     struct {
		Size *int64 `json:"binary_data_size"`
	}
	Data json.RawMessage
	raw  []byte
}

// outputs reads a response.
func (a answered) outputs(t *testing.T) []got {
	t.Helper()
	require.Equal(t, http.StatusOK, a.status, "%s", a.body)
	head, tail := a.body, []byte(nil)
	if h := a.header.Get(headerLength); h != "" {
		n, err := strconv.Atoi(h)
		require.NoError(t, err)
		head, tail = a.body[:n], a.body[n:]
	}
	var j struct {
		Model   string `json:"model_name"`
		Version string `json:"model_version"`
		ID      string
		Outputs []got
	}
	require.NoError(t, json.Unmarshal(head, &j), "%s", head)
	require.Equal(t, "m", j.Model)
	require.Equal(t, "1", j.Version)
	for i, o := range j.Outputs {
		if o.Parameters.Size != nil {
			j.Outputs[i].raw = tail[:*o.Parameters.Size]
			tail = tail[*o.Parameters.Size:]
		}
	}
	require.Empty(t, tail)
	return j.Outputs
}

// requireTensor requires that an output is want.
func requireTensor(t *testing.T, want *tensor.Tensor, o got) {
	t.Helper()
	require.Equal(t, kserve.Datatype(want.DType), o.Datatype)
	require.Equal(t, want.Shape.Slice(), o.Shape)
	var raw bytes.Buffer
	require.NoError(t, tensor.WriteRaw(&raw, want))
	if o.raw != nil {
		require.True(t, bytes.Equal(raw.Bytes(), o.raw), "output %s differs", o.Name)
		return
	}
	switch want.DType {
	case tensor.Float32:
		var l []float32
		require.NoError(t, json.Unmarshal(o.Data, &l))
		require.Equal(t, tensor.View[float32](want), l)
	case tensor.Uint8:
		var l []int
		require.NoError(t, json.Unmarshal(o.Data, &l))
		for i, v := range want.Data {
			require.EqualValues(t, v, l[i])
		}
	default:
		require.Fail(t, "no such type in the tests", want.DType)
	}
}

func TestInfer(t *testing.T) {
	o := options(t)
	_, url := start(t, o)
	a, b, c := image(t, "jpeg_large.jpg"), image(t, "png_rgb8.png"), image(t, "gif_animated.gif")
	binaryAll := `,"parameters":{"binary_data_output":true}`
	for _, images := range [][][]byte{{a}, {a, b, c, a, b}} {
		want := reference(t, o.Plan, images...)[0]
		for _, outputs := range []string{"", binaryAll, `,"outputs":[{"name":"image","parameters":{"binary_data":true}}]`, `,"outputs":[{"name":"image","parameters":{"binary_data":false}}]` + binaryAll} {
			body, n := binaryBody(outputs, images...)
			for _, r := range []answered{
				send(t, url+"/infer", body, n),
				send(t, url+"/versions/1/infer", jsonBody(outputs, images...), -1),
			} {
				l := r.outputs(t)
				require.Len(t, l, 1)
				requireTensor(t, want, l[0])
				isBinary := outputs == binaryAll || strings.Contains(outputs, ":true}}]")
				require.Equal(t, isBinary, l[0].raw != nil)
			}
		}
	}
	// An image alone.
	r := send(t, url+"/infer", a, 0, "Content-Type", "application/octet-stream")
	requireTensor(t, reference(t, o.Plan, a)[0], r.outputs(t)[0])
	// JSON as other programs write it.
	text := strings.ReplaceAll(string(jsonBody("", a)), "/", `\/`)
	text = strings.Replace(text, `"data":["`, `"data": [ [ "\u002f`, 1)
	text = strings.Replace(text, `\u002f\/`, `\u002f`, 1) // JPEG starts with /9j/ in base64
	text = strings.Replace(text, `"]}]`, "\"\n] ] , \"parameters\":{\"content_type\":\"base64\",\"other\":[1]} } ]", 1)
	requireTensor(t, reference(t, o.Plan, a)[0], send(t, url+"/infer", []byte(text), -1).outputs(t)[0])
	// Base64 behind the JSON object.
	body, n := binaryBody(`,"parameters":{"content_type":"base64","binary_data_output":true}`, []byte(base64.StdEncoding.EncodeToString(a)))
	requireTensor(t, reference(t, o.Plan, a)[0], send(t, url+"/infer", body, n).outputs(t)[0])
}

// TestOutputs requests some of several outputs, in another order, in JSON and
// binary form.
func TestOutputs(t *testing.T) {
	o := options(t)
	o.Plan = compile(t, "yolo", codec.Limits{})
	o.SideOutputs = true
	_, url := start(t, o)
	a := image(t, "jpeg_large.jpg")
	want := reference(t, o.Plan, a, a)
	require.Greater(t, len(want), 2)
	columns := o.Plan.Outputs()
	body, n := binaryBody(fmt.Sprintf(`,"outputs":[{"name":%q},{"name":%q,"parameters":{"binary_data":true}}]`, columns[1].Name, columns[0].Name), a, a)
	l := send(t, url+"/infer", body, n).outputs(t)
	require.Len(t, l, 2)
	require.Equal(t, columns[1].Name, l[0].Name)
	require.Nil(t, l[0].raw)
	requireTensor(t, want[1], l[0])
	requireTensor(t, want[0], l[1])

	o.SideOutputs = false
	_, url = start(t, o)
	r := send(t, url+"/infer", body, n)
	require.Equal(t, http.StatusBadRequest, r.status)
	require.Contains(t, r.error(t), "unknown output")
}

// TestForms: images alone and those of HTML forms need no header of the
// protocol.
func TestForms(t *testing.T) {
	o := options(t)
	o.Images = 3
	_, url := start(t, o)
	a, b := image(t, "jpeg_large.jpg"), image(t, "png_rgb8.png")
	want := reference(t, o.Plan, a)[0]
	for _, kind := range []string{"", "application/octet-stream", "application/x-www-form-urlencoded", "image/jpeg", "image/x-any"} {
		var more []string
		if kind != "" {
			more = []string{"Content-Type", kind}
		}
		requireTensor(t, want, send(t, url+"/infer", a, -1, more...).outputs(t)[0])
	}
	const kind = "multipart/form-data; boundary=x"
	good := string(multipartBody("image", a, b))
	two := reference(t, o.Plan, a, b)[0]
	for _, body := range []string{
		good,
		"a preamble\r\n" + good + "an epilogue",
		strings.ReplaceAll(good, "--x\r\n", "--x \t\r\n"),
		strings.ReplaceAll(good, "Content-Type: image/jpeg", "content-transfer-encoding: binary"),
	} {
		requireTensor(t, two, send(t, url+"/infer", []byte(body), -1, "Content-Type", kind).outputs(t)[0])
	}
	for _, c := range []struct {
		body   string
		status int
		text   string
	}{
		{"", 400, "its boundary is missing"},
		{"--x", 400, "part 0: want a header"},
		{"--x--", 400, `the form is empty: want parts with the name "image"`},
		{"--xy\r\n" + good, 400, "part 0: want a header of at most 4096 bytes"},
		{"--x\r\n\r\nhello\r\n--x--", 400, "part 0: want a header of at most 4096 bytes"},
		{"--x\r\nA: b\r\n\r\nhello\r\n--x--", 400, `part 0: Content-Disposition "": want form-data`},
		{"--x\r\nA: " + strings.Repeat("b", 5000) + "\r\n\r\nhello\r\n--x--", 400, "part 0: want a header of at most 4096 bytes"},
		{string(multipartBody("file", a)), 400, `part 0: unknown name "file": want "image"`},
		{strings.ReplaceAll(good, "Content-Type: image/jpeg", "Content-Transfer-Encoding: base64"), 400, `Content-Transfer-Encoding "base64": want binary or none`},
		{good[:len(good)-20], 400, "part 1: the boundary that ends it is missing"},
		{string(multipartBody("image", a, a, a, a)), 413, "more than 3 parts, the limit of --limit-images"},
		{string(multipartBody("image", a, []byte("hello"))), 415, "image 1: "},
	} {
		r := send(t, url+"/infer", []byte(c.body), -1, "Content-Type", kind)
		require.Equal(t, c.status, r.status, "%.200s: %s", c.body, r.body)
		require.Contains(t, r.error(t), c.text)
	}
}

// TestCurl: an image needs no more than curl's own flags.
func TestCurl(t *testing.T) {
	curl, err := exec.LookPath("curl")
	if err != nil {
		t.Skip("curl is not installed")
	}
	o := options(t)
	_, url := start(t, o)
	name := filepath.Join("..", "..", "..", "testdata", "images", "jpeg_large.jpg")
	want := reference(t, o.Plan, image(t, "jpeg_large.jpg"))[0]
	for _, args := range [][]string{
		{"--data-binary", "@" + name},
		{"-F", "image=@" + name},
		{"-T", name, "-X", "POST"},
		{"-H", "Content-Type: image/jpeg", "--data-binary", "@" + name},
	} {
		out, err := exec.CommandContext(t.Context(), curl, append([]string{"-sS", "--fail-with-body", url + "/infer"}, args...)...).Output()
		require.NoError(t, err, "%q: %.200s", args, out)
		require.True(t, bytes.HasSuffix(out, want.Data), "%q", args)
	}
}

func TestCompressedBody(t *testing.T) {
	o := options(t)
	_, url := start(t, o)
	a := image(t, "jpeg_large.jpg")
	body, n := binaryBody(`,"parameters":{"binary_data_output":true}`, a)
	want := reference(t, o.Plan, a)[0]
	pack := func(kind string, b []byte) []byte {
		var out bytes.Buffer
		var w io.WriteCloser = gzip.NewWriter(&out)
		if kind == "deflate" {
			w = zlib.NewWriter(&out)
		}
		_, err := w.Write(b)
		require.NoError(t, err)
		require.NoError(t, w.Close())
		return out.Bytes()
	}
	for _, kind := range []string{"gzip", "deflate"} {
		requireTensor(t, want, send(t, url+"/infer", pack(kind, body), n, "Content-Encoding", kind).outputs(t)[0])
		bomb := pack(kind, make([]byte, o.Body+1))
		require.Less(t, len(bomb), 64<<10)
		r := send(t, url+"/infer", bomb, n, "Content-Encoding", kind)
		require.Equal(t, http.StatusRequestEntityTooLarge, r.status)
		require.Contains(t, r.error(t), "--limit-body")
		require.Equal(t, http.StatusBadRequest, send(t, url+"/infer", body, n, "Content-Encoding", kind).status)
		packed := pack(kind, body)
		require.Equal(t, http.StatusBadRequest, send(t, url+"/infer", packed[:len(packed)/2], n, "Content-Encoding", kind).status)
	}
	require.Equal(t, http.StatusUnsupportedMediaType, send(t, url+"/infer", body, n, "Content-Encoding", "br").status)
}

func TestErrors(t *testing.T) {
	o := options(t)
	o.Plan = compile(t, "imagenet", codec.Limits{Pixels: 1e6})
	o.Body, o.Images = 1<<20, 3
	_, url := start(t, o)
	a := image(t, "jpeg_large.jpg")
	huge := bytes.Clone(a)
	sof := bytes.Index(huge, []byte{0xFF, 0xC0})
	require.Positive(t, sof)
	copy(huge[sof+5:], []byte{0xEA, 0x60, 0xEA, 0x60}) // 60000 x 60000
	asJSON := []string{"Content-Type", "application/json"}
	input := func(more string) []byte {
		return []byte(`{"inputs":[{"name":"image","shape":[1],"datatype":"BYTES"` + more + `}]}`)
	}
	for _, c := range []struct {
		name   string
		body   []byte
		header int
		more   []string
		status int
		text   string
	}{
		{name: "no image", body: nil, status: 415, text: "empty input"},
		{name: "text", body: []byte("hello, this is no image"), status: 415, text: "unknown format"},
		{name: "known, not supported", body: []byte("%PDF-1.7 and so on"), status: 415, text: "PDF"},
		{name: "damaged", body: a[:200], status: 400, text: "jpeg"},
		{name: "many pixels", body: huge, status: 413, text: "60000x60000"},
		{name: "large body", body: make([]byte, 1<<20+1), status: 413, text: "--limit-body"},
		{name: "no JSON", body: []byte("hello"), header: -1, more: asJSON, status: 400, text: "JSON object"},
		{name: "no image", body: []byte("hello"), header: -1, status: 415, text: "the body is taken for one image: "},
		{name: "nothing", body: nil, header: -1, status: 400, text: "JSON object"},
		{name: "an array", body: []byte("[]"), header: -1, more: asJSON, status: 400, text: "JSON object"},
		{name: "deep", body: []byte(strings.Repeat("[", 1<<19)), header: -1, more: asJSON, status: 400, text: "JSON object"},
		{name: "no input", body: []byte("{}"), header: -1, status: 400, text: `0 inputs: want one, "image"`},
		{name: "another input", body: []byte(`{"inputs":[{"name":"x"}]}`), header: -1, status: 400, text: `unknown input "x": want "image"`},
		{name: "another type", body: []byte(`{"inputs":[{"name":"image","datatype":"FP32"}]}`), header: -1, status: 400, text: `datatype "FP32": want BYTES`},
		{name: "no shape", body: []byte(`{"inputs":[{"name":"image","datatype":"BYTES"}]}`), header: -1, status: 400, text: "shape []"},
		{name: "a negative shape", body: []byte(`{"inputs":[{"name":"image","datatype":"BYTES","shape":[-1]}]}`), header: -1, status: 400, text: "shape [-1]"},
		{name: "a shape of two", body: []byte(`{"inputs":[{"name":"image","datatype":"BYTES","shape":[1,2]}]}`), header: -1, status: 400, text: "shape [1 2]"},
		{name: "a huge name", body: []byte(`{"inputs":[{"name":"` + strings.Repeat("x", 1<<19) + `"}]}`), header: -1, status: 400, text: "a string of 524288 bytes in a place of at most 1024"},
		{name: "a long name", body: []byte(`{"inputs":[{"name":"` + strings.Repeat("x", 1000) + `"}]}`), header: -1, status: 400, text: `unknown input "xxx`},
		{name: "a huge id", body: []byte(`{"id":"` + strings.Repeat(`\u0001`, 1<<16) + `"}`), header: -1, status: 400, text: "a string of 393216 bytes"},
		{name: "a huge key", body: []byte(`{"` + strings.Repeat("\xff", 1<<19) + `":1}`), header: -1, status: 400, text: "a key of 524288 bytes"},
		{name: "a huge number", body: []byte(`{"parameters":{"timeout":` + strings.Repeat("1", 1<<19) + `}}`), header: -1, status: 400, text: "a number of more than 64 bytes"},
		{name: "a huge axis", body: input(`,"shape":[-1,` + strings.Repeat("7", 1<<19) + `]`), header: -1, status: 400, text: "a number of more than 64 bytes"},
		{name: "a large axis", body: input(`,"shape":[` + strings.Repeat("7", 60) + `]`), header: -1, status: 400, text: "JSON object"},
		{name: "two inputs", body: []byte(`{"inputs":[{},{}]}`), header: -1, status: 400, text: `2 inputs: want one, "image"`},
		{name: "inputs that are an object", body: []byte(`{"inputs":{"a":1,"b":2}}`), header: -1, status: 400, text: "cannot unmarshal object"},
		{name: "a huge output", body: []byte(`{"inputs":[{"name":"image","datatype":"BYTES","shape":[1],"data":["aaaa"]}],"outputs":[{"name":"` + strings.Repeat("x", 1<<19) + `"}]}`), header: -1, status: 400, text: "a string of 524288 bytes"},
		{name: "many axes", body: []byte(`{"inputs":[{"shape":[` + strings.Repeat("1,", 1000) + `1]}]}`), header: -1, status: 400, text: "an array of 1001 elements"},
		{name: "many images", body: []byte(`{"inputs":[{"name":"image","datatype":"BYTES","shape":[4]}]}`), header: -1, status: 413, text: "--limit-images"},
		{name: "no data", body: input(""), header: -1, status: 400, text: "neither data nor binary_data_size"},
		{name: "null data", body: input(`,"data":null`), header: -1, status: 400, text: "neither data nor binary_data_size"},
		{name: "numbers", body: input(`,"data":[1,2]`), header: -1, status: 400, text: "want strings in base64"},
		{name: "no base64", body: input(`,"data":["hello there"]`), header: -1, status: 400, text: "want base64"},
		{name: "two for one", body: input(`,"data":["",""]`), header: -1, status: 400, text: "2 images, but the shape is [1]"},
		{name: "text type", body: input(`,"data":["aaaa"],"parameters":{"content_type":"str"}`), header: -1, status: 400, text: `content_type "str"`},
		{name: "both", body: input(`,"data":["aaaa"],"parameters":{"binary_data_size":1}`), header: -1, status: 400, text: "data as well as binary_data_size"},
		{name: "shared memory", body: input(`,"parameters":{"shared_memory_region":"x"}`), header: -1, status: 400, text: "shared memory"},
		{name: "size beyond", body: input(`,"parameters":{"binary_data_size":1}`), header: -1, status: 400, text: "binary_data_size is 1, but 0 bytes"},
		{name: "size of the wrong type", body: input(`,"parameters":{"binary_data_size":"1"}`), header: -1, status: 400, text: "JSON object"},
		{name: "header beyond", body: []byte("{}"), header: 3, status: 400, text: "is 3, but the body has 2 bytes"},
		{name: "header of text", body: []byte("{}"), header: -1, more: []string{headerLength, "x"}, status: 400, text: "want a number"},
		{name: "negative header", body: []byte("{}"), header: -1, more: []string{headerLength, "-1"}, status: 400, text: "want a number"},
		{name: "unknown output", body: []byte(`{"inputs":[{"name":"image","datatype":"BYTES","shape":[1],"data":["aaaa"]}],"outputs":[{"name":"imag"}]}`), header: -1, status: 400, text: `did you mean "image"`},
		{name: "output twice", body: []byte(`{"inputs":[{"name":"image","datatype":"BYTES","shape":[1],"data":["aaaa"]}],"outputs":[{"name":"image"},{"name":"image"}]}`), header: -1, status: 400, text: "requested twice"},
		{name: "classification", body: []byte(`{"inputs":[{"name":"image","datatype":"BYTES","shape":[1],"data":["aaaa"]}],"outputs":[{"name":"image","parameters":{"classification":3}}]}`), header: -1, status: 400, text: "classification"},
		{name: "one of three is damaged", body: jsonBody("", a, a[:300], a), header: -1, status: 400, text: "image 1: "},
		{name: "an image's type", body: a, header: -1, more: []string{"Content-Type", "image/jpeg"}, status: 200},
		{name: "another type", body: a, header: -1, more: []string{"Content-Type", "text/plain"}, status: 415, text: "want application/json, application/octet-stream, image/*, audio/* or multipart/form-data"},
		{name: "no boundary", body: a, header: -1, more: []string{"Content-Type", "multipart/form-data"}, status: 400, text: "want a boundary"},
		{name: "a form with a header", body: a, header: 0, more: []string{"Content-Type", "multipart/form-data; boundary=x"}, status: 400, text: "a form has no header " + headerLength},
		{name: "curl's type", body: a, header: 0, more: []string{"Content-Type", "application/x-www-form-urlencoded"}, status: 200},
		{name: "curl's type alone", body: a, header: -1, more: []string{"Content-Type", "application/x-www-form-urlencoded"}, status: 200},
		{name: "curl -d", body: bytes.ReplaceAll(image(t, "png_rgb8.png"), []byte("\r\n"), nil), header: -1, more: []string{"Content-Type", "application/x-www-form-urlencoded"}, status: 415, text: "curl needs --data-binary"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := send(t, url+"/infer", c.body, c.header, c.more...)
			require.Equal(t, c.status, r.status, "%.300s", r.body)
			if c.status != 200 {
				require.Contains(t, r.error(t), c.text)
				require.Less(t, len(r.body), 1100)
				require.Equal(t, "application/json", r.header.Get("Content-Type"))
			}
		})
	}
	// Lengths of elements.
	for _, tail := range []string{"", "\x01\x00\x00", "\x02\x00\x00\x00a", "\xff\xff\xff\xffa", "\x01\x00\x00\x00ab", "\x01\x00\x00\x00a\x01"} {
		head := fmt.Sprintf(`{"inputs":[{"name":"image","shape":[1],"datatype":"BYTES","parameters":{"binary_data_size":%d}}]}`, len(tail))
		r := send(t, url+"/infer", []byte(head+tail), len(head))
		require.Equal(t, 400, r.status, "%q: %s", tail, r.body)
	}
}

func TestRoutes(t *testing.T) {
	o := options(t)
	o.Plan = compile(t, "yolo", codec.Limits{})
	s, url := start(t, o)
	base := strings.TrimSuffix(url, "/v2/models/m")
	get := func(method, path string) answered {
		r, err := http.NewRequestWithContext(t.Context(), method, base+path, nil)
		require.NoError(t, err)
		return do(t, r)
	}
	for path, want := range map[string]string{
		"/v2":                           `{"name":"infer-prep","version":"test","extensions":["binary_tensor_data"]}`,
		"/v2/health/live":               `{"live":true}`,
		"/v2/health/ready":              `{"ready":true}`,
		"/v2/models/m/ready":            `{"name":"m","ready":true}`,
		"/v2/models/m/versions/1/ready": `{"name":"m","ready":true}`,
		"/v2/models/m":                  `{"name":"m","versions":["1"],"platform":"infer-prep","inputs":[{"name":"image","datatype":"BYTES","shape":[-1]}],"outputs":[{"name":"images","datatype":"FP32","shape":[-1,3,640,640]}]}`,
		"/v2/models/m/versions/1":       `{"name":"m","versions":["1"],"platform":"infer-prep","inputs":[{"name":"image","datatype":"BYTES","shape":[-1]}],"outputs":[{"name":"images","datatype":"FP32","shape":[-1,3,640,640]}]}`,
		"/v2/models/n":                  `{"error":"unknown model \"n\": want \"m\""}`,
		"/v2/models/n/ready":            `{"error":"unknown model \"n\": want \"m\""}`,
		"/v2/models/m/versions/2":       `{"error":"unknown version \"2\" of model \"m\": want \"1\""}`,
		"/v2/models/m/versions/2/infer": `{"error":"method GET: want POST"}`,
		"/v2/repository/index":          `{"error":"no such path: /v2/repository/index; the model is /v2/models/m"}`,
		"/v2/models/m/config":           `{"error":"no such path: /v2/models/m/config; the model is /v2/models/m"}`,
		"/":                             `{"error":"no such path: /; the model is /v2/models/m"}`,
	} {
		require.Equal(t, want+"\n", string(get(http.MethodGet, path).body), path)
	}
	require.Equal(t, 200, get(http.MethodHead, "/v2/health/ready").status)
	require.Equal(t, 405, get(http.MethodPost, "/v2").status)
	require.Equal(t, 404, get(http.MethodGet, "/v2/models/n").status)
	require.Equal(t, 404, send(t, base+"/v2/models/n/infer", nil, 0).status)
	require.Equal(t, 405, get(http.MethodDelete, "/v2/models/m/infer").status)

	require.Equal(t, 200, send(t, url+"/infer", image(t, "jpeg_large.jpg"), 0).status)
	require.Equal(t, 415, send(t, url+"/infer", nil, 0).status)
	text := string(get(http.MethodGet, "/metrics").body)
	info, err := codec.DecodeConfig(image(t, "jpeg_large.jpg"), nil)
	require.NoError(t, err)
	for _, want := range []string{
		`infer_prep_requests_total{code="200"} 1`, `infer_prep_requests_total{code="415"} 1`, "infer_prep_request_duration_seconds_count 2",
		`infer_prep_request_duration_seconds_bucket{le="+Inf"} 2`, "infer_prep_requests_in_flight 0", "infer_prep_images_total 1",
		fmt.Sprintf("infer_prep_image_bytes_total %d", len(image(t, "jpeg_large.jpg"))), fmt.Sprintf("infer_prep_image_pixels_total %d", info.Width*info.Height),
		"infer_prep_held_bytes 0", "infer_prep_ready 1",
	} {
		require.Contains(t, text, "\n"+want+"\n")
	}
	s.draining.Store(true)
	require.Equal(t, answered{400, nil, []byte("{\"ready\":false}\n")}, func() answered { a := get(http.MethodGet, "/v2/health/ready"); a.header = nil; return a }())
	require.Equal(t, 400, get(http.MethodGet, "/v2/models/m/ready").status)
	require.Equal(t, 200, get(http.MethodGet, "/v2/health/live").status)
	require.Equal(t, 200, send(t, url+"/infer", image(t, "jpeg_large.jpg"), 0).status, "accepted during the drain")
}

// gate is a session on the CPU that computes only when it is let.
type gate struct {
	device.Session
	entered chan<- struct{}
	leave   <-chan struct{}
}

func (g *gate) Preprocess(ctx context.Context, in ...*tensor.Tensor) ([]*tensor.Tensor, error) {
	g.entered <- struct{}{}
	select {
	case <-g.leave:
	case <-ctx.Done():
		return nil, fmt.Errorf("gate: %w", ctx.Err())
	}
	return g.Session.Preprocess(ctx, in...)
}

// gated makes the sessions of o gates.
func gated(t *testing.T, o *Options) (entered chan struct{}, leave chan struct{}) {
	entered, leave = make(chan struct{}, 1000), make(chan struct{})
	o.Device = sessions(t, *o, func() (device.Session, error) {
		s, err := cpu.New().Open(o.Plan, device.Options{})
		return &gate{s, entered, leave}, err
	})
	return entered, leave
}

// opener is a device whose sessions a test opens.
type opener struct {
	device.Device
	open func() (device.Session, error)
}

func (d opener) Open(*datagraph.Plan, device.Options) (device.Session, error) { return d.open() }

func sessions(t *testing.T, o Options, open func() (device.Session, error)) *device.Pool {
	p, err := device.NewPool(opener{open: open}, o.Plan, device.Options{}, o.Jobs)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, p.Close()) })
	return p
}

// TestOverload: requests beyond jobs and queue get 429 at once, and the others
// their tensors.
func TestOverload(t *testing.T) {
	o := options(t)
	o.Jobs, o.Queue = 1, 3
	entered, leave := gated(t, &o)
	s, url := start(t, o)
	a := image(t, "jpeg_large.jpg")
	var wg sync.WaitGroup
	var good atomic.Int64
	for range o.Jobs + o.Queue {
		wg.Go(func() {
			if send(t, url+"/infer", a, 0).status == 200 {
				good.Add(1)
			}
		})
	}
	<-entered
	require.Eventually(t, func() bool { return s.metrics.waiting.Load() == 3 }, time.Minute, time.Millisecond)
	for range 12 {
		r := send(t, url+"/infer", a, 0)
		require.Equal(t, 429, r.status)
		require.Equal(t, "1", r.header.Get("Retry-After"))
		require.Contains(t, r.error(t), "4 requests are in progress")
	}
	text := string(do(t, must(http.NewRequestWithContext(t.Context(), http.MethodGet, strings.TrimSuffix(url, "/v2/models/m")+"/metrics", nil))).body)
	require.Contains(t, text, "\ninfer_prep_images_waiting 3\n")
	require.Contains(t, text, "\ninfer_prep_images_in_flight 1\n")
	require.Contains(t, text, "\ninfer_prep_requests_in_flight 4\n")
	close(leave)
	wg.Wait()
	require.EqualValues(t, 4, good.Load())
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// TestHeld: bodies and results of all requests together are bounded.
func TestHeld(t *testing.T) {
	o := options(t)
	a := image(t, "jpeg_large.jpg")
	o.Held = 1200 << 10 // the tensor has 588 KiB, the image 92
	entered, leave := gated(t, &o)
	_, url := start(t, o)
	done := make(chan int)
	go func() { done <- send(t, url+"/infer", a, 0).status }()
	<-entered
	// Its body alone would fit, with what it takes to grow it.
	r := send(t, url+"/infer", make([]byte, 640<<10), 0)
	require.Equal(t, 429, r.status)
	require.Contains(t, r.error(t), "--limit-held")
	leave <- struct{}{}
	require.Equal(t, 200, <-done)
	close(leave)
	r = send(t, url+"/infer", jsonBody("", a), -1) // the text of a tensor is larger
	require.Equal(t, 413, r.status)
	require.Contains(t, r.error(t), "--limit-held")
}

// TestWork: images that together need more than the limit of memory run one
// after another.
func TestWork(t *testing.T) {
	o := options(t)
	a := image(t, "jpeg_large.jpg")
	costs, err := o.Plan.NewRunner().Costs(tensor.FromBytes(a))
	require.NoError(t, err)
	need := costs.Memory()
	for limit, together := range map[int64]int{need * 3 / 2: 1, need * 5 / 2: 2} {
		o.Plan = compile(t, "imagenet", codec.Limits{Bytes: limit})
		o.Jobs = 4
		entered, leave := gated(t, &o)
		s, url := start(t, o)
		var wg sync.WaitGroup
		for range 4 {
			wg.Go(func() {
				if r := send(t, url+"/infer", a, 0); r.status != 200 {
					t.Errorf("status %d: %s", r.status, r.body)
				}
			})
		}
		require.Eventually(t, func() bool { return s.metrics.running.Load() == 4 }, time.Minute, time.Millisecond, "all have a worker")
		require.Eventually(t, func() bool { return len(entered) == together }, time.Minute, time.Millisecond)
		time.Sleep(20 * time.Millisecond)
		require.Len(t, entered, together)
		close(leave)
		wg.Wait()
	}
}

// TestConnections: clients that send no HTTP, go in the middle, or never write
// leave nothing behind.
func TestConnections(t *testing.T) {
	o := options(t)
	s, err := New(o)
	require.NoError(t, err)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() { ended <- s.Serve(ctx, l) }()
	a := image(t, "jpeg_large.jpg")
	head := "POST /v2/models/m/infer HTTP/1.1\r\nHost: x\r\nInference-Header-Content-Length: 0\r\n"
	rng := rand.New(rand.NewPCG(3, 4))
	garbage := make([]byte, 1000)
	for i := range garbage {
		garbage[i] = byte(rng.Uint32())
	}
	for i := range short.Rounds(t, 300, 30) {
		conn, err := net.Dial("tcp", l.Addr().String())
		require.NoError(t, err)
		switch i % 6 {
		case 0: // nothing
		case 1:
			_, _ = conn.Write(garbage)
		case 2: // a part of the body
			_, _ = fmt.Fprintf(conn, "%sContent-Length: %d\r\n\r\n%s", head, len(a), a[:rng.IntN(len(a))])
		case 3: // chunks without an end, or with a length that is none
			_, _ = fmt.Fprintf(conn, "%sTransfer-Encoding: chunked\r\n\r\n%x\r\n%s\r\n%s", head, 100, a[:100], []string{"", "zz\r\n", "ffffffffffffffff\r\n"}[i/6%3])
		case 4: // two lengths
			_, _ = fmt.Fprintf(conn, "%sContent-Length: 5\r\nContent-Length: 6\r\n\r\nhello", head)
		case 5: // the response is not read
			_, _ = fmt.Fprintf(conn, "%sContent-Length: %d\r\n\r\n%s", head, len(a), a)
		}
		if i%2 == 0 {
			require.NoError(t, conn.(*net.TCPConn).SetLinger(0)) // a reset
		}
		require.NoError(t, conn.Close())
	}
	require.Eventually(t, func() bool {
		stacks := make([]byte, 1<<20)
		return !bytes.Contains(stacks[:runtime.Stack(stacks, true)], []byte("net/http.(*conn).serve"))
	}, time.Minute, 10*time.Millisecond, "a connection's goroutine is left")
	require.Equal(t, 200, send(t, "http://"+l.Addr().String()+"/v2/models/m/infer", a, 0).status)
	stop()
	require.NoError(t, <-ended)
	require.Zero(t, s.held)
	require.Zero(t, s.admitted)
	for status := range s.metrics.requests.n {
		require.Less(t, status, 500)
	}
}

// held connects, sends the header of a request and a part of its body, and
// nothing more.
func held(t *testing.T, address, path, more string) *net.TCPConn {
	t.Helper()
	conn, err := net.Dial("tcp", address)
	require.NoError(t, err)
	t.Cleanup(func() { conn.Close() })
	_, err = fmt.Fprintf(conn, "POST %s HTTP/1.1\r\nHost: x\r\n%s\r\n", path, more)
	require.NoError(t, err)
	return conn.(*net.TCPConn)
}

// TestHeldBodies: a body that never arrives gets a response, whether the server
// wants it or not, and its connection closes.
func TestHeldBodies(t *testing.T) {
	o := options(t)
	o.Jobs, o.Queue = 1, 0
	s, err := New(o)
	require.NoError(t, err)
	s.pace = pace{idle: 200 * time.Millisecond, ending: time.Minute, linger: 50 * time.Millisecond}
	h := httptest.NewServer(s.Handler())
	defer h.Close()
	address := strings.TrimPrefix(h.URL, "http://")
	infer := "/v2/models/m/infer"
	const body, chunked = "Content-Length: 1000000\r\n", "Transfer-Encoding: chunked\r\n"
	for _, c := range []struct {
		path, more string
		busy       bool
		status     int
		text       string
	}{
		{infer, body, false, 408, "no byte of the body arrived for 200ms"},
		{infer, chunked, false, 408, "no byte of the body arrived for 200ms"},
		{infer, chunked + "Content-Encoding: deflate\r\n", false, 408, "no byte of the body arrived for 200ms"},
		{infer, body, true, 429, "1 requests are in progress"},
		{infer, "Content-Length: 10\r\n", true, 429, "1 requests are in progress"},
		{infer, chunked, true, 429, "1 requests are in progress"},
		{infer, "Content-Length: 100000000\r\n", false, 413, "--limit-body"},
		{infer, body + "Content-Type: text/plain\r\n", false, 415, "Content-Type"},
		{infer, body + "Expect: 100-continue\r\nContent-Encoding: x\r\n", false, 415, "Content-Encoding"},
		{"/v2/models/n/infer", body, false, 404, "unknown model"},
		{"/v2", chunked, false, 405, "method POST"},
		{"/nowhere", "Content-Length: 10\r\n", false, 404, "no such path"},
	} {
		if c.busy {
			s.mu.Lock()
			s.admitted = 1
			s.mu.Unlock()
		}
		conn := held(t, address, c.path, c.more)
		resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
		require.NoError(t, err, "%+v", c)
		b, err := io.ReadAll(resp.Body)
		require.NoError(t, err)
		require.Equal(t, c.status, resp.StatusCode, "%+v: %s", c, b)
		require.Contains(t, string(b), c.text)
		require.True(t, resp.Close, "Connection: close: %+v", c)
		_, err = conn.Read(make([]byte, 1))
		require.ErrorIs(t, err, io.EOF, "the server closes the connection: %+v", c)
		if c.busy {
			s.leave()
		}
	}
	// The connection of a body that was read stays open, after an error too.
	conn := held(t, address, infer, "Content-Length: 5\r\n")
	r := bufio.NewReader(conn)
	_, err = conn.Write([]byte("hello"))
	require.NoError(t, err)
	resp := must(http.ReadResponse(r, nil))
	require.Equal(t, 415, resp.StatusCode)
	require.False(t, resp.Close)
	_, err = io.Copy(io.Discard, resp.Body)
	require.NoError(t, err)
	_, err = conn.Write([]byte("GET /v2 HTTP/1.1\r\nHost: x\r\n\r\n"))
	require.NoError(t, err)
	require.Equal(t, 200, must(http.ReadResponse(r, nil)).StatusCode)
	// So does that of a compressed one, which must end where its body ends.
	a := image(t, "jpeg_large.jpg")
	var packed bytes.Buffer
	w := zlib.NewWriter(&packed)
	_, err = w.Write(a)
	require.NoError(t, err)
	require.NoError(t, w.Close())
	for more, status := range map[int]int{0: 200, 1 << 16: 400} {
		got := send(t, h.URL+infer, append(packed.Bytes(), make([]byte, more)...), -1, "Content-Encoding", "deflate")
		require.Equal(t, status, got.status, "%.200s", got.body)
	}
}

// serveOn serves on a free port. The function stop ends the server and returns
// its error.
func serveOn(t *testing.T, s *Server) (address string, stop func() error) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- s.Serve(ctx, l) }()
	return l.Addr().String(), func() error {
		cancel()
		return <-ended
	}
}

// TestEndWithHeld: requests without a body, connections without a request and
// bodies that are refused do not delay the end of the server.
func TestEndWithHeld(t *testing.T) {
	o := options(t)
	o.Queue = 100
	o.Timeout = time.Hour
	entered, leave := gated(t, &o)
	s, err := New(o)
	require.NoError(t, err)
	s.pace = pace{idle: time.Hour, ending: 100 * time.Millisecond, linger: time.Second}
	address, stop := serveOn(t, s)
	good := make(chan int)
	go func() { good <- send(t, "http://"+address+"/v2/models/m/infer", image(t, "jpeg_large.jpg"), 0).status }()
	<-entered
	var unfinished, fresh []*net.TCPConn
	for range 50 {
		unfinished = append(unfinished, held(t, address, "/v2/models/m/infer", "Content-Length: 1000\r\n"))
		held(t, address, "/v2", "Content-Length: 1000\r\n")
		conn, err := net.Dial("tcp", address)
		require.NoError(t, err)
		_, err = conn.Write([]byte("POST /v2/models"))
		require.NoError(t, err)
		fresh = append(fresh, conn.(*net.TCPConn))
	}
	require.Eventually(t, func() bool {
		s.mu.Lock()
		defer s.mu.Unlock()
		return s.admitted == 51
	}, time.Minute, time.Millisecond)
	ended := make(chan error)
	go func() { ended <- stop() }()
	for _, conn := range unfinished {
		resp := must(http.ReadResponse(bufio.NewReader(conn), nil))
		require.Equal(t, 503, resp.StatusCode)
		require.Equal(t, "1", resp.Header.Get("Retry-After"))
		require.Contains(t, string(must(io.ReadAll(resp.Body))), "the server ends, and the body has not arrived")
	}
	for _, conn := range fresh {
		_, err := conn.Read(make([]byte, 1))
		require.Error(t, err)
		require.NoError(t, conn.Close())
	}
	require.Empty(t, ended, "the image is yet to be computed")
	close(leave)
	require.Equal(t, 200, <-good)
	require.NoError(t, <-ended)
	require.Zero(t, s.held)
}

// TestLimitConnections: a connection beyond the limit waits until another
// closes, and none is lost.
func TestLimitConnections(t *testing.T) {
	o := options(t)
	o.Connections = 3
	s, err := New(o)
	require.NoError(t, err)
	s.pace.ending = time.Millisecond
	address, stop := serveOn(t, s)
	var conns []*net.TCPConn
	for range 3 {
		conn := held(t, address, "/v2/models/m/infer", "Content-Length: 1000\r\n")
		conns = append(conns, conn)
	}
	require.Eventually(t, func() bool {
		s.mu.Lock()
		defer s.mu.Unlock()
		return s.admitted == 3
	}, time.Minute, time.Millisecond)
	var answered atomic.Int64
	var wg sync.WaitGroup
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	for range 10 {
		wg.Go(func() {
			resp, err := client.Get("http://" + address + "/v2/health/live")
			if err != nil {
				t.Error(err)
				return
			}
			resp.Body.Close()
			answered.Add(1)
		})
	}
	time.Sleep(20 * time.Millisecond)
	require.Zero(t, answered.Load())
	require.NoError(t, conns[0].Close())
	wg.Wait()
	require.EqualValues(t, 10, answered.Load())
	held(t, address, "/v2/models/m/infer", "Content-Length: 1000\r\n")
	held(t, address, "/v2/models/m/infer", "Content-Length: 1000\r\n") // waits at the end of the server
	require.NoError(t, stop())
	require.Empty(t, s.conns.places)
}

// TestTimeout: the server's and the client's deadlines end a request that waits
// or computes, and a body that does not arrive.
func TestTimeout(t *testing.T) {
	o := options(t)
	o.Jobs = 1
	entered, leave := gated(t, &o)
	_, url := start(t, o)
	a := image(t, "jpeg_large.jpg")
	hasty, m := binaryBody(`,"parameters":{"timeout":200000}`, a)
	late := func() {
		r := send(t, url+"/infer", hasty, m)
		require.Equal(t, 504, r.status)
		require.Equal(t, "the request took longer than 200ms", r.error(t))
	}
	late() // while it computes
	<-entered
	first := make(chan int)
	go func() { first <- send(t, url+"/infer", a, 0).status }()
	<-entered
	late() // while it waits for the worker
	require.Empty(t, entered)
	leave <- struct{}{}
	require.Equal(t, 200, <-first)
	body, n := binaryBody(`,"parameters":{"timeout":18446744073709551615}`, a) // as good as none
	go func() { leave <- struct{}{} }()
	require.Equal(t, 200, send(t, url+"/infer", body, n).status)

	o.Timeout = 50 * time.Millisecond
	_, url = start(t, o)
	require.Equal(t, 504, send(t, url+"/infer", a, 0).status)
	slow, w := io.Pipe()
	defer w.Close()
	r := must(http.NewRequestWithContext(t.Context(), http.MethodPost, url+"/infer", slow))
	r.Header.Set(headerLength, "0")
	got := do(t, r)
	require.Equal(t, 408, got.status)
	require.Contains(t, got.error(t), "did not arrive within 50ms")
}

// TestClientGone: a request whose client has gone gives its place back.
func TestClientGone(t *testing.T) {
	o := options(t)
	o.Jobs = 1
	entered, leave := gated(t, &o)
	s, url := start(t, o)
	ctx, cancel := context.WithCancel(t.Context())
	r := must(http.NewRequestWithContext(ctx, http.MethodPost, url+"/infer", bytes.NewReader(image(t, "jpeg_large.jpg"))))
	r.Header.Set(headerLength, "0")
	go func() {
		<-entered
		cancel()
	}()
	_, err := http.DefaultClient.Do(r)
	require.ErrorIs(t, err, context.Canceled)
	require.Eventually(t, func() bool {
		s.metrics.requests.mu.Lock()
		defer s.metrics.requests.mu.Unlock()
		return s.metrics.requests.n[statusGone] == 1
	}, time.Minute, time.Millisecond)
	close(leave)
	require.Equal(t, 200, send(t, url+"/infer", image(t, "jpeg_large.jpg"), 0).status)
}

// broken is a session that panics or fails.
type broken struct{ device.Session }

func (b broken) Preprocess(_ context.Context, in ...*tensor.Tensor) ([]*tensor.Tensor, error) {
	if bytes.HasPrefix(in[0].Data, []byte("\x89PNG")) {
		panic("a bug")
	}
	return nil, fmt.Errorf("the device is on fire")
}

// TestFault: faults of the server are 500, and it goes on.
func TestFault(t *testing.T) {
	o := options(t)
	var printed bytes.Buffer
	o.Log = log.New(&printed, "", 0)
	good := false
	o.Jobs = 1
	opened := 0
	o.Device = sessions(t, o, func() (device.Session, error) {
		opened++
		s, err := cpu.New().Open(o.Plan, device.Options{})
		if good {
			return s, err
		}
		return broken{s}, err
	})
	_, url := start(t, o)
	r := send(t, url+"/infer", image(t, "jpeg_large.jpg"), 0)
	require.Equal(t, 500, r.status)
	require.Contains(t, printed.String(), "on fire")
	r = send(t, url+"/infer", image(t, "png_rgb8.png"), 0)
	require.Equal(t, 500, r.status)
	require.Equal(t, "internal error", r.error(t))
	require.Contains(t, printed.String(), "a bug")
	good = true
	require.Equal(t, 200, send(t, url+"/infer", image(t, "png_rgb8.png"), 0).status, "the session is new after a panic")
	require.Equal(t, 2, opened)
}

// TestAmplify: a JSON object of many tiny parts needs no more memory than a few
// times its text.
func TestAmplify(t *testing.T) {
	o := options(t)
	s, err := New(o)
	require.NoError(t, err)
	const size = 6 << 20
	for _, c := range []struct{ before, part, after string }{
		{`{"inputs":[`, `{},`, `{}]}`},
		{`{"outputs":[`, `{},`, `{}]}`},
		{`{"inputs":[{"shape":[`, `1,`, `1]}]}`},
		{`{"inputs":[{"data":[`, `"",`, `""]}]}`},
		{`{"inputs":[{"data":[`, `[],`, `[]]}]}`},
		{`{"parameters":{`, `"a":[],`, `"b":1}}`},
		{`{"id":"`, `a`, `"}`},
		{`{"inputs":[{"name":"`, `\n`, `"}]}`},
		{`{"id":"`, "\xff", `"}`},
		{`{"`, "\xff", `":1}`},
		{`{"`, `\n`, `":1}`},
		{`{"parameters":{"timeout":`, `1`, `}}`},
		{`{"inputs":[{"parameters":{"binary_data_size":`, `1`, `}}]}`},
		{`{"inputs":[{"parameters":{"shared_memory_region":"`, `x`, `"}}]}`},
		{`{"outputs":[{"parameters":{"classification":`, `1`, `}}]}`},
		{`{"inputs":[{"shape":[`, `1`, `]}]}`},
		{`{"inputs":[`, `{"data":["","","","","","","","","","","",""]},`, `{}]}`},
		{`{"inputs":[{"data":["`, `\u0041`, `}]}`},
	} {
		body := []byte(c.before + strings.Repeat(c.part, size/len(c.part)) + c.after)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		l := &lease{s: s}
		_, err := s.parse(form{header: -1}, body, l)
		runtime.ReadMemStats(&after)
		l.end()
		require.Equal(t, 400, statusOf(err))
		require.Less(t, len(err.Error()), 1000)
		require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(2*size), c.part)
	}
}

// TestHostile sends damaged requests: none is a fault of the server, and
// nothing of them remains.
func TestHostile(t *testing.T) {
	o := options(t)
	o.Plan = compile(t, "imagenet", codec.Limits{Pixels: 4e6, Bytes: 64 << 20})
	o.Body = 1 << 20
	s, err := New(o)
	require.NoError(t, err)
	h := httptest.NewServer(s.Handler())
	rng := rand.New(rand.NewPCG(1, 2))
	files, err := filepath.Glob("../../../testdata/images/*")
	require.NoError(t, err)
	damaged, err := filepath.Glob("../../../testdata/damaged/*")
	require.NoError(t, err)
	files = append(files, damaged...)
	client := &http.Client{Transport: &http.Transport{}}
	post := func(body []byte, header string, more ...string) int {
		r := must(http.NewRequestWithContext(t.Context(), http.MethodPost, h.URL+"/v2/models/m/infer", bytes.NewReader(body)))
		if header != "" {
			r.Header.Set(headerLength, header)
		}
		for i := 0; i < len(more); i += 2 {
			r.Header.Set(more[i], more[i+1])
		}
		resp, err := client.Do(r)
		require.NoError(t, err)
		defer resp.Body.Close()
		_, err = io.Copy(io.Discard, resp.Body)
		require.NoError(t, err)
		return resp.StatusCode
	}
	// settle waits until no more than most goroutines are left, a minute at
	// most: goroutines of connections end some time after them.
	settle := func(most int) (goroutines int, heap uint64) {
		client.CloseIdleConnections()
		h.CloseClientConnections()
		end := time.Now().Add(time.Minute)
		for i := 0; i < 20 || runtime.NumGoroutine() > most && time.Now().Before(end); i++ {
			runtime.GC()
			time.Sleep(5 * time.Millisecond)
		}
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return runtime.NumGoroutine(), m.HeapAlloc
	}
	idle := runtime.NumGoroutine()
	one := func() int {
		image := must(os.ReadFile(files[rng.IntN(len(files))]))
		for range rng.IntN(8) { // damage it
			switch {
			case len(image) == 0:
			case rng.IntN(4) == 0:
				image = image[:rng.IntN(len(image))]
			default:
				image[rng.IntN(len(image))] = byte(rng.Uint32())
			}
		}
		body, n := binaryBody(`,"parameters":{"binary_data_output":true}`, image)
		header := strconv.Itoa(n)
		switch rng.IntN(6) {
		case 0:
			return post(image, "0")
		case 1: // the object
			for range 1 + rng.IntN(5) {
				body[rng.IntN(n)] = byte(rng.Uint32())
			}
		case 2: // the lengths
			binary.LittleEndian.PutUint32(body[n:], rng.Uint32())
		case 3:
			header = strconv.Itoa(rng.IntN(2*len(body)) - 5)
		case 4:
			body = jsonBody(`,"parameters":{"binary_data_output":true}`, image)
			for range 1 + rng.IntN(3) {
				body[rng.IntN(len(body))] = byte(rng.Uint32())
			}
			header = ""
		case 5:
			return post(body, header, "Content-Encoding", []string{"gzip", "deflate", "x"}[rng.IntN(3)])
		}
		return post(body, header)
	}
	for range 50 {
		one()
	}
	goroutines, heap := settle(idle)
	counts := map[int]int{}
	for range short.Rounds(t, 1000, 100) {
		counts[one()]++
	}
	for status := range counts {
		require.Less(t, status, 500, "%v", counts)
	}
	t.Logf("statuses: %v", counts)
	require.Greater(t, counts[400], counts[200])
	g, after := settle(goroutines + 1)
	t.Logf("goroutines %d -> %d, heap %d KiB -> %d KiB", goroutines, g, heap>>10, after>>10)
	require.LessOrEqual(t, g, goroutines+1)
	// Each worker keeps the memory of its largest image, of up to 4 megapixels.
	require.Less(t, after, heap+2*(16<<20))
	h.Close()
	require.Zero(t, s.held)
	require.Zero(t, s.admitted)
}

// TestShutdown: when the context ends under load, every accepted request gets
// its response, and readiness is false meanwhile.
func TestShutdown(t *testing.T) {
	for range short.Rounds(t, 10, 2) {
		o := options(t)
		o.Queue = 64
		o.Drain = 50 * time.Millisecond
		s, err := New(o)
		require.NoError(t, err)
		l, err := net.Listen("tcp", "127.0.0.1:0")
		require.NoError(t, err)
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan error)
		go func() { ended <- s.Serve(ctx, l) }()
		url := "http://" + l.Addr().String() + "/v2/models/m/infer"
		body := image(t, "jpeg_large.jpg")
		want := reference(t, o.Plan, body)[0]
		var good, failed atomic.Int64
		var wg sync.WaitGroup
		for range 8 {
			wg.Go(func() {
				client := &http.Client{Transport: &http.Transport{}}
				defer client.CloseIdleConnections()
				for {
					r := must(http.NewRequestWithContext(t.Context(), http.MethodPost, url, bytes.NewReader(body)))
					r.Header.Set(headerLength, "0")
					resp, err := client.Do(r)
					if err != nil {
						if ctx.Err() == nil {
							t.Error(err)
						}
						failed.Add(1)
						return // the server no longer listens
					}
					b, err := io.ReadAll(resp.Body)
					resp.Body.Close()
					if err != nil || resp.StatusCode != 200 || !bytes.HasSuffix(b, want.Data) {
						t.Errorf("status %d: %v", resp.StatusCode, err)
						return
					}
					good.Add(1)
				}
			})
		}
		require.Eventually(t, func() bool { return good.Load() > 8 }, time.Minute, time.Millisecond)
		stop()
		require.NoError(t, <-ended)
		wg.Wait()
		require.EqualValues(t, 8, failed.Load())
		require.Equal(t, s.Answered(), good.Load(), "a request was accepted and lost")
		require.Positive(t, good.Load())
	}
}

// TestJSONCannotHold: types without a JSON form, and values that are no
// numbers, must be requested in binary form.
func TestJSONCannotHold(t *testing.T) {
	for _, c := range []struct {
		op   transforms.Op
		text string
	}{
		{transforms.NewToType(tensor.Float16), "is FP16, which JSON cannot hold: ask for binary_data"},
		{transforms.NewNormalize([]float64{0, 0, 0}, []float64{1e-45, 1e-45, 1e-45}), "which JSON cannot hold: ask for binary_data"},
	} {
		g, err := preset.Graph("imagenet")
		require.NoError(t, err)
		g.Then(c.op, []string{"image"}, []string{"image"})
		o := options(t)
		o.Plan, err = datagraph.Compile(g, datagraph.CompileOptions{})
		require.NoError(t, err)
		_, url := start(t, o)
		a := image(t, "jpeg_large.jpg")
		r := send(t, url+"/infer", jsonBody("", a), -1)
		require.Equal(t, 400, r.status)
		require.Contains(t, r.error(t), c.text)
		requireTensor(t, reference(t, o.Plan, a)[0], send(t, url+"/infer", jsonBody(`,"parameters":{"binary_data_output":true}`, a), -1).outputs(t)[0])
	}
}

// FuzzParse: no body makes the parser panic, and what it accepts is within the
// limits.
func FuzzParse(f *testing.F) {
	a := image(f, "png_rgb8.png")
	body, n := binaryBody("", a, a)
	f.Add(int64(n), body)
	f.Add(int64(0), a)
	f.Add(int64(-1), jsonBody(`,"outputs":[{"name":"image","parameters":{"binary_data":true}}],"parameters":{"timeout":5}`, a))
	f.Add(int64(-1), a)
	f.Add(int64(-2), multipartBody("image", a, a))
	f.Add(int64(-1), []byte(`{"inputs":[{"name":"image","shape":[2,1],"datatype":"BYTES","data":[["\u002f\/9j"],[""]]}]}`))
	o := options(f)
	s, err := New(o)
	require.NoError(f, err)
	f.Fuzz(func(t *testing.T, header int64, body []byte) {
		f := form{header: header}
		if header < -1 {
			f = form{header: -1, boundary: "x"}
		}
		l := &lease{s: s}
		defer l.end()
		r, err := s.parse(f, body, l)
		if err != nil {
			if status := statusOf(err); status != 400 && status != 413 {
				t.Fatalf("status %d: %v", status, err)
			}
			return
		}
		total := 0
		for _, i := range r.images {
			total += len(i)
		}
		if len(r.images) < 1 || len(r.images) > o.Images || total > len(body) || len(r.outputs) != 1 || r.timeout < 0 {
			t.Fatalf("%d images of %d bytes, %d outputs, timeout %v", len(r.images), total, len(r.outputs), r.timeout)
		}
	})
}

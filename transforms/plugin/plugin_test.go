package plugin

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/codec"
	_ "github.com/infer-prep/infer-prep/codec/all"
	"github.com/infer-prep/infer-prep/datagraph"
	"github.com/infer-prep/infer-prep/internal/clib"
	"github.com/infer-prep/infer-prep/internal/clib/clibtest"
	"github.com/infer-prep/infer-prep/modelbundle"
	"github.com/infer-prep/infer-prep/tensor"
	"github.com/infer-prep/infer-prep/transforms"
	_ "github.com/infer-prep/infer-prep/transforms/all" // every op
)

var example = filepath.Join("..", "..", "examples", "plugin")

// built compiles a library once for all tests.
func built(t *testing.T, name string, source ...string) string {
	t.Helper()
	builtMu.Lock()
	defer builtMu.Unlock()
	if files[name] == "" {
		from := clibtest.Build(t, []string{"-I", "."}, source...)
		b, err := os.ReadFile(from)
		require.NoError(t, err)
		to := filepath.Join(folder, name+filepath.Ext(from))
		require.NoError(t, os.WriteFile(to, b, 0o700))
		files[name] = to
	}
	require.NoError(t, Allow(name, files[name]))
	return files[name]
}

var (
	builtMu sync.Mutex
	files   = map[string]string{}
	folder  string // of the libraries, which stay loaded until the end
)

func TestMain(m *testing.M) {
	var err error
	if folder, err = os.MkdirTemp("", "plugin"); err != nil {
		panic(err)
	}
	status := m.Run()
	_ = os.RemoveAll(folder) // Windows keeps loaded libraries
	os.Exit(status)
}

// contrast compiles the library of examples/plugin and allows it.
func contrast(t *testing.T) string {
	return built(t, "contrast", filepath.Join(example, "local_contrast.c"))
}

// faults compiles the library of testdata and allows it.
func faults(t *testing.T) string {
	return built(t, "faults", filepath.Join("testdata", "faults.c"))
}

// localContrast is examples/plugin/local_contrast.c in plain Go.
func localContrast(s *tensor.Tensor, radius, amount int) []byte {
	h, w, channels := s.Height(), s.Width(), s.Channels()
	at := func(y, x, c int) int { return int(s.Data[y*s.Strides[0]+x*s.Strides[1]+c*s.Strides[2]]) }
	out := make([]byte, 0, h*w*channels)
	for y := range h {
		for x := range w {
			for c := range channels {
				sum, n := 0, 0
				for v := max(0, y-radius); v <= min(h-1, y+radius); v++ {
					for u := max(0, x-radius); u <= min(w-1, x+radius); u++ {
						sum += at(v, u, c)
						n++
					}
				}
				v := at(y, x, c)
				v += ((v-(sum+n/2)/n)*amount + 128) >> 8
				out = append(out, byte(min(max(v, 0), 255)))
			}
		}
	}
	return out
}

// noise returns an image of changing values.
func noise(t testing.TB, h, w, channels int) *tensor.Tensor {
	s, err := tensor.New(tensor.Image(tensor.Uint8, tensor.HWC, h, w, channels))
	require.NoError(t, err)
	v := uint32(1)
	for i := range s.Data {
		v = v*1664525 + 1013904223
		s.Data[i] = byte(v >> 24)
	}
	return s
}

// apply runs an op alone.
func apply(op transforms.Op, src *tensor.Tensor) (*tensor.Tensor, error) {
	var d [1]tensor.Desc
	if err := op.Infer(d[:], []tensor.Desc{src.Desc}); err != nil {
		return nil, err
	}
	dst, err := tensor.New(d[0])
	if err != nil {
		return nil, err
	}
	for i := range dst.Data {
		dst.Data[i] = 0xA5
	}
	c := transforms.NewContext(codec.DefaultLimits())
	c.Begin()
	return dst, op.Apply(c, []*tensor.Tensor{dst}, []*tensor.Tensor{src})
}

// readGraph reads the graph of examples/plugin.
func readGraph(t *testing.T) *datagraph.Graph {
	b, err := os.ReadFile(filepath.Join(example, "graph.json"))
	require.NoError(t, err)
	g := &datagraph.Graph{}
	require.NoError(t, g.UnmarshalJSON(b))
	return g
}

func picture(t testing.TB) *tensor.Tensor {
	b, err := os.ReadFile(filepath.Join("..", "..", "examples", "classifier", "images", "00.jpg"))
	require.NoError(t, err)
	return tensor.FromBytes(b)
}

// decoded decodes the picture.
func decoded(t testing.TB) *tensor.Tensor {
	p, err := datagraph.Compile(datagraph.New(transforms.NewDecode()), datagraph.CompileOptions{})
	require.NoError(t, err)
	out, err := p.NewRunner().Run(picture(t))
	require.NoError(t, err)
	return out[0]
}

// TestExample runs the graph of examples/plugin, and compares its op with the
// same computation in Go.
func TestExample(t *testing.T) {
	contrast(t)
	g := readGraph(t)
	p, err := datagraph.Compile(g, datagraph.CompileOptions{})
	require.NoError(t, err)
	r := p.NewRunner()
	steps := 0
	r.OnStep = func(i int, out []*tensor.Tensor) error {
		if p.Steps()[i].Op == "plugin" {
			steps++
			require.Equal(t, localContrast(decoded(t), 12, 128), out[0].Data)
		}
		return nil
	}
	out, err := r.Run(picture(t))
	require.NoError(t, err)
	require.Equal(t, 1, steps)
	require.Equal(t, tensor.Float32, out[0].DType)
	require.Equal(t, tensor.CHW, out[0].Layout)

	for _, c := range []struct{ h, w, channels, radius, amount int }{
		{1, 1, 1, 1, 256}, {1, 9, 3, 4, 1024}, {9, 1, 3, 4, 1024}, {20, 30, 3, 2, 64}, {20, 30, 4, 64, 512}, {7, 130, 2, 64, 0}, {33, 8, 1, 7, 333},
	} {
		src := noise(t, c.h, c.w, c.channels)
		before := slices.Clone(src.Data)
		op := New("contrast", "local_contrast", fmt.Sprintf("radius=%d amount=%d", c.radius, c.amount))
		require.NoError(t, op.Validate())
		dst, err := apply(op, src)
		require.NoError(t, err)
		require.Equal(t, localContrast(src, c.radius, c.amount), dst.Data, "%+v", c)
		require.Equal(t, before, src.Data)
	}
}

// TestContract checks views, unknown sizes, and outputs of other types.
func TestContract(t *testing.T) {
	contrast(t)
	faults(t)
	op := New("contrast", "local_contrast", "radius=3 amount=100")
	whole := noise(t, 20, 30, 3)
	view, err := whole.Slice(0, 2, 18)
	require.NoError(t, err)
	view, err = view.Slice(1, 5, 25)
	require.NoError(t, err)
	dst, err := apply(op, view)
	require.NoError(t, err)
	require.Equal(t, localContrast(view, 3, 100), dst.Data, "a window")

	const u = tensor.Unknown
	var d [1]tensor.Desc
	in := tensor.Image(tensor.Uint8, tensor.HWC, u, 7, 3)
	require.NoError(t, op.Infer(d[:], []tensor.Desc{in}))
	require.Equal(t, in, d[0])
	mean := New("faults", "mean", "")
	require.NoError(t, mean.Infer(d[:], []tensor.Desc{in}))
	require.Equal(t, tensor.Image(tensor.Float32, tensor.CHW, u, 7, 1), d[0])
	dst, err = apply(mean, whole)
	require.NoError(t, err)
	for i, v := range tensor.View[float32](dst) {
		p := whole.Data[3*i:]
		require.Equal(t, float32(int(p[0])+int(p[1])+int(p[2]))/3, v)
	}

	same := New("faults", "fault", "")
	for dt := tensor.Uint8; dt <= tensor.Bool; dt++ {
		for _, s := range []tensor.Shape{{}, tensor.Dims(0), tensor.Dims(0, 4), tensor.Dims(5), tensor.Dims(1, 1, 1, 2, 1, 1, 3, 1)} {
			src, err := tensor.New(tensor.Desc{DType: dt, Shape: s})
			require.NoError(t, err)
			for i := range src.Data {
				src.Data[i] = byte(i + 1)
			}
			dst, err := apply(same, src)
			require.NoError(t, err)
			require.Equal(t, src.Desc, dst.Desc)
			require.True(t, bytes.Equal(src.Data, dst.Data))
		}
	}
	for _, bad := range []tensor.Desc{tensor.Encoded(), {}, {DType: tensor.Uint8, Shape: tensor.Dims(-5)}, {DType: 77}, {DType: tensor.Uint8, Layout: tensor.HWC}} {
		require.ErrorIs(t, same.Infer(d[:], []tensor.Desc{bad}), transforms.ErrInput)
	}
}

// TestErrors checks the errors of libraries.
func TestErrors(t *testing.T) {
	contrast(t)
	faults(t)
	src := noise(t, 4, 5, 3)
	for _, c := range []struct {
		library, function, args string
		kind                    error
		want                    string
	}{
		{"contrast", "local_contrast", "", transforms.ErrParam, `plugin: contrast/local_contrast: create: arguments "": want "radius=R amount=A"`},
		{"contrast", "local_contrast", "radius=0 amount=1", transforms.ErrParam, "create: radius 0: want 1 to 64"},
		{"contrast", "local_contrast", "radius=nan amount=1", transforms.ErrParam, `create: arguments "radius=nan amount=1": want`},
		{"contrast", "local_contrast", "radius=4294967297 amount=1", transforms.ErrParam, `create: arguments "radius=4294967297 amount=1": want`},
		{"contrast", "local_contrast", "radius=1 amount=-1", transforms.ErrParam, "create: amount -1: want 0 to 1024"},
		{"contrast", "local_contrast", "radius=1 amount=1 ", transforms.ErrParam, "create: arguments"},
		{"contrast", "local_contrst", "", transforms.ErrParam, `library "contrast" has no op "local_contrst"; did you mean "local_contrast"?`},
		{"faults", "median", "", transforms.ErrParam, `library "faults" has no op "median"; did you mean "mean"?`},
		{"faults", "blur", "", transforms.ErrParam, `library "faults" has no op "blur"; known: fault, mean`},
		{"faults", "fault", "create", transforms.ErrParam, "plugin: faults/fault: create: radius nan: want 1 to 64"},
		{"faults", "fault", "infer", transforms.ErrInput, "plugin: faults/fault: infer: no image of this kind"},
		{"faults", "fault", "silent", transforms.ErrInput, "infer: the library gives no reason"},
		{"faults", "fault", "garbage", transforms.ErrInput, "infer: ?"},
		{"faults", "fault", "apply", nil, "plugin: faults/fault: apply: the image is too dark"},
		{"faults", "fault", "dtype", transforms.ErrInput, "invalid output: dtype 99, layout 1, rank 3"},
		{"faults", "fault", "bytes", transforms.ErrInput, "invalid output: dtype 12"},
		{"faults", "fault", "layout", transforms.ErrInput, "invalid output: dtype 1, layout -1"},
		{"faults", "fault", "axes", transforms.ErrInput, "want three axes"},
		{"faults", "fault", "rank", transforms.ErrInput, "invalid output: dtype 1, layout 1, rank 9"},
		{"faults", "fault", "negative", transforms.ErrInput, "want sizes of 0 or more"},
		{"faults", "fault", "least", transforms.ErrInput, "want sizes of 0 or more"},
		{"faults", "fault", "unknown", transforms.ErrInput, "uint8 HWC (?, 5, 3) has unknown sizes"},
		{"faults", "fault", "huge", transforms.ErrInput, "less than 2^62 bytes"},
		{"faults", "fault", "scratch", nil, "18446744073709551615 bytes of scratch memory: the limit is 1073741824"},
		{"faults", "fault", "fickle", nil, "uint8 HWC (4, 5, 3) becomes uint8 HWC (2, 5, 3), and uint8 HWC (1, 5, 3) before"},
	} {
		op := New(c.library, c.function, c.args)
		require.NoError(t, op.Validate())
		_, err := apply(op, src)
		require.ErrorContains(t, err, c.want, c.args)
		if c.kind != nil {
			require.ErrorIs(t, err, c.kind, c.args)
		}
		var e *Error
		require.Equal(t, !strings.Contains(c.want, "has no op"), errors.As(err, &e), c.args)
	}

	// A graph's limits apply to what a library asks for.
	g := datagraph.New(New("faults", "fault", "large"))
	g.Inputs[0].Desc = src.Desc
	_, err := datagraph.Compile(g, datagraph.CompileOptions{})
	require.ErrorIs(t, err, codec.ErrBytes)
}

// TestNotAllowed: a graph with a library that is not allowed can be read, but
// not compiled.
func TestNotAllowed(t *testing.T) {
	g := readGraph(t)
	for i := range g.Steps {
		if op, ok := g.Steps[i].Op.(*Op); ok {
			other := *op
			other.Library = "contrasts" // the test that ran before may have allowed contrast
			g.Steps[i].Op = &other
		}
	}
	_, err := datagraph.Compile(g, datagraph.CompileOptions{})
	if !clib.Supported {
		require.ErrorIs(t, err, ErrUnsupported)
		require.ErrorContains(t, err, runtime.GOOS+"/"+runtime.GOARCH)
		require.ErrorIs(t, Allow("contrast", "local_contrast.so"), ErrUnsupported)
		return
	}
	require.ErrorIs(t, err, ErrNotAllowed)
	require.ErrorContains(t, err, `plugin: library "contrasts": library not allowed`)
	require.ErrorContains(t, err, "--allow-plugin contrasts=PATH")

	c := transforms.NewContext(codec.DefaultLimits())
	x := noise(t, 2, 2, 3)
	require.ErrorIs(t, New("contrasts", "f", "").Apply(c, []*tensor.Tensor{x}, []*tensor.Tensor{x.Clone()}), ErrNotAllowed)

	contrast(t)
	_, err = datagraph.Compile(g, datagraph.CompileOptions{})
	require.ErrorContains(t, err, `; did you mean "contrast"?`)
}

// TestBundle: programs that allow the library make and open a bundle with the
// op, because both describe the graph's outputs.
func TestBundle(t *testing.T) {
	contrast(t)
	g := readGraph(t)
	var file bytes.Buffer
	require.NoError(t, modelbundle.Create(&file, &modelbundle.Content{Graph: g}))
	b, err := modelbundle.Open(file.Bytes(), modelbundle.DefaultLimits())
	require.NoError(t, err)
	require.Equal(t, g, b.Graph())

	l, err := lookup("contrast")
	require.NoError(t, err)
	allowedMu.Lock()
	delete(allowed, "contrast") // as in another program
	allowedMu.Unlock()
	_, err = modelbundle.Open(file.Bytes(), modelbundle.DefaultLimits())
	require.ErrorIs(t, err, ErrNotAllowed)
	require.ErrorIs(t, modelbundle.Create(&file, &modelbundle.Content{Graph: g}), ErrNotAllowed)
	allowedMu.Lock()
	allowed["contrast"] = l
	allowedMu.Unlock()
}

// TestDigest: a graph may demand one build of a library.
func TestDigest(t *testing.T) {
	file := contrast(t)
	digest, err := digestOf(file)
	require.NoError(t, err)
	op := New("contrast", "local_contrast", "radius=1 amount=1")
	op.SHA256 = digest
	require.NoError(t, op.Validate())
	_, err = apply(op, noise(t, 2, 2, 3))
	require.NoError(t, err)
	op.SHA256 = strings.Repeat("0", 64)
	require.NoError(t, op.Validate())
	_, err = apply(op, noise(t, 2, 2, 3))
	require.ErrorIs(t, err, ErrDigest)
	require.ErrorContains(t, err, "has SHA-256 "+digest+", the graph wants "+op.SHA256)
}

// TestAllow checks the errors of Allow.
func TestAllow(t *testing.T) {
	good := faults(t)
	dir := t.TempDir()
	text := filepath.Join(dir, "text.so")
	require.NoError(t, os.WriteFile(text, []byte("no library"), 0o700))
	b, err := os.ReadFile(good)
	require.NoError(t, err)
	short := filepath.Join(dir, "short.so")
	require.NoError(t, os.WriteFile(short, b[:200], 0o700))
	source := filepath.Join("testdata", "faults.c")
	build := func(flags ...string) string { return clibtest.Build(t, append(flags, "-O0", "-I", "."), source) }
	for _, c := range []struct {
		name, path string
		kind       error
		want       string
	}{
		{"", good, nil, `want a name of 1 to 64 characters a-z, 0-9, _ and -, not a path`},
		{"../faults", good, nil, "not a path"},
		{"Faults", good, nil, "not a path"},
		{strings.Repeat("a", 65), good, nil, "want a name of 1 to 64 characters"},
		{"none", filepath.Join(dir, "none.so"), os.ErrNotExist, "none.so"},
		{"folder", dir, ErrLibrary, "want a regular file"},
		{"text", text, ErrLibrary, "text.so: "},
		{"short", short, ErrLibrary, "short.so: "},
		{"faults", contrast(t), nil, "the name already stands for " + good},
		{"abi", build("-DABI=2"), ErrLibrary, "version 2 of the interface, want 1"},
		{"abi", build("-DABI=0"), ErrLibrary, "version 0 of the interface, want 1"},
		{"no-table", build("-DNOTABLE"), ErrLibrary, "infer_prep_plugin returns no table"},
		{"no-symbol", build("-DNOSYMBOL"), ErrLibrary, ""},
		{"count", build("-DCOUNT=0"), ErrLibrary, "a table of 0 ops, want 1 to 1024"},
		{"count", build("-DCOUNT=1025"), ErrLibrary, "a table of 1025 ops"},
		{"twice", build(`-DSECOND="fault"`), ErrLibrary, `two ops are named "fault"`},
		{"op-name", build(`-DSECOND="Mean"`), ErrLibrary, `op 1: name "Mean": want 1 to 64 characters a-z, 0-9 and _`},
		{"op-name", build(`-DSECOND=NULL`), ErrLibrary, `op 1: name ""`},
		{"no-function", build("-DDESTROY=NULL"), ErrLibrary, `op "mean": want create, destroy, infer and apply`},
	} {
		err := Allow(c.name, c.path)
		require.ErrorContains(t, err, c.want)
		require.ErrorContains(t, err, fmt.Sprintf("plugin: allow %q: ", c.name))
		if c.kind != nil {
			require.ErrorIs(t, err, c.kind, "%s: %s", c.name, c.path)
		}
	}

	// A relative path is a file of the current folder, never one that the
	// system's loader finds. The same file may be allowed again, by many
	// goroutines at once.
	t.Chdir(filepath.Dir(good))
	var wg sync.WaitGroup
	errs := make([]error, 8)
	for i := range errs {
		wg.Go(func() {
			errs[i] = errors.Join(Allow("faults", filepath.Base(good)), Allow("faults-2", "./"+filepath.Base(good)))
		})
	}
	wg.Wait()
	require.NoError(t, errors.Join(errs...))
	_, err = apply(New("faults-2", "mean", ""), noise(t, 2, 2, 3))
	require.NoError(t, err)
}

// TestValidate checks the form of parameters, without a library.
func TestValidate(t *testing.T) {
	for _, op := range []Op{
		{}, {Library: "a"}, {Library: "a b", Function: "f"}, {Library: "/tmp/a.so", Function: "f"}, {Library: "a.so", Function: "f"}, {Library: "Ä", Function: "f"},
		{Library: "a", Function: "F"}, {Library: "a", Function: "f-g"}, {Library: "a", Function: strings.Repeat("f", 65)},
		{Library: "a", Function: "f", Args: "\x00"}, {Library: "a", Function: "f", Args: "\xff"}, {Library: "a", Function: "f", Args: strings.Repeat("x", maxArgs+1)},
		{Library: "a", Function: "f", SHA256: "00"}, {Library: "a", Function: "f", SHA256: strings.Repeat("A", 64)}, {Library: "a", Function: "f", SHA256: strings.Repeat("x", 64)},
	} {
		require.ErrorIs(t, op.Validate(), transforms.ErrParam, "%.80v", op)
	}
	require.NoError(t, (&Op{"a-_9", "f_9", strings.Repeat("x", maxArgs), strings.Repeat("0a", 32)}).Validate())
}

// TestForms writes and reads the parameters in both forms, complete and
// corrupt.
func TestForms(t *testing.T) {
	for _, op := range []*Op{New("a", "f", ""), {"contrast", "local_contrast", "größe=\"1\"\n", strings.Repeat("0a", 32)}, {"a", "f", strings.Repeat("x", maxArgs), ""}} {
		text, err := transforms.MarshalParams(op)
		require.NoError(t, err)
		back, err := transforms.UnmarshalParams("plugin", 1, text)
		require.NoError(t, err)
		require.Equal(t, op, back)
		b, err := transforms.AppendParams(nil, op)
		require.NoError(t, err)
		require.LessOrEqual(t, len(b), op.Msgsize())
		back, rest, err := transforms.ReadParams("plugin", 1, append(slices.Clone(b), 'y'))
		require.NoError(t, err)
		require.Equal(t, "y", string(rest))
		require.Equal(t, op, back)
		for n := 0; n < len(b); n += 1 + len(b)/1000 {
			_, _, err := transforms.ReadParams("plugin", 1, b[:n])
			require.ErrorIs(t, err, transforms.ErrParam)
		}
		b[0]++
		_, _, err = transforms.ReadParams("plugin", 1, append(b, 0))
		require.ErrorIs(t, err, transforms.ErrParam)

		var fields map[string]json.RawMessage
		require.NoError(t, json.Unmarshal(text, &fields))
		require.Len(t, fields, 4)
		for name, value := range fields {
			delete(fields, name)
			less, err := json.Marshal(fields)
			require.NoError(t, err)
			_, err = transforms.UnmarshalParams("plugin", 1, less)
			require.ErrorIs(t, err, transforms.ErrParam)
			require.ErrorContains(t, err, name)
			fields[name] = value
		}
	}
	_, err := transforms.UnmarshalParams("plugin", 1, []byte(`{"library":"/tmp/a.so","function":"f","args":"","sha256":""}`))
	require.ErrorIs(t, err, transforms.ErrParam)
}

// TestConcurrent runs one plan with several runners, which share an instance.
func TestConcurrent(t *testing.T) {
	contrast(t)
	p, err := datagraph.Compile(readGraph(t), datagraph.CompileOptions{})
	require.NoError(t, err)
	out, err := p.NewRunner().Run(picture(t))
	require.NoError(t, err)
	want := out[0].Clone()
	var wg sync.WaitGroup
	errs := make([]error, 6)
	for i := range errs {
		wg.Go(func() {
			r := p.NewRunner()
			op := New("contrast", "local_contrast", fmt.Sprintf("radius=%d amount=9", 1+i%3))
			for range 5 {
				out, err := r.Run(picture(t))
				if err == nil && !bytes.Equal(out[0].Data, want.Data) {
					err = errors.New("another result")
				}
				_, e := apply(op, noise(t, 3+i, 4, 3))
				errs[i] = errors.Join(errs[i], err, e)
			}
		})
	}
	wg.Wait()
	require.NoError(t, errors.Join(errs...))
}

// TestAllocations: a runner does not allocate, also for images of changing
// sizes.
func TestAllocations(t *testing.T) {
	contrast(t)
	g := datagraph.New(New("contrast", "local_contrast", "radius=2 amount=99"))
	g.Inputs[0].Desc = tensor.Image(tensor.Uint8, tensor.HWC, tensor.Unknown, tensor.Unknown, 3)
	p, err := datagraph.Compile(g, datagraph.CompileOptions{})
	require.NoError(t, err)
	r := p.NewRunner()
	images := []*tensor.Tensor{noise(t, 9, 8, 3), noise(t, 5, 12, 3)}
	once := func() {
		for _, m := range images {
			if _, err := r.Run(m); err != nil {
				t.Error(err)
			}
		}
	}
	once()
	once()
	n := testing.AllocsPerRun(20, once)
	if i, ok := debug.ReadBuildInfo(); ok && slices.Contains(i.Settings, debug.BuildSetting{Key: "-race", Value: "true"}) {
		t.Skip("under the race detector, sync.Pool forgets at random")
	}
	require.Zero(t, n)
}

// TestLifetime: runners of equal steps share an instance, which is destroyed
// when none is left.
func TestLifetime(t *testing.T) {
	file := faults(t)
	fn, err := clib.Load(file, "live_instances")
	require.NoError(t, err)
	live := func() int { return int(int32(clib.Call(fn))) }
	none := func() {
		for i := 0; live() > 0; i++ {
			require.Less(t, i, 200, "%d instances are not destroyed", live())
			runtime.GC()
			time.Sleep(5 * time.Millisecond)
		}
	}
	none() // other tests'
	l, err := lookup("faults")
	require.NoError(t, err)
	for range 3 {
		g := datagraph.New(New("faults", "fault", "a"), New("faults", "fault", "a"), New("faults", "fault", "b"))
		g.Inputs[0].Desc = noise(t, 2, 2, 3).Desc
		p, err := datagraph.Compile(g, datagraph.CompileOptions{})
		require.NoError(t, err)
		var runners []*datagraph.Runner
		for range 4 {
			r := p.NewRunner()
			_, err := r.Run(noise(t, 2, 2, 3))
			require.NoError(t, err)
			runners = append(runners, r)
		}
		for range 5 {
			runtime.GC()
		}
		require.GreaterOrEqual(t, live(), 2)
		for _, r := range runners { // the instances are those of before
			_, err := r.Run(noise(t, 2, 2, 3))
			require.NoError(t, err)
		}
		l.mu.Lock()
		require.Len(t, l.instances, 2)
		l.mu.Unlock()
		runtime.KeepAlive(runners)
	}
	none()
	l.mu.Lock()
	defer l.mu.Unlock()
	require.Empty(t, l.instances)
}

// TestHeader compares the constants of the header with those of Go.
func TestHeader(t *testing.T) {
	b, err := os.ReadFile("infer_prep_plugin.h")
	require.NoError(t, err)
	values := map[string]int{}
	for _, m := range regexp.MustCompile(`(?m)^(?:#define|\t)\s*INFER_PREP_(\w+) (?:= )?\(?(-?\d+)\)?`).FindAllStringSubmatch(string(b), -1) {
		n, err := strconv.Atoi(m[2])
		require.NoError(t, err)
		values[strings.ToLower(m[1])] = n
	}
	want := map[string]int{
		"abi": abi, "max_rank": tensor.MaxRank, "unknown": tensor.Unknown,
		"no_layout": int(tensor.NoLayout), "hwc": int(tensor.HWC), "chw": int(tensor.CHW),
	}
	for d := tensor.Uint8; d <= tensor.Bool; d++ {
		want[d.String()] = int(d)
	}
	require.Equal(t, want, values)
}

// TestCPlusPlus compiles the header as C++.
func TestCPlusPlus(t *testing.T) {
	compiler, err := exec.LookPath("c++")
	if err != nil {
		t.Skip("no C++ compiler: ", err)
	}
	file := filepath.Join(t.TempDir(), "a.cc")
	require.NoError(t, os.WriteFile(file, []byte("#include \"infer_prep_plugin.h\"\n"), 0o600))
	out, err := exec.Command(compiler, "-std=c++11", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-I", ".", "-fsyntax-only", file).CombinedOutput()
	require.NoError(t, err, string(out))
}

package modelbundle

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/tinylib/msgp/msgp"

	"github.com/infer-prep/infer-prep/codec"
	_ "github.com/infer-prep/infer-prep/codec/all"
	"github.com/infer-prep/infer-prep/datagraph"
	"github.com/infer-prep/infer-prep/internal/short"
	"github.com/infer-prep/infer-prep/store"
	"github.com/infer-prep/infer-prep/tensor"
	x "github.com/infer-prep/infer-prep/transforms"
)

// bmp returns an image of w x h pixels of 24 bits; pixel (x, y) has blue x,
// green y and red 7.
func bmp(w, h int) []byte {
	line := (3*w + 3) &^ 3
	b := make([]byte, 54+h*line)
	copy(b, "BM")
	for _, f := range [][2]int{{2, len(b)}, {10, 54}, {14, 40}, {18, w}, {22, h}, {26, 24<<16 | 1}, {34, h * line}} {
		binary.LittleEndian.PutUint32(b[f[0]:], uint32(f[1]))
	}
	for y := range h {
		for x := range w {
			copy(b[54+(h-1-y)*line+3*x:], []byte{byte(x), byte(y), 7})
		}
	}
	return b
}

func testGraph() *datagraph.Graph {
	g := datagraph.New(x.NewDecode(), x.NewToTensor()).Rename("pixel_values")
	g.Reference = "torchvision 0.29.2"
	return g
}

func testContent(t testing.TB) *Content {
	c := &Content{
		Graph:    testGraph(),
		Versions: map[string]string{"torchvision": "0.29.2", "Pillow": "13.0.0"},
		Models:   []Model{{"net.onnx", "onnx", []byte("not really a model, but seventy bytes long, to be more than one line")}, {"net.tflite", "tflite", nil}},
		Labels:   []string{"cat", "", "Hund & Katze"},
		Meta:     map[string]string{"author": "a <b>", "license": "Apache-2.0"},
		Sections: map[string][]byte{"calibration/table": {1, 2, 3}},
	}
	for _, size := range [][2]int{{3, 2}, {2, 2}} {
		g, err := MakeGolden(c.Graph, fmt.Sprintf("in/%dx%d.bmp", size[0], size[1]), bmp(size[0], size[1]), codec.DefaultLimits())
		require.NoError(t, err)
		c.Goldens = append(c.Goldens, g)
	}
	return c
}

func create(t testing.TB, c *Content) []byte {
	var b bytes.Buffer
	require.NoError(t, Create(&b, c))
	return b.Bytes()
}

func opened(t testing.TB, b []byte) *Bundle {
	o, err := Open(b, DefaultLimits())
	require.NoError(t, err)
	return o
}

func TestRoundTrip(t *testing.T) {
	c := testContent(t)
	raw := create(t, c)
	require.Zero(t, len(raw)%64)
	file := filepath.Join(t.TempDir(), "a.bundle")
	require.NoError(t, os.WriteFile(file, raw, 0o666))
	for _, o := range []struct {
		name string
		open func() (*Bundle, error)
	}{
		{"memory", func() (*Bundle, error) { return Open(raw, DefaultLimits()) }},
		{"default limits", func() (*Bundle, error) { return Open(raw, Limits{}) }},
		{"no limits", func() (*Bundle, error) { return Open(raw, Limits{Parsed: -1}) }},
		{"reader", func() (*Bundle, error) {
			return OpenReader(bytes.NewReader(raw), int64(len(raw)), DefaultLimits())
		}},
		{"file", func() (*Bundle, error) { return openFile(file, DefaultLimits()) }},
		{"mapped file", func() (*Bundle, error) { return openMapped(file, DefaultLimits()) }},
	} {
		t.Run(o.name, func(t *testing.T) {
			b, err := o.open()
			require.NoError(t, err)
			want, err := c.Graph.MarshalJSON()
			require.NoError(t, err)
			got, err := b.Graph().MarshalJSON()
			require.NoError(t, err)
			require.JSONEq(t, string(want), string(got))
			require.Equal(t, "torchvision 0.29.2", b.Reference())
			require.Equal(t, c.Versions, b.Versions())
			require.Equal(t, Exact, b.Least())
			require.Equal(t, c.Labels, b.Labels())
			require.Equal(t, c.Meta, b.Meta())
			var names []string
			for _, s := range b.Sections() {
				names = append(names, s.Name)
				require.Zero(t, s.Offset%64, s.Name)
				require.Equal(t, sha256.Sum256(raw[s.Offset:s.Offset+s.Size]), s.SHA256)
				data, err := b.Section(s.Name)
				require.NoError(t, err)
				require.True(t, bytes.Equal(raw[s.Offset:s.Offset+s.Size], data), s.Name)
			}
			require.Equal(t, []string{"calibration/table", "golden/in/2x2.bmp", "golden/in/3x2.bmp", "graph", "labels", "meta", "model/net.onnx", "model/net.tflite"}, names)
			goldens, err := b.Goldens()
			require.NoError(t, err)
			require.Equal(t, []Golden{c.Goldens[1], c.Goldens[0]}, goldens)
			require.Equal(t, []string{"net.onnx", "net.tflite"}, b.Models())
			m, err := b.Model("net.onnx")
			require.NoError(t, err)
			require.Equal(t, c.Models[0], m)
			_, err = b.Model("")
			require.ErrorIs(t, err, ErrNoSection)
			require.ErrorContains(t, err, "net.onnx, net.tflite")
			_, err = b.Section("model/net")
			require.ErrorIs(t, err, ErrNoSection)
			d := b.Digest()
			m2, err := b.Section("manifest")
			require.NoError(t, err)
			require.Equal(t, sha256.Sum256(m2), d)
			require.NoError(t, b.Verify(t.Context()))
			require.Nil(t, b.Signer())

			// The caller owns the results.
			g := b.Graph()
			g.Steps[0].In[0], g.Outputs[0], g.Steps = "other", "other", g.Steps[:1]
			b.Meta()["author"] = "x"
			b.Labels()[0] = "x"
			goldens[0].Outputs[0].Values[0].Value = 17
			again, err := b.Graph().MarshalJSON()
			require.NoError(t, err)
			require.Equal(t, got, again)
			require.Equal(t, "a <b>", b.Meta()["author"])
			require.Equal(t, "cat", b.Labels()[0])
			require.NoError(t, b.Verify(t.Context()))

			ctx, cancel := context.WithCancel(t.Context())
			cancel()
			require.ErrorIs(t, b.Verify(ctx), context.Canceled)
			require.NoError(t, b.Close())
			require.NoError(t, b.Close())
			if o.name == "file" {
				_, err = b.Section("graph")
				require.ErrorIs(t, err, ErrClosed)
				require.ErrorIs(t, b.VerifyDigests(t.Context()), ErrClosed)
			}
		})
	}
}

func TestEqualContentGivesEqualBytes(t *testing.T) {
	a := testContent(t)
	raw := create(t, a)
	for range 20 { // maps iterate in different orders
		b := testContent(t)
		slices.Reverse(b.Models)
		slices.Reverse(b.Goldens)
		require.Equal(t, raw, create(t, b))
	}
	b := testContent(t)
	b.Meta["license"] = "MIT"
	x, y := opened(t, raw), opened(t, create(t, b))
	require.NotEqual(t, x.Digest(), y.Digest())
}

func TestLittle(t *testing.T) {
	b := opened(t, create(t, &Content{Graph: testGraph(), Least: Within1}))
	require.Equal(t, Within1, b.Least())
	require.Nil(t, b.Labels())
	require.Empty(t, b.Meta())
	require.Len(t, b.Sections(), 1)
	require.NoError(t, b.Verify(t.Context()))
	_, err := b.Model("")
	require.ErrorIs(t, err, ErrNoSection)

	one := &Content{Graph: testGraph(), Models: []Model{{"m", "onnx", []byte("m")}}}
	m, err := opened(t, create(t, one)).Model("")
	require.NoError(t, err)
	require.Equal(t, one.Models[0], m)
}

func TestContentIsRefused(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(*Content)
		want   string
		is     error
	}{
		{"no graph", func(c *Content) { c.Graph = nil }, "no graph", nil},
		{"invalid graph", func(c *Content) { c.Graph.Outputs = []string{"nothing"} }, `"nothing"`, datagraph.ErrGraph},
		{"invalid shapes", func(c *Content) { c.Graph.Add(x.NewDecode()) }, "decode", x.ErrInput},
		{"random ops", func(c *Content) { c.Graph = datagraph.New(x.NewDecode(), x.NewRandomHorizontalFlip()) }, "random", ErrRandom},
		{"class", func(c *Content) { c.Least = "unsupported" }, `"unsupported", want one of exact, within1, approximate`, nil},
		{"library", func(c *Content) { c.Versions[""] = "1" }, "library", nil},
		{"two models", func(c *Content) { c.Models[1].Name = c.Models[0].Name }, "two models", nil},
		{"model without a name", func(c *Content) { c.Models[0].Name = "" }, `"model/"`, nil},
		{"model without a format", func(c *Content) { c.Models[0].Format = "" }, "no format", nil},
		{"format", func(c *Content) { c.Models[0].Format = "ONNX" }, `"ONNX"`, nil},
		{"label on two lines", func(c *Content) { c.Labels[1] = "a\nb" }, "label 1", nil},
		{"label", func(c *Content) { c.Labels[2] = "\xff" }, "label 2", nil},
		{"metadata", func(c *Content) { c.Meta["a"] = "\xff" }, "UTF-8", nil},
		{"section called manifest", func(c *Content) { c.Sections["manifest"] = nil }, `"manifest"`, nil},
		{"section called graph", func(c *Content) { c.Sections["graph"] = nil }, "taken", nil},
		{"section of models", func(c *Content) { c.Sections["model/x"] = nil }, "taken", nil},
		{"section upwards", func(c *Content) { c.Sections["a/../b"] = nil }, `"a/../b"`, nil},
		{"absolute section", func(c *Content) { c.Sections["/a"] = nil }, `"/a"`, nil},
		{"backslash", func(c *Content) { c.Sections[`a\b`] = nil }, `a\\b`, nil},
		{"control character", func(c *Content) { c.Sections["a\x1b"] = nil }, "control", nil},
		{"long name", func(c *Content) { c.Sections[strings.Repeat("a", 256)] = nil }, "255", nil},
		{"two golden samples", func(c *Content) { c.Goldens[1].Name = c.Goldens[0].Name }, "two golden samples", nil},
		{"another output", func(c *Content) { c.Goldens[0].Outputs[0].Name = "y" }, `an output "y", the graph has ["pixel_values"]`, nil},
		{"no output", func(c *Content) { c.Goldens[0].Outputs = nil }, "no outputs", nil},
		{"an output twice", func(c *Content) {
			c.Goldens[0].Outputs = append(c.Goldens[0].Outputs, c.Goldens[0].Outputs[0])
		}, "twice or out of order", nil},
		{"element outside", func(c *Content) { c.Goldens[0].Outputs[0].Values[0].At = 1 << 40 }, "element", nil},
		{"unknown size", func(c *Content) { c.Goldens[0].Outputs[0].Desc.Shape = tensor.Dims(3, -1, 2) }, "unknown size", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			k := testContent(t)
			c.change(k)
			var b bytes.Buffer
			err := Create(&b, k)
			require.ErrorIs(t, err, ErrContent)
			require.ErrorContains(t, err, c.want)
			if c.is != nil {
				require.ErrorIs(t, err, c.is)
			}
			require.Zero(t, b.Len())
		})
	}
	require.ErrorIs(t, Create(fullDisk{}, testContent(t)), io.ErrShortWrite)
}

type fullDisk struct{}

func (fullDisk) Write(b []byte) (int, error) { return 0, io.ErrShortWrite }

// damage changes the byte at off and requires that the bundle does not open, or
// that Verify names the section of the byte.
func damage(t *testing.T, raw []byte, sound []Section, off int, xor byte) {
	t.Helper()
	cut := slices.Clone(raw)
	cut[off] ^= xor
	b, err := Open(cut, DefaultLimits())
	if err != nil {
		typed(t, err, "byte %d ^ %#x", off, xor)
		return
	}
	name := ""
	for _, s := range sound {
		if int64(off) >= s.Offset && int64(off) < s.Offset+s.Size {
			name = s.Name
		}
	}
	err = b.Verify(context.Background())
	require.ErrorIs(t, err, ErrDigest, "byte %d ^ %#x", off, xor)
	require.ErrorContains(t, err, fmt.Sprintf("section %q", name), "byte %d ^ %#x", off, xor)
	_, err = b.Section(name)
	require.ErrorIs(t, err, ErrDigest)
}

func typed(t *testing.T, err error, msg string, args ...any) {
	t.Helper()
	var e *Error
	require.ErrorAs(t, err, &e, append([]any{msg}, args...)...)
	for _, kind := range []error{ErrFormat, ErrVersion, ErrDigest, ErrLimit, ErrSignature, x.ErrUnknownOp, datagraph.ErrGraph, ErrRandom} {
		if errors.Is(err, kind) {
			return
		}
	}
	t.Errorf("%v is of no kind: "+msg, append([]any{err}, args...)...)
}

// TestEveryDamage changes each bit of a bundle, and sets some bytes to all
// values.
func TestEveryDamage(t *testing.T) {
	for name, raw := range map[string][]byte{"unsigned": create(t, testContent(t)), "signed": signed(t, create(t, testContent(t)))} {
		t.Run(name, func(t *testing.T) {
			every := short.Step(t, 61)
			sound := opened(t, raw).Sections()
			for off := range raw {
				for bit := range 8 {
					if (8*off+bit)%every == 0 {
						damage(t, raw, sound, off, 1<<bit)
					}
				}
			}
			model := sound[len(sound)-2]
			for _, off := range []int{0, 8, 12, 16, 20, 24, 31, 32, 63, 64, 65, int(sound[0].Offset), int(model.Offset), len(raw) - 1} {
				for v := 1; v < 256; v++ {
					if every == 1 || v%31 == 0 {
						damage(t, raw, sound, off, byte(v))
					}
				}
			}
		})
	}
}

func TestEveryTruncation(t *testing.T) {
	raw := signed(t, create(t, testContent(t)))
	for n := range raw {
		_, err := Open(raw[:n:n], DefaultLimits())
		require.ErrorIs(t, err, ErrFormat, "%d bytes", n)
		typed(t, err, "%d bytes", n)
		// The reader has fewer bytes than announced.
		b, err := OpenReader(bytes.NewReader(raw[:n]), int64(len(raw)), DefaultLimits())
		if err == nil {
			err = b.VerifyDigests(t.Context())
		}
		require.ErrorIs(t, err, io.ErrUnexpectedEOF, "%d bytes", n)
	}
	for _, more := range []string{"\x00", "x", strings.Repeat("\x00", 64), strings.Repeat("\x00", 128)} {
		_, err := Open([]byte(string(raw)+more), DefaultLimits())
		require.ErrorIs(t, err, ErrFormat, "%q", more)
	}
	// Two bundles in one file are not a bundle.
	_, err := Open(slices.Concat(raw, raw), DefaultLimits())
	require.ErrorIs(t, err, ErrFormat)
}

// build returns a file with a manifest, the bytes after it, and a valid header.
func build(manifest, rest []byte) []byte {
	h := header{size: int64(len(manifest)), digest: sha256.Sum256(manifest)}
	b := append(h.append(nil), manifest...)
	b = append(b, make([]byte, aligned(int64(len(b)))-int64(len(b)))...)
	return append(b, rest...)
}

// sections returns a valid manifest and the bytes of its sections, for tests to
// modify.
func sections(t testing.TB, data map[string]string) (*manifest, []byte) {
	m := &manifest{least: Exact}
	if _, ok := data[graphName]; !ok {
		g, err := datagraph.New(x.NewDecode()).MarshalMsg(nil)
		require.NoError(t, err)
		data[graphName] = string(g)
	}
	var names []string
	for n := range data {
		names = append(names, n)
	}
	slices.Sort(names)
	var rest []byte
	for _, n := range names {
		s := Section{Name: n, Offset: int64(len(rest)), Size: int64(len(data[n])), SHA256: sha256.Sum256([]byte(data[n]))}
		if strings.HasPrefix(n, modelPrefix) {
			s.Format = "onnx"
		}
		m.sections = append(m.sections, s)
		rest = append(rest, data[n]...)
		rest = append(rest, make([]byte, aligned(int64(len(rest)))-int64(len(rest)))...)
	}
	return m, rest
}

func TestSectionsThatCannotBe(t *testing.T) {
	m, rest := sections(t, map[string]string{"a": strings.Repeat("a", 70), "b": "b", "z": "z"}) // and graph
	_, err := Open(build(m.append(nil), rest), DefaultLimits())
	require.NoError(t, err)
	for _, c := range []struct {
		name   string
		change func(m *manifest, rest []byte) []byte
		want   string
	}{
		{"overlaps", func(m *manifest, rest []byte) []byte { m.sections[1].Offset = 64; return rest }, `"b" of 1 bytes at 64 overlaps`},
		{"one inside another", func(m *manifest, rest []byte) []byte { m.sections[1].Offset = 0; return rest }, `"b" of 1 bytes at 0 overlaps`},
		{"before the first", func(m *manifest, rest []byte) []byte { m.sections[0].Offset = -64; return rest }, `"a" of 70 bytes at -64 overlaps`},
		{"gap", func(m *manifest, rest []byte) []byte { m.sections[1].Offset = 192; return rest }, "leaves a gap"},
		{"not aligned", func(m *manifest, rest []byte) []byte { m.sections[1].Offset = 70; return rest }, "is not aligned"},
		{"leaves the file", func(m *manifest, rest []byte) []byte { m.sections[3].Size = 65; return rest }, `"z"`},
		{"far outside", func(m *manifest, rest []byte) []byte { m.sections[3].Size = 1 << 50; return rest }, `"z"`},
		{"no size", func(m *manifest, rest []byte) []byte { m.sections[3].Size = -1; return rest }, "impossible size"},
		{"sum overflows", func(m *manifest, rest []byte) []byte { m.sections[3].Size = math.MaxInt64; return rest }, "impossible size"},
		{"the sum is too large", func(m *manifest, rest []byte) []byte { m.sections[3].Size = maxSize; return rest }, "at most"},
		{"bytes after the end", func(m *manifest, rest []byte) []byte { return append(rest, make([]byte, 64)...) }, "bytes, want"},
		{"twice one name", func(m *manifest, rest []byte) []byte { m.sections[1].Name = "a"; return rest }, "each once"},
		{"out of order", func(m *manifest, rest []byte) []byte { m.sections[0].Name = "c"; return rest }, "in order"},
		{"a name upwards", func(m *manifest, rest []byte) []byte { m.sections[0].Name = "../a"; return rest }, `"../a"`},
		{"no name", func(m *manifest, rest []byte) []byte { m.sections[0].Name = ""; return rest }, "section name"},
		{"no graph", func(m *manifest, rest []byte) []byte { m.sections[2].Name = "grapf"; return rest }, `no section "graph"`},
		{"no section at all", func(m *manifest, rest []byte) []byte { m.sections = nil; return nil }, `no section "graph"`},
		{"a format of no model", func(m *manifest, rest []byte) []byte { m.sections[0].Format = "onnx"; return rest }, "models have one"},
		{"a model of no format", func(m *manifest, rest []byte) []byte { m.sections[3].Name = "model/z"; return rest }, "models have one"},
		{"a sample's input alone", func(m *manifest, rest []byte) []byte { m.sections[1].Name = "golden/b"; return rest }, "no golden sample"},
		{"a sample without input", func(m *manifest, rest []byte) []byte { m.goldens = []Golden{{Name: "b"}}; return rest }, `"b" has no section`},
		{"unknown class", func(m *manifest, rest []byte) []byte { m.least = "none"; return rest }, "class"},
		{"libraries out of order", func(m *manifest, rest []byte) []byte {
			m.versions = [][2]string{{"b", "1"}, {"a", "1"}}
			return rest
		}, "library"},
		{"another reference", func(m *manifest, rest []byte) []byte { m.reference = "Pillow 1"; return rest }, "Pillow 1"},
	} {
		t.Run(c.name, func(t *testing.T) {
			m, rest := sections(t, map[string]string{"a": strings.Repeat("a", 70), "b": "b", "z": "z"})
			rest = c.change(m, rest)
			_, err := Open(build(m.append(nil), rest), DefaultLimits())
			require.ErrorIs(t, err, ErrFormat)
			require.ErrorContains(t, err, c.want)
			typed(t, err, c.name)
		})
	}
	for i := range int64(10) { // the zeros after "b"
		m, rest := sections(t, map[string]string{"a": strings.Repeat("a", 70), "b": "b", "z": "z"})
		rest[129+i*6] = 1
		_, err := Open(build(m.append(nil), rest), DefaultLimits())
		require.ErrorIs(t, err, ErrFormat)
		require.ErrorContains(t, err, "padding")
	}
}

func TestSectionsThatOpenReads(t *testing.T) {
	valid, err := datagraph.New(x.NewDecode(), x.NewHorizontalFlip()).MarshalMsg(nil)
	require.NoError(t, err)
	random, err := datagraph.New(x.NewDecode(), x.NewRandomHorizontalFlip()).MarshalMsg(nil)
	require.NoError(t, err)
	replace := func(old, new string) string {
		require.Contains(t, string(valid), old)
		return strings.Replace(string(valid), old, new, 1)
	}
	flip := string(msgp.AppendString(nil, "horizontal_flip"))
	for _, c := range []struct {
		name, section, data string
		is                  error
		want                string
	}{
		{"unknown op", "graph", replace("horizontal_flip", "horizontal_flap"), x.ErrUnknownOp, `"horizontal_flap"`},
		{"newer op", "graph", replace(flip+"\x01", flip+"\x02"), x.ErrUnknownOp, `"horizontal_flip" version 2: this build has version 1`},
		{"newer graph", "graph", string(valid[:1]) + "\x02" + string(valid[2:]), datagraph.ErrGraph, "version 2"},
		{"random graph", "graph", string(random), ErrRandom, ""},
		{"bytes after the graph", "graph", string(valid) + "\x00", ErrFormat, "after the graph"},
		{"deep graph", "graph", strings.Repeat("\x91", 1<<20), datagraph.ErrGraph, ""},
		{"empty graph", "graph", "", datagraph.ErrGraph, ""},
		{"labels without an end", "labels", "a\nb", ErrFormat, "line feed"},
		{"no labels", "labels", "", ErrFormat, "line feed"},
		{"labels of Windows", "labels", "a\r\nb\r\n", ErrFormat, "line feed"},
		{"labels of no text", "labels", "\xff\n", ErrFormat, "UTF-8"},
		{"too many labels", "labels", strings.Repeat("\n", maxLabels+1), ErrFormat, "labels"},
		{"metadata twice", "meta", `{"a":"1","a":"2"}`, ErrFormat, `"a"`},
		{"a number as metadata", "meta", `{"a":1}`, ErrFormat, `"a"`},
		{"deep metadata", "meta", `{"a":` + strings.Repeat("[", 1<<20), ErrFormat, `"a"`},
		{"a list as metadata", "meta", `[]`, ErrFormat, "object"},
		{"metadata cut", "meta", `{"a":"1"`, ErrFormat, ""},
		{"metadata and more", "meta", `{} {}`, ErrFormat, "after"},
		{"no metadata", "meta", ``, ErrFormat, "object"},
		{"metadata of no text", "meta", "{\"\xff\":\"\"}", ErrFormat, "UTF-8"},
	} {
		t.Run(c.name, func(t *testing.T) {
			m, rest := sections(t, map[string]string{c.section: c.data})
			b, err := Open(build(m.append(nil), rest), DefaultLimits())
			require.ErrorIs(t, err, c.is)
			require.Nil(t, b)
			require.ErrorContains(t, err, fmt.Sprintf("section %q", c.section))
			require.ErrorContains(t, err, c.want)
			typed(t, err, c.name)
		})
	}
	m, rest := sections(t, map[string]string{"graph": string(valid), "meta": `{"a":"` + strings.Repeat("a", 100_000) + `"}`})
	_, err = Open(build(m.append(nil), rest), Limits{Parsed: 50_000})
	require.ErrorIs(t, err, ErrLimit)
	require.ErrorContains(t, err, `section "meta"`)
	_, err = Open(build(m.append(nil), rest), Limits{Parsed: 20})
	require.ErrorIs(t, err, ErrLimit)
	require.ErrorContains(t, err, "manifest")
}

// allocated returns the number of bytes that f allocates.
func allocated(f func()) uint64 {
	var a, b runtime.MemStats
	runtime.ReadMemStats(&a)
	f()
	runtime.ReadMemStats(&b)
	return b.TotalAlloc - a.TotalAlloc
}

// TestClaims checks that large sizes claimed by a header or a manifest allocate
// no memory.
func TestClaims(t *testing.T) {
	m, rest := sections(t, map[string]string{"a": "a"})
	sound := build(m.append(nil), rest)
	head := func(size uint64) []byte {
		b := slices.Clone(sound)
		binary.LittleEndian.PutUint64(b[24:], size)
		binary.LittleEndian.PutUint32(b[12:], headerSum(b))
		return b
	}
	array := func(n uint32) string { return string(binary.BigEndian.AppendUint32([]byte{0xdd}, n)) }
	start := "\x95\xa5exact\xa0"
	for _, c := range []struct {
		name string
		b    []byte
		is   error
	}{
		{"manifest of 4 GiB", head(1 << 32), ErrFormat},
		{"manifest of 2^63 bytes", head(1 << 63), ErrFormat},
		{"manifest of 2^64 - 64 bytes", head(math.MaxUint64 - 63), ErrFormat},
		{"manifest of one byte too much", head(uint64(len(sound)) - 63), ErrFormat},
		{"a manifest that is nested deeply", build([]byte(strings.Repeat("\x91", 1<<16)), nil), ErrFormat},
		{"a manifest of maps", build([]byte(strings.Repeat("\x81", 1<<16)), nil), ErrFormat},
		{"4 G libraries", build([]byte(start+array(math.MaxUint32)), nil), ErrFormat},
		{"256 libraries", build([]byte(start+array(256)), nil), ErrFormat},
		{"4 G sections", build([]byte(start+"\x90"+array(math.MaxUint32)), nil), ErrFormat},
		{"10,000 sections", build([]byte(start+"\x90"+array(10_000)), nil), ErrFormat},
		{"a text of 4 GiB", build([]byte("\x95\xdb\xff\xff\xff\xff"), nil), ErrFormat},
		{"a name of 4 GiB", build([]byte(start+"\x90\x91\x95\xdb\xff\xff\xff\xff"), nil), ErrFormat},
		{"a digest of 4 GiB", build([]byte(start+"\x90\x91\x95\xa1a\xa0\x00\x00\xc6\xff\xff\xff\xff"), nil), ErrFormat},
		{"more after the manifest", build(append(m.append(nil), 0), rest), ErrFormat},
		{"nothing", nil, ErrFormat},
		{"an empty manifest", build(nil, nil), ErrFormat},
	} {
		t.Run(c.name, func(t *testing.T) {
			var err error
			require.Less(t, allocated(func() { _, err = Open(c.b, DefaultLimits()) }), uint64(1<<20))
			require.ErrorIs(t, err, c.is)
			typed(t, err, c.name)
			require.Less(t, allocated(func() { _, err = OpenReader(bytes.NewReader(c.b), int64(len(c.b)), DefaultLimits()) }), uint64(1<<20))
			require.ErrorIs(t, err, c.is)
		})
	}
	// The file is shorter than the reader's size.
	large := int64(1) << 50
	b := head(uint64(large - 64))
	var err error
	require.Less(t, allocated(func() { _, err = OpenReader(bytes.NewReader(b), large, DefaultLimits()) }), uint64(1<<20))
	require.ErrorIs(t, err, ErrLimit)
}

func TestVersions(t *testing.T) {
	raw := create(t, testContent(t))
	for _, v := range []uint32{0, 2, math.MaxUint32} {
		b := slices.Clone(raw)
		binary.LittleEndian.PutUint32(b[8:], v)
		binary.LittleEndian.PutUint32(b[12:], headerSum(b))
		_, err := Open(b, DefaultLimits())
		require.ErrorIs(t, err, ErrVersion)
		require.ErrorContains(t, err, fmt.Sprintf("version %d, this build reads 1", v))
	}
	_, err := Open([]byte("\x89PNG\r\n\x1a\n, which is none"), DefaultLimits())
	require.ErrorContains(t, err, `does not start with "IPbundle"`)
}

// TestReferenceBundle opens a bundle that testdata/gen/bundle.py wrote from
// docs/format/bundle.md alone. Its golden samples have torchvision's tensors.
func TestReferenceBundle(t *testing.T) {
	b, err := openFile("../testdata/bundle/torchvision.bundle", DefaultLimits())
	require.NoError(t, err)
	require.NoError(t, b.Verify(t.Context()))
	require.Len(t, b.Expected(), 4)
	require.Len(t, b.Expected()[0].Outputs[0].Values, 5)
	require.Equal(t, map[string]string{"Pillow": "13.0.0", "torchvision": "0.29.2"}, b.Versions())
	require.Equal(t, []string{"tench", "goldfish"}, b.Labels())
	require.Equal(t, map[string]string{"made by": "testdata/gen/bundle.py", "ü": "€"}, b.Meta())
	m, err := b.Model("")
	require.NoError(t, err)
	require.Equal(t, Model{"none.txt", "other", []byte("no model\n")}, m)
	require.NoError(t, b.Close())
}

func TestFiles(t *testing.T) {
	dir := t.TempDir()
	_, err := openFile(filepath.Join(dir, "none"), DefaultLimits())
	require.ErrorIs(t, err, os.ErrNotExist)
	_, err = openFile(dir, DefaultLimits())
	require.ErrorContains(t, err, "is a folder: want a regular file")
	empty := filepath.Join(dir, "empty")
	require.NoError(t, os.WriteFile(empty, nil, 0o666))
	_, err = openFile(empty, DefaultLimits())
	require.ErrorIs(t, err, ErrFormat)
}

func TestGoldens(t *testing.T) {
	c := testContent(t)
	first := c.Goldens[0].Outputs[0]
	require.Equal(t, "float32 CHW (3, 2, 3)", first.Desc.String())
	require.Len(t, first.Values, 8)
	require.Equal(t, Element{0, float64(float32(7) / 255)}, first.Values[0]) // red
	require.Equal(t, Element{17, float64(float32(2) / 255)}, first.Values[7])

	for _, k := range []struct {
		name   string
		change func(*Content)
		want   string
		at     int64
	}{
		{"another digest", func(c *Content) { c.Goldens[0].Outputs[0].SHA256[0] ^= 1 },
			`golden sample "in/3x2.bmp": output "pixel_values" differs in an element that the bundle does not keep`, -1},
		{"an element", func(c *Content) {
			o := &c.Goldens[0].Outputs[0]
			o.SHA256[0] ^= 1
			o.Values[7].Value = 0.5
		}, `golden sample "in/3x2.bmp": output "pixel_values" at (2, 1, 2): got 0.007843137718737125, want 0.5`, 17},
		{"another shape", func(c *Content) { c.Goldens[0].Outputs[0].Desc.Shape = tensor.Dims(3, 3, 2) },
			`output "pixel_values" is float32 CHW (3, 2, 3), want float32 CHW (3, 3, 2)`, -1},
		{"another graph", func(c *Content) {
			c.Graph = datagraph.New(x.NewDecode(), x.NewHorizontalFlip(), x.NewToTensor()).Rename("pixel_values")
		}, `golden sample "in/2x2.bmp": output "pixel_values" at (2, 0, 1): got 0, want 0.003921568859368563`, 9},
	} {
		t.Run(k.name, func(t *testing.T) {
			c := testContent(t)
			k.change(c)
			err := opened(t, create(t, c)).Verify(t.Context())
			require.ErrorIs(t, err, ErrGolden)
			require.ErrorContains(t, err, k.want)
			var m *MismatchError
			require.ErrorAs(t, err, &m)
			require.Equal(t, k.at, m.At)
		})
	}
	c.Goldens[0].Input = []byte("no image")
	err := opened(t, create(t, c)).Verify(t.Context())
	require.ErrorIs(t, err, ErrGolden)
	require.ErrorIs(t, err, codec.ErrFormat)
	require.ErrorContains(t, err, `"in/3x2.bmp"`)

	o, err := Open(create(t, testContent(t)), Limits{Run: codec.Limits{Pixels: 5}})
	require.NoError(t, err)
	require.ErrorIs(t, o.Verify(t.Context()), codec.ErrLimit)

	_, err = MakeGolden(testGraph(), "a", []byte("no image"), codec.DefaultLimits())
	require.ErrorIs(t, err, codec.ErrFormat)
	_, err = MakeGolden(datagraph.New(x.NewDecode(), x.NewRandomHorizontalFlip()), "a", bmp(1, 1), codec.DefaultLimits())
	require.ErrorIs(t, err, ErrRandom)
	two := testGraph()
	two.Inputs = append(two.Inputs, datagraph.Column{Name: "other", Desc: tensor.Encoded()})
	_, err = MakeGolden(two, "a", bmp(1, 1), codec.DefaultLimits())
	require.ErrorIs(t, err, ErrContent)
	require.ErrorIs(t, c.Goldens[1].Compare(nil, nil), ErrGolden)
}

// TestGoldenOf makes samples with the tensors of another program.
func TestGoldenOf(t *testing.T) {
	g := datagraph.New(x.NewDecode(), x.NewLetterbox(8, 8))
	require.NotEmpty(t, g.SideOutputs)
	plan, err := datagraph.Compile(g, datagraph.CompileOptions{})
	require.NoError(t, err)
	out, err := plan.NewRunner().Run(tensor.FromBytes(bmp(3, 2)))
	require.NoError(t, err)
	var named []tensor.Named
	for i, c := range plan.Outputs() {
		named = append(named, tensor.Named{Name: c.Name, T: out[i].Clone()})
	}
	made, err := MakeGolden(g, "a", bmp(3, 2), codec.DefaultLimits())
	require.NoError(t, err)
	all, err := GoldenOf(g, "a", bmp(3, 2), named)
	require.NoError(t, err)
	require.Equal(t, made, all)

	// As in an npy file: no layout, and a batch axis.
	first := *named[0].T
	first.Layout, first.Shape = tensor.NoLayout, tensor.Dims(append([]int{1}, first.Shape.Slice()...)...)
	copy(first.Strides[1:], named[0].T.Strides[:])
	one, err := GoldenOf(g, "a", bmp(3, 2), []tensor.Named{{Name: named[0].Name, T: &first}})
	require.NoError(t, err)
	require.Equal(t, made.Outputs[:1], one.Outputs)
	side, err := GoldenOf(g, "b", bmp(3, 2), named[1:2])
	require.NoError(t, err)
	require.NoError(t, opened(t, create(t, &Content{Graph: g, Goldens: []Golden{one, side}})).Verify(t.Context()))

	// Wrong tensors: Verify reports them, GoldenOf does not.
	bgr := named[0].T.Clone()
	for i := 0; i < len(bgr.Data); i += 3 {
		bgr.Data[i], bgr.Data[i+2] = bgr.Data[i+2], bgr.Data[i]
	}
	skewed, err := GoldenOf(g, "a", bmp(3, 2), []tensor.Named{{Name: named[0].Name, T: bgr}})
	require.NoError(t, err)
	err = opened(t, create(t, &Content{Graph: g, Goldens: []Golden{skewed}})).Verify(t.Context())
	require.ErrorIs(t, err, ErrGolden)

	for _, c := range []struct {
		outputs []tensor.Named
		want    string
	}{
		{nil, "0 tensors, 0 of them outputs"},
		{[]tensor.Named{{Name: "y", T: bgr}}, "1 tensors, 0 of them outputs"},
		{[]tensor.Named{{Name: named[0].Name, T: named[1].T}}, ", want uint8 HWC (8, 8, 3)"},
		{[]tensor.Named{{Name: named[0].Name, T: tensor.FromBytes(nil)}}, ": bytes, want uint8"},
	} {
		_, err := GoldenOf(g, "a", bmp(3, 2), c.outputs)
		require.ErrorIs(t, err, ErrContent)
		require.ErrorContains(t, err, c.want)
	}
	_, err = GoldenOf(datagraph.New(x.NewDecode(), x.NewRandomHorizontalFlip()), "a", bmp(1, 1), nil)
	require.ErrorIs(t, err, ErrRandom)
}

// TestElements checks elements of every dtype, and of views.
func TestElements(t *testing.T) {
	half, brain := tensor.Float16FromFloat32(-1.5), tensor.BFloat16FromFloat32(-1.5)
	for _, c := range []struct {
		d     tensor.DType
		bytes []byte // of the second element, little-endian
		want  float64
	}{
		{tensor.Uint8, []byte{200}, 200},
		{tensor.Int8, []byte{200}, -56},
		{tensor.Uint16, []byte{1, 200}, 51201},
		{tensor.Int16, []byte{1, 200}, -14335},
		{tensor.Int32, []byte{1, 0, 0, 200}, -939524095},
		{tensor.Int64, []byte{1, 0, 0, 0, 0, 0, 0xf0, 0xff}, -1<<52 + 1},
		{tensor.Float16, []byte{byte(half), byte(half >> 8)}, -1.5},
		{tensor.BFloat16, []byte{byte(brain), byte(brain >> 8)}, -1.5},
		{tensor.Float32, binary.LittleEndian.AppendUint32(nil, math.Float32bits(0.1)), float64(float32(0.1))},
		{tensor.Float64, binary.LittleEndian.AppendUint64(nil, math.Float64bits(0.1)), 0.1},
		{tensor.Bool, []byte{1}, 1},
	} {
		t.Run(c.d.String(), func(t *testing.T) {
			d := tensor.Desc{DType: c.d, Shape: tensor.Dims(2, 2)}
			raw := make([]byte, d.Size())
			copy(raw[len(c.bytes):], c.bytes)
			x, err := tensor.ReadRaw(bytes.NewReader(raw), d, 1<<10)
			require.NoError(t, err)
			e, err := newExpected("x", x)
			require.NoError(t, err)
			require.Equal(t, []Element{{0, 0}, {1, c.want}, {2, 0}, {3, 0}}, e.Values)
			require.Equal(t, sha256.Sum256(raw), e.SHA256)
			column, err := x.Slice(1, 1, 2)
			require.NoError(t, err)
			e, err = newExpected("x", column)
			require.NoError(t, err)
			require.Equal(t, []Element{{0, c.want}, {1, 0}}, e.Values)
			require.Equal(t, sha256.Sum256(slices.Concat(c.bytes, make([]byte, len(c.bytes)))), e.SHA256)
		})
	}
	e, err := newExpected("x", tensor.FromBytes([]byte("abc")))
	require.NoError(t, err)
	require.Empty(t, e.Values)
	require.Equal(t, sha256.Sum256([]byte("abc")), e.SHA256)
	empty, err := tensor.New(tensor.Desc{DType: tensor.Float32, Shape: tensor.Dims(0, 4)})
	require.NoError(t, err)
	e, err = newExpected("x", empty)
	require.NoError(t, err)
	require.Empty(t, e.Values)
	long, err := tensor.New(tensor.Desc{DType: tensor.Uint8, Shape: tensor.Dims(1000)})
	require.NoError(t, err)
	e, err = newExpected("x", long)
	require.NoError(t, err)
	var at []int64
	for _, v := range e.Values {
		at = append(at, v.At)
	}
	require.Equal(t, []int64{0, 142, 285, 428, 570, 713, 856, 999}, at)
}

func TestConcurrentUse(t *testing.T) {
	raw := signed(t, create(t, testContent(t)))
	for _, b := range []func() (*Bundle, error){
		func() (*Bundle, error) { return Open(raw, DefaultLimits()) },
		func() (*Bundle, error) { return OpenReader(bytes.NewReader(raw), int64(len(raw)), DefaultLimits()) },
	} {
		b, err := b()
		require.NoError(t, err)
		var wg sync.WaitGroup
		errs := make([]error, 8)
		for i := range errs {
			wg.Go(func() {
				_, err := b.Goldens()
				_, err2 := b.Model("net.onnx")
				errs[i] = errors.Join(err, err2, b.Verify(context.Background()), b.VerifySignature(publicKey(t)))
				b.Graph().Rename("x")
			})
		}
		wg.Wait()
		require.NoError(t, errors.Join(errs...))
	}
}

func FuzzOpen(f *testing.F) {
	raw := create(f, testContent(f))
	f.Add(raw)
	f.Add(signed(f, raw))
	f.Add(create(f, &Content{Graph: testGraph()}))
	python, err := os.ReadFile("../testdata/bundle/torchvision.bundle")
	require.NoError(f, err)
	f.Add(python)
	m, rest := sections(f, map[string]string{"a": strings.Repeat("a", 70), "labels": "a\n"})
	f.Add(build(m.append(nil), rest))
	f.Fuzz(func(t *testing.T, b []byte) {
		// Repair the digests to reach the code after the check.
		for _, mend := range []bool{false, true} {
			if mend {
				if len(b) < headerSize {
					return
				}
				b = slices.Clone(b)
				copy(b, mended(b))
			}
			o, err := Open(b, DefaultLimits())
			r, rerr := OpenReader(bytes.NewReader(b), int64(len(b)), DefaultLimits())
			require.Equal(t, err == nil, rerr == nil, "%v, %v", err, rerr)
			if err != nil {
				typed(t, err, "")
				continue
			}
			require.Equal(t, o.Sections(), r.Sections())
			if o.VerifyDigests(t.Context()) == nil {
				_, err := o.Goldens()
				require.NoError(t, err)
				require.NoError(t, r.VerifyDigests(t.Context()))
			}
		}
	})
}

// mended returns the header of a file with correct digest and checksum.
func mended(b []byte) []byte {
	h := slices.Clone(b[:headerSize])
	if n := binary.LittleEndian.Uint64(h[24:]); n <= uint64(len(b)-headerSize) {
		d := sha256.Sum256(b[headerSize : headerSize+n])
		copy(h[32:], d[:])
	}
	binary.LittleEndian.PutUint32(h[12:], headerSum(h))
	return h
}

func openFile(name string, l Limits) (*Bundle, error) {
	return OpenStore(context.Background(), store.Local, name, l)
}

// openMapped opens the mapped bytes of a file, or the file if the system maps
// none.
func openMapped(name string, l Limits) (*Bundle, error) {
	f, err := store.Local.Open(context.Background(), name)
	if err != nil {
		return nil, err
	}
	var b *Bundle
	if mapped := store.MappedBytes(f); mapped != nil {
		b, err = Open(mapped, l)
	} else {
		b, err = OpenReader(f, f.Size(), l)
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	b.close = f.Close
	return b, nil
}

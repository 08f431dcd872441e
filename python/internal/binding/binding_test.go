package binding

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"image"
	"image/png"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"
	"unsafe"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/codec"
	"github.com/infer-prep/infer-prep/dataset"
	"github.com/infer-prep/infer-prep/dataset/imagefolder"
	"github.com/infer-prep/infer-prep/tensor"
)

// folder makes a folder of a class with five images, each of its own value.
func folder(t *testing.T) string {
	dir := t.TempDir()
	require.NoError(t, os.Mkdir(filepath.Join(dir, "c"), 0o777))
	for i := range 5 {
		m := image.NewNRGBA(image.Rect(0, 0, 6, 4))
		for k := range m.Pix {
			m.Pix[k] = 255
			if k%4 < 3 {
				m.Pix[k] = uint8(i)
			}
		}
		var b bytes.Buffer
		require.NoError(t, png.Encode(&b, m))
		require.NoError(t, os.WriteFile(filepath.Join(dir, "c", fmt.Sprintf("%d.png", i)), b.Bytes(), 0o666))
	}
	return dir
}

// definition returns the definition, in JSON, of the decoded images of a
// folder. With dropped, a smaller last batch is left out.
func definition(t *testing.T, dir string, batch int, dropped bool) []byte {
	g, err := opsGraph([]byte(`[["decode", {}]]`))
	require.NoError(t, err)
	d := dataset.From(imagefolder.New(dir)).Map(g)
	if dropped {
		d = d.BatchDrop(batch)
	} else {
		d = d.Batch(batch)
	}
	b, err := json.Marshal(d)
	require.NoError(t, err)
	return b
}

func openFolder(t *testing.T, o Options) *Pipeline {
	d := definition(t, folder(t), 2, false)
	p, err := OpenPipeline(d, o)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, p.Close()) })
	return p
}

// next waits for the next batch.
func next(t *testing.T, p *Pipeline) *Tensors {
	t.Helper()
	b, err := p.Next(time.Minute)
	require.NoError(t, err)
	return b
}

// TestLent keeps batches while the pipeline goes on: each keeps its bytes until
// it is released, and then its memory is used again.
func TestLent(t *testing.T) {
	p := openFolder(t, Options{Workers: 2})
	require.Equal(t, PipelineInfo{Len: 3, Columns: []Column{
		{Name: "image", DType: "uint8", Shape: []int{-1, -1, -1, 3}, Batch: "stack"}, {Name: "label", DType: "int32", Shape: []int{-1}, Batch: "stack"},
	}}, p.Info())
	var held []*Tensors
	for range 4 {
		for i := range 3 {
			b := next(t, p)
			require.Equal(t, []any{int64(i + 1), uint64(len(held) / 3)}, []any{b.Step, b.Epoch})
			require.NotNil(t, b.Pointer(0))
			held = append(held, b)
		}
		_, err := p.Next(time.Minute)
		require.Equal(t, io.EOF, err)
		require.NoError(t, p.NextEpoch())
	}
	for i, b := range held {
		want := bytes.Repeat([]byte{uint8(i % 3 * 2)}, 6*4*3)
		require.Equal(t, want, b.List()[0].Data[:6*4*3], "batch %d", i)
	}
	s, err := p.Stats()
	require.NoError(t, err)
	require.Equal(t, 12, s.Lent)
	for _, b := range held {
		b.Release()
		b.Release()
	}
	s, err = p.Stats()
	require.NoError(t, err)
	require.Zero(t, s.Lent)
	last := next(t, p)
	require.NoError(t, p.Close())
	require.NoError(t, p.Close())
	require.Equal(t, make([]byte, 6*4*3), last.List()[0].Data[:6*4*3], "a batch outlives its pipeline")
	last.Release()
	_, err = p.Next(time.Minute)
	require.Equal(t, "closed", Code(err))
}

// TestStateWhileWaiting: a Next that has returned ErrWait does not count.
func TestStateWhileWaiting(t *testing.T) {
	p := openFolder(t, Options{Workers: 1, Prefetch: 1})
	next(t, p).Release()
	want, err := p.State(false)
	require.NoError(t, err)
	b, err := p.Next(0)
	for i := 0; err == nil && i < 1; i++ { // a batch was ready; the epoch has three
		b.Release()
		want, err = p.State(false)
		require.NoError(t, err)
		b, err = p.Next(0)
	}
	got, e := p.State(false)
	require.NoError(t, e)
	if errors.Is(err, ErrWait) {
		require.Equal(t, want, got)
	}
	require.NoError(t, p.Restore(want))
	again, err := p.State(false)
	require.NoError(t, err)
	require.Equal(t, want, again)
	next(t, p).Release()
	again, err = p.State(true)
	require.NoError(t, err)
	require.Equal(t, want, again)
	again, err = p.State(false)
	require.NoError(t, err)
	require.NotEqual(t, want, again)
	require.Equal(t, "state", Code(p.Restore([]byte("no state"))))
	require.Equal(t, "state", Code(p.Restore(nil)))
}

// TestAllDone runs two ranks, of which one has a bad image: the epoch ends on
// both together.
func TestAllDone(t *testing.T) {
	dir := folder(t)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "c", "3.png"), []byte("no image"), 0o666))
	d := definition(t, dir, 1, false)
	_, err := OpenPipeline(d, Options{World: 2, OnError: "skip"})
	require.Equal(t, "input", Code(err))
	require.Contains(t, Text(err), "2 ranks need all_done to end together")
	var ranks []*Pipeline
	for r := range 2 {
		p, err := OpenPipeline(d, Options{Rank: r, World: 2, OnError: "skip", AllDone: true})
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, p.Close()) })
		ranks = append(ranks, p)
	}
	require.Equal(t, "input", Code(ranks[0].Answer(false, false)), "an answer without a question")
	var keys []string
	for range 2 {
		for step, ended := 1, false; !ended; step++ {
			any := false
			for _, p := range ranks {
				_, err := p.Next(time.Minute)
				_, again := p.Next(0)
				require.Equal(t, err, again, "the question waits for its answer")
				require.True(t, err == ErrAsk || err == ErrAskDone, "%v", err)
				any = any || err == ErrAskDone
			}
			for _, p := range ranks {
				require.NoError(t, p.Answer(any, false))
				b, err := p.Next(time.Minute)
				if ended = err == io.EOF; ended {
					continue
				}
				require.NoError(t, err)
				require.EqualValues(t, step, b.Step)
				keys = append(keys, b.Key)
				b.Release()
			}
		}
		for _, p := range ranks {
			require.NoError(t, p.NextEpoch())
		}
	}
	require.Equal(t, []string{"c/0.png", "c/1.png", "c/2.png", "c/0.png", "c/0.png", "c/1.png", "c/2.png", "c/0.png"}, keys)

	// A failed answer ends the epoch before the batch, and Close ends a
	// question.
	p := ranks[0]
	_, err = p.Next(time.Minute)
	require.Equal(t, ErrAsk, err)
	require.NoError(t, p.Answer(false, false))
	next(t, p).Release()
	_, err = p.Next(time.Minute)
	require.Equal(t, ErrAsk, err)
	before, err := p.State(false)
	require.NoError(t, err)
	require.NoError(t, p.Answer(false, true))
	after, err := p.State(false)
	require.NoError(t, err)
	require.Equal(t, before, after)
	_, err = p.Next(time.Minute)
	require.ErrorContains(t, err, "all_done failed")
	require.NoError(t, p.Restore(after))
	_, err = p.Next(time.Minute)
	require.Equal(t, ErrAsk, err)
	require.NoError(t, p.NextEpoch())
	_, err = p.Next(time.Minute)
	require.Equal(t, ErrAsk, err)
	require.NoError(t, p.Close())
	require.Equal(t, "closed", Code(p.Answer(false, false)))
}

// TestStages: options of single stages name them.
func TestStages(t *testing.T) {
	const read = "batch/map/image_folder"
	p := openFolder(t, Options{Workers: 2, StageWorkers: map[string]int{read: 1}, StageQueue: map[string]int{read: 7}})
	next(t, p).Release()
	s, err := p.Stats()
	require.NoError(t, err)
	require.Equal(t, []any{read, 1, 7}, []any{s.Stages[0].Path, s.Stages[0].Workers, s.Stages[0].Queue})
	d := definition(t, folder(t), 2, false)
	_, err = OpenPipeline(d, Options{StageQueue: map[string]int{"batch/mpa": 7}})
	require.Equal(t, "input", Code(err))
	require.Contains(t, Text(err), `queue: no stage "batch/mpa": want one of batch/map, `+read+`; did you mean "batch/map"?`)
}

// TestDevice: a missing device, or a wrong one, is an error.
func TestDevice(t *testing.T) {
	missing := "ort:cpu,lib=" + filepath.Join(t.TempDir(), "none")
	for _, c := range [][3]string{{"ort:cpuu", "", "device"}, {missing, "", "device"}, {missing, "equal", "input"}, {"ort:cpu,form", "", "input"}} {
		_, err := OpenGraph(Source{Kind: "preset", Device: c[0], Least: c[1]}, []byte("imagenet"))
		require.Equal(t, c[2], Code(err), "%v", err)
	}
}

func TestGraph(t *testing.T) {
	jpeg, err := os.ReadFile("../../../testdata/images/jpeg_large.jpg")
	require.NoError(t, err)
	g, err := OpenGraph(Source{Kind: "preset"}, []byte("imagenet"))
	require.NoError(t, err)
	require.Equal(t, []Column{{"image", "float32", "CHW", []int{3, 224, 224}, "stack"}}, g.Info().Columns)
	a, err := g.Run(Image{Encoded: jpeg})
	require.NoError(t, err)
	want := bytes.Clone(a.List()[0].Data)
	b, err := g.Run(Image{Encoded: jpeg})
	require.NoError(t, err)
	require.Equal(t, want, b.List()[0].Data)
	require.NotEqual(t, a.Pointer(0), b.Pointer(0))
	b.Release()
	dst := make([]byte, len(want))
	d, err := g.RunInto(Image{Encoded: jpeg}, [][]byte{tensor.Alloc(len(want))})
	require.NoError(t, err)
	require.Equal(t, "float32 CHW (3, 224, 224)", d[0].String())
	_, err = g.RunInto(Image{Encoded: jpeg}, [][]byte{dst[:10]})
	require.Equal(t, "input", Code(err))
	_, err = g.RunInto(Image{Encoded: jpeg}, nil)
	require.Equal(t, "input", Code(err))
	// Pixels in memory, and a batch of both kinds.
	decoded, err := codec.Decode(jpeg, nil)
	require.NoError(t, err)
	height, width := decoded.Shape.At(0), decoded.Shape.At(1)
	p, err := Pixels(unsafe.Pointer(&decoded.Data[0]), height, width, 3, width*3, 3, 1)
	require.NoError(t, err)
	c, err := g.Run(p)
	require.NoError(t, err)
	require.Equal(t, want, c.List()[0].Data)
	c.Release()
	batch, err := g.RunBatch([]Image{p, {Encoded: jpeg}, p})
	require.NoError(t, err)
	require.Equal(t, "float32 (3, 3, 224, 224)", batch.List()[0].Desc.String())
	require.Equal(t, bytes.Repeat(want, 3), batch.List()[0].Data)
	at := batch.Pointer(0)
	batch.Release()
	batch, err = g.RunBatch([]Image{{Encoded: jpeg}, p}) // in the same memory
	require.NoError(t, err)
	require.Equal(t, at, batch.Pointer(0))
	require.Equal(t, "float32 (2, 3, 224, 224)", batch.List()[0].Desc.String())
	require.Equal(t, bytes.Repeat(want, 2), batch.List()[0].Data)
	other, err := g.RunBatch([]Image{p})
	require.NoError(t, err)
	require.NotEqual(t, at, other.Pointer(0))
	other.Release()
	batch.Release()
	_, err = g.RunBatch(nil)
	require.Equal(t, "input", Code(err))
	_, err = g.RunBatch([]Image{p, {Encoded: jpeg[:100]}, {Encoded: []byte("x")}})
	require.Equal(t, "format", Code(err))
	require.ErrorContains(t, err, "image 1")
	_, err = Pixels(nil, 1, 1, 3, 0, 0, 0)
	require.Equal(t, "input", Code(err))
	_, err = Pixels(unsafe.Pointer(&decoded.Data[0]), 1, 1, 5, 0, 0, 0)
	require.Equal(t, "input", Code(err))
	_, err = Pixels(unsafe.Pointer(&decoded.Data[0]), 0, 1, 3, 0, 0, 0)
	require.Equal(t, "input", Code(err))

	again, err := OpenGraph(Source{Kind: "graph"}, g.JSON())
	require.NoError(t, err)
	require.Equal(t, g.JSON(), again.JSON())
	require.NoError(t, g.Close())
	_, err = g.Run(Image{Encoded: jpeg})
	require.Equal(t, "closed", Code(err))
	require.Equal(t, want, a.List()[0].Data)
	a.Release()

	for _, c := range []struct {
		s    Source
		data string
		code string
		text string
	}{
		{Source{Kind: "preset"}, "imagnet", "input", `did you mean "imagenet"`},
		{Source{Kind: "graph"}, "{", "graph", ""},
		{Source{Kind: "graph"}, "IPbundle", "input", "the file is a bundle, want a graph"},
		{Source{Kind: "graph", Path: "nowhere"}, "", "io", "nowhere"},
		{Source{Kind: "bundle", Path: "nowhere"}, "", "io", "nowhere"},
		{Source{Kind: "hg"}, "", "input", "hf"},
		{Source{Kind: "hf", Backend: "pli"}, "{}", "input", `did you mean "pil"`},
		{Source{Kind: "keras", Path: "."}, "", "input", "takes a file, not a folder"},
	} {
		_, err := OpenGraph(c.s, []byte(c.data))
		require.Equal(t, c.code, Code(err), "%v: %v", c.s, err)
		require.ErrorContains(t, err, c.text)
	}
	_, err = OpenGraph(Source{Kind: "graph"}, nil) // empty bytes of Python
	require.Equal(t, "graph", Code(err))
	require.ErrorContains(t, err, "empty")
}

func TestOptions(t *testing.T) {
	d := definition(t, folder(t), 2, true)
	_, err := OpenPipeline(d, Options{OnError: "skpi"})
	require.ErrorContains(t, err, `did you mean "skip"`)
	_, err = OpenPipeline([]byte("{}"), Options{})
	require.Equal(t, "input", Code(err))
	p, err := OpenPipeline(d, Options{Rank: 1, World: 2})
	require.NoError(t, err)
	require.EqualValues(t, 1, p.Info().Len)
	require.NoError(t, p.Close())

	parsed, err := ParseDefinition(d)
	require.NoError(t, err)
	msg, err := parsed.MarshalMsg(nil)
	require.NoError(t, err)
	again, err := ParseDefinition(msg)
	require.NoError(t, err)
	text, err := json.Marshal(again)
	require.NoError(t, err)
	require.JSONEq(t, string(d), string(text))
	_, err = ParseDefinition(append(msg, 0))
	require.ErrorContains(t, err, "1 bytes after")
}

// TestNotes keeps a bounded number of messages.
func TestNotes(t *testing.T) {
	p := &Pipeline{}
	for i := range maxNotes + 5 {
		p.note(fmt.Sprint(i))
	}
	l := p.Notes()
	require.Len(t, l, maxNotes+1)
	require.Equal(t, "5 more messages", l[maxNotes])
	require.Empty(t, p.Notes())
}

func TestGuard(t *testing.T) {
	err := func() (err error) {
		defer Guard(&err)
		panic("of a source")
	}()
	require.Equal(t, "internal", Code(err))
	require.ErrorContains(t, err, "of a source")
	require.Empty(t, Code(nil))
}

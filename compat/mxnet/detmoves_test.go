package mxnet

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/datagraph"
	"github.com/infer-prep/infer-prep/internal/short"
	"github.com/infer-prep/infer-prep/tensor"
	"github.com/infer-prep/infer-prep/transforms"
	_ "github.com/infer-prep/infer-prep/transforms/all" // every op
)

// detMoves is the output of MXNet's iterators with augmenters that move boxes;
// testdata/gen/mxnet/mxnet_det_moves.py generates it.
type detMoves struct {
	Det []struct {
		Name, Source string
		Width        int
		Params       map[string]any
		Draws        []detDraw
		Out          [][]imageBatch
	}
	DetLabels []labelDraws `json:"det_labels"`
	Record    []struct {
		Name   string
		Files  []string
		Width  int
		Params map[string]any
		Draws  []detRecordDraw
		Out    [][]imageBatch
	}
	RecordLabels []labelDraws `json:"record_labels"`
}

func readDetMoves(t *testing.T) *detMoves {
	t.Helper()
	b, err := os.ReadFile("testdata/det_moves.json")
	require.NoError(t, err)
	var g detMoves
	require.NoError(t, json.Unmarshal(b, &g))
	return &g
}

// detDraw is what MXNet drew for an image.
type detDraw struct {
	window []float64 // left, top, width, height and coverage; nil for none
	mirror bool
	canvas []int // left, top, width, height; nil for none
}

func (d *detDraw) UnmarshalJSON(b []byte) error {
	return json.Unmarshal(b, &[]any{&d.window, &d.mirror, &d.canvas})
}

// emit emits the op that an op of ImageDetIter drew.
func (n detDraw) emit(d *transforms.Draw, real transforms.Op) error {
	h, w := d.In[0].Height(), d.In[0].Width()
	switch real := real.(type) {
	case *transforms.RandomObjectCrop:
		if c := n.window; c != nil {
			return d.Emit(&transforms.ObjectCrop{Top: int(c[1]), Left: int(c[0]), Height: int(c[3]), Width: int(c[2]), Keep: transforms.KeepCovered, Coverage: c[4]})
		}
	case *transforms.RandomHorizontalFlip:
		if n.mirror {
			return d.Emit(transforms.NewHorizontalFlip())
		}
	case *transforms.RandomCanvas:
		if c := n.canvas; c != nil {
			return d.Emit(&transforms.Pad{Top: c[1], Bottom: c[3] - c[1] - h, Left: c[0], Right: c[2] - c[0] - w, Fill: real.Fill})
		}
	}
	return nil
}

// detRecordDraw is what ImageDetRecordIter drew for an image.
type detRecordDraw struct {
	colors []float64 // hue, saturation, lightness and contrast; nil for none
	mirror bool
	canvas []float64 // left, top and scale; nil for none
	window []float64 // left, top, width and height; nil for none
}

func (d *detRecordDraw) UnmarshalJSON(b []byte) error {
	return json.Unmarshal(b, &[]any{&d.colors, &d.mirror, &d.canvas, &d.window})
}

// emit emits the ops that an op of ImageDetRecordIter drew.
func (n detRecordDraw) emit(d *transforms.Draw, real transforms.Op) error {
	switch real := real.(type) {
	case *detColor:
		c := n.colors
		return emitColor(d, int(c[0]), int(c[1]), int(c[2]), float32(c[3]))
	case *transforms.RandomHorizontalFlip:
		if n.mirror {
			return d.Emit(transforms.NewHorizontalFlip())
		}
	case *transforms.RandomRelativePad:
		if c := n.canvas; c != nil {
			return d.Emit(&transforms.RelativeWindow{Top: c[1], Left: c[0], Height: c[2], Width: c[2], Fill: real.Fill})
		}
	case *transforms.RandomRelativeCrop:
		if c := n.window; c != nil {
			return d.Emit(&transforms.RelativeWindow{Top: c[1], Left: c[0], Height: c[3], Width: c[2], Fill: []float64{0}, Keep: real.Keep, Coverage: real.Coverage})
		}
	}
	return nil
}

// givenMove draws given numbers: those of one image after the other.
type givenMove[D interface {
	emit(*transforms.Draw, transforms.Op) error
}] struct {
	randomOp
	real  transforms.Op
	draws []D
	at    int
}

func (o *givenMove[D]) Info() transforms.Info { return transforms.Info{Name: "given_move"} }

func (o *givenMove[D]) Infer(dst, in []tensor.Desc) error {
	dst[0] = in[0].WithSize(tensor.Unknown, tensor.Unknown)
	return nil
}

func (o *givenMove[D]) Draw(d *transforms.Draw) error {
	o.at++
	return o.draws[(o.at-1)%len(o.draws)].emit(d, o.real)
}

// giveMoves replaces the random numbers of a graph.
func giveMoves[D interface {
	emit(*transforms.Draw, transforms.Op) error
}](g *datagraph.Graph, draws []D) (given []*givenMove[D]) {
	for i := range g.Steps {
		s := &g.Steps[i]
		switch s.Op.(type) {
		case *transforms.RandomObjectCrop, *transforms.RandomHorizontalFlip, *transforms.RandomCanvas, *transforms.RandomRelativePad, *transforms.RandomRelativeCrop, *detColor:
			given = append(given, &givenMove[D]{real: s.Op, draws: draws})
			s.Op, s.In = given[len(given)-1], []string{datagraph.Image}
		}
	}
	return given
}

// TestImageDetMovesAsMXNet compares batches with those of MXNet, with equal
// random numbers.
func TestImageDetMovesAsMXNet(t *testing.T) {
	files, g := readImageIterGolden(t).Files, readDetMoves(t)
	folders := map[int]string{}
	for _, width := range []int{5, 6} {
		folders[width] = t.TempDir()
		packBoxes(t, folders[width], files, width)
	}
	for n := 0; n < len(g.Det); n += short.Step(t, 3) {
		c := g.Det[n]
		t.Run(c.Name, func(t *testing.T) {
			it, err := openImageDetIter(t.Context(), detParams(t, folders[c.Width], c.Source, files, c.Width, c.Params))
			require.NoError(t, err)
			graph := it.graph()
			given := giveMoves(graph, c.Draws)
			require.NotEmpty(t, given)
			require.NoError(t, it.build(t.Context(), graph))
			for e, want := range c.Out {
				got, _ := imagesOf(t, it)
				require.Len(t, got, len(want), "epoch %d", e)
				for i := range want {
					want[i].Pad = 0 // MXNet counts the rows carried over, which are not padding
					require.Equal(t, want[i], got[i], "epoch %d, batch %d", e, i)
				}
				require.NoError(t, it.Reset())
			}
			require.NoError(t, it.Close())
			for _, o := range given {
				require.Equal(t, len(c.Draws), o.at)
			}
		})
	}
}

// TestImageDetRecordMovesAsMXNet compares batches with those of MXNet, with
// equal random numbers.
func TestImageDetRecordMovesAsMXNet(t *testing.T) {
	g := readDetMoves(t)
	for n := 0; n < len(g.Record); n += short.Step(t, 3) {
		c := g.Record[n]
		t.Run(c.Name, func(t *testing.T) {
			folder := t.TempDir()
			packBoxes(t, folder, c.Files, c.Width)
			p := detRecordParams(t, folder, c.Params)
			p.Context = "cpu"
			var given []*givenMove[detRecordDraw]
			it, err := newImageDetRecordIter(t.Context(), p, func(g *datagraph.Graph) { given = giveMoves(g, c.Draws) })
			require.NoError(t, err)
			for range 2 {
				got, _ := imagesOf(t, it)
				require.Equal(t, c.Out[0], got)
				require.NoError(t, it.Reset())
			}
			require.NoError(t, it.Close())
			for _, o := range given {
				require.Equal(t, 2*len(c.Draws), o.at)
			}
		})
	}
}

// labelDraws is what becomes of the objects of one image.
type labelDraws struct {
	File    string
	N       int
	LeftOut int `json:"left_out"`
	Label   []float32
	Params  map[string]any
	Classes [3]struct { // of -1, 0 and 1
		Count int
		At    [4][]float32
		UpTo  [4][]float64 `json:"up_to"`
	}
}

// requireLabels compares labels with MXNet's: how often objects are left, and
// the distribution of their edges, within five standard deviations.
func (c *labelDraws) requireLabels(t *testing.T, objects [][5]float32, n int) {
	t.Helper()
	near := func(what string, want float64, wantN int, got float64, gotN int) {
		p := (want*float64(wantN) + got*float64(gotN)) / float64(wantN+gotN)
		limit := 5*math.Sqrt(p*(1-p)*(1/float64(wantN)+1/float64(gotN))) + 1/float64(min(wantN, gotN))
		require.InDelta(t, want, got, limit, what)
	}
	for k, want := range c.Classes {
		var edges [4][]float32
		for _, o := range objects {
			if o[0] == float32(k-1) {
				for i := range edges {
					edges[i] = append(edges[i], o[1+i])
				}
			}
		}
		left := len(edges[0])
		near(fmt.Sprintf("class %d", k-1), float64(want.Count)/float64(c.N), c.N, float64(left)/float64(n), n)
		for i, at := range want.At {
			for j, v := range at {
				upTo := 0
				for _, x := range edges[i] {
					if x <= v {
						upTo++
					}
				}
				near(fmt.Sprintf("class %d, edge %d up to %v", k-1, i, v), want.UpTo[i][j], want.Count, float64(upTo)/float64(left), left)
			}
		}
	}
}

// TestImageDetRecordLabels compares the distribution of labels with MXNet's.
func TestImageDetRecordLabels(t *testing.T) {
	for i, c := range readDetMoves(t).RecordLabels {
		t.Run(strconv.Itoa(i), func(t *testing.T) {
			folder, n := t.TempDir(), short.Rounds(t, c.N, c.N/10)
			packLabelled(t, folder, slices.Repeat([]string{c.File}, n), func(int) (record, list []float32) { return c.Label, nil })
			p := detRecordParams(t, folder, merged(c.Params, map[string]any{"batch_size": 50, "data_shape": []any{3, 8, 8}}))
			it, err := NewImageDetRecordIter(t.Context(), p)
			require.NoError(t, err)
			var objects [][5]float32
			for {
				b, err := it.Next(t.Context())
				if err == io.EOF {
					break
				}
				require.NoError(t, err)
				require.Zero(t, b.Pad)
				label := tensor.View[float32](b.Label[0])
				for ; len(label) > 0; label = label[4+len(c.Label):] {
					for l := label[6 : 4+int(label[3])]; len(l) > 0; l = l[5:] {
						objects = append(objects, [5]float32(l))
					}
				}
			}
			require.NoError(t, it.Close())
			c.requireLabels(t, objects, n)
		})
	}
}

// TestImageDetLabels compares the distribution of labels with MXNet's.
func TestImageDetLabels(t *testing.T) {
	for i, c := range readDetMoves(t).DetLabels {
		t.Run(strconv.Itoa(i), func(t *testing.T) {
			n := short.Rounds(t, c.N, c.N/8)
			args := map[string]string{"batch_size": "50", "data_shape": "(3, 8, 8)", "path_root": "../../testdata/images"}
			for k, v := range c.Params {
				args[k] = pythonText(v)
			}
			p := DefaultImageDetIterParams()
			require.NoError(t, imageDetParamSet.parse(&p, args))
			p.ImgList = slices.Repeat([]ImageItem{{Labels: c.Label, Path: c.File}}, n)
			p.Threads = 2
			it, err := NewImageDetIter(t.Context(), p)
			require.NoError(t, err)
			var objects [][5]float32
			images := 0
			for {
				b, err := it.Next(t.Context())
				if err == io.EOF {
					break
				}
				require.NoError(t, err)
				rows := 50 - b.Pad
				images += rows
				label := tensor.View[float32](b.Label[0])
				for l := label[:len(label)/50*rows]; len(l) > 0; l = l[5:] {
					if o := [5]float32(l); o[3] > o[1] {
						objects = append(objects, o)
					}
				}
			}
			require.NoError(t, it.Close())
			share := float64(c.LeftOut) / float64(c.N)
			require.InDelta(t, share, 1-float64(images)/float64(n), 5*math.Sqrt(2*share*(1-share)/float64(n))+1/float64(n))
			c.requireLabels(t, objects, n)
		})
	}
}

package graph

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"image"
	"image/draw"
	"image/png"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/infer-prep/infer-prep/cmd/internal/cli/command"
	"github.com/infer-prep/infer-prep/cmd/internal/cli/source"
	"github.com/infer-prep/infer-prep/datagraph"
	"github.com/infer-prep/infer-prep/internal/newfile"
	"github.com/infer-prep/infer-prep/internal/opdoc"
	"github.com/infer-prep/infer-prep/internal/paths"
	"github.com/infer-prep/infer-prep/tensor"
	"github.com/infer-prep/infer-prep/transforms"
)

// OpsSheetCell is the default of ops --cell, the longer side of the built-in
// picture.
const OpsSheetCell = 112

// OpsSheetColumns is the number of tiles in a row of the sheet of ops.
const OpsSheetColumns = 10

// sheetDraws is the number of samples that are tried for a random op, until one
// differs from the input.
const sheetDraws = 64

// opsSheet draws a tile for each op that takes an image.
func opsSheet(ctx context.Context, a *command.App, file, from string, cell int) error {
	if cell < 16 || cell > 1024 {
		return command.UsageErr("--cell %d: want 16 to 1024", cell)
	}
	encoded := SheetPicture()
	if from != "" {
		var err error
		if encoded, err = source.ReadSmall(ctx, from, nil, math.MaxInt64-1); err != nil {
			return command.WrapFail(err)
		}
	}
	inputs, err := SheetInputs(encoded, cell)
	if err != nil {
		return command.WrapFail(paths.Error(from, withoutStep(err)))
	}
	var tiles []sheetTile
	for _, i := range transforms.Ops() {
		if err := command.Interrupted(ctx, "nothing was written"); err != nil {
			return err
		}
		if slices.Contains(i.In, "image") && i.New().Validate() == nil { // plugin has no library by default
			tiles = append(tiles, TileOf(i, inputs, cell))
		}
	}
	m := drawTiles(tiles, cell)
	return command.WrapFail(newfile.Write(ctx, file, func(w io.Writer) error { return png.Encode(w, m) }))
}

// sheetTile is the result of one op.
type sheetTile struct {
	name    string
	Picture image.Image // nil if no output is one
	Lines   []string    // the values of outputs that are no picture, or the error
	Err     error
}

// SheetInputs returns the forms of an encoded image, of which an op gets the
// first that it takes. The image is reduced to fit a square of cell pixels.
func SheetInputs(encoded []byte, cell int) ([]*tensor.Tensor, error) {
	whole, err := runSheet(tensor.FromBytes(encoded), transforms.NewDecode())
	if err != nil {
		return nil, err
	}
	rgb := whole
	if max(rgb.Height(), rgb.Width()) > cell {
		inside := transforms.NewResize(cell, cell)
		inside.Fit = transforms.FitInside
		if rgb, err = runSheet(whole, inside); err != nil {
			return nil, err
		}
	}
	l := []*tensor.Tensor{rgb}
	for _, ops := range [][]transforms.Op{
		{transforms.NewRescale(1.0 / 255)},
		{transforms.NewHWC2CHW(), transforms.NewRescale(1.0 / 255)},
		{transforms.NewHWC2CHW()},
		{transforms.NewGrayscale()},
	} {
		t, err := runSheet(rgb, ops...)
		if err != nil {
			return nil, err
		}
		l = append(l, t)
	}
	h, w := rgb.Height(), rgb.Width()
	rgba, err := tensor.New(tensor.Image(tensor.Uint8, tensor.HWC, h, w, 4))
	if err != nil {
		return nil, err
	}
	for i := range h * w {
		copy(rgba.Data[4*i:], rgb.Data[3*i:][:3])
		rgba.Data[4*i+3] = uint8(i % w * 255 / w) // transparent at the left
	}
	var file bytes.Buffer
	if err := png.Encode(&file, Picture(rgb)); err != nil {
		return nil, err
	}
	rows, err := tensor.Wrap(tensor.Desc{DType: tensor.Float32, Shape: tensor.Dims(3*h, w)}, l[2].Data)
	if err != nil {
		return nil, err
	}
	batch, err := tensor.Wrap(tensor.Desc{DType: tensor.Uint8, Shape: tensor.Dims(1, 3, h, w)}, l[3].Data)
	if err != nil {
		return nil, err
	}
	dot, err := runSheet(rgb, transforms.NewCrop(0, 0, 1, 1)) // for ops with a parameter for each value
	return append(l, rgba, tensor.FromBytes(file.Bytes()), rows, batch, dot), err
}

// runSheet runs ops that are not random.
func runSheet(in *tensor.Tensor, ops ...transforms.Op) (*tensor.Tensor, error) {
	g := datagraph.New(ops...)
	g.Inputs[0].Desc = in.Desc
	p, err := datagraph.Compile(g, datagraph.CompileOptions{})
	if err != nil {
		return nil, err
	}
	out, err := p.NewRunner().Run(in)
	if err != nil {
		return nil, err
	}
	return out[0].Clone(), nil
}

// sheetDICOM returns the numbers of a DICOM file: a rescale, a window and a
// palette.
func sheetDICOM() *tensor.Tensor {
	b := append(make([]byte, 128), "DICM"...)
	var colors [3][]byte
	for i := range 128 {
		colors[0], colors[1], colors[2] = append(colors[0], byte(2*i)), append(colors[1], byte(255-2*i)), append(colors[2], 128)
	}
	const descriptor = "\x80\x00\x40\x00\x08\x00" // 128 entries from 64 on
	for _, e := range []struct{ tag, vr, value string }{
		{"\x02\x00\x10\x00", "UI", "1.2.840.10008.1.2.1\x00"}, {"\x28\x00\x04\x00", "CS", "MONOCHROME2 "}, {"\x28\x00\x01\x01", "US", "\x08\x00"},
		{"\x28\x00\x50\x10", "DS", "128 "}, {"\x28\x00\x51\x10", "DS", "100 "}, {"\x28\x00\x52\x10", "DS", "-1000 "}, {"\x28\x00\x53\x10", "DS", "2 "},
		{"\x28\x00\x01\x11", "US", descriptor}, {"\x28\x00\x02\x11", "US", descriptor}, {"\x28\x00\x03\x11", "US", descriptor},
		{"\x28\x00\x01\x12", "US", string(colors[0])}, {"\x28\x00\x02\x12", "US", string(colors[1])}, {"\x28\x00\x03\x12", "US", string(colors[2])},
	} {
		b = append(append(append(b, e.tag...), e.vr...), byte(len(e.value)), 0)
		b = append(b, e.value...)
	}
	return tensor.FromBytes(b)
}

// sheetColumn returns the input of an op beside its image.
func sheetColumn(name string, img *tensor.Tensor) (*tensor.Tensor, error) {
	h, w := 64, 64
	if img.IsImage() {
		h, w = img.Height(), img.Width()
	}
	numbers := func(v ...float64) (*tensor.Tensor, error) {
		t, err := tensor.New(tensor.Desc{DType: tensor.Float64, Shape: tensor.Dims(len(v))})
		if err == nil {
			copy(tensor.View[float64](t), v)
		}
		return t, err
	}
	integers := func(v ...int64) (*tensor.Tensor, error) {
		t, err := tensor.New(tensor.Desc{DType: tensor.Int64, Shape: tensor.Dims(len(v))})
		if err == nil {
			copy(tensor.View[int64](t), v)
		}
		return t, err
	}
	switch name {
	case "box": // left, top, width and height
		return numbers(float64(w/4), float64(h/4), float64(w/2), float64(h/2))
	case "boxes": // left, top, right and bottom of the middle
		t, err := tensor.New(tensor.Desc{DType: tensor.Float32, Shape: tensor.Dims(1, 4)})
		if err == nil {
			copy(tensor.View[float32](t), []float32{float32(w / 4), float32(h / 4), float32(w * 3 / 4), float32(h * 3 / 4)})
		}
		return t, err
	case "displacement": // waves
		t, err := tensor.New(tensor.Desc{DType: tensor.Float32, Shape: tensor.Dims(h, w, 2)})
		if err != nil {
			return nil, err
		}
		v := tensor.View[float32](t)
		for y := range h {
			for x := range w {
				v[2*(y*w+x)] = float32(triangle(y*4, h)) / 2500
				v[2*(y*w+x)+1] = float32(triangle(x*4, w)) / 2500
			}
		}
		return t, nil
	case "file":
		return sheetDICOM(), nil
	case "image2":
		return img, nil
	case "label": // a vector for each image of a batch
		n := 1
		if img.Shape.Rank() > 0 {
			n = img.Shape.At(0)
		}
		return tensor.New(tensor.Desc{DType: tensor.Float32, Shape: tensor.Dims(n, 2)})
	case "pad":
		return integers(int64(h/8), int64(h/8), int64(w/8), int64(w/8))
	case "rows", "tiles", "whole":
		return tensor.Wrap(tensor.Desc{DType: img.DType, Shape: img.Shape}, img.Data)
	case "size":
		return integers(int64(h/2), int64(w*3/4))
	}
	return nil, fmt.Errorf("an op with the input %s has no tile", name)
}

// triangle is a wave of period n and values from -100 to 100.
func triangle(x, n int) int {
	v := x % n * 400 / n // 0 to 400
	if v > 200 {
		v = 400 - v
	}
	return v - 100
}

// TileOf runs an op on the first form of the image that it takes.
func TileOf(i transforms.Info, inputs []*tensor.Tensor, cell int) sheetTile {
	tile := sheetTile{name: i.Name}
	doc, _ := opdoc.Lookup(i.Name)
	op, err := withParams(i, doc.Sheet)
	if err != nil {
		tile.Err = err
		return tile
	}
	for _, img := range inputs {
		in := make([]*tensor.Tensor, len(i.In))
		g := &datagraph.Graph{Outputs: i.Out}
		for k, name := range i.In {
			if in[k] = img; name != "image" {
				if in[k], tile.Err = sheetColumn(name, img); tile.Err != nil {
					return tile
				}
			}
			g.Inputs = append(g.Inputs, datagraph.Column{Name: name, Desc: in[k].Desc})
		}
		g.Then(op, i.In, i.Out)
		p, err := datagraph.Compile(g, datagraph.CompileOptions{})
		if err != nil {
			tile.Err = cmp.Or(tile.Err, withoutStep(err)) // that of the usual form
			continue
		}
		out, err := drawSheet(p.NewRunner(), g.Random(), in)
		if err != nil {
			tile.Err = cmp.Or(tile.Err, withoutStep(err))
			continue
		}
		tile.Err = nil
		for k, o := range out {
			if m := stack(o); m != nil && tile.Picture == nil {
				tile.Picture = Thumbnail(m, cell)
			} else if m == nil {
				tile.Lines = append(tile.Lines, describeValues(i.Out[k], o)...)
			}
		}
		return tile
	}
	return tile
}

// withoutStep returns an error without the step of a graph, which is the
// tile's own.
func withoutStep(err error) error {
	if se, ok := errors.AsType[*datagraph.StepError](err); ok {
		return se.Err
	}
	return err
}

// drawSheet runs a plan. A random op runs for one sample after another, until
// the result is another image than the input.
func drawSheet(r *datagraph.Runner, random bool, in []*tensor.Tensor) (out []*tensor.Tensor, err error) {
	for r.At.Ordinal = 0; r.At.Ordinal < sheetDraws; r.At.Ordinal++ {
		if out, err = r.Run(in...); err != nil || !random {
			return out, err
		}
		if out[0].Desc != in[0].Desc || !bytes.Equal(out[0].Data, in[0].Data) {
			break
		}
	}
	return out, nil
}

// withParams returns an op with its default parameters, except those of a JSON
// object.
func withParams(i transforms.Info, changes string) (transforms.Op, error) {
	op := i.New()
	if changes == "" {
		return op, nil
	}
	text, err := transforms.MarshalParams(op)
	if err != nil {
		return nil, err
	}
	params := map[string]json.RawMessage{}
	if err := json.Unmarshal(text, &params); err != nil {
		return nil, err
	}
	// Unknown names stay and are errors below.
	if err := json.Unmarshal([]byte(changes), &params); err != nil {
		return nil, err
	}
	if text, err = json.Marshal(params); err != nil {
		return nil, err
	}
	return transforms.UnmarshalParams(i.Name, i.Version, text)
}

// stack returns a tensor as a picture: an image, a mask, or images along the
// first axis, of which it shows up to 16. It returns nil for other tensors.
func stack(t *tensor.Tensor) image.Image {
	if t.IsImage() || t.Len() == 0 || t.DType == tensor.Bytes {
		return Picture(t)
	}
	s := t.Shape
	channels := func(n int) bool { return n == 1 || n == 3 || n == 4 }
	as := func(l tensor.Layout, h, w, c int) image.Image {
		v, err := tensor.Wrap(tensor.Image(t.DType, l, h, w, c), t.Data)
		if err != nil {
			return nil
		}
		return Picture(v)
	}
	const least = 8 // pixels of a side; smaller tensors are numbers
	switch {
	case !t.Dense():
		return stack(t.Clone())
	case s.Rank() == 2 && min(s.At(0), s.At(1)) >= least:
		return as(tensor.HWC, s.At(0), s.At(1), 1)
	case s.Rank() == 3 && channels(s.At(2)) && min(s.At(0), s.At(1)) >= least:
		return as(tensor.HWC, s.At(0), s.At(1), s.At(2))
	case s.Rank() == 3 && channels(s.At(0)) && min(s.At(1), s.At(2)) >= least:
		return as(tensor.CHW, s.At(1), s.At(2), s.At(0))
	case s.Rank() != 4:
		return nil
	}
	var l []image.Image
	for k := range min(s.At(0), 16) {
		size := len(t.Data) / s.At(0)
		one, err := tensor.Wrap(tensor.Desc{DType: t.DType, Shape: tensor.Dims(s.At(1), s.At(2), s.At(3))}, t.Data[k*size:][:size])
		if err != nil {
			return nil
		}
		m := stack(one)
		if m == nil {
			return nil
		}
		l = append(l, m)
	}
	side := 1
	for side*side < len(l) {
		side++
	}
	b := l[0].Bounds()
	w, h := b.Dx()+2, b.Dy()+2
	m := image.NewNRGBA(image.Rect(0, 0, min(side, len(l))*w-2, (len(l)+side-1)/side*h-2))
	draw.Draw(m, m.Rect, image.NewUniform(SheetPaper), image.Point{}, draw.Src)
	for k, p := range l {
		draw.Draw(m, b.Add(image.Pt(k%side*w, k/side*h)), p, image.Point{}, draw.Src)
	}
	return m
}

// tileLines is the number of lines below a picture.
const tileLines = 4

func TileHeight(cell int) int { return cell + SheetGap/2 + tileLines*lineHeight + SheetGap }

// drawTiles draws the tiles in rows, each with its name and its values.
func drawTiles(tiles []sheetTile, cell int) *image.NRGBA {
	width, height := max(cell, 16*glyph)+SheetGap, TileHeight(cell)
	n := (len(tiles) + OpsSheetColumns - 1) / OpsSheetColumns
	m := image.NewNRGBA(image.Rect(0, 0, SheetGap+OpsSheetColumns*width, SheetGap+n*height))
	draw.Draw(m, m.Rect, image.NewUniform(SheetPaper), image.Point{}, draw.Src)
	for i, t := range tiles {
		x, y := SheetGap+i%OpsSheetColumns*width, SheetGap+i/OpsSheetColumns*height
		box := image.Rect(x, y, x+cell, y+cell)
		draw.Draw(m, box, image.NewUniform(SheetFrame), image.Point{}, draw.Src)
		text, ink := t.Lines, sheetFaint
		if t.Err != nil {
			text, ink = command.Wrap(t.Err.Error(), (cell-4)/glyph), sheetRed
		}
		if t.Picture != nil {
			b := t.Picture.Bounds()
			place := b.Add(box.Min.Add(image.Pt((cell-b.Dx())/2, (cell-b.Dy())/2)))
			draw.Draw(m, place, t.Picture, image.Point{}, draw.Over)
		} else {
			for k, line := range text[:min(len(text), cell/lineHeight)] {
				caption(m, x+2, y+2+k*lineHeight, cell+SheetGap-2, ink, line)
			}
			text = nil
		}
		y += cell + SheetGap/2
		name := nameLines(t.name, (width-SheetGap)/glyph)
		for k, line := range name {
			caption(m, x, y+k*lineHeight, width, sheetInk, line)
		}
		for k, line := range text[:min(len(text), tileLines-len(name))] {
			caption(m, x, y+(len(name)+k)*lineHeight, width, ink, line)
		}
	}
	return m
}

// nameLines breaks a name behind an underscore if it is wider than most.
func nameLines(name string, most int) []string {
	if len(name) <= most {
		return []string{name}
	}
	if i := strings.LastIndexByte(name[:most], '_'); i >= 0 {
		return []string{name[:i+1], name[i+1:]}
	}
	return []string{name[:most], name[most:]}
}

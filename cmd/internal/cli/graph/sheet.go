package graph

import (
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"io"
	"math"
	"strconv"
	"strings"

	"github.com/disintegration/gift"
	"github.com/spf13/cobra"
	"golang.org/x/image/font"
	"golang.org/x/image/font/basicfont"
	"golang.org/x/image/math/fixed"

	"github.com/infer-prep/infer-prep/cmd/internal/cli/command"
	"github.com/infer-prep/infer-prep/cmd/internal/cli/source"
	"github.com/infer-prep/infer-prep/datagraph"
	"github.com/infer-prep/infer-prep/internal/newfile"
	"github.com/infer-prep/infer-prep/internal/paths"
	"github.com/infer-prep/infer-prep/job"
	"github.com/infer-prep/infer-prep/tensor"
	"github.com/infer-prep/infer-prep/transforms"
)

// sheetFlags are the flags of graph show --sheet.
type sheetFlags struct {
	file    string
	images  int // rows
	cell    int // pixels of a picture's longer side
	outside command.Outside
}

func (f *sheetFlags) add(cmd *cobra.Command) {
	fl := cmd.Flags()
	fl.StringVar(&f.file, "sheet", "", "draw a contact sheet of the images to the PNG `FILE`: a row for each image, a column for each step")
	fl.IntVar(&f.images, "limit", 20, "with --sheet, draw the first `N` images: 1 to 1000")
	fl.IntVar(&f.cell, "cell", 128, "with --sheet, fit each picture into a square of `N` pixels: 16 to 1024")
	f.outside.Add(cmd)
	command.Must(cmd.MarkFlagFilename("sheet", "png"))
}

// maxSheet is the largest number of pixels of a contact sheet. Four bytes each
// are in memory at once.
const maxSheet = 100e6

// The font is a bitmap, so that a sheet has the same pixels on every machine.
// It holds ASCII only.
const (
	glyph      = 7
	lineHeight = 14
	SheetGap   = 8
	// captionWidth holds "float32 CHW" and "(3, 1024, 1024)".
	captionWidth = 18 * glyph
)

var (
	SheetPaper = color.NRGBA{255, 255, 255, 255}
	sheetInk   = color.NRGBA{20, 20, 20, 255}
	sheetFaint = color.NRGBA{110, 110, 110, 255}
	SheetFrame = color.NRGBA{225, 225, 225, 255}
	sheetRed   = color.NRGBA{190, 0, 0, 255}
)

// sheetCell is the result of one step on one image.
type sheetCell struct {
	picture image.Image // fits the cell; nil if no output is an image
	lines   []string
}

type sheetRow struct {
	name  string
	err   error
	cells []sheetCell // one for each step; empty after the step that failed
}

// writeSheet draws the contact sheet of the images that args name. It draws
// images that fail too, reports them and returns an error with status 1.
func writeSheet(a *command.App, cmd *cobra.Command, f *source.GraphFlags, s *sheetFlags, g *datagraph.Graph, args []string) error {
	switch {
	case s.images < 1 || s.images > 1000:
		return command.UsageErr("--limit %d: want 1 to 1000", s.images)
	case s.cell < 16 || s.cell > 1024:
		return command.UsageErr("--cell %d: want 16 to 1024", s.cell)
	case len(args) == 0:
		return command.UsageErr("--sheet: no images or sounds: want files, folders or globs")
	}
	plan, err := f.CompileImage(g)
	if err != nil {
		return err
	}
	width := SheetGap + len(g.Steps)*(max(s.cell, captionWidth)+SheetGap)
	if least := int64(width) * int64(s.images) * int64(s.cell+lineHeight); least > maxSheet {
		return command.UsageErr("--sheet: %d images of %s take %d pixels, the limit is %d: want a smaller --limit or --cell", s.images, command.Plural(len(g.Steps), "step"), least, int(maxSheet))
	}
	l := job.Find(cmd.Context(), s.outside.Files(), job.Paths(args...), s.file)
	defer l.Close()
	l.For(g)
	sound := g.OfSound()
	if err := command.Interrupted(cmd.Context(), "nothing was written"); err != nil {
		return err
	}
	var rows []sheetRow
	more, failed := false, 0
	run := plan.NewRunner()
	for i := range l.Files {
		in := &l.Files[i]
		if err := command.Interrupted(cmd.Context(), "nothing was written"); err != nil {
			return err
		}
		if in.Err == nil && !in.Explicit && !in.IsImage(cmd.Context()) {
			continue
		}
		if more = len(rows) == s.images; more {
			break
		}
		run.At.Ordinal = uint64(len(rows)) // what random ops draw for
		row := s.row(cmd, f, run, in, plan.Unfused().Steps(), sound)
		if err := command.Interrupted(cmd.Context(), "nothing was written"); err != nil {
			return err
		}
		if row.err != nil {
			failed++
			a.Complain(row.err)
		}
		rows = append(rows, row)
	}
	if len(rows) == 0 {
		return command.NoImages(job.Noun(g), 0, len(l.Files))
	}
	note := ""
	if more {
		note = fmt.Sprintf("the first %s of %s; --limit shows more", command.Plural(len(rows), job.Noun(g)), command.Plural(len(l.Files), "file"))
		fmt.Fprintln(a.Stderr, note)
	}
	m, err := s.draw(g, rows, width, note)
	if err != nil {
		return err
	}
	if err := newfile.Write(cmd.Context(), s.file, func(w io.Writer) error { return png.Encode(w, m) }); err != nil {
		return command.WrapFail(err)
	}
	if failed > 0 {
		return &command.ExitError{Status: command.ExitFailed}
	}
	return nil
}

// row runs the graph on an image, or on a sound if the graph is one of sounds.
func (s *sheetFlags) row(cmd *cobra.Command, f *source.GraphFlags, run *datagraph.Runner, in *job.File, steps []datagraph.StepInfo, sound bool) sheetRow {
	r := sheetRow{name: in.Path, cells: make([]sheetCell, len(steps)), err: in.Err}
	if r.err != nil {
		return r
	}
	t, err := source.ReadImage(cmd, in, f.Limits)
	if err != nil {
		r.err = err
		return r
	}
	run.OnStep = func(step int, out []*tensor.Tensor) error {
		c := sheetCell{}
		for i, o := range out {
			p := Picture(o)
			if p != nil {
				p = Thumbnail(p, s.cell)
			} else if sound {
				p = soundPicture(o, s.cell, s.cell/2)
			}
			if p != nil && c.picture == nil {
				c.picture = p
				c.lines = append(describeImage(o), c.lines...)
			} else {
				c.lines = append(c.lines, describeValues(steps[step].Out[i].Name, o)...)
			}
		}
		r.cells[step] = c
		return cmd.Context().Err()
	}
	if _, err = run.Run(t); err != nil {
		r.err = fmt.Errorf("%s: %w", in.Path, paths.Reason(err))
		return r
	}
	for i := range r.cells {
		if r.cells[i].lines == nil { // a random op that drew no change
			r.cells[i].lines = []string{"no change"}
		}
	}
	return r
}

// describeImage returns the caption of a picture.
func describeImage(t *tensor.Tensor) []string {
	l := []string{t.DType.String(), t.Shape.String()}
	if t.Layout != tensor.NoLayout {
		l[0] += " " + t.Layout.String()
	}
	if !t.Dense() {
		t = t.Clone()
	}
	at := tensor.Float64s(t)
	lo, hi := math.Inf(1), math.Inf(-1)
	for i := range int(t.Len()) {
		lo, hi = min(lo, at(i)), max(hi, at(i))
	}
	return append(l, sheetNumber(lo)+" to "+sheetNumber(hi))
}

// describeValues returns the caption of an output that is no picture: its
// values if they are few.
func describeValues(name string, t *tensor.Tensor) []string {
	const most = 4
	l := []string{name + ": " + t.DType.String()}
	at := tensor.Float64s(t)
	if at == nil || t.Len() > most || !t.Dense() {
		return append(l, t.Shape.String())
	}
	var v []string
	for i := range int(t.Len()) {
		v = append(v, sheetNumber(at(i)))
	}
	return append(l, strings.Join(v, " "))
}

func sheetNumber(v float64) string { return strconv.FormatFloat(v, 'g', 4, 64) }

// Thumbnail scales a picture to fit a square: a larger one with a box filter, a
// smaller one by a whole factor, which repeats its pixels.
func Thumbnail(m image.Image, side int) image.Image {
	w, h := m.Bounds().Dx(), m.Bounds().Dy()
	k := side / max(w, h)
	if k == 1 {
		return m
	}
	g := gift.New(gift.ResizeToFit(side, side, gift.BoxResampling))
	if k > 1 {
		g = gift.New(gift.Resize(w*k, h*k, gift.NearestNeighborResampling))
	}
	dst := image.NewNRGBA(g.Bounds(m.Bounds()))
	g.Draw(dst, m)
	return dst
}

// draw draws the rows below a line with the graph's reference and one with the
// steps.
func (s *sheetFlags) draw(g *datagraph.Graph, rows []sheetRow, width int, note string) (image.Image, error) {
	column := max(s.cell, captionWidth) + SheetGap
	heights := make([]int, len(rows))
	height := SheetGap + 2*lineHeight + SheetGap
	for i, r := range rows {
		lines, pictures := 0, false
		for _, c := range r.cells {
			lines, pictures = max(lines, len(c.lines)), pictures || c.picture != nil
		}
		heights[i] = lineHeight + lines*lineHeight + SheetGap
		if pictures {
			heights[i] += s.cell + SheetGap/2
		}
		height += heights[i]
	}
	if note != "" {
		height += lineHeight + SheetGap
	}
	if int64(width)*int64(height) > maxSheet {
		return nil, command.UsageErr("--sheet: %d x %d pixels, the limit is %d in all: want a smaller --limit or --cell", width, height, int(maxSheet))
	}
	m := image.NewNRGBA(image.Rect(0, 0, width, height))
	draw.Draw(m, m.Rect, image.NewUniform(SheetPaper), image.Point{}, draw.Src)
	y := SheetGap
	caption(m, SheetGap, y, width, sheetFaint, g.Reference)
	y += lineHeight
	for i, st := range g.Steps {
		caption(m, SheetGap+i*column, y, column, sheetInk, fmt.Sprintf("%d %s", i, transforms.InfoOf(st.Op).Name))
	}
	y += lineHeight + SheetGap
	for i, r := range rows {
		ink, text := sheetInk, r.name
		if r.err != nil {
			ink, text = sheetRed, r.err.Error()
		}
		draw.Draw(m, image.Rect(0, y-SheetGap/2, width, y-SheetGap/2+1), image.NewUniform(SheetFrame), image.Point{}, draw.Src)
		caption(m, SheetGap, y, width, ink, text)
		for j, c := range r.cells {
			x, at := SheetGap+j*column, y+lineHeight
			if c.picture != nil {
				b := c.picture.Bounds()
				box := image.Rect(x, at, x+s.cell, at+s.cell)
				draw.Draw(m, box, image.NewUniform(SheetFrame), image.Point{}, draw.Src)
				place := b.Add(box.Min.Add(image.Pt((s.cell-b.Dx())/2, (s.cell-b.Dy())/2)))
				draw.Draw(m, place, c.picture, image.Point{}, draw.Over)
				at += s.cell + SheetGap/2
			}
			for k, line := range c.lines {
				caption(m, x, at+k*lineHeight, column, sheetFaint, line)
			}
		}
		y += heights[i]
	}
	caption(m, SheetGap, y, width, sheetInk, note)
	return m, nil
}

// caption writes a line of text with its upper left corner at (x, y). It cuts
// text that is wider than width.
func caption(m draw.Image, x, y, width int, ink color.Color, text string) {
	text = strings.Map(func(r rune) rune {
		if r < ' ' || r > '~' {
			return '?' // the font holds ASCII only
		}
		return r
	}, text)
	if most := max((width-SheetGap)/glyph, 3); len(text) > most {
		text = text[:most-2] + ".."
	}
	d := font.Drawer{Dst: m, Src: image.NewUniform(ink), Face: basicfont.Face7x13, Dot: fixed.P(x, y+basicfont.Face7x13.Ascent)}
	d.DrawString(text)
}

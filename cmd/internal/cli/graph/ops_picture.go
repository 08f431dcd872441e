package graph

import (
	"bytes"
	"image"
	"image/color"
	"image/draw"
	"image/png"

	"golang.org/x/image/font"
	"golang.org/x/image/font/basicfont"
	"golang.org/x/image/math/fixed"
)

// SheetPicture returns the built-in picture of ops --sheet as a PNG. It is
// drawn with integers: a low sun, hills, a house, stripes of colour and a ramp
// of gray, with little contrast, and letters that show flips.
func SheetPicture() []byte {
	const w, h = OpsSheetCell, OpsSheetCell * 3 / 4
	m := image.NewNRGBA(image.Rect(0, 0, w, h))
	fill := func(x0, y0, x1, y1 int, c color.NRGBA) {
		draw.Draw(m, image.Rect(x0, y0, x1, y1), image.NewUniform(c), image.Point{}, draw.Src)
	}
	for y := range h {
		fill(0, y, w, y+1, color.NRGBA{uint8(70 + y), uint8(110 + y), uint8(200 - y/2), 255})
	}
	for y := range h {
		for x := range w {
			if dx, dy := x-84, y-20; dx*dx+dy*dy < 12*12 {
				m.SetNRGBA(x, y, color.NRGBA{225, 200, 90, 255})
			}
			if y > 34+abs(x-30)/3 {
				m.SetNRGBA(x, y, color.NRGBA{60, 105, 75, 255})
			}
			if y > 44+abs(x-90)/4 {
				m.SetNRGBA(x, y, color.NRGBA{85, 130, 70, 255})
			}
			if y > 34 && y <= 44 && abs(x-30) < y-30 {
				m.SetNRGBA(x, y, color.NRGBA{150, 60, 50, 255}) // roof
			}
		}
	}
	fill(20, 45, 40, 62, color.NRGBA{205, 190, 165, 255})
	fill(24, 49, 29, 54, color.NRGBA{60, 70, 90, 255})
	fill(32, 50, 37, 62, color.NRGBA{100, 70, 50, 255})
	for i, c := range []color.NRGBA{{200, 60, 60, 255}, {200, 200, 70, 255}, {70, 180, 80, 255}, {70, 180, 190, 255}, {70, 80, 190, 255}, {180, 70, 180, 255}, {215, 215, 215, 255}} {
		fill(i*w/7, 68, (i+1)*w/7, 76, c)
	}
	for x := range w {
		v := uint8(40 + 175*x/w)
		fill(x, 76, x+1, h, color.NRGBA{v, v, v, 255})
	}
	(&font.Drawer{Dst: m, Src: image.NewUniform(color.NRGBA{40, 40, 60, 255}), Face: basicfont.Face7x13, Dot: fixed.P(6, 16)}).DrawString("Rg")
	var b bytes.Buffer
	if err := png.Encode(&b, m); err != nil {
		panic(err) // a buffer takes all
	}
	return b.Bytes()
}

func abs(x int) int { return max(x, -x) }

package main

import (
	"fmt"
	"image"
	"image/color"
	"image/draw"

	"golang.org/x/image/font"
	"golang.org/x/image/font/basicfont"
	"golang.org/x/image/math/fixed"
)

var (
	black = color.RGBA{0x20, 0x20, 0x20, 255}
	grey  = color.RGBA{0xd8, 0xd8, 0xd8, 255}
	blue  = color.RGBA{0x1f, 0x5f, 0xb4, 255}
	red   = color.RGBA{0xc4, 0x30, 0x30, 255}
)

// canvas is a white picture.
type canvas struct{ *image.RGBA }

func newCanvas(w, h int) canvas {
	c := canvas{image.NewRGBA(image.Rect(0, 0, w, h))}
	draw.Draw(c, c.Bounds(), image.White, image.Point{}, draw.Src)
	return c
}

func (c canvas) text(x, y int, s string, col color.Color) {
	d := font.Drawer{Dst: c, Src: image.NewUniform(col), Face: basicfont.Face7x13, Dot: fixed.P(x, y)}
	d.DrawString(s)
}

// line draws a line two pixels thick.
func (c canvas) line(x0, y0, x1, y1 int, col color.Color) {
	n := max(abs(x1-x0), abs(y1-y0), 1)
	for i := range n + 1 {
		x, y := x0+(x1-x0)*i/n, y0+(y1-y0)*i/n
		draw.Draw(c, image.Rect(x, y, x+2, y+2), image.NewUniform(col), image.Point{}, draw.Src)
	}
}

func abs(n int) int { return max(n, -n) }

// curvePicture draws the loss and the accuracy on the test images after each
// epoch.
func curvePicture(l []epochResult) image.Image {
	const left, right, top, bottom = 60, 580, 40, 320
	c := newCanvas(640, 370)
	largest := 0.1
	for _, e := range l {
		largest = max(largest, e.Loss)
	}
	for i := range 5 {
		y := bottom + (top-bottom)*i/4
		draw.Draw(c, image.Rect(left, y, right, y+1), image.NewUniform(grey), image.Point{}, draw.Src)
		c.text(8, y+5, fmt.Sprintf("%6.2f", largest*float64(i)/4), red)
		c.text(right+8, y+5, fmt.Sprintf("%3d %%", 25*i), blue)
	}
	x := func(i int) int { return left + (right-left)*i/max(len(l)-1, 1) }
	y := func(v float64) int { return bottom + int(float64(top-bottom)*v) }
	for i, e := range l {
		if i > 0 {
			c.line(x(i-1), y(l[i-1].Loss/largest), x(i), y(e.Loss/largest), red)
			c.line(x(i-1), y(l[i-1].Accuracy), x(i), y(e.Accuracy), blue)
		}
		if len(l) <= 20 || i%5 == 4 {
			c.text(x(i)-4, bottom+20, fmt.Sprint(e.Epoch+1), black)
		}
	}
	c.text(left, 24, "loss of the test images", red)
	c.text(right-150, 24, "accuracy, test images", blue)
	c.text(left+220, bottom+40, "epoch", black)
	return c
}

// confusionPicture draws how many test images of a class (rows) were taken for
// which class (columns).
func confusionPicture(labels []string, counts [][]int) image.Image {
	const cell, left, top = 64, 110, 70
	n := len(labels)
	c := newCanvas(left+n*cell+20, top+n*cell+20)
	c.text(left, 20, "taken for", black)
	c.text(8, top-8, "class", black)
	for i, row := range counts {
		total := 0
		for _, k := range row {
			total += k
		}
		c.text(8, top+i*cell+cell/2+5, labels[i], black)
		c.text(left+i*cell+4, top-24+i%2*16, labels[i], black)
		for j, k := range row {
			share := float64(k) / float64(max(total, 1))
			fade := func(to uint8) uint8 { return uint8(255 - share*float64(255-to)) }
			col := color.RGBA{fade(blue.R), fade(blue.G), fade(blue.B), 255}
			if i != j {
				col = color.RGBA{fade(red.R), fade(red.G), fade(red.B), 255}
			}
			at := image.Rect(left+j*cell, top+i*cell, left+(j+1)*cell-1, top+(i+1)*cell-1)
			draw.Draw(c, at, image.NewUniform(col), image.Point{}, draw.Src)
			ink := color.Color(black)
			if share > 0.5 {
				ink = color.White
			}
			c.text(at.Min.X+cell/2-8, at.Min.Y+cell/2+5, fmt.Sprint(k), ink)
		}
	}
	return c
}

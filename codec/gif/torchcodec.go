package gif

import "github.com/infer-prep/infer-prep/codec"

// torchCodec refuses what TorchCodec refuses, what it returns as frames, and
// what it draws with memory behind a colour table.
func (h *header) torchCodec() error {
	switch {
	case h.frames > 1:
		return unsupported("several frames, which TorchCodec returns all")
	case h.controls > 1:
		return unsupported("%d graphic control extensions", h.controls)
	case h.x+h.w > max(h.screenW, h.w) || h.y+h.h > max(h.screenH, h.h):
		return unsupported("a frame that leaves the screen, which TorchCodec cuts off")
	case h.table == nil:
		return bad(-1, "no colour table")
	case (h.transparent >= 0 || !h.covered()) && h.screenTable != nil && h.background >= h.global:
		return bad(11, "background %d of %d colours", h.background, h.global)
	case h.bits > 8:
		return bad(h.data-1, "LZW literals of %d bits, want at most 8", h.bits)
	case !h.ended || h.stray:
		return bad(-1, "no trailer, or bytes between blocks")
	}
	return nil
}

func unsupported(msg string, args ...any) error {
	return codec.Errorf(name, -1, codec.ErrUnsupported, msg, args...)
}

// covered reports whether the frame is the whole image.
func (h *header) covered() bool {
	return h.x == 0 && h.y == 0 && h.w == h.width && h.h == h.height
}

// torchCodecColors sets the palette, with the background's colour at the
// transparent index, and gives pixels outside the frame that colour. TorchCodec
// looks up only the frame's own table, or else the screen's.
func (h *header) torchCodecColors(dst *codec.Raster) error {
	back := [4]uint8{3: 255}
	if h.background < h.global {
		copy(back[:], h.screenTable[3*h.background:][:3])
	}
	var used [256]bool
	for y := h.y; y < h.y+h.h; y++ {
		for _, v := range dst.Pix[y*dst.Stride+h.x:][:h.w] {
			used[v] = true
		}
	}
	colors := len(h.table) / 3
	for i := range dst.Palette {
		dst.Palette[i] = [4]uint8{3: 255}
		switch {
		case i == h.transparent:
			dst.Palette[i] = back
		case i < colors:
			copy(dst.Palette[i][:], h.table[3*i:][:3])
		case used[i]:
			return bad(-1, "colour %d of %d", i, colors)
		}
	}
	if h.covered() || h.transparent >= 0 { // outside is the transparent index
		return nil
	}
	outside := -1
	for i, p := range dst.Palette {
		if !used[i] || p == back {
			outside = i
			break
		}
	}
	if outside < 0 {
		return unsupported("a frame with all 256 colours and a background of another")
	}
	dst.Palette[outside] = back
	for y := range h.height {
		row := dst.Pix[y*dst.Stride:][:h.width]
		for x := range row {
			if y < h.y || y >= h.y+h.h || x < h.x || x >= h.x+h.w {
				row[x] = uint8(outside)
			}
		}
	}
	return nil
}

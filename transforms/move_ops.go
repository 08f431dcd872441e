package transforms

import "github.com/infer-prep/infer-prep/tensor"

// copyOp returns a copy of o, to change and to emit.
func copyOp[T any, P interface {
	*T
	Op
}](d *Draw, o P) P {
	c := NewOp[T, P](d)
	*c = *o
	return c
}

// sameSize reports whether two images have the same height and width.
func sameSize(a, b tensor.Desc) bool {
	return a.Height() == b.Height() && a.Width() == b.Width()
}

// moveWindow moves a mask, boxes or points as an op that takes the window of
// size to, from row top and column left on. Pixels outside the image are
// constant. As in torchvision, boxes are clamped even if the window is the
// image.
func moveWindow(d *Draw, r Role, top, left int, from, to tensor.Desc) error {
	if r.Kind == RoleMask {
		if top == 0 && left == 0 && sameSize(from, to) {
			return nil
		}
		return emitOp(d, Crop{Top: top, Left: left, Height: to.Height(), Width: to.Width()})
	}
	if r.Format == CoordRelative {
		if top == 0 && left == 0 && sameSize(from, to) {
			return nil
		}
		return emitOp(d, relativeWindow(r, top, left, from, to))
	}
	clamps := r.Kind == RoleBoxes && r.Clamping != ClampNone
	if top == 0 && left == 0 && !clamps {
		return nil
	}
	return emitOp(d, CropCoords{Format: r.Format, Top: top, Left: left, Height: to.Height(), Width: to.Width(), Clamping: r.Clamping})
}

// moveCut is moveWindow for a crop. Torchvision's crops, unlike its pads, make
// rectangles of corners.
func moveCut(d *Draw, r Role, top, left int, from, to tensor.Desc) error {
	if r.Format != CoordXYXYXYXY {
		return moveWindow(d, r, top, left, from, to)
	}
	h, w := to.Height(), to.Width()
	if err := emitOp(d, CropCoords{Format: r.Format, Top: top, Left: left, Height: h, Width: w, Clamping: ClampNone}); err != nil {
		return err
	}
	return moveFitted(d, r, ResizeCoords{r.Format, h, w, h, w})
}

// moveFitted scales rotated boxes and clamps them.
func moveFitted(d *Draw, r Role, o ResizeCoords) error {
	f := r.Format
	if f != CoordXYXYXYXY {
		if err := emitOp(d, ConvertBoxes{f, CoordXYXYXYXY, true}); err != nil {
			return err
		}
	}
	o.Format = CoordXYXYXYXY
	if err := emitOp(d, o); err != nil {
		return err
	}
	if r.Clamping != ClampNone {
		if err := emitOp(d, ClampCoords{CoordXYXYXYXY, o.ToHeight, o.ToWidth, r.Clamping}); err != nil {
			return err
		}
	}
	if f == CoordXYXYXYXY {
		return nil
	}
	return emitOp(d, ConvertBoxes{CoordXYXYXYXY, f, true})
}

// moveCropped is movePadded for a crop, whose pixels outside the image are
// constant.
func moveCropped[T any, P interface {
	*T
	Op
}](d *Draw, o P, r Role, top, left int, from, to tensor.Desc) error {
	if r.Kind == RoleBoxes {
		return moveCut(d, r, top, left, from, to)
	}
	return movePadded[T](d, o, PadConstant, r, -top, -left, from, to)
}

// movePadded moves a column as o, whose result has the image's pixels from row
// top and column left on, and around them those of the mode.
func movePadded[T any, P interface {
	*T
	Op
}](d *Draw, o P, mode PadMode, r Role, top, left int, from, to tensor.Desc) error {
	if r.Kind == RoleImage || r.Kind == RoleMask && mode != PadConstant {
		if top == 0 && left == 0 && sameSize(from, to) {
			return nil
		}
		return emitOp[T, P](d, *o)
	}
	if mode != PadConstant && !sameSize(from, to) {
		return cannotMove(o, r, "the border of mode "+mode.String()+" has pixels of the image")
	}
	return moveWindow(d, r, -top, -left, from, to)
}

// movePlaced is movePadded for an op that pads by a position.
func movePlaced[T any, P interface {
	*T
	Op
}](d *Draw, o P, p Position, mode PadMode, r Role, from, to tensor.Desc) error {
	return movePadded[T](d, o, mode, r, p.before(to.Height()-from.Height()), p.before(to.Width()-from.Width()), from, to)
}

// moveFlip moves a column as a flip.
func moveFlip[T any, P interface {
	*T
	Op
}](d *Draw, o P, r Role, vertical bool, size int) error {
	if r.Kind <= RoleMask {
		return emitOp[T, P](d, *o)
	}
	if r.Format == CoordRelative {
		return emitOp(d, mirrorProjection(vertical))
	}
	return emitOp(d, FlipCoords{Format: r.Format, Vertical: vertical, Size: size})
}

// nearestOf returns the interpolation and the backend that scale the masks of
// an image that is scaled by the sampling. The interpolation nearest_exact
// stays, as in torchvision.
func nearestOf(s sampling) (Interpolation, Backend) {
	i, b := Nearest, s.backend
	if s.interp == NearestExact {
		i = NearestExact
	}
	if (sampling{i, b, true}).validate() != nil {
		b = OpenCV // the nearest of MXNet and of IPP is OpenCV's
	}
	return i, b
}

// moveResized moves a mask, boxes or points as a resize.
func moveResized(d *Draw, r Role, s sampling, from, to tensor.Desc) error {
	if sameSize(from, to) || r.Format == CoordRelative {
		return nil
	}
	if r.Kind == RoleMask {
		c := NewOp[Resize](d)
		*c = Resize{Fit: FitExact, Height: to.Height(), Width: to.Width()}
		c.Interpolation, c.Backend = nearestOf(s)
		return d.Emit(c)
	}
	o := ResizeCoords{r.Format, from.Height(), from.Width(), to.Height(), to.Width()}
	if r.Format.rotated() {
		return moveFitted(d, r, o)
	}
	return emitOp(d, o)
}

// moveResize is moveResized for further images too.
func moveResize[T any, P interface {
	*T
	Op
}](d *Draw, o P, r Role, s sampling, from, to tensor.Desc) error {
	if r.Kind != RoleImage {
		return moveResized(d, r, s, from, to)
	}
	if sameSize(from, to) {
		return nil
	}
	return emitOp[T, P](d, *o)
}

//go:build !small

package codec

// ColorDecoder is a RowDecoder of images that may have a palette or
// transparent colours.
type ColorDecoder interface {
	RowDecoder
	// Colors sets the Palette and the keys of dst, which has none, to those of
	// the open image.
	Colors(dst *Raster) error
}

// colors sets the palette and the keys of the rows, and reports whether there
// are keys.
func (c *rowConverter) colors(rd RowDecoder) (keys bool, err error) {
	r := &c.raster
	r.HasKey, r.HasKeyRGB = false, false
	if d, ok := rd.(ColorDecoder); ok {
		err = d.Colors(r)
	}
	return r.HasKey || r.HasKeyRGB, err
}

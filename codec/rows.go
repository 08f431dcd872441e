package codec

import "github.com/infer-prep/infer-prep/internal/errfmt"

// Region is a rectangle of an image's pixels.
type Region struct{ Left, Top, Width, Height int }

// RowSink receives the rows of a region from top to bottom.
type RowSink interface {
	// Rows receives n rows, the first of which is row y of the image, cut to
	// the region's columns. pix holds n x Region.Width dense pixels and is
	// valid until Rows returns.
	Rows(y, n int, pix []byte)
}

// RowDecoder is a FormatDecoder that can pass rows on as it decodes them. It
// never holds the whole image and skips work for pixels outside the region.
type RowDecoder interface {
	FormatDecoder
	// DecodeRows decodes the pixels of region and passes them to sink in the
	// Config's Mode. After an error the caller discards the rows that it
	// received. damaged has the meaning of Raster.Damaged.
	DecodeRows(sink RowSink, region Region) (damaged, err error)
}

// DecodeRows decodes the pixels of a region of the result and passes them to
// sink as rows with the result's channels. It refuses the images that Decode
// refuses, even for damage outside the region. An error may follow rows; the
// caller then discards them.
//
// JPEG needs memory for a few rows and computes no pixels outside the region.
// PNG needs memory for two rows, TIFF for a row of strips or tiles of the
// region, JPEG 2000 for a row of tiles in order. Other formats, interlaced PNG,
// and images that have to be turned are decoded whole first.
//
// A region that is empty or not within the image is an error.
func (i *Image) DecodeRows(sink RowSink, region Region) error {
	info, d, o := &i.info, i.d, &i.d.options
	if region.Left < 0 || region.Top < 0 || region.Width < 1 || region.Height < 1 ||
		region.Width > info.OutWidth-region.Left || region.Height > info.OutHeight-region.Top {
		return errfmt.Errorf("codec: decode rows: region %dx%d at (%d, %d): want at least 1x1 within %dx%d pixels",
			region.Width, region.Height, region.Left, region.Top, info.OutWidth, info.OutHeight)
	}
	if err := i.reopen(); err != nil {
		return err
	}
	if rd, ok := i.format.(RowDecoder); ok && info.oriented(o) == 1 {
		return i.decodeRows(rd, sink, region)
	}
	if cap(d.whole) < info.Size() {
		d.whole = make([]byte, info.Size())
	}
	whole := d.whole[:info.Size()]
	if err := i.Decode(whole); err != nil {
		return err
	}
	n := info.Channels
	line := info.OutWidth * n
	if region.Width == info.OutWidth {
		sink.Rows(region.Top, region.Height, whole[region.Top*line:][:region.Height*line])
		return nil
	}
	for y := region.Top; y < region.Top+region.Height; y++ {
		sink.Rows(y, 1, whole[y*line+region.Left*n:][:region.Width*n])
	}
	return nil
}

// decodeRows passes the rows on as the format's decoder makes them.
func (i *Image) decodeRows(rd RowDecoder, sink RowSink, region Region) (err error) {
	d, o, info := i.d, &i.d.options, &i.info
	i.format = nil
	defer d.recovered(info.Format, rd, &err)
	d.guard = guardedSink{sink: sink}
	sink = &d.guard
	keys, err := d.rows.colors(rd)
	if err != nil {
		return err
	}
	if keys || !direct(info, o) || o.Color == ToBGR {
		d.rows.start(d, info, o, &d.guard, region)
		sink = &d.rows
	}
	info.Damaged, err = rd.DecodeRows(sink, region)
	d.guard = guardedSink{}
	return err
}

// guardedSink notes that its sink runs, so that a panic of the sink is not
// taken for one of the decoder.
type guardedSink struct {
	sink   RowSink
	inside bool
}

func (g *guardedSink) Rows(y, n int, pix []byte) {
	g.inside = true
	g.sink.Rows(y, n, pix)
	g.inside = false
}

// rowConverter is the RowSink that converts the format's rows to the result's.
type rowConverter struct {
	conv   *converter
	raster Raster
	sink   *guardedSink
	out    []byte
	size   int // bytes of a row of out
}

func (c *rowConverter) start(d *Decoder, info *Info, o *Options, sink *guardedSink, region Region) {
	c.conv, c.sink = &d.conv, sink
	c.raster.Mode, c.raster.Width, c.raster.Stride = info.Mode, region.Width, region.Width*info.Mode.Size()
	c.conv.start(&c.raster, o)
	c.size = region.Width * info.Channels
}

func (c *rowConverter) Rows(y, n int, pix []byte) {
	if cap(c.out) < n*c.size {
		c.out = make([]byte, n*c.size)
	}
	out := c.out[:n*c.size]
	c.raster.Pix = pix
	for i := range n {
		c.conv.convert(out[i*c.size:][:c.size], i)
	}
	c.raster.Pix = nil
	c.sink.Rows(y, n, out)
}

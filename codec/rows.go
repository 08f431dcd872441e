package codec

import "fmt"

// Region is a rectangle of an image's pixels.
type Region struct{ Left, Top, Width, Height int }

// RowSink takes the rows of a region from the top down.
type RowSink interface {
	// Rows is given the n rows from row y of the image on, cut to the region's
	// columns: n x Region.Width pixels, dense, which are valid until it returns.
	Rows(y, n int, pix []byte)
}

// RowDecoder is a FormatDecoder that can give rows as they are decoded, so that
// the image is never in memory as a whole, and spare itself the work for pixels
// that nobody wants.
type RowDecoder interface {
	FormatDecoder
	// DecodeRows is Decode of the pixels of region, which go to sink in Config's
	// Mode. An error may come after rows; they are then to be forgotten. damaged
	// is what Raster.Damaged says.
	DecodeRows(sink RowSink, region Region, data []byte, o *Options) (damaged, err error)
}

// DecodeRows is Decode of the pixels of region of the result, which go to sink
// as rows of the result's channels. What Decode refuses it refuses, also where
// the damage is outside the region; the error may come after rows have been
// given, which are then to be forgotten. JPEG needs memory for a few rows and
// computes no pixels outside the region, unless it must be turned upright; the
// other formats are decoded as a whole first.
//
// A region that is empty or does not lie within the image is an error. o may be
// nil: DefaultOptions.
func (d *Decoder) DecodeRows(sink RowSink, region Region, data []byte, o *Options) (Info, error) {
	o = d.options(o)
	info, fd, err := d.config(data, o)
	if err != nil {
		return Info{}, err
	}
	if region.Left < 0 || region.Top < 0 || region.Width < 1 || region.Height < 1 ||
		region.Width > info.OutWidth-region.Left || region.Height > info.OutHeight-region.Top {
		return Info{}, fmt.Errorf("codec: region %d x %d at (%d, %d), the image has %d x %d pixels",
			region.Width, region.Height, region.Left, region.Top, info.OutWidth, info.OutHeight)
	}
	if rd, ok := fd.(RowDecoder); ok && info.oriented(o) == 1 {
		if !direct(&info, o) || o.Color == ToBGR {
			d.rows.start(d, &info, o, sink, region)
			sink = &d.rows
		}
		info.Damaged, err = rd.DecodeRows(sink, region, data, o)
		d.rows.sink = nil
		return info, err
	}
	if cap(d.whole) < info.Size() {
		d.whole = make([]byte, info.Size())
	}
	whole := d.whole[:info.Size()]
	if info, err = d.Decode(whole, data, o); err != nil {
		return Info{}, err
	}
	n := info.Channels
	line := info.OutWidth * n
	if region.Width == info.OutWidth {
		sink.Rows(region.Top, region.Height, whole[region.Top*line:][:region.Height*line])
		return info, nil
	}
	for y := region.Top; y < region.Top+region.Height; y++ {
		sink.Rows(y, 1, whole[y*line+region.Left*n:][:region.Width*n])
	}
	return info, nil
}

// rowConverter is the RowSink that makes the result's rows of the format's own.
type rowConverter struct {
	conv   *converter
	raster Raster
	sink   RowSink
	out    []byte
	size   int // bytes of a row of out
}

func (c *rowConverter) start(d *Decoder, info *Info, o *Options, sink RowSink, region Region) {
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

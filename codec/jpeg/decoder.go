// Package jpeg decodes JPEG in plain Go, to the same bytes as libjpeg-turbo 3.x
// built with SIMD: what Pillow 13.0.0 (libjpeg-turbo 3.2.0) and OpenCV 5.0.0
// (3.1.2) give.
//
// It decodes baseline, extended sequential and progressive JPEG with Huffman or
// arithmetic coding (SOF0, 1, 2, 9, 10) and lossless Huffman JPEG (SOF3), 8 bits
// a sample, of 1, 3 or 4 components. Importing it registers the format "jpeg".
//
// # What equal means
//
// The inverse DCT is libjpeg's "islow" with the 16-bit wrap-around and
// saturation of its SIMD form; chroma is upsampled by libjpeg's triangle filters
// (2x1, 2x2, 1x2) or replicated (other whole factors, and planes at most two
// samples wide); YCbCr becomes RGB by the 16-bit fixed-point formulas; progressive
// files that leave low AC coefficients unknown are smoothed over a 5x5 window of
// DC values.
//
// # Damage
//
// [codec.DamagePillow] accepts what PIL.Image.open(f).convert("RGB") accepts and
// gives the same pixels: corrupt entropy-coded data is decoded on as libjpeg does,
// a file that ends before its last row is refused. The 65536-byte pieces in which
// Pillow hands a file to libjpeg show through (an arithmetic-coded file must fit
// the first one), and are reproduced. [codec.DamageStrict] refuses whatever
// libjpeg warns of. [codec.DamageLenient] decodes what is there; what is missing
// is left as zero coefficients.
//
// # Several goroutines
//
// With [codec.Options.Workers] of 2 or more, a file of Huffman code whose only scan
// is sequential and has restart markers is decoded in bands of rows of MCUs that
// begin with a restart segment, whole or in rows. All else is decoded by the
// caller's goroutine: [codec.DamageStrict] and [codec.DamageLenient]; a file whose
// restart markers are not all there, in their order and without fill bytes, with
// another marker after the last segment; one in which no row of MCUs but the first
// begins with a segment; and what Limits.Bytes leaves no memory for. (Of intervals
// that are no multiple or divisor of a row's MCUs, a segment begins with a row now
// and then, and so do the bands.) Of an image of which only a region is wanted,
// bands outside it are passed over, but for the last one.
//
// # Hostile input
//
// Sizes are checked against [codec.Limits] with 64-bit products before anything
// that grows with the image is allocated. The coefficients of files of several
// scans are stored in rows that are allocated when data for them is read, so that
// a short file cannot ask for much memory under raised limits.
package jpeg

import (
	"github.com/infer-prep/infer-prep/codec"
)

const format = "jpeg"

func init() {
	codec.Register(codec.Format{
		Name:   format,
		Scales: true,
		Magic:  []string{"\xff\xd8\xff"},
		New:    func() codec.FormatDecoder { return newDecoder() },
	})
}

// decoder decodes JPEG files. It keeps its buffers from one image to the next:
// decoding images of the same size and kind again and again allocates nothing.
// It must not be used by two goroutines at once; those of [codec.Options.Workers]
// it starts and ends itself, with buffers of their own that it keeps too.
type decoder struct {
	reader
	header
	entropy
	planes

	names   map[string]string // variants; nameBuf is where the next is put together
	nameBuf []byte

	o      *codec.Options
	dst    *codec.Raster // what Decode fills
	sink   codec.RowSink // what DecodeRows gives rows to
	region codec.Region  // the pixels wanted
	toLuma bool          // deliver one channel
	bits   coefBits
	store  coefStore
	exact  [maxComps]losslessPlane
	need   int64  // bytes of all buffers
	bands  *bands // made when it is needed
}

// newDecoder makes a decoder.
func newDecoder() *decoder { return &decoder{} }

// Open reads the header up to the first scan. Mode is L for files of one component
// (and of three, under codec.ToLuma), RGB for three and CMYK for four.
func (d *decoder) Open(data []byte, o *codec.Options) (codec.Config, error) {
	d.begin(data, o)
	if err := d.open(); err != nil {
		d.release()
		return codec.Config{}, err
	}
	return codec.Config{
		Format:      format,
		Width:       d.width,
		Height:      d.height,
		Mode:        d.mode(),
		Depth:       d.precision,
		Orientation: d.meta.orientation(),
		Frames:      1,
		Variant:     d.variant(),
	}, nil
}

// Decode decodes the open image into dst.
func (d *decoder) Decode(dst *codec.Raster) error {
	d.dst, d.sink, d.region = dst, nil, codec.Region{}
	err := d.decode()
	d.release()
	return err
}

// DecodeRows decodes the region of the open image and passes its rows to sink.
func (d *decoder) DecodeRows(sink codec.RowSink, region codec.Region) (damaged, err error) {
	d.dst, d.sink, d.region = nil, sink, region
	err = d.decode()
	damaged = d.damaged
	d.release()
	return damaged, err
}

// Offset returns the position in the data, for the report of a panic.
func (d *decoder) Offset() int64 { return int64(d.pos) }

func (d *decoder) begin(data []byte, o *codec.Options) {
	d.o = o
	d.reader.reset(data, o.Damage)
	d.header.reset()
	d.samples = 8 >> o.Scale
	d.toLuma = o.Color == codec.ToLuma
}

// release forgets the caller's memory.
func (d *decoder) release() {
	d.data, d.dst, d.out, d.sink, d.o = nil, nil, nil, nil, nil
	d.meta = meta{}
}

// open reads everything before the first scan and checks it.
func (d *decoder) open() error {
	if err := d.pluginOpen(); err != nil {
		return err
	}
	if err := d.readHeader(); err != nil {
		return err
	}
	return d.setup()
}

func (d *decoder) mode() codec.Mode {
	switch {
	case len(d.comps) == 1 || len(d.comps) == 3 && d.toLuma:
		return codec.L
	case len(d.comps) == 3:
		return codec.RGB
	}
	return codec.CMYK
}

func (d *decoder) decode() error {
	if err := d.checkLimits(); err != nil {
		return err
	}
	if d.dst != nil {
		w, h := d.o.Scale.Of(d.width), d.o.Scale.Of(d.height)
		d.dst.Reset(d.mode(), w, h)
		d.region = codec.Region{Width: w, Height: h}
		d.out, d.outStride, d.outTop = d.dst.Pix, d.dst.Stride, 0
	}
	d.allocPlanes()
	var err error
	switch {
	case d.lossless:
		err = d.decodeLossless()
	case d.multiScan:
		err = d.decodeMultiScan()
	default:
		err = d.decodeOneScan()
	}
	if err == nil {
		err = d.err
	}
	if err != nil {
		return err
	}
	if d.dst != nil {
		d.dst.Damaged = d.damaged
	}
	return nil
}

// checkLimits holds the image against the limits: pixels, and the bytes of all
// buffers together.
func (d *decoder) checkLimits() error {
	l := d.o.Limits
	if err := (codec.Limits{Pixels: l.Pixels, Bytes: -1}).CheckSize(format, d.width, d.height, 1); err != nil {
		return err
	}
	w, h := d.o.Scale.Of(d.width), d.o.Scale.Of(d.height)
	n := int64(w) * int64(h) * int64(d.mode().Size())
	for i := range d.comps {
		c := &d.comps[i]
		n += c.ringBytes() + int64(w) + 64
		if d.multiScan && !d.lossless {
			n += int64(c.padW) * int64(c.padH) * 128
		}
		if d.lossless {
			n += c.losslessBytes(d.multiScan)
		}
	}
	d.need = n
	if l.Bytes > 0 && n > l.Bytes {
		return d.errorf(codec.ErrLimit, "%dx%d with %d components needs %d bytes, the limit is %d", d.width, d.height, len(d.comps), n, l.Bytes)
	}
	return nil
}

// decodeOneScan decodes a file whose only scan has all the components: rows of
// MCUs go through inverse DCT, upsampling and colour conversion at once.
func (d *decoder) decodeOneScan() error {
	fatal := d.startScan()
	d.aimRegion()
	if fatal == nil {
		if d.planBands() {
			if err := d.decodeBands(); err != nil {
				return err
			}
			return d.finish()
		}
		d.allocSegment()
	}
	row := 0
	for ; fatal == nil && row < d.iMCURows; row++ {
		if fatal = d.decodeIMCURow(row); fatal == nil {
			d.emit(row)
		}
	}
	if fatal != nil {
		if !d.forgive(fatal) {
			return fatal
		}
		if row > 0 {
			row-- // the row that failed
		}
		for ; row < d.iMCURows; row++ {
			d.grayRow(row)
			d.emit(row)
		}
		return nil
	}
	return d.finish()
}

// decodeMultiScan reads all scans into coefficient storage, then makes pixels.
func (d *decoder) decodeMultiScan() error {
	d.store.reset(d)
	d.bits.reset(len(d.comps))
	if err := d.readScans(); err != nil && !d.forgive(err) {
		return err
	}
	smooth := d.smoothingOK()
	d.aimRegion()
	for row := d.firstRow; row < min(d.lastRow, d.iMCURows); row++ {
		d.outputIMCURow(row, smooth)
		d.emit(row)
	}
	return nil
}

// readScans reads scans until EOI.
func (d *decoder) readScans() error {
	for {
		if err := d.startScan(); err != nil {
			return err
		}
		for row := 0; row < d.iMCURows; row++ {
			if err := d.consumeIMCURow(row); err != nil {
				return err
			}
		}
		if sos, err := d.nextScan(); err != nil || !sos {
			return err
		}
	}
}

// nextScan reads the markers after a scan: true if they end in another SOS,
// false if in EOI.
func (d *decoder) nextScan() (bool, error) {
	d.leaveQuick()
	d.checkScanEnd()
	sos, err := d.readMarkers()
	if err != nil || !sos {
		return false, err
	}
	if l := d.o.Limits.Scans; l > 0 && d.scans > l {
		return false, d.errorf(codec.ErrLimit, "more than %d scans", l)
	}
	return true, nil
}

// finish reads what follows the only scan. libjpeg demands EOI and refuses a
// second scan. Pillow does not wait for more data once all rows are there.
func (d *decoder) finish() error {
	d.leaveQuick()
	d.checkScanEnd()
	d.hold = d.damage == codec.DamagePillow
	sos, err := d.readMarkers()
	if err == errSuspended {
		return nil
	}
	if err == nil && sos {
		err = d.errorf(codec.ErrFormat, "a second scan, but the first had all components")
	}
	if err != nil && d.forgive(err) {
		return nil
	}
	return err
}

// forgive notes a fatal error that comes after the header as damage, in lenient mode.
func (d *decoder) forgive(err error) bool {
	if d.damage != codec.DamageLenient || codecLimit(err) {
		return false
	}
	if d.damaged == nil {
		d.damaged = err
	}
	return true
}

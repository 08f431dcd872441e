// Package jpeg decodes and encodes JPEG in plain Go to the same bytes as
// libjpeg-turbo 3.x built with SIMD, which Pillow 13.0.0 (libjpeg-turbo 3.2.0)
// and OpenCV 5.0.0 (3.1.2) use. Importing it registers the format "jpeg" with
// package codec.
//
// It decodes baseline, extended sequential and progressive JPEG with Huffman or
// arithmetic coding (SOF0, 1, 2, 9, 10), and lossless Huffman JPEG (SOF3).
// Files have 8 bits per sample and 1, 3 or 4 components.
//
// # Exactness
//
// The inverse DCT is libjpeg's "islow", with the 16-bit wrap-around and
// saturation of its SIMD form. libjpeg's triangle filters upsample chroma (2x1,
// 2x2, 1x2). Other whole factors, and planes at most two samples wide, are
// replicated. YCbCr becomes RGB by the 16-bit fixed-point formulas. Progressive
// files without their low AC coefficients are smoothed over a 5x5 window of DC
// values.
//
// # Damage
//
// [codec.DamagePillow] accepts the files that PIL.Image.open(f).convert("RGB")
// accepts, with the same pixels. It decodes corrupt entropy-coded data as
// libjpeg does and refuses a file that ends before its last row. Pillow passes
// a file to libjpeg in chunks of 65536 bytes. Their effects are reproduced; for
// example, an arithmetic-coded file must fit the first chunk.
// [codec.DamageStrict] refuses all damage for which libjpeg warns.
// [codec.DamageLenient] decodes all readable data and uses zero coefficients
// for the rest. [codec.DamageImread] and [codec.DamageImdecode] do what
// OpenCV's readers do. Corrupt entropy-coded data is decoded as libjpeg does,
// and libjpeg's errors are errors. Data after the last row of a single scan is
// not read. If the file ends early, imread goes on with zero coefficients, and
// imdecode fails.
//
// # Several goroutines
//
// If [codec.Options.Workers] is 2 or more, several goroutines decode a file in
// bands of rows of MCUs. This needs DamagePillow, Huffman coding and a single
// sequential scan. With restart markers, bands begin where a restart segment
// begins with a row of MCUs; if only the first row does, the caller's goroutine
// decodes alone. All restart markers must be present, in order and without fill
// bytes, and another marker must follow the last segment.
//
// Without restart markers, the scan is split anywhere. Each goroutine decodes
// from a guess, which Huffman codes correct by themselves, and goes on from
// where the piece before really ends. This takes about a tenth more processor
// time than one goroutine does. It needs at least 16 KiB of data.
//
// The caller's goroutine decodes alone if Limits.Bytes leaves no memory for the
// worst case of the bands, and in WebAssembly, which has one thread.
//
// # Regions
//
// If only a region of such a file with restart markers is needed, segments
// outside it are skipped, except the last one. A [codec.Index] keeps the places
// of the MCUs of baseline files without restart markers: the first region needs
// all MCUs, and later ones skip those outside.
//
// # Hostile input
//
// The decoder checks sizes against [codec.Limits] with 64-bit products before
// it allocates anything that grows with the image. In files with several scans,
// it allocates a row of coefficients when the first data for it arrives. A
// short file therefore cannot claim much memory, even under raised limits.
//
// # Encoding
//
// [Encode] and [Encoder] write the files that Pillow's Image.save and OpenCV's
// imencode write for the same pixels and options, byte for byte: baseline with
// the standard or with optimal Huffman tables, and progressive. The forward DCT
// is libjpeg's "islow". A sequential file is encoded in rows of MCUs. Optimal
// tables need the image's symbols in memory, four bytes each, and progressive
// files need all coefficients.
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

// decoder decodes JPEG files. It keeps its buffers, so decoding images of the
// same size and kind allocates nothing. One goroutine at a time may use it. It
// starts and ends the goroutines of codec.Options.Workers itself and keeps
// their buffers.
type decoder struct {
	in    input     // the file's bytes and markers
	head  header    // what the marker segments say
	ent   entropy   // entropy-coded data to coefficients
	coefs coefStore // the coefficients of several scans
	out   planes    // coefficients to samples to pixels

	names   map[string]string // cached variants; nameBuf builds the next one
	nameBuf []byte

	o          *codec.Options
	dst        *codec.Raster // destination of Decode, else nil
	need       int64         // bytes of all buffers
	bands      *bands        // nil until it is needed
	wide       []byte        // the destination of samples of more than 8 bits
	wideRegion codec.Region
	segs       []int // offsets of the restart segments, if only a region is decoded

	pieces pieceReader // of a worker
	work   func()      // of a worker: decodes bands until none is left
}

// newDecoder returns a decoder.
func newDecoder() *decoder {
	d := &decoder{}
	d.coefs.head = &d.head
	d.out.head = &d.head
	d.ent.in, d.ent.head, d.ent.coefs = &d.in, &d.head, &d.coefs
	d.ent.bits.in, d.ent.quick.in, d.ent.arith.in = &d.in, &d.in, &d.in
	d.ent.quick.notes = &d.ent.notes
	return d
}

// Open reads the header up to the first scan. Mode is L for files of one
// component (and of three, under codec.ToLuma), RGB for three and CMYK for
// four.
func (d *decoder) Open(data []byte, o *codec.Options) (codec.Config, error) {
	d.begin(data, o)
	if err := d.open(); err != nil {
		d.release()
		return codec.Config{}, err
	}
	return codec.Config{
		Format:      format,
		Width:       d.head.width,
		Height:      d.head.height,
		Mode:        d.head.mode(),
		Depth:       d.head.precision,
		Orientation: d.head.plugin.meta.orientation(o.Damage),
		Frames:      1,
		Variant:     d.variant(),
	}, nil
}

// Decode decodes the open image into dst.
func (d *decoder) Decode(dst *codec.Raster) error {
	w, h := d.out.width, d.out.height
	d.dst, d.out.sink, d.out.region = dst, nil, codec.Region{Width: w, Height: h}
	err := d.decode()
	d.release()
	return err
}

// DecodeRows decodes the region of the open image and passes its rows to sink.
func (d *decoder) DecodeRows(sink codec.RowSink, region codec.Region) (damaged, err error) {
	d.dst, d.out.sink, d.out.region = nil, sink, region
	err = d.decode()
	damaged = d.in.damaged
	d.release()
	return damaged, err
}

// Offset returns the position in the data, for the report of a panic.
func (d *decoder) Offset() int64 { return int64(d.in.pos) }

func (d *decoder) begin(data []byte, o *codec.Options) {
	d.o = o
	d.in.reset(data, o.Damage)
	d.head.reset()
	d.head.toLuma = o.Color == codec.ToLuma
}

// release drops the references to the caller's memory.
func (d *decoder) release() {
	d.in.data, d.dst, d.out.out, d.out.sink, d.o = nil, nil, nil, nil, nil
	d.head.plugin = plugin{}
}

// open reads everything before the first scan and checks it.
func (d *decoder) open() error {
	if err := d.head.readHeader(&d.in); err != nil {
		return err
	}
	if d.in.damage.Library() && d.head.lossless && len(d.head.comps) == 1 && d.o.Color.Channels() > 1 {
		return d.in.errorf(codec.ErrUnsupported, "lossless gray, of which libjpeg makes no colour image")
	}
	if err := d.head.setup(&d.in, d.o); err != nil {
		return err
	}
	d.out.setup(d.o.Scale)
	return nil
}

func (d *decoder) decode() error {
	if err := d.checkLimits(); err != nil {
		return err
	}
	if d.dst != nil {
		d.dst.Reset(d.head.mode(), d.out.width, d.out.height)
		d.out.out, d.out.outStride, d.out.outTop = d.dst.Pix, d.dst.Stride, 0
	}
	d.out.alloc()
	d.out.aim()
	if d.head.lossless {
		d.ent.allocLossless()
	}
	decode := d.decodeOneScan
	if d.head.multiScan {
		decode = d.decodeMultiScan
	}
	if err := decode(); err != nil {
		return err
	}
	if d.in.err != nil {
		return d.in.err
	}
	if d.dst != nil {
		d.dst.Damaged = d.in.damaged
	}
	return nil
}

// checkLimits checks the pixels, and the bytes of all buffers together, against
// the limits.
func (d *decoder) checkLimits() error {
	l, h := d.o.Limits, &d.head
	if err := (codec.Limits{Pixels: l.Pixels, Bytes: -1}).CheckSize(format, h.width, h.height, 1); err != nil {
		return err
	}
	n := int64(d.out.width) * int64(d.out.height) * int64(h.mode().Size())
	for i := range h.comps {
		c := &h.comps[i]
		n += d.out.comp[i].ringBytes() + int64(d.out.width) + 64
		if h.multiScan && !h.lossless {
			n += int64(c.padW) * int64(c.padH) * 128
		}
		if h.lossless {
			n += c.losslessBytes(h.multiScan)
		}
	}
	d.need = n
	if l.Bytes > 0 && n > l.Bytes {
		return d.in.errorf(codec.ErrBytes, "%dx%d with %d components needs %d bytes, the limit is %d", h.width, h.height, len(h.comps), n, l.Bytes)
	}
	return nil
}

// decodeOneScan decodes a file whose only scan has all components. Each row of
// MCUs goes through inverse DCT, upsampling and colour conversion at once.
func (d *decoder) decodeOneScan() error {
	fatal := d.startScan()
	if fatal == nil && !d.head.lossless {
		if d.openNotes() {
			d.ent.allocSegment()
			return d.decodeNoted()
		}
		if parallel && d.planBands() {
			if err := d.decodeBands(); err != nil {
				return err
			}
			return d.finish()
		}
		d.ent.allocSegment()
		if d.planRegion() {
			if err := d.decodeRegion(); err != nil {
				return err
			}
			return d.finish()
		}
	}
	row := 0
	for ; fatal == nil && row < d.head.iMCURows; row++ {
		if fatal = d.decodeRow(row); fatal == nil {
			d.out.emit(row)
		}
	}
	if fatal == nil {
		d.closeNotes()
		if err := d.finish(); err != nil {
			return err
		}
		d.keepNotes()
		return nil
	}
	if !d.forgive(fatal) {
		return fatal
	}
	// The row that failed and those after it are gray.
	for row = max(0, row-1); row < d.head.iMCURows; row++ {
		d.out.grayRow(row)
		d.out.emit(row)
	}
	return nil
}

// decodeMultiScan reads all scans into memory, then computes the pixels.
func (d *decoder) decodeMultiScan() error {
	if !d.head.lossless {
		d.coefs.reset()
	}
	if err := d.readScans(); err != nil && !d.forgive(err) {
		return err
	}
	smooth := d.coefs.smooths()
	for row := d.out.firstRow; row < min(d.out.lastRow, d.head.iMCURows); row++ {
		if d.head.lossless {
			d.out.lossless(&d.ent, row)
		} else {
			d.out.stored(&d.coefs, row, smooth)
		}
		d.out.emit(row)
	}
	return nil
}

// readScans reads scans until EOI.
func (d *decoder) readScans() error {
	for {
		if err := d.startScan(); err != nil {
			return err
		}
		for row := range d.head.iMCURows {
			if err := d.consumeRow(row); err != nil {
				return err
			}
		}
		sos, err := d.nextScan()
		if err != nil {
			return err
		}
		if !sos {
			break
		}
	}
	if d.head.lossless {
		return d.ent.allSeen()
	}
	return nil
}

// consumeRow decodes a row of MCUs of the current scan into memory.
func (d *decoder) consumeRow(row int) error {
	if d.head.lossless {
		return d.losslessRow(row)
	}
	return d.ent.consumeIMCURow(row)
}

// nextScan reads the markers after a scan. It returns true at another SOS,
// false at EOI.
func (d *decoder) nextScan() (bool, error) {
	d.ent.leaveQuick()
	d.ent.checkScanEnd()
	sos, err := d.head.readMarkers(&d.in)
	if err != nil || !sos {
		return false, err
	}
	if l := d.o.Limits.Scans; l > 0 && d.head.scans > l {
		return false, d.in.errorf(codec.ErrLimit, "more than %d scans", l)
	}
	return true, nil
}

// finish reads the data after the only scan. libjpeg requires EOI and refuses a
// second scan. Pillow does not wait for more data once it has all rows.
func (d *decoder) finish() error {
	d.ent.leaveQuick()
	if d.in.damage.OpenCV() {
		return nil
	}
	d.ent.checkScanEnd()
	d.in.hold = d.in.damage == codec.DamagePillow
	sos, err := d.head.readMarkers(&d.in)
	if err == errSuspended {
		return nil
	}
	if err == nil && sos {
		err = d.in.errorf(codec.ErrFormat, "a second scan, but the first had all components")
	}
	if err != nil && d.forgive(err) {
		return nil
	}
	return err
}

// forgive records a fatal error after the header as damage, in lenient mode.
func (d *decoder) forgive(err error) bool {
	if d.in.damage != codec.DamageLenient || codecLimit(err) {
		return false
	}
	if d.in.damaged == nil {
		d.in.damaged = err
	}
	return true
}

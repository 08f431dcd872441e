package codec

import (
	"github.com/infer-prep/infer-prep/internal/errfmt"
	"github.com/infer-prep/infer-prep/tensor"
)

// Native describes the samples of a file in their own type.
type Native struct {
	Format        string
	Width, Height int // as stored: the orientation is not applied
	Channels      int // samples per pixel
	DType         tensor.DType
}

// Desc describes the samples: HWC.
func (n *Native) Desc() tensor.Desc {
	return tensor.Image(n.DType, tensor.HWC, n.Height, n.Width, n.Channels)
}

// NativeDecoder is a FormatDecoder that decodes samples of more than 8 bits, or
// of more channels than a Mode has.
type NativeDecoder interface {
	FormatDecoder
	// OpenNative is Open for samples of the file's own type.
	OpenNative(data []byte, o *Options) (Native, error)
	// DecodeNative decodes a region of the open image into dst, as dense rows
	// of pixels in the machine's byte order. It is called at most once after
	// each OpenNative.
	DecodeNative(dst []byte, region Region) error
}

// NativeImage is an encoded image whose header has been read, for its samples
// as stored. It belongs to its Decoder and is valid until the Decoder's next
// Open or OpenNative.
type NativeImage struct {
	d      *Decoder
	info   Native
	format FormatDecoder
}

// OpenNative reads the header of data for the samples in the file's own type
// and number: TIFF as tifffile and GDAL read it, PNG of 16 bits as
// torchvision's decode_image and OpenCV's IMREAD_UNCHANGED do, and 8-bit images
// of other formats. Gray and RGB keep their alpha. Palettes of TIFF are
// indices. Other palettes, fewer than 8 bits outside TIFF, colour keys, and
// CMYK JPEG are ErrUnsupported.
//
// Only the options Limits, Workers, Damage and Frame take effect. The pixel
// limit counts those of the image, the byte limit those of the region. The
// image is valid until the next Open or OpenNative. The caller must not change
// data meanwhile.
func (d *Decoder) OpenNative(data []byte, o *Options) (*NativeImage, error) {
	d.options = Options{}
	if o != nil {
		d.options = Options{Limits: o.Limits, Workers: o.Workers, Damage: o.Damage, Frame: o.Frame}
	}
	d.options.Limits = d.options.Limits.WithDefaults()
	if err := d.options.Validate(); err != nil {
		return nil, err
	}
	d.image = Image{d: d}
	d.native = NativeImage{d: d}
	if err := d.native.open(data); err != nil {
		return nil, err
	}
	return &d.native, nil
}

func (i *NativeImage) open(data []byte) (err error) {
	d, o := i.d, &i.d.options
	f, fd, err := d.find(data)
	if err != nil {
		return err
	}
	if o.Frame > 0 && !f.Frames {
		return Errorf(f.Name, -1, ErrUnsupported, "frame %d: want 0, only TIFF and DICOM have others", o.Frame)
	}
	defer d.recovered(f.Name, fd, &err)
	if n, ok := fd.(NativeDecoder); ok {
		if i.info, err = n.OpenNative(data, o); err != nil {
			return err
		}
	} else {
		c, err := fd.Open(data, o)
		if err != nil {
			return err
		}
		i.info = Native{Format: c.Format, Width: c.Width, Height: c.Height, Channels: c.Mode.Size(), DType: tensor.Uint8}
		alpha := c.Mode == LA || c.Mode == RGBA
		if c.Depth != 8 || c.Mode != L && c.Mode != RGB && !alpha || c.HasAlpha && !alpha {
			return Errorf(c.Format, -1, ErrUnsupported, "mode %v with %d bits in its own samples: want gray or RGB of 8 bits, with or without alpha", c.Mode, c.Depth)
		}
	}
	if err := o.Limits.checkPixels(i.info.Format, i.info.Width, i.info.Height); err != nil {
		return err
	}
	i.format = fd
	return nil
}

// Info describes the samples.
func (i *NativeImage) Info() Native { return i.info }

// Decode decodes a region into dst as dense rows of pixels, all channels of a
// pixel together, in the machine's byte order. A region that is empty or not
// within the image is an error, and so is a dst of another size. TIFF reads
// only the strips and tiles of the region; other formats are decoded whole.
// After an error the contents of dst are undefined. Decode may be called once.
func (i *NativeImage) Decode(dst []byte, r Region) (err error) {
	n, d := &i.info, i.d
	if r.Left < 0 || r.Top < 0 || r.Width < 1 || r.Height < 1 || r.Width > n.Width-r.Left || r.Height > n.Height-r.Top {
		return errfmt.Errorf("codec: decode: region %dx%d at (%d, %d): want at least 1x1 within %dx%d pixels", r.Width, r.Height, r.Left, r.Top, n.Width, n.Height)
	}
	pixel := n.Channels * n.DType.Size()
	if err := d.options.Limits.checkBytes(n.Format, r.Width, r.Height, pixel); err != nil {
		return err
	}
	if len(dst) != r.Width*r.Height*pixel {
		return errfmt.Errorf("codec: decode: destination of %d bytes: want %d", len(dst), r.Width*r.Height*pixel)
	}
	fd := i.format
	if fd == nil {
		return errfmt.Errorf("codec: decode: the image was decoded before")
	}
	i.format = nil
	defer d.recovered(n.Format, fd, &err)
	if nd, ok := fd.(NativeDecoder); ok {
		return nd.DecodeNative(dst, r)
	}
	s := &d.scratch
	s.HasKey, s.HasKeyRGB, s.Damaged = false, false, nil
	if err := fd.Decode(s); err != nil {
		return err
	}
	for y := range r.Height {
		copy(dst[y*r.Width*pixel:][:r.Width*pixel], s.Pix[(r.Top+y)*s.Stride+r.Left*pixel:])
	}
	return nil
}

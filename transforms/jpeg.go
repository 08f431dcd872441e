package transforms

import (
	"github.com/infer-prep/infer-prep/codec"
	"github.com/infer-prep/infer-prep/tensor"
)

// JPEG encodes an image as a JPEG file and decodes the file. It takes a uint8
// HWC image of one channel (gray) or three (RGB), with sides of 1 to 65500
// pixels, and keeps the description. The program must import codec/jpeg or
// codec/all.
//
// The libraries of the reference write different files but give the same
// pixels, because all of them use libjpeg-turbo: the forward and inverse DCT
// "islow", its colour tables, and its filters for the colour channels. OpenCV's
// images are BGR: convert them with ConvertColor.
//
// Reference: Pillow 13.0.0, Image.save(f, "JPEG") and Image.open, for 420, 422
// and 444; torchvision 0.29.2, v2's jpeg, for 420; OpenCV 5.0.0, imencode and
// imdecode, for all.
type JPEG struct {
	Quality int `json:"quality"` // 1 to 100; default 75
	// Chroma is the resolution of the colour channels: 420, 422, 444, 440 or
	// 411. It has no effect on gray images. Default 420.
	Chroma codec.Chroma `json:"chroma"`
}

//msgp:tuple JPEG
//sheet:jpeg {"quality": 5}
//msgp:shim codec.Chroma as:uint8 using:uint8/codec.Chroma

// NewJPEG returns the op with 4:2:0 colour.
func NewJPEG(quality int) *JPEG { return &JPEG{Quality: quality, Chroma: codec.Chroma420} }

// maxJPEGSide is libjpeg's JPEG_MAX_DIMENSION.
const maxJPEGSide = 65500

// jpegState is the memory of a JPEG op between runs.
type jpegState struct {
	encoder codec.FormatEncoder
	decoder codec.Decoder
	options codec.Options
	file    []byte
}

// Info describes the op.
func (*JPEG) Info() Info {
	return Info{
		Name: "jpeg", Version: 1, New: func() Op { return NewJPEG(75) }, InPlace: true,
		Reference: "Pillow 13.0.0 save and open, torchvision 0.29.2 v2 jpeg, OpenCV 5.0.0 imencode and imdecode", Exactness: "0",
	}
}

// Validate checks the quality and the resolution of the colour channels.
func (o *JPEG) Validate() error { return checkJPEG("quality", o.Quality, o.Chroma) }

// checkJPEG checks the parameters of JPEG and RandomJPEG.
func checkJPEG(name string, quality int, chroma codec.Chroma) error {
	if quality < 1 || quality > 100 {
		return paramErr("%s is %d, want 1 to 100", name, quality)
	}
	if chroma == codec.ChromaDefault || chroma > codec.Chroma411 {
		return paramErr("chroma is %v, want 420, 422, 444, 440 or 411", chroma)
	}
	return nil
}

// Infer keeps the description.
func (o *JPEG) Infer(dst, in []tensor.Desc) error {
	dst[0] = in[0]
	return wantJPEG(in[0])
}

// wantJPEG wants an image that a JPEG file can hold.
func wantJPEG(d tensor.Desc) error {
	if err := wantImage(d, tensor.Uint8); err != nil {
		return err
	}
	if d.Layout != tensor.HWC {
		return inputErr("%v, want layout HWC", d)
	}
	if d.Height() > maxJPEGSide || d.Width() > maxJPEGSide {
		return inputErr("%v, want sides of 1 to %d pixels", d, maxJPEGSide)
	}
	return wantChannels(d, 1, 3)
}

// Apply encodes and decodes the image.
func (o *JPEG) Apply(c *Context, dst, src []*tensor.Tensor) error {
	t, err := c.Dense(src[0])
	if err != nil {
		return err
	}
	s, _ := c.State.(*jpegState)
	if s == nil {
		s = &jpegState{}
		if s.encoder, err = codec.NewEncoder("jpeg"); err != nil {
			return err
		}
		c.State = s
	}
	if s.file, err = s.encoder.Encode(s.file[:0], t, codec.EncodeOptions{Quality: o.Quality, Chroma: o.Chroma}); err != nil {
		return err
	}
	// Limits are for the files of others.
	s.options = codec.Options{Limits: codec.NoLimits()}
	if t.Channels() == 1 {
		s.options.Color = codec.ToGray
	}
	i, err := s.decoder.Open(s.file, &s.options)
	if err != nil {
		return err
	}
	return i.Decode(dst[0].Data)
}

// Package clip reads videos as the frames that package video processes: files
// with an animation, arrays, and the streams that programs such as ffmpeg
// write. It does not decode video files.
//
// The references are Pillow 13.0.0 for animations and transformers 5.23.0 for
// arrays. A reader keeps the frames in memory, as bytes of a file or of pixels;
// limits.Bytes bounds them, before they are allocated. The zero value of limits
// means codec.DefaultLimits.
package clip

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"

	"github.com/infer-prep/infer-prep/codec"
	"github.com/infer-prep/infer-prep/codec/pixels"
	"github.com/infer-prep/infer-prep/importer/hf/video"
)

// Clip is a video with its frames. It must not be used by several goroutines at
// once.
type Clip struct {
	// Metadata has the number of frames. Its other fields are 0 if the source
	// does not say them; the caller may set them.
	Metadata video.Metadata
	// Frame returns frame i, 0 to Metadata.Frames-1, as video.Runner.Run asks
	// for it. The bytes are valid until the next call.
	Frame func(i int) ([]byte, error)
	// ChannelsFirst reports an array T, 3, H, W. The reference reads such an
	// array otherwise if video.Processor.ChannelsLast, or if it follows a video
	// of another form in the same call.
	ChannelsFirst bool
}

// ErrArray reports an array that is not a video.
var ErrArray = errors.New("not an array of frames")

// ReadFolder reads a folder of frames; see video.OpenFolder.
func ReadFolder(fsys fs.FS, limits codec.Limits) (*Clip, error) {
	f, err := video.OpenFolder(fsys, room(limits))
	if err != nil {
		return nil, err
	}
	return &Clip{Metadata: f.Metadata, Frame: f.Frame}, nil
}

// room returns the number of bytes that the limits permit.
func room(limits codec.Limits) int64 {
	if n := limits.WithDefaults().Bytes; n > 0 {
		return n
	}
	return 1 << 62
}

// readAll reads at most limits.Bytes bytes.
func readAll(r io.Reader, limits codec.Limits) ([]byte, error) {
	most := room(limits)
	data, err := io.ReadAll(io.LimitReader(r, most+1))
	if err == nil && int64(len(data)) > most {
		err = fmt.Errorf("%w: more than %d bytes", codec.ErrLimit, most)
	}
	return data, err
}

// header returns the header of frames of RGB pixels, with room for them.
func header(width, height int) []byte {
	b := make([]byte, 0, pixels.HeaderSize+3*width*height)
	return pixels.Header{Width: width, Height: height, Mode: codec.RGB}.Append(b)
}

// ReadFile reads a file with a whole video: a .npy file by ReadArray, any other
// by ReadAnimation. The content decides, not a name.
func ReadFile(r io.Reader, limits codec.Limits) (*Clip, error) {
	in := bufio.NewReader(r)
	if head, _ := in.Peek(6); string(head) == "\x93NUMPY" { // an error is that of the next read
		return ReadArray(in, limits)
	}
	return ReadAnimation(in, limits)
}

package video

import (
	"fmt"
	"math"
	"slices"

	"github.com/infer-prep/infer-prep/codec"
	"github.com/infer-prep/infer-prep/importer"
	"github.com/infer-prep/infer-prep/tensor"
)

func init() {
	define(
		class{name: "MiniCPMV4_6", sampler: readMiniCPM, samples: true, layout: miniCPMLayout("16x")},
		class{name: "MiniCPMOcr", sampler: readMiniCPM, samples: true, layout: miniCPMLayout("4x")},
	)
}

// strip is the layout of MiniCPM-V 4.6, whose frames are its images: the first
// output is 1, C, patch_size, patches · patch_size, with the patches of each
// frame and of its slices side by side; several videos are joined along the
// last axis. The outputs target_sizes_videos, int32 (images, 2), have the lines
// and columns of the patches of each frame and slice; grids_videos, int32 (T,
// 2), the rows and columns of slices; num_patches_per_frame, int32 (T), 1 +
// slices; and num_frames_per_video is int64.
// With stack_frames above 1 the layout is composed.
//
// Without do_resize a frame is one image, whose patches that are not whole are
// left out.
type strip struct {
	*stack
	patch  int
	resize bool
}

// miniCPMLayout returns the reader of a class with that downsample_mode.
func miniCPMLayout(mode string) func(class, *importer.Object, []byte) (layout, error) {
	return func(c class, o *importer.Object, data []byte) (layout, error) {
		const most = 1 << 16 // that of the image class
		l := &strip{patch: o.Int("patch_size", 14, 1, most), resize: o.Bool("do_resize", true)}
		kind := ""
		if l.resize {
			kind = `, "image_processor_type": "MiniCPMV4_6ImageProcessor", "patch_size": 14, "downsample_mode": "` + mode + `"`
		}
		settings, err := pixelSettings(o, halves+`"resample": 3`+kind, data)
		if err != nil {
			return nil, err
		}
		own := []string{"patch_size", "scale_resolution", "max_slice_nums", "slice_mode", "downsample_mode"}
		if !l.resize {
			o.Inert(own...)
			own = nil
		}
		if err := ownKeys(o, data, settings, own...); err != nil {
			return nil, err
		}
		o.Inert("use_image_id") // of texts
		rule := readMiniCPM(o).(miniCPM)
		if o.Null("stack_frames") {
			o.Bad("stack_frames", "a number, which the class compares")
		}
		if !o.Bool("do_rescale", true) && !o.Bool("do_normalize", true) {
			o.Bad("do_normalize", "true without do_rescale: torch does not cut bytes into patches")
		}
		g, err := frameGraph(c, settings)
		l.stack = &stack{"pixel_values_videos", g}
		if err == nil && rule.stack > 1 {
			return l.composes(rule), nil
		}
		return l, err
	}
}

func (l *strip) outputs() []Output {
	return []Output{
		{Name: "pixel_values_videos", Joined: true}, {Name: "target_sizes_videos", Joined: true}, {Name: "grids_videos", Joined: true},
		{Name: "num_patches_per_frame", Joined: true}, {Name: "num_frames_per_video"},
	}
}

// batch joins the values of all videos along their last axis: the first video
// gets them, and the others have none.
func (l *strip) batch(videos [][]*tensor.Tensor, limits codec.Limits) ([][]*tensor.Tensor, []Output, []*tensor.Tensor, error) {
	parts, size := make([]*tensor.Tensor, len(videos)), 0.0
	for i, v := range videos {
		parts[i] = v[0]
		size += float64(v[0].Size())
	}
	if err := fits(size, limits); err != nil {
		return nil, nil, nil, err
	}
	videos = slices.Clone(videos)
	all := joinWidths(parts)
	for i, v := range videos {
		videos[i] = slices.Clone(v)
		videos[i][0] = all
		if i > 0 {
			s := all.Shape.Slice()
			videos[i][0] = dense(all.DType, nil, 0, s[1], s[2], s[3])
		}
	}
	return videos, nil, nil, nil
}

func (l *strip) plan(frames int, d tensor.Desc) (tensor.Desc, int, error) {
	channels, width := d.Shape.At(0), 0
	if l.resize {
		channels, width = d.Shape.At(1), d.Shape.At(3)
	} else {
		h, w := d.Shape.At(1)/l.patch, d.Shape.At(2)/l.patch
		if h < 1 || w < 1 {
			return d, 0, fmt.Errorf("%w: %dx%d pixels, want sides of at least patch_size, %d", ErrFrames, d.Shape.At(2), d.Shape.At(1), l.patch)
		}
		if columns := float64(h) * float64(w) * float64(l.patch); columns > math.MaxInt32 {
			return d, 0, tooMany(1, columns)
		}
		width = h * w * l.patch
	}
	if columns := float64(width) * float64(frames); columns > math.MaxInt32 {
		return d, 0, tooMany(float64(l.patch), columns)
	}
	return tensor.Desc{DType: d.DType, Shape: tensor.Dims(1, channels, l.patch, width*frames)}, frames, nil
}

func (l *strip) place(dst []byte, frame *tensor.Tensor, t int) {
	size := frame.DType.Size()
	if l.resize {
		lines := frame.Shape.At(1) * l.patch
		from, to := frame.Shape.At(3)*size, len(dst)/lines
		for i := range lines {
			copy(dst[i*to+t*from:], frame.Data[i*from:][:from])
		}
		return
	}
	channels, height, width := frame.Shape.At(0), frame.Shape.At(1), frame.Shape.At(2)
	rows, columns, cell := height/l.patch, width/l.patch, l.patch*size
	to := len(dst) / (channels * l.patch)
	for k := range channels {
		for y := range rows * l.patch {
			line := dst[(k*l.patch+y%l.patch)*to:]
			copy(line[(t*rows+y/l.patch)*columns*cell:][:columns*cell], frame.Data[(k*height+y)*width*size:])
		}
	}
}

func (l *strip) more(v filled) ([]*tensor.Tensor, error) {
	sizes, grid, patches := []int32{}, [2]int32{}, int32(1)
	if l.resize {
		sizes = tensor.View[int32](v.last[1].Clone())
		rows := tensor.View[int64](v.last[2].Clone())
		grid, patches = [2]int32{int32(rows[0]), int32(rows[1])}, int32(tensor.View[int64](v.last[3].Clone())[0])
	} else {
		s := v.last[0].Shape
		sizes = append(sizes, int32(s.At(1)/l.patch), int32(s.At(2)/l.patch))
	}
	var all, grids, counts []int32
	for range v.frames { // of one size, so that all have the same
		all, grids, counts = append(all, sizes...), append(grids, grid[:]...), append(counts, patches)
	}
	return []*tensor.Tensor{shorts(all, len(all)/2, 2), shorts(grids, v.frames, 2), shorts(counts, v.frames), numbers([]int{v.frames})}, nil
}

// shorts returns an int32 tensor of that shape.
func shorts(values []int32, axes ...int) *tensor.Tensor {
	b := make([]byte, 4*len(values))
	copy(tensor.Cast[int32](b), values)
	return dense(tensor.Int32, b, axes...)
}

package video

import (
	"fmt"

	"github.com/infer-prep/infer-prep/codec"
	"github.com/infer-prep/infer-prep/datagraph"
	"github.com/infer-prep/infer-prep/tensor"
)

// Grid describes the patches of a video, of a class that cuts frames into
// patches as Qwen2-VL does.
type Grid struct {
	// Time, Rows and Columns are video_grid_thw, the sum over all parts of the
	// video in time: groups of Temporal frames, and the patches of a group.
	Time, Rows, Columns int
	// Merge is merge_size, the side in patches of the square that becomes a
	// token.
	Merge int
	// Temporal is temporal_patch_size, the frames of a group.
	Temporal int
}

// Tokens returns the squares of patches of a group.
func (g Grid) Tokens() int { return g.Rows * g.Columns / (g.Merge * g.Merge) }

// gridder is a layout with a Grid.
type gridder interface {
	layout
	squares() (patch, merge, temporal int)
}

// squares returns the settings that the layouts of patches share.
func (l *patcher) squares() (patch, merge, temporal int) { return l.patch, l.merge, l.temporal }

// Grid returns the patches of that many chosen frames, whose decoded height and
// width are given, without their pixels. Its errors are those of Run for such
// frames. ok is false if the class has no video_grid_thw of that kind.
func (p *Processor) Grid(frames, height, width int) (g Grid, ok bool, err error) {
	l, ok := p.layout.(gridder)
	if !ok {
		return Grid{}, false, nil
	}
	d, places, err := p.measure(frames, height, width)
	if err != nil {
		return Grid{}, true, err
	}
	patch, merge, temporal := l.squares()
	return Grid{places / temporal, d.Shape.At(1) / patch, d.Shape.At(2) / patch, merge, temporal}, true, nil
}

// FrameSize returns the height and width of the frames of the first output,
// without their pixels, for frames whose decoded height and width are given.
// Its errors are those of Run for such frames. ok is false if the class makes
// patches of frames.
func (p *Processor) FrameSize(frames, height, width int) (h, w int, ok bool, err error) {
	switch p.layout.(type) {
	case *stack, *twice, *target:
	default:
		return 0, 0, false, nil
	}
	d, _, err := p.measure(frames, height, width)
	if err != nil {
		return 0, 0, true, err
	}
	return d.Shape.At(1), d.Shape.At(2), true, nil
}

// measure describes the graph's output C, H, W for a frame, and returns the
// places of the frames.
func (p *Processor) measure(frames, height, width int) (d tensor.Desc, places int, err error) {
	if frames < 1 || frames > MaxFrames || min(height, width) < 1 {
		return d, 0, fmt.Errorf("video: %s: %w: %d frames of %dx%d pixels, want 1 to %d, and sides of at least 1", p.sampling.class, ErrFrames, frames, width, height, MaxFrames)
	}
	g, err := p.layout.graph(frames, height, width)
	var plan *datagraph.Plan
	if err == nil {
		plan, err = datagraph.Compile(g, datagraph.CompileOptions{Limits: codec.Limits{}})
	}
	var l []datagraph.Column
	if err == nil {
		l, err = plan.Sizes(height, width)
	}
	if err == nil {
		d = l[0].Desc
		_, places, err = p.layout.plan(frames, d)
	}
	if err != nil {
		return d, 0, fmt.Errorf("video: %s: %w", p.sampling.class, err)
	}
	return d, places, nil
}

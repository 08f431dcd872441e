package run

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/infer-prep/infer-prep/cmd/internal/cli/command"
	"github.com/infer-prep/infer-prep/cmd/internal/cli/source"
	"github.com/infer-prep/infer-prep/codec"
	"github.com/infer-prep/infer-prep/importer/hf/video"
	"github.com/infer-prep/infer-prep/importer/hf/video/clip"
	"github.com/infer-prep/infer-prep/internal/newfile"
	"github.com/infer-prep/infer-prep/internal/paths"
	"github.com/infer-prep/infer-prep/internal/pipe"
	"github.com/infer-prep/infer-prep/tensor"
)

// videoRun is a run over videos.
type videoRun struct {
	*runFlags
	stdin     io.Reader
	processor *video.Processor
	written   []video.Output
}

// videoTask is a video and what became of it.
type videoTask struct {
	arg, name string
	err       error
	skipped   bool
	done      chan struct{} // closed at its end
}

// runVideos processes the videos, as many at once as --jobs says. A video that
// fails does not end the run.
func runVideos(a *command.App, cmd *cobra.Command, f *runFlags, args []string) error {
	ctx := cmd.Context()
	p, err := readProcessor(ctx, a, cmd.Flag("hf").Value.String())
	if err != nil {
		return command.UsageErr("%w", err)
	}
	v := &videoRun{f, a.Stdin, p, p.Outputs()}
	if f.outputs != "all" {
		v.written = v.written[:1]
	}
	if err := os.MkdirAll(f.out, 0o777); err != nil {
		return command.WrapFail(err)
	}
	failed, skipped := 0, 0
	for _, t := range v.start(ctx, args) { // in the order of the arguments
		<-t.done
		switch {
		case ctx.Err() != nil:
		case t.err != nil:
			failed++
			a.Complain(t.err)
		case t.skipped:
			skipped++
		}
	}
	if ctx.Err() != nil {
		return &command.ExitError{Status: command.ExitInterrupted, Err: fmt.Errorf("interrupted")}
	}
	if !f.quiet {
		before := ""
		if skipped > 0 {
			before = fmt.Sprintf(", %d skipped", skipped)
		}
		fmt.Fprintf(a.Stderr, "%d of %s done%s: %s\n", len(args)-failed-skipped, command.Plural(len(args), "video"), before, f.out)
	}
	if failed > 0 {
		return command.FailErr("%d of %s failed", failed, command.Plural(len(args), "video"))
	}
	return nil
}

// start processes the videos in goroutines, which end by themselves.
func (v *videoRun) start(ctx context.Context, args []string) []*videoTask {
	seen := map[string]string{}
	tasks := make([]*videoTask, len(args))
	work := make(chan *videoTask, len(args))
	for i, arg := range args {
		t := &videoTask{arg: arg, done: make(chan struct{})}
		tasks[i] = t
		t.name, t.err = videoName(arg)
		if other, ok := seen[t.name]; t.err == nil && ok {
			t.err = fmt.Errorf("%s: the outputs would replace those of %s", arg, other)
		}
		if t.err != nil {
			close(t.done)
			continue
		}
		seen[t.name] = arg
		work <- t
	}
	close(work)
	for range min(v.jobs, len(work)) {
		go func() {
			r := v.processor.NewRunner(v.Limits)
			for t := range work {
				if ctx.Err() == nil {
					t.skipped, t.err = v.one(ctx, r, t)
				}
				close(t.done)
			}
		}()
	}
	return tasks
}

// videoName returns the name of a video's outputs: the last element of its
// path.
func videoName(arg string) (string, error) {
	if arg == pipe.Stdin {
		return pipe.StdinName, nil
	}
	name := filepath.Base(filepath.Clean(arg))
	if name == "." || name == ".." || name == string(filepath.Separator) {
		return "", fmt.Errorf("%s: want a folder or a file with a name", arg)
	}
	return name, nil
}

// readProcessor reads a file, or the file of a model's folder.
func readProcessor(ctx context.Context, a *command.App, name string) (*video.Processor, error) {
	read := func(name string) ([]byte, error) { return source.ReadSmall(ctx, name, a.Stdin, source.MaxGraphBytes) }
	var data []byte
	info, err := os.Stat(name)
	if err == nil && info.IsDir() {
		file := ""
		if file, data, err = video.FromModel(func(n string) ([]byte, error) { return read(filepath.Join(name, n)) }); file != "" {
			name = filepath.Join(name, file)
		}
	} else {
		data, err = read(name)
	}
	if err != nil {
		return nil, err
	}
	p, err := video.Import(data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return p, nil
}

// open reads a video.
func (v *videoRun) open(ctx context.Context, arg string) (*clip.Clip, error) {
	if arg != pipe.Stdin {
		info, err := os.Stat(arg)
		switch {
		case err != nil:
			return nil, paths.Error(arg, err)
		case info.IsDir() && v.video.frames != "":
			return nil, fmt.Errorf("%s: a folder: want a stream for --frames", arg)
		case info.IsDir():
			c, err := clip.ReadFolder(os.DirFS(arg), v.Limits)
			if err != nil {
				err = fmt.Errorf("%s: %w", arg, err)
			}
			return c, err
		}
	}
	p := pipe.Open(ctx, v.stdin, arg)
	defer p.Close()
	var c *clip.Clip
	var err error
	switch {
	case v.video.frames == "":
		c, err = clip.ReadFile(p, v.Limits)
	case v.video.width > 0:
		c, err = clip.ReadRaw(p, v.video.width, v.video.height, v.Limits)
	default:
		c, err = clip.ReadImages(p, v.Limits)
	}
	switch {
	case errors.Is(err, codec.ErrUnsupported) && v.video.frames == "":
		return nil, fmt.Errorf("%s: %w; for video files, another program decodes the frames: see --frames", arg, err)
	case err != nil:
		return nil, fmt.Errorf("%s: %w", arg, err)
	}
	return c, nil
}

// file returns the path of an output.
func (v *videoRun) file(t *videoTask, output, ext string) string {
	return filepath.Join(v.out, t.name+"."+output+ext)
}

// metadataOutput is the name of the output of --return-metadata.
const metadataOutput = "video_metadata"

// exist reports whether all outputs of a video exist.
func (v *videoRun) exist(t *videoTask) bool {
	names := []string{}
	for _, o := range v.written {
		names = append(names, v.file(t, o.Name, ".npy"))
	}
	if v.video.metadata {
		names = append(names, v.file(t, metadataOutput, ".json"))
	}
	for _, name := range names {
		if info, err := os.Stat(name); err != nil || !info.Mode().IsRegular() {
			return false
		}
	}
	return true
}

// one processes a video and writes its outputs.
func (v *videoRun) one(ctx context.Context, r *video.Runner, t *videoTask) (skipped bool, err error) {
	if v.existing != "" && v.exist(t) {
		return true, nil
	}
	c, err := v.open(ctx, t.arg)
	if err != nil {
		return false, err
	}
	m := c.Metadata
	if m.FPS == 0 {
		m.FPS = v.video.fps
	}
	if m.Duration == 0 {
		m.Duration = v.video.duration
	}
	out, err := r.Run(m, c.Frame)
	if err == nil {
		err = v.write(ctx, t, out)
	}
	if err == nil && v.video.metadata {
		err = v.writeMetadata(ctx, t, m)
	}
	if err != nil {
		return false, fmt.Errorf("%s: %w", t.arg, err)
	}
	return false, nil
}

// write writes the outputs of a video.
func (v *videoRun) write(ctx context.Context, t *videoTask, out []*tensor.Tensor) error {
	for i, o := range v.written {
		x := out[i]
		if v.to.BatchAxis && !o.Joined {
			b := *x
			b.Shape = tensor.Dims(append([]int{1}, x.Shape.Slice()...)...)
			var err error
			if x, err = tensor.Wrap(b.Desc, x.Data); err != nil {
				return err
			}
		}
		if err := newfile.Write(ctx, v.file(t, o.Name, ".npy"), func(w io.Writer) error { return tensor.WriteNPY(w, x) }); err != nil {
			return err
		}
	}
	return nil
}

// videoMetadata is the file of --return-metadata: the fields of transformers'
// VideoMetadata, and the properties that it computes.
type videoMetadata struct {
	Frames         int       `json:"total_num_frames"`
	FPS            *float64  `json:"fps"`
	Duration       *float64  `json:"duration"`
	Indices        []int     `json:"frames_indices"`
	Timestamps     []float64 `json:"timestamps"` // null without fps
	SampledFPS     float64   `json:"sampled_fps"`
	SecondsPerGrid *float64  `json:"second_per_grid_ts,omitempty"`
}

func (v *videoRun) writeMetadata(ctx context.Context, t *videoTask, m video.Metadata) error {
	s, err := v.processor.Sampling().Sample(m)
	if err != nil {
		return err
	}
	d := videoMetadata{Frames: s.Frames, Indices: s.Indices, SampledFPS: s.SampledFPS()}
	if s.Duration > 0 {
		d.Duration = &s.Duration
	}
	if s.FPS > 0 {
		d.FPS = &s.FPS
		if d.Timestamps, err = s.Timestamps(); err != nil {
			return err
		}
	}
	if seconds, ok := v.processor.SecondsPerGrid(s); ok {
		d.SecondsPerGrid = &seconds
	}
	text, err := json.Marshal(d)
	if err != nil {
		return err
	}
	return newfile.Write(ctx, v.file(t, metadataOutput, ".json"), func(w io.Writer) error {
		_, err := w.Write(append(text, '\n'))
		return err
	})
}

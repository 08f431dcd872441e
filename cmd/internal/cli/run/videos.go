package run

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/infer-prep/infer-prep/cmd/internal/cli/command"
	"github.com/infer-prep/infer-prep/cmd/internal/cli/source"
	"github.com/infer-prep/infer-prep/codec"
	"github.com/infer-prep/infer-prep/importer/hf/video"
	"github.com/infer-prep/infer-prep/importer/hf/video/clip"
	"github.com/infer-prep/infer-prep/internal/newfile"
	"github.com/infer-prep/infer-prep/internal/paths"
	"github.com/infer-prep/infer-prep/internal/pipe"
	"github.com/infer-prep/infer-prep/job"
	"github.com/infer-prep/infer-prep/tensor"
)

// videoRun is a run over videos.
type videoRun struct {
	*runFlags
	stdin     io.Reader
	processor *video.Processor
	written   []video.Output
}

// videoTask is a video, or those of a batch, and what became of them.
type videoTask struct {
	args    []string
	name    string // of the outputs
	batch   bool
	err     error
	skipped bool
	done    chan struct{} // closed at its end
}

// listedVideos returns the arguments and the entries of --files-from.
func (f *runFlags) listedVideos(cmd *cobra.Command, a *command.App, args []string) ([]string, error) {
	if f.filesFrom == "" {
		if f.null {
			return nil, command.UsageErr("--null is for the entries of --files-from")
		}
		return args, nil
	}
	if f.filesFrom == pipe.Stdin && (slices.Contains(args, pipe.Stdin) || cmd.Flag("hf").Value.String() == pipe.Stdin) {
		return nil, command.UsageErr("--files-from - and another argument - both read standard input: want only one of them")
	}
	l, report, err := job.ReadList(cmd.Context(), f.filesFrom, f.null, a.Stdin)
	if err == nil && report {
		err = fmt.Errorf("%s: a report of images: want a list of videos", paths.Shown(f.filesFrom))
	}
	if err != nil {
		return nil, command.UsageErr("--files-from %w", err)
	}
	args = slices.Clone(args)
	for _, in := range l {
		if in.Path == pipe.Stdin && f.filesFrom == pipe.Stdin {
			return nil, command.UsageErr("--files-from -: the video - is standard input, too, which has the list")
		}
		args = append(args, in.Path)
	}
	return args, nil
}

// runVideos processes the videos, as many at once as --jobs says. A video that
// fails does not end the run.
func runVideos(a *command.App, cmd *cobra.Command, f *runFlags, args []string) error {
	ctx := cmd.Context()
	p, err := source.OpenVideo(ctx, cmd.Flag("hf").Value.String(), a.Stdin)
	if err != nil {
		return command.UsageErr("%w", err)
	}
	if f.video.sampler != "" {
		name, settings, given := strings.Cut(f.video.sampler, ":")
		if !given {
			settings = "{}"
		}
		if !slices.Contains(video.Samplers(), name) {
			return command.UsageErr("--sampler %q: want one of %s", name, strings.Join(video.Samplers(), ", "))
		}
		s, err := video.NewSampling(name, []byte(settings))
		if err != nil {
			return command.UsageErr("--sampler: %w", err)
		}
		p = p.WithSampling(s)
	}
	v := &videoRun{f, a.Stdin, p, p.Outputs()}
	if f.outputs != "all" {
		v.written = v.written[:1]
	}
	if err := os.MkdirAll(f.out, 0o777); err != nil {
		return command.WrapFail(err)
	}
	if f.to.BatchSize > 0 && f.existing == "" {
		if l, err := filepath.Glob(filepath.Join(escaped(f.out), "batch-*")); err != nil || len(l) > 0 {
			return command.UsageErr("%s has batches of an earlier run: want another folder, or --skip-existing", f.out)
		}
	}
	failed, skipped := 0, 0
	for _, t := range v.start(ctx, v.tasks(args)) { // in the order of the arguments
		<-t.done
		switch {
		case ctx.Err() != nil:
		case t.err != nil:
			failed += len(t.args)
			a.Complain(t.err)
		case t.skipped:
			skipped += len(t.args)
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

// escaped escapes a path for a glob.
func escaped(path string) string {
	return strings.NewReplacer("*", "[*]", "?", "[?]", "[", "[[]").Replace(path)
}

// tasks returns the tasks of the arguments. Those that have an error are done.
func (v *videoRun) tasks(args []string) []*videoTask {
	var tasks []*videoTask
	if n := v.to.BatchSize; n > 0 {
		for l := range slices.Chunk(args, n) {
			tasks = append(tasks, &videoTask{args: l, name: fmt.Sprintf("batch-%06d", len(tasks)), batch: true, done: make(chan struct{})})
		}
		return tasks
	}
	seen := map[string]string{}
	for _, arg := range args {
		t := &videoTask{args: []string{arg}, done: make(chan struct{})}
		tasks = append(tasks, t)
		t.name, t.err = videoName(arg)
		if other, ok := seen[t.name]; t.err == nil && ok {
			t.err = fmt.Errorf("%s: the outputs would replace those of %s", arg, other)
		}
		if t.err != nil {
			close(t.done)
			continue
		}
		seen[t.name] = arg
	}
	return tasks
}

// start processes the tasks in goroutines, which end after the last task.
func (v *videoRun) start(ctx context.Context, tasks []*videoTask) []*videoTask {
	work := make(chan *videoTask, len(tasks))
	for _, t := range tasks {
		if t.err == nil {
			work <- t
		}
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

// open reads a video.
func (v *videoRun) open(ctx context.Context, arg string) (*clip.Clip, error) {
	if arg != pipe.Stdin {
		info, err := os.Stat(arg)
		switch {
		case err != nil:
			return nil, paths.Reason(err)
		case info.IsDir() && v.video.frames != "":
			return nil, errors.New("a folder: want a stream for --frames")
		case info.IsDir():
			return clip.ReadFolder(os.DirFS(arg), v.Limits)
		}
	}
	var p io.ReadCloser
	if pipe.Is(arg) {
		p = pipe.Open(ctx, v.stdin, arg)
	} else {
		f, err := os.Open(arg)
		if err != nil {
			return nil, paths.Reason(err)
		}
		p = f
	}
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
	if errors.Is(err, codec.ErrUnsupported) && v.video.frames == "" {
		err = fmt.Errorf("%w; for video files, another program decodes the frames: see --frames", err)
	}
	return c, err
}

// file returns the path of an output.
func (v *videoRun) file(t *videoTask, output, ext string) string {
	return filepath.Join(v.out, t.name+"."+output+ext)
}

// metadataOutput is the name of the output of --return-metadata, and
// videosOutput that of the list of a batch.
const metadataOutput, videosOutput = "video_metadata", "videos"

// exist reports whether all outputs of a task exist.
func (v *videoRun) exist(t *videoTask) bool {
	names := []string{}
	for _, o := range v.written {
		names = append(names, v.file(t, o.Name, ".npy"))
	}
	if v.video.metadata {
		names = append(names, v.file(t, metadataOutput, ".json"))
	}
	if t.batch {
		names = append(names, v.file(t, videosOutput, ".json"))
	}
	for _, name := range names {
		if info, err := os.Stat(name); err != nil || !info.Mode().IsRegular() {
			return false
		}
	}
	return true
}

// one processes a task and writes its outputs. A batch is one call of the
// reference, which fails if one of its videos does.
func (v *videoRun) one(ctx context.Context, r *video.Runner, t *videoTask) (skipped bool, err error) {
	if v.existing != "" && v.exist(t) {
		return true, nil
	}
	var videos [][]*tensor.Tensor
	var metadata []any
	bytes := int64(0)
	first := false // the channels of the first video
	for i, arg := range t.args {
		c, err := v.open(ctx, arg)
		if err == nil && c.ChannelsFirst && v.processor.ChannelsLast() {
			err = errors.New("the channels are the second axis, and input_data_format is channels_last: want an array T, H, W, 3")
		}
		if err == nil {
			if i == 0 {
				first = c.ChannelsFirst
			}
			if first != c.ChannelsFirst {
				err = fmt.Errorf("the channels are at another axis than in %s: want arrays of one form in a batch", t.args[0])
			}
		}
		var out []*tensor.Tensor
		var m any
		if err == nil {
			out, m, err = v.process(ctx, r, c)
		}
		if err == nil && t.batch {
			for i := range out {
				bytes += out[i].Size()
			}
			if most := v.Limits.WithDefaults().Bytes; most > 0 && bytes > most {
				err = fmt.Errorf("%w: the batch has more than %d bytes of values", codec.ErrBytes, most)
			}
		}
		if err != nil {
			return false, fmt.Errorf("%s: %w", arg, err)
		}
		if t.batch {
			for i := range out {
				out[i] = out[i].Clone() // r reuses their memory
			}
		}
		videos, metadata = append(videos, out), append(metadata, m)
	}
	if err := v.write(ctx, t, videos, metadata); err != nil {
		return false, fmt.Errorf("%s: %w", t.args[0], err)
	}
	return false, nil
}

// process processes a video.
func (v *videoRun) process(ctx context.Context, r *video.Runner, c *clip.Clip) ([]*tensor.Tensor, any, error) {
	if err := ctx.Err(); err != nil {
		return nil, nil, err
	}
	m := c.Metadata.Or(video.Metadata{FPS: v.video.fps, Duration: v.video.duration})
	out, err := r.Run(m, c.Frame)
	if err != nil || !v.video.metadata {
		return out, nil, err
	}
	d, err := v.describe(m)
	return out, d, err
}

// write writes the outputs of a task.
func (v *videoRun) write(ctx context.Context, t *videoTask, videos [][]*tensor.Tensor, metadata []any) error {
	outputs, out := v.processor.Outputs(), videos[0]
	if t.batch {
		var err error
		if outputs, out, err = v.processor.Batch(videos, v.Limits); err != nil {
			return err
		}
	}
	for i, o := range outputs {
		if i > 0 && v.outputs != "all" {
			break
		}
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
	if v.video.metadata {
		var d any = metadata
		if !t.batch {
			d = metadata[0]
		}
		if err := writeJSON(ctx, v.file(t, metadataOutput, ".json"), d); err != nil {
			return err
		}
	}
	if t.batch {
		return writeJSON(ctx, v.file(t, videosOutput, ".json"), t.args)
	}
	return nil
}

// writeJSON writes a file with one line.
func writeJSON(ctx context.Context, name string, d any) error {
	text, err := json.Marshal(d)
	if err != nil {
		return err
	}
	return newfile.Write(ctx, name, func(w io.Writer) error {
		_, err := w.Write(append(text, '\n'))
		return err
	})
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

// describe returns the metadata of a video's chosen frames.
func (v *videoRun) describe(m video.Metadata) (*videoMetadata, error) {
	s, err := v.processor.Sampling().Sample(m)
	if err != nil {
		return nil, err
	}
	d := &videoMetadata{Frames: s.Frames, Indices: s.Indices, SampledFPS: s.SampledFPS()}
	if s.Duration > 0 {
		d.Duration = &s.Duration
	}
	if s.FPS > 0 {
		d.FPS = &s.FPS
		if d.Timestamps, err = s.Timestamps(); err != nil {
			return nil, err
		}
	}
	if seconds, ok := v.processor.SecondsPerGrid(s); ok {
		d.SecondsPerGrid = &seconds
	}
	return d, nil
}

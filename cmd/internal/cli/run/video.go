package run

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/infer-prep/infer-prep/cmd/internal/cli/command"
	"github.com/infer-prep/infer-prep/cmd/internal/cli/source"
	"github.com/infer-prep/infer-prep/codec"
	"github.com/infer-prep/infer-prep/importer"
	"github.com/infer-prep/infer-prep/importer/hf/video"
	"github.com/infer-prep/infer-prep/importer/hf/video/clip"
	"github.com/infer-prep/infer-prep/internal/newfile"
	"github.com/infer-prep/infer-prep/internal/paths"
	"github.com/infer-prep/infer-prep/internal/pipe"
	"github.com/infer-prep/infer-prep/tensor"
)

// videoFlags are the flags of --video.
type videoFlags struct {
	on            bool
	fps, duration float64
	frames        string

	width, height int // of frames rawvideo; set by check
}

func (f *videoFlags) add(cmd *cobra.Command) {
	fl := cmd.Flags()
	fl.BoolVar(&f.on, "video", false, "each argument is a video: run the video processor of --hf. Videos are folders of frames, animated GIF, PNG and WebP files, .npy arrays, and streams of --frames")
	fl.StringVar(&f.frames, "frames", "", "each video is a stream of frames, from a file, a pipe, or standard input with -; `FORM` is rawvideo:WIDTHxHEIGHT (rgb24) or image2pipe (PNG, JPEG, BMP or WebP files), as ffmpeg writes them")
	fl.Float64Var(&f.fps, "fps", 0, "the videos have `N` frames a second, where they do not say it")
	fl.Float64Var(&f.duration, "duration", 0, "the videos last `SECONDS`, where they do not say it")
}

// check checks the flags. Only those that a video run reads are permitted.
func (f *videoFlags) check(cmd *cobra.Command, out string, args []string) error {
	if !f.on {
		if n := command.FirstChanged(cmd, "fps", "duration", "frames"); n != "" {
			return command.UsageErr("--%s applies to videos: want --video", n)
		}
		return nil
	}
	if n := command.OtherThan(cmd, "video", "fps", "duration", "frames", "hf", "output", "outputs", "batch", "limit-pixels", "limit-bytes", "quiet", "color"); n != "" {
		return command.UsageErr("--%s does not apply to --video", n)
	}
	for name, v := range map[string]float64{"fps": f.fps, "duration": f.duration} {
		if cmd.Flags().Changed(name) && !(v > 0 && v <= 1e9) {
			return command.UsageErr("--%s %v: want a number above 0 and at most 1e9", name, v)
		}
	}
	if err := command.OneOf("outputs", cmd.Flag("outputs").Value.String(), "main", "all"); err != nil {
		return err
	}
	hf := cmd.Flag("hf").Value.String()
	switch {
	case hf == "":
		return command.UsageErr("--video needs --hf, a video_preprocessor_config.json or a model's folder")
	case out == "" || out == "-":
		return command.UsageErr("--video writes several files: want -o DIR, a folder")
	case len(args) == 0:
		return command.UsageErr("no videos: want folders of frames, animations, .npy files, or streams of --frames")
	case hf == pipe.Stdin && slices.Contains(args, pipe.Stdin):
		return command.UsageErr("--hf - and the video - both read standard input: want only one of them")
	}
	if err := f.checkFrames(cmd, args); err != nil {
		return err
	}
	for _, name := range append([]string{hf, out}, args...) {
		if paths.IsURI(name) {
			return command.UsageErr("%s: --video reads and writes folders of this machine", paths.Shown(name))
		}
	}
	return nil
}

// checkFrames parses --frames.
func (f *videoFlags) checkFrames(cmd *cobra.Command, args []string) error {
	if !cmd.Flags().Changed("frames") {
		if i := slices.IndexFunc(args, pipe.Is); i >= 0 {
			return command.UsageErr("%s: a stream does not say where its frames are: want --frames rawvideo:WIDTHxHEIGHT or --frames image2pipe", args[i])
		}
		return nil
	}
	form, size, sized := strings.Cut(f.frames, ":")
	switch {
	case form == "rawvideo" && sized:
		w, h, ok := strings.Cut(size, "x")
		var err [2]error
		f.width, err[0] = strconv.Atoi(w)
		f.height, err[1] = strconv.Atoi(h)
		if ok && errors.Join(err[:]...) == nil && min(f.width, f.height) >= 1 && max(f.width, f.height) <= importer.MaxSide {
			return nil
		}
	case f.frames == "image2pipe":
		return nil
	}
	return command.UsageErr("--frames %q: want rawvideo:WIDTHxHEIGHT with sides of 1 to %d, such as rawvideo:640x360, or image2pipe", f.frames, importer.MaxSide)
}

// runVideos processes the videos one after the other. A video that fails does
// not end the run.
func runVideos(a *command.App, cmd *cobra.Command, f *runFlags, args []string) error {
	ctx := cmd.Context()
	p, err := readProcessor(ctx, a, cmd.Flag("hf").Value.String())
	if err != nil {
		return command.UsageErr("%w", err)
	}
	r := p.NewRunner(f.Limits)
	if err := os.MkdirAll(f.out, 0o777); err != nil {
		return command.WrapFail(err)
	}
	failed, seen := 0, map[string]string{}
	for _, arg := range args {
		if ctx.Err() != nil {
			return &command.ExitError{Status: command.ExitInterrupted, Err: fmt.Errorf("interrupted")}
		}
		name, err := videoName(arg)
		if other, ok := seen[name]; err == nil && ok {
			err = fmt.Errorf("%s: the outputs would replace those of %s", arg, other)
		}
		if err == nil {
			seen[name] = arg
			err = f.oneVideo(ctx, a.Stdin, p, r, arg, name)
		}
		if err != nil {
			failed++
			a.Complain(err)
		}
	}
	if !f.quiet {
		fmt.Fprintf(a.Stderr, "%d of %s done: %s\n", len(args)-failed, command.Plural(len(args), "video"), f.out)
	}
	if failed > 0 {
		return command.FailErr("%d of %s failed", failed, command.Plural(len(args), "video"))
	}
	return nil
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
func (f *runFlags) open(ctx context.Context, stdin io.Reader, arg string) (*clip.Clip, error) {
	if arg != pipe.Stdin {
		info, err := os.Stat(arg)
		switch {
		case err != nil:
			return nil, paths.Error(arg, err)
		case info.IsDir() && f.video.frames != "":
			return nil, fmt.Errorf("%s: a folder: want a stream for --frames", arg)
		case info.IsDir():
			c, err := clip.ReadFolder(os.DirFS(arg), f.Limits)
			if err != nil {
				err = fmt.Errorf("%s: %w", arg, err)
			}
			return c, err
		}
	}
	p := pipe.Open(ctx, stdin, arg)
	defer p.Close()
	var c *clip.Clip
	var err error
	switch {
	case f.video.frames == "":
		c, err = clip.ReadFile(p, f.Limits)
	case f.video.width > 0:
		c, err = clip.ReadRaw(p, f.video.width, f.video.height, f.Limits)
	default:
		c, err = clip.ReadImages(p, f.Limits)
	}
	switch {
	case errors.Is(err, codec.ErrUnsupported) && f.video.frames == "":
		return nil, fmt.Errorf("%s: %w; for video files, another program decodes the frames: see --frames", arg, err)
	case err != nil:
		return nil, fmt.Errorf("%s: %w", arg, err)
	}
	return c, nil
}

// oneVideo processes a video and writes its outputs.
func (f *runFlags) oneVideo(ctx context.Context, stdin io.Reader, p *video.Processor, r *video.Runner, arg, name string) error {
	c, err := f.open(ctx, stdin, arg)
	if err != nil {
		return err
	}
	m := c.Metadata
	if m.FPS == 0 {
		m.FPS = f.video.fps
	}
	if m.Duration == 0 {
		m.Duration = f.video.duration
	}
	out, err := r.Run(m, c.Frame)
	if err != nil {
		return fmt.Errorf("%s: %w", arg, err)
	}
	if f.outputs != "all" {
		out = out[:1]
	}
	for i, t := range out {
		if f.to.BatchAxis && !p.Outputs()[i].Joined {
			b := *t
			b.Shape = tensor.Dims(append([]int{1}, t.Shape.Slice()...)...)
			if t, err = tensor.Wrap(b.Desc, t.Data); err != nil {
				return fmt.Errorf("%s: %w", arg, err)
			}
		}
		file := filepath.Join(f.out, name+"."+p.Outputs()[i].Name+".npy")
		if err := newfile.Write(ctx, file, func(w io.Writer) error { return tensor.WriteNPY(w, t) }); err != nil {
			return fmt.Errorf("%s: %w", arg, err)
		}
	}
	return nil
}

package run

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/infer-prep/infer-prep/cmd/internal/cli/command"
	"github.com/infer-prep/infer-prep/cmd/internal/cli/source"
	"github.com/infer-prep/infer-prep/importer/hf/video"
	"github.com/infer-prep/infer-prep/internal/newfile"
	"github.com/infer-prep/infer-prep/internal/paths"
	"github.com/infer-prep/infer-prep/tensor"
)

// videoFlags are the flags of --video.
type videoFlags struct {
	on            bool
	fps, duration float64
}

func (f *videoFlags) add(cmd *cobra.Command) {
	fl := cmd.Flags()
	fl.BoolVar(&f.on, "video", false, "each argument is a video, a folder of frames: run the video processor of --hf")
	fl.Float64Var(&f.fps, "fps", 0, "the videos have `N` frames a second, where their metadata.json does not say it")
	fl.Float64Var(&f.duration, "duration", 0, "the videos last `SECONDS`, where their metadata.json does not say it")
}

// check checks the flags. Only those that a video run reads are permitted.
func (f *videoFlags) check(cmd *cobra.Command, out string, args []string) error {
	if !f.on {
		if n := command.FirstChanged(cmd, "fps", "duration"); n != "" {
			return command.UsageErr("--%s applies to videos: want --video", n)
		}
		return nil
	}
	if n := command.OtherThan(cmd, "video", "fps", "duration", "hf", "output", "outputs", "batch", "limit-pixels", "limit-bytes", "quiet", "color"); n != "" {
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
		return command.UsageErr("no videos: want folders of frames")
	}
	for _, name := range append([]string{hf, out}, args...) {
		if paths.IsURI(name) {
			return command.UsageErr("%s: --video reads and writes folders of this machine", paths.Shown(name))
		}
	}
	return nil
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
			err = f.oneVideo(ctx, p, r, arg, name)
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
	name := filepath.Base(filepath.Clean(arg))
	if name == "." || name == ".." || name == string(filepath.Separator) {
		return "", fmt.Errorf("%s: want a folder with a name", arg)
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

// oneVideo processes a folder and writes its outputs.
func (f *runFlags) oneVideo(ctx context.Context, p *video.Processor, r *video.Runner, arg, name string) error {
	info, err := os.Stat(arg)
	if err != nil {
		return paths.Error(arg, err)
	}
	if !info.IsDir() {
		return fmt.Errorf("%s: want a folder of frames: files with a whole video are not read", arg)
	}
	most := f.Limits.WithDefaults().Bytes
	if most < 0 {
		most = 1 << 62
	}
	folder, err := video.OpenFolder(os.DirFS(arg), most)
	if err != nil {
		return fmt.Errorf("%s: %w", arg, err)
	}
	m := folder.Metadata
	if m.FPS == 0 {
		m.FPS = f.video.fps
	}
	if m.Duration == 0 {
		m.Duration = f.video.duration
	}
	out, err := r.Run(m, folder.Frame)
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

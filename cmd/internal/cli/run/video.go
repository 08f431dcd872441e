package run

import (
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/infer-prep/infer-prep/cmd/internal/cli/command"
	"github.com/infer-prep/infer-prep/importer"
	"github.com/infer-prep/infer-prep/internal/paths"
	"github.com/infer-prep/infer-prep/internal/pipe"
	"github.com/infer-prep/infer-prep/job"
)

// videoFlags are the flags of --video.
type videoFlags struct {
	on            bool
	fps, duration float64
	frames        string
	metadata      bool
	sampler       string

	width, height int // of frames rawvideo; set by check
}

func (f *videoFlags) add(cmd *cobra.Command) {
	fl := cmd.Flags()
	fl.BoolVar(&f.on, "video", false, "each argument is a video: run the video processor of --hf. Videos are folders of frames, animated GIF, PNG, WebP and AVIF files, .npy arrays, and streams of --frames")
	fl.StringVar(&f.frames, "frames", "", "each video is a stream of frames, from a file, a pipe, or standard input with -; `FORM` is rawvideo:WIDTHxHEIGHT (rgb24) or image2pipe (PNG, JPEG, BMP or WebP files), as ffmpeg writes them")
	fl.BoolVar(&f.metadata, "return-metadata", false, "also write NAME.video_metadata.json for each video: the numbers of its chosen frames and their times")
	fl.StringVar(&f.sampler, "sampler", "", "choose frames as another program does: `NAME` is qwen-vl-utils, vllm/LOADER or sglang/MODEL, or NAME:JSON with the program's settings, such as vllm/qwen3_vl:{\"fps\":2}")
	fl.Float64Var(&f.fps, "fps", 0, "the videos have `N` frames a second, where they do not say it")
	fl.Float64Var(&f.duration, "duration", 0, "the videos last `SECONDS`, where they do not say it")
}

// check checks the flags. Only those that a video run reads are permitted.
func (f *videoFlags) check(cmd *cobra.Command, out string, args []string) error {
	if !f.on {
		if n := command.FirstChanged(cmd, "fps", "duration", "frames", "return-metadata", "sampler"); n != "" {
			return command.UsageErr("--%s applies to videos: want --video", n)
		}
		return nil
	}
	if n := command.OtherThan(cmd, "video", "fps", "duration", "frames", "return-metadata", "sampler", "jobs", "skip-existing", "files-from", "null", "hf", "output", "outputs", "batch", "batch-size", "limit-pixels", "limit-bytes", "quiet", "color"); n != "" {
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
	if v := cmd.Flag("skip-existing").Value.String(); v != "" && v != string(job.ByName) {
		return command.UsageErr("--skip-existing=%s does not apply to --video: want --skip-existing, by name", v)
	}
	if v := cmd.Flag("jobs").Value.String(); strings.HasPrefix(v, "-") || v == "0" {
		return command.UsageErr("--jobs %s: want at least 1", v)
	}
	if fl := cmd.Flags(); fl.Changed("batch-size") {
		n, err := fl.GetInt("batch-size")
		switch {
		case err != nil || n < 1 || n > job.MaxBatch:
			return command.UsageErr("--batch-size %s: want 1 to %d", cmd.Flag("batch-size").Value, job.MaxBatch)
		case fl.Changed("batch"):
			return command.UsageErr("--batch is for batches of one video: want it or --batch-size")
		}
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

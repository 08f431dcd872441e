package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"

	"github.com/infer-prep/infer-prep/codec"
	"github.com/infer-prep/infer-prep/codec/jpegli"
	"github.com/infer-prep/infer-prep/pack"
)

func (a *app) packCmd() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "pack",
		Short: "Pack images and other files into record files",
		Long: `Pack images and other files into record files, by several workers and in order:
the bytes do not depend on the number of workers. A pack that was interrupted or
killed goes on where it was when the same command is given again.`,
		Args: oneOfCommands,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(
		a.packRecordIOCmd(),
		a.packShardsCmd(),
	)
	return cmd
}

// packFlags are those of every pack.
type packFlags struct {
	image    pack.ImageOptions
	encoding string
	chroma   string
	color    int
	bad      string
	jobs     int
	force    bool
	restart  bool
	quiet    bool
}

// imageFlags change images.
var imageFlags = []string{"resize", "center-crop", "quality", "encoding", "chroma", "color"}

// changed is the first of the flags that is given.
func changed(cmd *cobra.Command, names []string) string {
	for _, n := range names {
		if cmd.Flags().Changed(n) {
			return n
		}
	}
	return ""
}

// collectLess lets the garbage collector run a quarter as often, unless GOGC says otherwise. The JPEG encoder takes
// some MB of WebAssembly's memory for each image, which would make it run all the time: two
// workers pack 1.7 times as many images so, in 150 MB in place of 60.
func collectLess() (restore func()) {
	if os.Getenv("GOGC") != "" {
		return func() {}
	}
	before := debug.SetGCPercent(400)
	return func() { debug.SetGCPercent(before) }
}

func (f *packFlags) add(cmd *cobra.Command) {
	f.image.Limits = codec.DefaultLimits()
	fl := cmd.Flags()
	fl.IntVar(&f.image.Resize, "resize", 0, "scale the shorter edge to `N` pixels as cv2.resize does; 0 keeps the size")
	fl.BoolVar(&f.image.CenterCrop, "center-crop", false, "cut out the square in the middle, before --resize")
	fl.IntVar(&f.image.Quality, "quality", 0, "`QUALITY` of JPEG, 1 to 100 (95 if it is not given), or the compression of PNG, 1 to 9 (3)")
	fl.StringVar(&f.encoding, "encoding", ".jpg", "`FORMAT` of the images: .jpg or .png")
	fl.StringVar(&f.chroma, "chroma", "420", "how much of the colour JPEG keeps: 420, 422 or 444")
	fl.IntVar(&f.color, "color", 1, "1: colour, without alpha; 0: gray; -1: as the file is, alpha too, and not turned upright")
	fl.Var((*count)(&f.image.Limits.Pixels), "limit-pixels", "refuse images of more pixels; 0 is no limit")
	fl.Var((*count)(&f.image.Limits.Bytes), "limit-bytes", "refuse files and images that need more `BYTES` of memory, each; 0 is no limit")
	fl.StringVar(&f.bad, "bad", "skip", "what cannot be packed is named and left out (skip), or ends the pack (fail)")
	fl.IntVarP(&f.jobs, "jobs", "j", runtime.GOMAXPROCS(0), "work on `N` at once; the files are the same")
	fl.Lookup("jobs").DefValue = "one for each CPU" // help and man pages are the same everywhere
	fl.BoolVar(&f.force, "force", false, "write over files of that name that are there already")
	fl.BoolVar(&f.restart, "restart", false, "begin anew, and forget an unfinished pack, whatever it was of")
	fl.BoolVarP(&f.quiet, "quiet", "q", false, "no progress bar, and no word of what was packed")
	complete(cmd, "encoding", ".jpg", ".png")
	complete(cmd, "chroma", "420", "422", "444")
	complete(cmd, "color", "1", "0", "-1")
	complete(cmd, "bad", "skip", "fail")
}

// check refuses flags that are wrong, and reads those that say what becomes of images.
func (f *packFlags) check(cmd *cobra.Command) error {
	var ok [3]bool
	f.image.Encoding, ok[0] = map[string]pack.Encoding{".jpg": pack.JPEG, ".png": pack.PNG}[f.encoding]
	f.image.Chroma, ok[1] = map[string]jpegli.Chroma{"420": jpegli.Chroma420, "422": jpegli.Chroma422, "444": jpegli.Chroma444}[f.chroma]
	f.image.Color, ok[2] = map[int]pack.Color{1: pack.RGB, 0: pack.Gray, -1: pack.Unchanged}[f.color]
	most := map[pack.Encoding]int{pack.JPEG: 100, pack.PNG: 9}[f.image.Encoding]
	switch {
	case f.jobs < 1:
		return usageErr("--jobs %d: want 1 or more", f.jobs)
	case f.bad != "skip" && f.bad != "fail":
		return usageErr("--bad %q: want skip or fail", f.bad)
	case f.image.Resize < 0 || f.image.Resize > 1<<24:
		return usageErr("--resize %d: want 0 to %d", f.image.Resize, 1<<24)
	case !ok[0]:
		return usageErr("--encoding %q: want .jpg or .png", f.encoding)
	case !ok[1]:
		return usageErr("--chroma %q: want 420, 422 or 444", f.chroma)
	case !ok[2]:
		return usageErr("--color %d: want 1, 0 or -1", f.color)
	case f.image.Encoding == pack.PNG && cmd.Flags().Changed("chroma"):
		return usageErr("--chroma is for .jpg")
	case cmd.Flags().Changed("quality") && (f.image.Quality < 1 || f.image.Quality > most):
		return usageErr("--quality %d: want 1 to %d for %s", f.image.Quality, most, f.encoding)
	}
	return nil
}

// unpacked is the error of a pack that did not end, of which so much is done.
func unpacked(ctx context.Context, err error, done int, of string) error {
	on := fmt.Sprintf("%d of %s done, and the same command goes on from there", done, of)
	switch {
	case ctx.Err() != nil:
		return &exitError{exitInterrupted, errors.New("interrupted: " + on)}
	case errors.Is(err, pack.ErrOther), errors.Is(err, pack.ErrChanged):
		return failErr("%w; --restart begins anew", err)
	case errors.Is(err, pack.ErrExists):
		return failErr("%w; --force writes over it", err)
	}
	var item *pack.ItemError
	if !errors.As(err, &item) && !errors.Is(err, pack.ErrSample) {
		err = ofFile(err)
	}
	if done > 0 {
		err = fmt.Errorf("%w (%s)", err, on)
	}
	return wrapFail(err)
}

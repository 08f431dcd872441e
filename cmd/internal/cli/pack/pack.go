// Package pack implements the commands that pack data sets.
package pack

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/infer-prep/infer-prep/cmd/internal/cli/command"
	"github.com/infer-prep/infer-prep/cmd/internal/cli/source"
	"github.com/infer-prep/infer-prep/codec"
	"github.com/infer-prep/infer-prep/codec/jpeg"
	"github.com/infer-prep/infer-prep/datagraph"
	"github.com/infer-prep/infer-prep/importer"
	"github.com/infer-prep/infer-prep/internal/paths"
	"github.com/infer-prep/infer-prep/pack"
)

func Command(a *command.App) *cobra.Command {
	f := &plannedFlags{}
	cmd := &cobra.Command{
		Use:   "pack",
		Short: "Pack images and other files into record files",
		Args:  command.OneOfCommands,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if cmd.Flags().NFlag() == 0 {
				return cmd.Help()
			}
			return packPlanned(a, cmd, f)
		},
	}
	f.add(cmd)
	cmd.AddCommand(
		packRecordIOCmd(a),
		packShardsCmd(a),
		packPlanCmd(a),
		packFinishCmd(a),
	)
	return cmd
}

// packFlags are the flags of all pack commands.
type packFlags struct {
	image    pack.ImageOptions
	encoding string
	chroma   string
	color    int
	bad      string
	jobs     int
	force    bool
	restart  bool
	outside  command.Outside
	quiet    bool
}

// imageFlags are the flags that change images.
var imageFlags = []string{"resize", "center-crop", "quality", "encoding", "encoder", "chroma", "color"}

// jpegli is the encoder that infer-prep does without.
const jpegli = "jpegli"

// collectLess makes the garbage collector run a quarter as often, unless GOGC
// is set or jpegli is not used. jpegli allocates some MB of WebAssembly memory
// for each image, which would trigger a collection for almost every image. With
// two workers the speed-up is 1.7, for 150 MB of memory instead of 60.
func collectLess(o *pack.ImageOptions) (restore func()) {
	if o.Encoding != pack.JPEG || o.Encoder != jpegli || os.Getenv("GOGC") != "" {
		return func() {}
	}
	before := debug.SetGCPercent(400)
	return func() { debug.SetGCPercent(before) }
}

func (f *packFlags) add(cmd *cobra.Command) {
	f.addImage(cmd)
	fl := cmd.Flags()
	fl.BoolVar(&f.image.Check, "check", false, "decode the images that are packed unchanged too; one that cannot be decoded, such as a truncated file, cannot be packed")
	fl.StringVar(&f.bad, "bad", "skip", "`WHAT` to do with a file that cannot be packed: skip it and report it, or fail")
	fl.IntVarP(&f.jobs, "jobs", "j", runtime.GOMAXPROCS(0), "process `N` files at once; the output does not depend on it")
	fl.Lookup("jobs").DefValue = "one for each CPU" // help and man pages are the same everywhere
	fl.BoolVar(&f.force, "force", false, "replace existing files")
	fl.BoolVar(&f.restart, "restart", false, "discard an unfinished pack and start again")
	f.outside.Add(cmd)
	fl.BoolVarP(&f.quiet, "quiet", "q", false, "print neither progress nor a summary")
	command.Complete(cmd, "bad", "skip", "fail")
}

// addLimits adds the limits of images, which source.GraphFlags has, too.
func (f *packFlags) addLimits(cmd *cobra.Command) {
	f.image.Limits = codec.DefaultLimits()
	fl := cmd.Flags()
	fl.Var((*command.Limit)(&f.image.Limits.Pixels), "limit-pixels", "refuse images of more pixels; 0 means no limit")
	fl.Var((*command.Limit)(&f.image.Limits.Bytes), "limit-bytes", "refuse a file or image that needs more `BYTES` of memory; 0 means no limit")
}

// addImage adds imageFlags and --lossless-fast.
func (f *packFlags) addImage(cmd *cobra.Command) {
	fl := cmd.Flags()
	fl.IntVar(&f.image.Resize, "resize", 0, "scale the shorter edge to `N` pixels as cv2.resize does; 0 keeps the size")
	fl.BoolVar(&f.image.CenterCrop, "center-crop", false, "crop the center square, before --resize")
	fl.IntVar(&f.image.Quality, "quality", 0, "`QUALITY` of JPEG, 1 to 100 (default 95), or compression of PNG, 1 to 9 (default 3)")
	fl.StringVar(&f.encoding, "encoding", ".jpg", "`FORMAT` of the images: .jpg or .png")
	fl.StringVar(&f.image.Encoder, "encoder", pack.Turbo, "`ENCODER` of JPEG: turbo writes OpenCV's files; those of jpegli, which "+command.FullProgram+" has, are an eighth smaller and slow to make")
	fl.StringVar(&f.chroma, "chroma", "420", "chroma `SUBSAMPLING` of JPEG: 420, 422 or 444")
	fl.IntVar(&f.color, "color", 1, "`MODE` of color: 1: color without alpha; 0: gray; -1: as in the file, with alpha and without EXIF orientation")
	fl.BoolVar(&f.image.Fast, "lossless-fast", false, "pack the files unchanged, but rewrite JPEG files so that crops decode faster: with the same pixels, restart markers and other Huffman tables")
	command.Complete(cmd, "encoding", ".jpg", ".png")
	command.Complete(cmd, "encoder", pack.Encoders()...)
	command.Complete(cmd, "chroma", "420", "422", "444")
	command.Complete(cmd, "color", "1", "0", "-1")
}

// check validates the flags and sets f.image.
func (f *packFlags) check(cmd *cobra.Command) error {
	var ok [3]bool
	f.image.Encoding, ok[0] = map[string]pack.Encoding{".jpg": pack.JPEG, ".png": pack.PNG}[f.encoding]
	f.image.Chroma, ok[1] = map[string]jpeg.Chroma{"420": jpeg.Chroma420, "422": jpeg.Chroma422, "444": jpeg.Chroma444}[f.chroma]
	f.image.Color, ok[2] = map[int]pack.Color{1: pack.RGB, 0: pack.Gray, -1: pack.Unchanged}[f.color]
	most := map[pack.Encoding]int{pack.JPEG: 100, pack.PNG: 9}[f.image.Encoding]
	switch {
	case f.image.Fast && command.FirstChanged(cmd, imageFlags...) != "":
		return command.UsageErr("--%s changes images, but --lossless-fast keeps their pixels", command.FirstChanged(cmd, imageFlags...))
	case f.jobs < 1:
		return command.UsageErr("--jobs %d: want at least 1", f.jobs)
	case f.bad != "skip" && f.bad != "fail":
		return command.OneOf("bad", f.bad, "skip", "fail")
	case f.image.Resize < 0 || f.image.Resize > 1<<24:
		return command.UsageErr("--resize %d: want 0 to %d", f.image.Resize, 1<<24)
	case !ok[0]:
		return command.OneOf("encoding", f.encoding, ".jpg", ".png")
	case !ok[1]:
		return command.OneOf("chroma", f.chroma, "420", "422", "444")
	case !ok[2]:
		return command.UsageErr("--color %d: want 1, 0 or -1", f.color)
	case f.image.Encoder == jpegli && !slices.Contains(pack.Encoders(), jpegli):
		return command.UsageErr("--encoder %s: not in this program: want %s%s", jpegli, strings.Join(pack.Encoders(), " or "), command.InFull("it"))
	case !slices.Contains(pack.Encoders(), f.image.Encoder):
		return command.OneOf("encoder", f.image.Encoder, pack.Turbo, jpegli)
	case f.image.Encoding == pack.PNG && command.FirstChanged(cmd, "chroma", "encoder") != "":
		return command.UsageErr("--%s needs --encoding .jpg", command.FirstChanged(cmd, "chroma", "encoder"))
	case cmd.Flags().Changed("quality") && (f.image.Quality < 1 || f.image.Quality > most):
		return command.UsageErr("--quality %d: want 1 to %d for %s", f.image.Quality, most, f.encoding)
	}
	return nil
}

// checkGraph returns the flag that names a graph, "" if none does. It refuses
// flags that would have no effect.
func (f *packFlags) checkGraph(cmd *cobra.Command, g *source.GraphFlags) (string, error) {
	flags := []string{"prep", "preset", "graph", "bundle"}
	for _, i := range importer.All() {
		flags = append(flags, i.Name)
	}
	graph, images := command.FirstChanged(cmd, flags...), command.FirstChanged(cmd, imageFlags...)
	more := command.FirstChanged(cmd, "backend", "decoder", "ignore-key", "dtype", "layout", "triton", "exif")
	switch {
	case graph == "" && more != "":
		return "", command.UsageErr("--%s applies to a graph: want %s", more, g.FlagNames())
	case graph != "" && images != "":
		return "", command.UsageErr("--%s changes images, but --%s makes tensors of them: want only one of them", images, graph)
	case graph != "" && f.image.Fast:
		return "", command.UsageErr("--%s makes tensors of images, but --lossless-fast packs files: want only one of them", graph)
	}
	return graph, nil
}

// loadGraph loads the graph.
func loadGraph(a *command.App, cmd *cobra.Command, f *source.GraphFlags) (*datagraph.Graph, error) {
	g, err := f.Load(cmd, a.Stdin)
	if err == nil {
		err = source.WantOneImage(g)
	}
	return g, err
}

// packToStore returns the error of an output that is a URI: a pack that is
// interrupted goes on in its unfinished files, which a store does not have.
func packToStore(uri string) error {
	return command.UsageErr("%s: this command writes to a folder: want \"pack plan\" and \"pack --plan\", which write to stores", uri)
}

// unpacked returns the error of an unfinished pack. done counts the finished
// items.
func unpacked(ctx context.Context, err error, done int, of string) error {
	on := fmt.Sprintf("%d of %s done; give the same command again to resume", done, of)
	switch {
	case errors.Is(err, pack.ErrEmpty):
		return command.FailErr("none of %s could be packed: nothing was written", of)
	case ctx.Err() != nil:
		return &command.ExitError{Status: command.ExitInterrupted, Err: errors.New("interrupted: " + on)}
	case errors.Is(err, pack.ErrOther), errors.Is(err, pack.ErrChanged):
		return command.FailErr("%w; --restart discards the unfinished pack and starts again", err)
	case errors.Is(err, pack.ErrExists):
		return command.FailErr("%w; --force replaces it", err)
	}
	var item *pack.ItemError
	if !errors.As(err, &item) && !errors.Is(err, pack.ErrSample) {
		err = paths.ErrorOf(err)
	}
	if done > 0 {
		err = fmt.Errorf("%w (%s)", err, on)
	}
	return command.WrapFail(err)
}

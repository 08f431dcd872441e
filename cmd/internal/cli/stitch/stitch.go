// Package stitch holds the command stitch.
package stitch

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"runtime"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/infer-prep/infer-prep/cmd/internal/cli/command"
	"github.com/infer-prep/infer-prep/cmd/internal/cog"
	"github.com/infer-prep/infer-prep/internal/newfile"
	"github.com/infer-prep/infer-prep/internal/paths"
	"github.com/infer-prep/infer-prep/store"
	"github.com/infer-prep/infer-prep/tensor"
)

// flags are the flags of stitch.
type flags struct {
	out, predictions, array string
	blend, noData           string
}

// Command returns the command stitch.
func Command(a *command.App) *cobra.Command {
	f := &flags{}
	cmd := &cobra.Command{
		Use:                   "stitch [--predictions DIR] [--blend linear|center] -o FILE INDEX",
		Short:                 "Put predictions of windows together as a cloud-optimized GeoTIFF",
		DisableFlagsInUseLine: true,
		RunE: func(cmd *cobra.Command, args []string) error {
			return run(cmd.Context(), a, f, args)
		},
	}
	fl := cmd.Flags()
	fl.StringVarP(&f.out, "output", "o", "", "write the image to `FILE`, a path or a URI")
	fl.StringVar(&f.predictions, "predictions", "", "read the predictions from the folder `DIR`, under the names that the index has; default: the index's own folder")
	fl.StringVar(&f.array, "array", "", "read the array `NAME` of .npz files, or the files of the index's output of that name")
	fl.StringVar(&f.blend, "blend", "", "where windows overlap, take means with weights that fall to the edges (linear), or the window whose edges are farthest (center); `HOW` is one of these; default: linear for float32, center for integers, as of classes")
	fl.StringVar(&f.noData, "nodata", "", "write `VALUE` where there is no window, and as the image's no-data value; without it such pixels are an error")
	command.Complete(cmd, "blend", linear, center)
	command.Must(cmd.MarkFlagDirname("predictions"))
	command.Must(cmd.MarkFlagFilename("output", "tif", "tiff"))
	return cmd
}

// The values of --blend.
const linear, center = "linear", "center"

// run stitches the windows of an index.
func run(ctx context.Context, a *command.App, f *flags, args []string) error {
	switch {
	case len(args) != 1:
		return command.UsageErr("want one index, the %s that run --tiles writes", "tiles.jsonl")
	case f.out == "":
		return command.UsageErr("no output: want -o FILE")
	}
	if f.blend != "" {
		if err := command.OneOf("blend", f.blend, linear, center); err != nil {
			return err
		}
	}
	index := paths.TrimFile(args[0])
	s := &scene{ctx: ctx, dir: f.predictions, array: f.array, limit: cacheBytes}
	if s.dir == "" {
		s.dir = folder(index)
	}
	if err := s.read(index); err != nil {
		return command.FailErr("%s: %w", paths.Shown(index), err)
	}
	image, err := s.image(f)
	if err != nil {
		return err
	}
	s.sort()
	if err := newfile.Write(ctx, f.out, func(w io.Writer) error { return image.Write(ctx, w, s.fill) }); err != nil {
		if ctx.Err() != nil {
			return &command.ExitError{Status: command.ExitInterrupted, Err: errors.New("interrupted: nothing was written")}
		}
		return command.WrapFail(err)
	}
	return nil
}

// folder returns the folder of a file.
func folder(file string) string {
	if paths.IsURI(file) {
		return file[:len(file)-len(paths.Base(file))]
	}
	return filepath.Dir(file)
}

// image describes the image. The first prediction states type and bands.
func (s *scene) image(f *flags) (*cog.Image, error) {
	first, err := s.prediction(0)
	if err != nil {
		return nil, command.WrapFail(err)
	}
	s.dtype, s.bands = first.DType, first.bands
	if s.blend = f.blend; s.blend == "" {
		s.blend = center
		if s.dtype == tensor.Float32 {
			s.blend = linear
		}
	}
	m := &cog.Image{
		Width: s.scene.Width, Height: s.scene.Height, Bands: s.bands, DType: s.dtype, Classes: s.blend == center && s.dtype != tensor.Float32,
		Geo: s.scene.Geo(), Workers: runtime.GOMAXPROCS(0),
	}
	if !paths.IsURI(f.out) {
		m.Temp = filepath.Dir(paths.TrimFile(f.out))
	}
	if f.noData != "" {
		if m.NoData, err = strconv.ParseFloat(f.noData, 64); err != nil {
			return nil, command.UsageErr("--nodata %q: want a number", f.noData)
		}
		if s.empty, err = sample(s.dtype, m.NoData); err != nil {
			return nil, command.UsageErr("--nodata %s: %w", f.noData, err)
		}
		m.HasNoData = true
	}
	if err := m.Validate(); err != nil {
		return nil, command.WrapFail(err)
	}
	return m, nil
}

// sample returns a number as a sample.
func sample(t tensor.DType, v float64) ([]byte, error) {
	b := make([]byte, t.Size())
	top := float64(math.MaxUint8)
	switch t {
	case tensor.Float32:
		putFloat(b, float32(v))
		return b, nil
	case tensor.Uint16:
		top = math.MaxUint16
	}
	if v != math.Trunc(v) || v < 0 || v > top {
		return nil, fmt.Errorf("the predictions are %v: want 0 to %.0f", t, top)
	}
	if t == tensor.Uint8 {
		b[0] = uint8(v)
	} else {
		putUint16(b, uint16(v))
	}
	return b, nil
}

// open opens a file.
func open(ctx context.Context, name string) (store.File, error) {
	f, err := store.URI.Open(ctx, paths.StoreName(name))
	return f, paths.Error(paths.Shown(name), err)
}

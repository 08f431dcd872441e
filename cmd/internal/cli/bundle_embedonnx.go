package cli

import (
	"errors"
	"io"
	"math"

	"github.com/spf13/cobra"

	"github.com/infer-prep/infer-prep/datagraph"
	"github.com/infer-prep/infer-prep/modelbundle"
	"github.com/infer-prep/infer-prep/onnx"
)

func (a *app) bundleEmbedONNXCmd() *cobra.Command {
	f := &bundleCreateFlags{}
	cmd := &cobra.Command{
		Use:   "embed-onnx MODEL [--preset NAME | --graph FILE | …] -o FILE",
		Short: "Write a graph into an ONNX model's metadata",
		Long: `Write a graph into the metadata_props of an ONNX model, in place of any that it
had, so that whoever loads the model gets its preprocessing with it: as JSON under
the key ` + onnx.KeyGraph + `, and the digests of golden samples under ` + onnx.KeyGoldens + `:
of the images that --golden names, and of those in the bundle whose graph is
taken as it is. Nothing else of the model changes. Weights that it keeps in
files of their own must stay beside it.

The graph is read back by --onnx, as in graph import --onnx MODEL.`,
		Example: `  infer-prep bundle embed-onnx model.onnx --hf preprocessor_config.json -o model-prep.onnx
  infer-prep run --onnx model-prep.onnx -o tensors photos/`,
		DisableFlagsInUseLine: true,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) != 1 {
				return usageErr("%s takes one model, got %d", commandName(cmd), len(args))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if f.out == "" {
				return usageErr("no output, want -o FILE")
			}
			g, err := f.load(cmd, a.stdin)
			if err != nil {
				return err
			}
			model, err := readSmall(args[0], a.stdin, math.MaxInt32)
			if err != nil {
				return wrapFail(err)
			}
			goldens, err := f.samples(cmd, g)
			if err != nil {
				return err
			}
			b, err := onnx.Embed(model, g, goldens)
			if errors.Is(err, onnx.ErrModel) {
				return failErr("%s: %w", args[0], err)
			}
			if err != nil {
				return usageErr("%w", err)
			}
			return wrapFail(writeFile(f.out, func(w io.Writer) error {
				_, err := w.Write(b)
				return err
			}))
		},
	}
	f.add(cmd)
	cmd.Flags().StringVarP(&f.out, "output", "o", "", "write the model to this `FILE`, which may be the model's own")
	cmd.Flags().StringArrayVar(&f.goldens, "golden", nil, "make a golden sample of `IMAGE`; may be given again")
	noErr(cmd.MarkFlagFilename("output", "onnx"))
	return cmd
}

// samples are the golden samples of --golden, after those of the bundle that the
// graph is of, unless it was changed since.
func (f *bundleCreateFlags) samples(cmd *cobra.Command, g *datagraph.Graph) ([]onnx.Golden, error) {
	var l []onnx.Golden
	if f.bundle != "" && !f.exif && f.dtype == "" && f.layout == "" {
		b, err := openBundle(f.bundle, f.limits)
		if err != nil {
			return nil, err
		}
		samples, err := b.Goldens()
		l = onnx.Digests(samples) // before Close, which takes the images away
		if err = errors.Join(err, b.Close()); err != nil {
			return nil, wrapFail(plain(f.bundle, err))
		}
	}
	c := &modelbundle.Content{Graph: g}
	if err := f.addGoldens(cmd, c); err != nil {
		return nil, err
	}
	if cmd.Context().Err() != nil {
		return nil, &exitError{exitInterrupted, errors.New("interrupted: nothing was written")}
	}
	return append(l, onnx.Digests(c.Goldens)...), nil
}

package cli

import (
	"errors"
	"io"
	"math"

	"github.com/spf13/cobra"

	"github.com/infer-prep/infer-prep/onnx"
)

func (a *app) bundleEmbedONNXCmd() *cobra.Command {
	f := &graphFlags{}
	var out string
	cmd := &cobra.Command{
		Use:   "embed-onnx MODEL [--preset NAME | --graph FILE | …] -o FILE",
		Short: "Write a graph into an ONNX model's metadata",
		Long: `Write a graph into the metadata_props of an ONNX model, in place of any that it
had, so that whoever loads the model gets its preprocessing with it: as JSON under
the key ` + onnx.KeyGraph + `. Nothing else of the model changes. Weights that it keeps
in files of their own must stay beside it.

The graph is read back by --onnx, as in graph import --onnx MODEL.`,
		Example: `  infer-prep bundle embed-onnx model.onnx --hf preprocessor_config.json -o model-prep.onnx
  infer-prep run --onnx model-prep.onnx -o tensors photos/`,
		DisableFlagsInUseLine: true,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) != 1 {
				return usageErr("%s takes one model, got %d", cmd.CommandPath(), len(args))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if out == "" {
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
			b, err := onnx.Embed(model, g, nil)
			if errors.Is(err, onnx.ErrModel) {
				return failErr("%s: %w", args[0], err)
			}
			if err != nil {
				return usageErr("%w", err)
			}
			return wrapFail(writeFile(out, func(w io.Writer) error {
				_, err := w.Write(b)
				return err
			}))
		},
	}
	f.add(cmd)
	cmd.Flags().StringVarP(&out, "output", "o", "", "write the model to this `FILE`, which may be the model's own")
	noErr(cmd.MarkFlagFilename("output", "onnx"))
	return cmd
}


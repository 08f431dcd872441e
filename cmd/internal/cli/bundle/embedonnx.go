package bundle

import (
	"errors"
	"io"
	"math"

	"github.com/spf13/cobra"

	"github.com/infer-prep/infer-prep/cmd/internal/cli/command"
	"github.com/infer-prep/infer-prep/cmd/internal/cli/source"
	"github.com/infer-prep/infer-prep/datagraph"
	"github.com/infer-prep/infer-prep/internal/newfile"
	"github.com/infer-prep/infer-prep/internal/paths"
	"github.com/infer-prep/infer-prep/modelbundle"
	"github.com/infer-prep/infer-prep/onnx"
)

func bundleEmbedONNXCmd(a *command.App) *cobra.Command {
	f := &bundleCreateFlags{}
	cmd := &cobra.Command{
		Use:                   "embed-onnx MODEL [--preset NAME | --graph FILE | …] -o FILE",
		Short:                 "Write a graph into an ONNX model's metadata",
		DisableFlagsInUseLine: true,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) != 1 {
				return command.UsageErr("%s: want one model, got %d", command.CommandName(cmd), len(args))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if f.out == "" {
				return command.UsageErr("no output file: want -o FILE")
			}
			g, err := f.Load(cmd, a.Stdin)
			if err != nil {
				return err
			}
			if err := f.renameOutputs(g); err != nil {
				return err
			}
			model, err := source.ReadSmall(cmd.Context(), args[0], a.Stdin, math.MaxInt32)
			if err != nil {
				return command.WrapFail(err)
			}
			if err := f.fits(&modelbundle.Content{Graph: g, Models: []modelbundle.Model{{Name: args[0], Format: "onnx", Data: model}}}); err != nil {
				return err
			}
			goldens, err := f.samples(cmd, g)
			if err != nil {
				return err
			}
			b, err := onnx.Embed(model, g, goldens)
			if errors.Is(err, onnx.ErrModel) {
				return command.FailErr("%s: %w", args[0], err)
			}
			if err != nil {
				return command.UsageErr("%w", err)
			}
			return command.WrapFail(newfile.Write(cmd.Context(), f.out, func(w io.Writer) error {
				_, err := w.Write(b)
				return err
			}))
		},
	}
	f.GraphFlags.Add(cmd)
	f.fitFlags.add(cmd)
	cmd.Flags().StringVarP(&f.out, "output", "o", "", "write the model to `FILE`, which may be MODEL itself")
	cmd.Flags().StringArrayVar(&f.goldens, "golden", nil, "add a golden sample of `IMAGE`; repeatable")
	command.Must(cmd.MarkFlagFilename("output", "onnx"))
	return cmd
}

// samples returns the golden samples of the bundle, if the graph is the
// bundle's own, and those of --golden.
func (f *bundleCreateFlags) samples(cmd *cobra.Command, g *datagraph.Graph) ([]onnx.Golden, error) {
	var l []onnx.Golden
	if f.Bundle != "" && !f.ExifSet && f.Dtype == "" && f.Layout == "" && len(f.names) == 0 {
		b, err := source.OpenBundle(cmd.Context(), f.Bundle, f.Limits)
		if err != nil {
			return nil, err
		}
		samples, err := b.Goldens()
		l = onnx.Digests(samples) // before Close, which invalidates the images
		if err = errors.Join(err, b.Close()); err != nil {
			return nil, command.WrapFail(paths.Error(f.Bundle, err))
		}
	}
	c := &modelbundle.Content{Graph: g}
	if err := f.addGoldens(cmd, c); err != nil {
		return nil, err
	}
	if cmd.Context().Err() != nil {
		return nil, &command.ExitError{Status: command.ExitInterrupted, Err: errors.New("interrupted: nothing was written")}
	}
	return append(l, onnx.Digests(c.Goldens)...), nil
}

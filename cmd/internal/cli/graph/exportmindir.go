package graph

import (
	"errors"
	"io"
	"math"

	"github.com/spf13/cobra"

	"github.com/infer-prep/infer-prep/cmd/internal/cli/command"
	"github.com/infer-prep/infer-prep/cmd/internal/cli/source"
	"github.com/infer-prep/infer-prep/importer/mindir"
	"github.com/infer-prep/infer-prep/internal/newfile"
)

type exportMindIRFlags struct {
	source.GraphFlags
	merge, out string
}

func graphExportMindIRCmd(a *command.App) *cobra.Command {
	f := &exportMindIRFlags{}
	cmd := &cobra.Command{
		Use:                   "export-mindir [--preset NAME | --graph FILE | …] --merge MODEL.mindir -o FILE",
		Short:                 "Write the steps into a MindIR model, as MindSpore's export does",
		DisableFlagsInUseLine: true,
		Args:                  command.NoArgs,
		ValidArgsFunction:     cobra.NoFileCompletions,
		RunE:                  func(cmd *cobra.Command, _ []string) error { return exportMindIR(a, cmd, f) },
	}
	f.Add(cmd)
	fl := cmd.Flags()
	fl.StringVar(&f.merge, "merge", "", "write the steps into the model in `FILE`, in place of those that it has")
	fl.StringVarP(&f.out, "output", "o", "", "write the model to `FILE`")
	command.Must(cmd.MarkFlagFilename("output", "mindir"))
	command.Must(cmd.MarkFlagFilename("merge", "mindir"))
	return cmd
}

func exportMindIR(a *command.App, cmd *cobra.Command, f *exportMindIRFlags) error {
	switch {
	case f.merge == "":
		return command.UsageErr("no model: want --merge MODEL.mindir")
	case f.out == "":
		return command.UsageErr("no output file: want -o FILE")
	}
	g, err := f.Load(cmd, a.Stdin)
	if err != nil {
		return err
	}
	model, err := source.ReadSmall(cmd.Context(), f.merge, a.Stdin, math.MaxInt32)
	if err != nil {
		return command.WrapFail(err)
	}
	out, err := mindir.Export(model, g)
	if errors.Is(err, mindir.ErrExport) {
		return command.UsageErr("%w", err)
	} else if err != nil {
		return command.FailErr("%s: %w", f.merge, err)
	}
	return command.WrapFail(newfile.Write(cmd.Context(), f.out, func(w io.Writer) error {
		_, err := w.Write(out)
		return err
	}))
}

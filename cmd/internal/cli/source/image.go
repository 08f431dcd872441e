package source

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/infer-prep/infer-prep/cmd/internal/cli/command"
	"github.com/infer-prep/infer-prep/codec"
	"github.com/infer-prep/infer-prep/datagraph"
	"github.com/infer-prep/infer-prep/internal/pipe"
	"github.com/infer-prep/infer-prep/job"
	"github.com/infer-prep/infer-prep/tensor"
	"github.com/infer-prep/infer-prep/transforms"
)

// WantOneImage refuses a graph whose input is not one encoded image or sound.
func WantOneImage(g *datagraph.Graph) error {
	if err := g.WantImage(); err != nil {
		if len(g.Inputs) == 1 && g.Inputs[0].Name == "samples" { // of --backend samples
			return command.UsageErr("%w; --backend audio takes sound files", err)
		}
		return command.UsageErr("%w", err)
	}
	return nil
}

// ReadImage reads one image that the user named: a file, standard input or a
// pipe.
func ReadImage(cmd *cobra.Command, in *job.File, limits codec.Limits) (*tensor.Tensor, error) {
	b, err := in.ReadAll(cmd.Context(), cmd.InOrStdin(), limits)
	if stopped := command.Interrupted(cmd.Context(), "nothing was done"); stopped != nil && pipe.Is(in.Path) {
		return nil, stopped
	}
	if err != nil {
		return nil, command.WrapFail(err)
	}
	return tensor.FromBytes(b), nil
}

// RandomSteps lists the steps that draw ops, as "1-random_crop".
func RandomSteps(g *datagraph.Graph) (l []string) {
	for i, s := range g.Steps {
		if _, ok := s.Op.(transforms.Random); ok {
			l = append(l, fmt.Sprintf("%d-%s", i, transforms.InfoOf(s.Op).Name))
		}
	}
	return l
}

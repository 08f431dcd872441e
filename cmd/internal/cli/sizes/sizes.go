// Package sizes holds the command sizes.
package sizes

import (
	"strconv"

	"github.com/spf13/cobra"

	"github.com/infer-prep/infer-prep/cmd/internal/cli/command"
	"github.com/infer-prep/infer-prep/cmd/internal/cli/source"
	"github.com/infer-prep/infer-prep/datagraph"
	"github.com/infer-prep/infer-prep/internal/lazyregexp"
	"github.com/infer-prep/infer-prep/internal/paths"
	"github.com/infer-prep/infer-prep/job"
	"github.com/infer-prep/infer-prep/store"
	"github.com/infer-prep/infer-prep/tensor"
)

var sizePattern = lazyregexp.New(`^([0-9]+)x([0-9]+)$`)

// answer is one line of the command's output.
type answer struct {
	Image   string          `json:"image,omitempty"` // the argument, unless it is a size
	Size    *[2]int         `json:"size,omitempty"`  // height and width
	Outputs map[string]desc `json:"outputs,omitempty"`
	Error   string          `json:"error,omitempty"`
}

// desc describes a tensor.
type desc struct {
	DType string `json:"dtype"`
	Shape []int  `json:"shape"` // -1 for an unknown size
}

// Command returns the command sizes.
func Command(a *command.App) *cobra.Command {
	f := &source.GraphFlags{}
	cmd := &cobra.Command{
		Use:                   "sizes [--prep NAME | --hf FILE | …] HEIGHTxWIDTH|IMAGE...",
		Short:                 "Print the shapes that images of a size get, without pixels",
		DisableFlagsInUseLine: true,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return command.UsageErr("sizes: want sizes such as 480x640, or images")
			}
			g, err := f.Load(cmd, a.Stdin)
			if err != nil {
				return err
			}
			if err := source.WantOneImage(g); err != nil {
				return err
			}
			plan, err := f.Compile(g)
			if err != nil {
				return err
			}
			s := &sizer{cmd: cmd, flags: f, plan: plan, runner: plan.NewRunner(), steps: plan.Unfused().Steps()}
			failed := 0
			for _, arg := range args {
				if err := command.Interrupted(cmd.Context(), command.Plural(len(args), "argument")); err != nil {
					return err
				}
				line, err := s.answer(arg)
				if err != nil {
					failed++
					a.Complain(err)
					line.Error = a.Advised(err)
				}
				if err := a.PrintLine(line); err != nil {
					return err
				}
			}
			if failed > 0 {
				return &command.ExitError{Status: command.ExitFailed}
			}
			return nil
		},
	}
	f.Add(cmd)
	return cmd
}

// sizer answers for one plan.
type sizer struct {
	cmd    *cobra.Command
	flags  *source.GraphFlags
	plan   *datagraph.Plan
	runner *datagraph.Runner
	steps  []datagraph.StepInfo // of the graph
}

// answer describes the outputs for an argument. With an error, it has what is
// known of the argument.
func (s *sizer) answer(arg string) (answer, error) {
	m := sizePattern().FindStringSubmatch(arg)
	if m == nil {
		return s.image(arg)
	}
	h, err := strconv.Atoi(m[1])
	if err != nil {
		return answer{Image: arg}, command.FailErr("%s: the height is not a number of pixels", arg)
	}
	w, err := strconv.Atoi(m[2])
	if err != nil {
		return answer{Image: arg}, command.FailErr("%s: the width is not a number of pixels", arg)
	}
	line := answer{Size: &[2]int{h, w}}
	columns, err := s.plan.Sizes(h, w)
	if err != nil {
		return line, command.FailErr("%s: %w", arg, err)
	}
	line.Outputs = outputs(columns, nil)
	return line, nil
}

// image describes the outputs for an image file. It decodes the header only.
func (s *sizer) image(path string) (answer, error) {
	line := answer{Image: paths.Shown(path)}
	t, err := source.ReadImage(s.cmd, job.One(store.URI, path), s.flags.Limits)
	if err != nil {
		return line, err
	}
	descs, err := s.runner.Infer(t)
	if err != nil {
		return line, command.FailErr("%s: %w", line.Image, paths.Reason(err))
	}
	have := map[string]tensor.Desc{}
	for i, step := range s.steps {
		for j, c := range step.Out {
			d := descs[i][j]
			have[c.Name] = d
			if line.Size == nil && d.IsImage() { // as decoded
				line.Size = &[2]int{d.Height(), d.Width()}
			}
		}
	}
	line.Outputs = outputs(s.plan.Outputs(), have)
	return line, nil
}

// outputs returns the columns by name, with the descriptions in have, if any.
func outputs(columns []datagraph.Column, have map[string]tensor.Desc) map[string]desc {
	m := make(map[string]desc, len(columns))
	for _, c := range columns {
		d := c.Desc
		if h, ok := have[c.Name]; ok {
			d = h
		}
		shape := make([]int, d.Shape.Rank())
		for i := range shape {
			shape[i] = d.Shape.At(i)
		}
		m[c.Name] = desc{DType: d.DType.String(), Shape: shape}
	}
	return m
}

// Package sizes holds the command sizes.
package sizes

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/infer-prep/infer-prep/cmd/internal/cli/command"
	"github.com/infer-prep/infer-prep/cmd/internal/cli/source"
	"github.com/infer-prep/infer-prep/cmd/internal/outline"
	"github.com/infer-prep/infer-prep/datagraph"
	"github.com/infer-prep/infer-prep/importer/preset"
	"github.com/infer-prep/infer-prep/internal/paths"
	"github.com/infer-prep/infer-prep/job"
	"github.com/infer-prep/infer-prep/store"
	"github.com/infer-prep/infer-prep/tensor"
)

// Command returns the command sizes.
func Command(a *command.App) *cobra.Command {
	f, tf := &source.GraphFlags{}, &source.TokenFlags{}
	cmd := &cobra.Command{
		Use:                   "sizes [--prep NAME | --hf FILE | …] [--tokens FILE] [--call FILE] HEIGHTxWIDTH|IMAGE...",
		Short:                 "Print the shapes and the tokens that images of a size get, without pixels",
		DisableFlagsInUseLine: true,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return command.UsageErr("sizes: want sizes such as 480x640, or images")
			}
			s, err := newSizer(cmd, a, f, tf)
			if err != nil {
				return err
			}
			failed := 0
			for i, arg := range args {
				if err := command.Interrupted(cmd.Context(), fmt.Sprintf("%d of %s answered", i, command.Plural(len(args), "argument"))); err != nil {
					return err
				}
				line, err := s.line(arg)
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
	tf.Add(cmd)
	tf.AddCall(cmd)
	return cmd
}

// newSizer reads the graph and the processor's files. A graph that cannot be
// imported is an error unless the tokens are known.
func newSizer(cmd *cobra.Command, a *command.App, f *source.GraphFlags, tf *source.TokenFlags) (*sizer, error) {
	counts, err := tf.Open(cmd)
	if err != nil {
		return nil, err
	}
	s := &sizer{cmd: cmd, flags: f, tokens: counts}
	g, err := f.Load(cmd, a.Stdin)
	if err == nil {
		s.plan, err = f.CompileImage(g)
	}
	if tf.Call != "" && err == nil {
		err = errors.New("the graph has the settings of the file, not those of --call")
	}
	if err != nil {
		if counts == nil {
			return nil, err
		}
		if counts.Err != nil {
			return nil, command.UsageErr("%w; %w", counts.Err, err)
		}
		s.missing = err
		// Headers of image files are read without a step that changes pixels.
		if g, err = preset.Graph("decode"); err != nil {
			return nil, err
		}
		if s.plan, err = f.Compile(g); err != nil {
			return nil, err
		}
	}
	s.runner, s.steps = s.plan.NewRunner(), s.plan.Unfused().Steps()
	return s, nil
}

// sizer answers for one plan.
type sizer struct {
	cmd    *cobra.Command
	flags  *source.GraphFlags
	plan   *datagraph.Plan
	runner *datagraph.Runner
	steps  []datagraph.StepInfo // of the graph

	tokens  *source.Counter // nil if no tokens are asked for
	missing error           // why plan is not the graph's
}

// line describes the outputs for an argument. With an error, it has what is
// known of the argument.
func (s *sizer) line(arg string) (outline.Line, error) {
	if !outline.IsSize(arg) {
		return s.image(arg)
	}
	h, w, err := outline.ParseSize(arg)
	if err != nil {
		return outline.Line{Image: arg}, command.FailErr("%w", err)
	}
	line := outline.Line{Size: &[2]int{h, w}}
	columns, err := s.plan.Sizes(h, w)
	if err != nil {
		return line, command.FailErr("%s: %w", arg, err)
	}
	err = s.finish(&line, columns)
	return line, err
}

// finish adds the outputs and the tokens to the line.
func (s *sizer) finish(line *outline.Line, columns []datagraph.Column) error {
	if s.missing != nil {
		line.OutputsError = s.missing.Error()
	} else {
		var values []*tensor.Tensor
		if line.Size != nil {
			var err error
			if values, err = s.plan.Values(line.Size[0], line.Size[1]); err != nil {
				return command.FailErr("%dx%d: %w", line.Size[0], line.Size[1], err)
			}
		}
		line.Outputs = outline.Outputs(columns, values)
	}
	switch {
	case s.tokens == nil || line.Size == nil:
		return nil
	case s.tokens.Err != nil:
		line.TokensError = s.tokens.Err.Error()
		return nil
	}
	if err := line.AddTokens(s.tokens.Processor); err != nil {
		return command.FailErr("%w", err)
	}
	return nil
}

// image describes the outputs for an image file. It decodes the header only.
func (s *sizer) image(path string) (outline.Line, error) {
	line := outline.Line{Image: paths.Shown(path)}
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
	columns := s.plan.Outputs()
	for i, c := range columns {
		if d, ok := have[c.Name]; ok {
			columns[i].Desc = d
		}
	}
	err = s.finish(&line, columns)
	return line, err
}

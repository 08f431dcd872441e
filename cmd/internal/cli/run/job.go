package run

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	inferprep "github.com/infer-prep/infer-prep"
	"github.com/infer-prep/infer-prep/cmd/internal/cli/command"
	"github.com/infer-prep/infer-prep/cmd/internal/cli/source"
	"github.com/infer-prep/infer-prep/datagraph"
	"github.com/infer-prep/infer-prep/device"
	"github.com/infer-prep/infer-prep/device/cpu"
	"github.com/infer-prep/infer-prep/job"
	"github.com/infer-prep/infer-prep/tensor"
	"github.com/infer-prep/infer-prep/transforms"
)

// newJob returns the job that the flags describe, without inputs. The caller
// calls done after the run.
func newJob(a *command.App, cmd *cobra.Command, f *runFlags) (j *job.Job, done func() error, err error) {
	p, err := f.preprocessor(cmd, a)
	if err != nil {
		return nil, nil, err
	}
	o, err := f.Options(cmd.Context(), a, &f.GraphFlags)
	if err != nil {
		return nil, nil, err
	}
	j = &job.Job{
		Preprocessor: p, Files: f.outside.Files(), Stdin: a.Stdin, KeepPath: f.keepPath, To: f.sink(a),
		Existing: job.Existing(f.existing), Report: f.report, Message: a.Advised,
		Key: fmt.Sprintf("%s %s %x", command.ModuleVersion(), f.Device, sha256.Sum256(o.Model)),
	}
	done = func() error { return nil }
	var on *device.Pool
	if f.Device != cpu.Name || o.Model != nil {
		if on, done, err = source.OpenSessions(f.Device, p.Pool().Plan(), o, 1); err != nil {
			return nil, nil, err
		}
		if o.Model != nil {
			j.Columns = on.Outputs()
		}
	}
	j.Compute = compute(a, p.Pool(), on)
	if err := f.complete(cmd, j); err != nil {
		return nil, nil, errors.Join(err, done())
	}
	return j, done, nil
}

// preprocessor reads the graph.
func (f *runFlags) preprocessor(cmd *cobra.Command, a *command.App) (*inferprep.Preprocessor, error) {
	g, err := f.Load(cmd, a.Stdin)
	if err != nil {
		return nil, err
	}
	if f.format.Floats {
		if err := nhwcFloats(f, g); err != nil {
			return nil, err
		}
	}
	if err := source.WantOneImage(g); err != nil {
		return nil, err
	}
	p, err := inferprep.New(g, inferprep.Options{Limits: f.Limits, Jobs: f.jobs})
	if err != nil && f.File != "" {
		err = fmt.Errorf("%s: %w", f.File, err)
	}
	if err != nil {
		return nil, command.UsageErr("%w", err)
	}
	if l := source.RandomSteps(g); l != nil && !f.quiet {
		a.Complain(fmt.Errorf("the graph is random (%s): every image gets the same draws; a dataset draws for each sample", strings.Join(l, ", ")))
	}
	return p, nil
}

// sink returns the sink that the flags describe.
func (f *runFlags) sink(a *command.App) job.Sink {
	s := f.to
	s.SideOutputs, s.ShardBytes = f.outputs == "all", int64(f.bytes)
	switch {
	case f.out != "-":
		s.Dir = f.out
	case !f.lines:
		s.Writer = a.Stdout
	}
	return s
}

// compute returns what runs instead of the graph: a device. It is nil on the
// CPU without a model.
func compute(a *command.App, pool *datagraph.Pool, on *device.Pool) func(context.Context, *tensor.Tensor, func([]*tensor.Tensor) error) error {
	onItem := a.OnItem
	if on == nil && onItem == nil {
		return nil
	}
	return func(ctx context.Context, image *tensor.Tensor, use func([]*tensor.Tensor) error) error {
		write := func(out []*tensor.Tensor) error {
			if onItem != nil {
				onItem()
			}
			return use(out)
		}
		return pool.Do(ctx, func(r *datagraph.Runner) error {
			if on == nil {
				out, err := r.Run(image)
				if err != nil {
					return err
				}
				return write(out)
			}
			if _, err := r.Admit(image); err != nil {
				return err
			}
			return on.Run(ctx, []*tensor.Tensor{image}, write)
		})
	}
}

// complete completes the job's sink with what depends on the outputs.
func (f *runFlags) complete(cmd *cobra.Command, j *job.Job) error {
	if j.Columns != nil {
		if n := command.FirstChanged(cmd, "batch", "batch-size"); n != "" {
			return command.UsageErr("--%s is for the graph's tensors; it does not apply to a model's outputs", n)
		}
		if f.format.Models {
			return command.UsageErr("--format %s is for the inputs of models; it does not apply to a model's outputs", f.format.Name)
		}
	}
	outputs, err := j.Outputs()
	if err != nil {
		return jobErr(err)
	}
	if j.To.Rename, err = renames(f.names, outputs); err != nil {
		return err
	}
	if f.lines {
		return nil
	}
	j.To.Labels, err = f.newLabels(cmd, j.Columns)
	return err
}

// renames parses the values of --name.
func renames(names, outputs []string) (map[string]string, error) {
	m := map[string]string{}
	for _, n := range names {
		output, input, ok := strings.Cut(n, "=")
		if !ok && len(outputs) == 1 {
			output, input, ok = outputs[0], n, true
		}
		switch _, twice := m[output]; {
		case !ok || !slices.Contains(outputs, output):
			return nil, command.UsageErr("--name %q: want OUTPUT=INPUT, where OUTPUT is %s", n, command.OrList(outputs))
		case input == "":
			return nil, command.UsageErr("--name %q: the name is empty", n)
		case twice:
			return nil, command.UsageErr("--name %q: the output is named twice", n)
		}
		m[output] = input
	}
	return m, nil
}

// nhwcFloats converts images to HWC and, without --dtype, all outputs to
// float32.
func nhwcFloats(f *runFlags, g *datagraph.Graph) error {
	if f.Layout != "" && !strings.EqualFold(f.Layout, "HWC") {
		return command.UsageErr("--layout %s: --format input-list needs HWC", f.Layout)
	}
	descs, err := g.Infer()
	if err != nil {
		return command.UsageErr("%w", err)
	}
	names := g.Outputs
	if f.outputs == "all" {
		names = slices.Concat(g.Outputs, g.SideOutputs)
	}
	for _, o := range names {
		d := g.Last(descs, o)
		if d.IsImage() && d.Layout == tensor.CHW {
			g.Then(transforms.NewCHW2HWC(), []string{o}, []string{o})
		}
		if f.Dtype == "" && d.DType != tensor.Float32 && d.DType != tensor.Bytes {
			g.Then(transforms.NewToType(tensor.Float32), []string{o}, []string{o})
		}
	}
	return nil
}

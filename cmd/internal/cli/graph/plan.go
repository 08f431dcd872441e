package graph

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/infer-prep/infer-prep/cmd/internal/cli/command"
	"github.com/infer-prep/infer-prep/cmd/internal/cli/source"
	"github.com/infer-prep/infer-prep/datagraph"
)

func graphPlanCmd(a *command.App) *cobra.Command {
	f, on := &source.GraphFlags{}, &source.DeviceFlags{}
	var asJSON bool
	var off []string
	var names []string
	for _, p := range datagraph.Passes() {
		names = append(names, p.String())
	}
	cmd := &cobra.Command{
		Use:                   "plan [--preset NAME | --graph FILE | …] [IMAGE]",
		Short:                 "Show how a graph runs and which memory it uses",
		DisableFlagsInUseLine: true,
		Args:                  oneImage,
		RunE: func(cmd *cobra.Command, args []string) error {
			for _, name := range off {
				p, err := datagraph.ParsePass(name)
				if err != nil {
					return command.OneOf("off", name, names...)
				}
				f.Off = append(f.Off, p)
			}
			if on.Device == "help" {
				return source.ListDevices(a)
			}
			g, err := f.Load(cmd, a.Stdin)
			if err != nil {
				return err
			}
			if cmd.Flags().Changed("device") {
				return source.Placement(cmd.Context(), a, f, on, g, asJSON)
			}
			r, err := InferGraph(cmd, f, g, first(args))
			if err != nil {
				return err
			}
			return printPlan(a, r, asJSON)
		},
	}
	f.Add(cmd)
	on.Add(cmd)
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON object")
	cmd.Flags().StringArrayVar(&off, "off", nil, "disable a `PASS`; repeatable")
	command.Complete(cmd, "off", names...)
	return cmd
}

// bufferUse is a buffer and the tensors that use it, one after another.
type bufferUse struct {
	Buffer  int      `json:"buffer"`
	Bytes   int64    `json:"bytes"`
	Tensors []string `json:"tensors"` // step-op.column
}

// fusedStep is an optimized step of a run.
type fusedStep struct {
	Step    int      `json:"step"`
	First   int      `json:"first"` // the first step of the graph that it covers
	Steps   int      `json:"steps"` // the number of steps that it covers
	Op      string   `json:"op"`
	Passes  []string `json:"passes"`
	Read    int64    `json:"read_bytes"`
	Written int64    `json:"written_bytes"`
	Window  int64    `json:"window_bytes"`
}

// fusedPlan is a graph after the passes.
type fusedPlan struct {
	Off      []string    `json:"off"`
	Declined bool        `json:"declined"`
	Steps    []fusedStep `json:"steps"`
	Arena    int64       `json:"arena_bytes"`
	Touched  int64       `json:"touched_bytes"`
}

// touched sums the bytes that all steps read, write and buffer.
func touched(c datagraph.Costs) int64 {
	n := int64(0)
	for _, s := range c.Steps {
		n += s.Read + s.Written + s.Window
	}
	return n
}

func (r *Inferred) fused() fusedPlan {
	f := fusedPlan{Off: []string{}, Declined: r.costs.Declined, Arena: arenaBytes(r.costs), Touched: touched(r.costs)}
	for _, p := range r.off {
		f.Off = append(f.Off, p.String())
	}
	steps := r.run.Steps()
	if r.costs.Declined {
		steps = r.run.Unfused().Steps()
	}
	for i, s := range steps {
		passes := []string{}
		for _, p := range s.Passes {
			passes = append(passes, p.String())
		}
		c := r.costs.Steps[i]
		covers := fusedStep{i, s.First, s.N, s.Op, passes, c.Read, c.Written, c.Window}
		if r.first != nil { // drawn ops belong to the step that drew them
			covers.First = r.first[s.First]
			covers.Steps = r.first[s.First+s.N-1] - covers.First + 1
		}
		f.Steps = append(f.Steps, covers)
	}
	return f
}

func printPlan(a *command.App, r *Inferred, asJSON bool) error {
	uses := make([]bufferUse, len(r.plain.Buffers))
	arena, apart := arenaBytes(r.plain), int64(0)
	for i, n := range r.plain.Buffers {
		uses[i] = bufferUse{Buffer: i, Bytes: n, Tensors: []string{}}
	}
	for i, s := range r.steps {
		for j, b := range s.Buffers {
			uses[b].Tensors = append(uses[b].Tensors, fmt.Sprintf("%d-%s.%s", i, s.Op, s.Out[j].Name))
			apart += max(0, r.descs[i][j].Size())
		}
	}
	fused := r.fused()
	if asJSON {
		steps, err := r.json()
		if err != nil {
			return err
		}
		for i, s := range r.steps {
			steps[i].Params = nil
			for j := range s.Out {
				steps[i].Out[j].Buffer = &s.Buffers[j]
				steps[i].Out[j].Bytes = max(0, r.descs[i][j].Size())
			}
		}
		return a.PrintJSON(struct {
			Image        string      `json:"image,omitempty"`
			Steps        []stepJSON  `json:"steps"`
			Buffers      []bufferUse `json:"buffers"`
			ArenaBytes   int64       `json:"arena_bytes"`
			ApartBytes   int64       `json:"unshared_bytes"`
			TouchedBytes int64       `json:"touched_bytes"`
			Unknown      bool        `json:"sizes_unknown"`
			Random       []string    `json:"random_steps,omitempty"` // step-op
			Fused        fusedPlan   `json:"fused"`
		}{r.Image, steps, uses, arena, apart, touched(r.plain), r.plain.Unknown, source.RandomSteps(r.Graph), fused})
	}
	t := command.Table{}
	t.Row("STEP", "OP", "OUT", "TENSOR", "BYTES", "BUFFER")
	for i, s := range r.steps {
		for j, c := range s.Out {
			t.Row(fmt.Sprint(i), s.Op, c.Name, c.Desc.String(), command.BytesText(c.Desc.Size()), fmt.Sprint(s.Buffers[j]))
		}
	}
	t.Row()
	if err := t.Write(a.Stdout); err != nil {
		return err
	}
	t = command.Table{}
	t.Row("BUFFER", "BYTES", "TENSORS")
	for _, u := range uses {
		text := ""
		for i, s := range u.Tensors {
			if i > 0 {
				text += ", then "
			}
			text += s
		}
		t.Row(fmt.Sprint(u.Buffer), command.BytesText(u.Bytes), text)
	}
	t.Row()
	note := ""
	if r.plain.Unknown {
		note = " and the unknown sizes (name an image to see them)"
	}
	t.Row(fmt.Sprintf("arena: %s bytes%s; without sharing %s", command.BytesText(arena), note, command.BytesText(apart)))
	t.Row()
	if err := t.Write(a.Stdout); err != nil {
		return err
	}
	t = command.Table{}
	t.Row("RUN", "STEPS", "OPS", "READ", "WRITTEN", "WINDOW", "PASSES")
	for i, s := range fused.Steps {
		covers := fmt.Sprint(s.First)
		if s.Steps > 1 {
			covers = fmt.Sprintf("%d-%d", s.First, s.First+s.Steps-1)
		}
		t.Row(fmt.Sprint(i), covers, s.Op, command.BytesText(s.Read), command.BytesText(s.Written), command.BytesText(s.Window), strings.Join(s.Passes, ", "))
	}
	t.Row()
	if len(fused.Off) > 0 {
		t.Row("off: " + strings.Join(fused.Off, ", "))
	}
	if fused.Declined {
		t.Row("these sizes cannot be fused: the graph runs without passes")
	}
	t.Row(fmt.Sprintf("arena: %s bytes, without passes %s", command.BytesText(fused.Arena), command.BytesText(arena)))
	t.Row(fmt.Sprintf("touched: %s bytes, without passes %s", command.BytesText(fused.Touched), command.BytesText(touched(r.plain))))
	if l := source.RandomSteps(r.Graph); l != nil {
		text := "; a run replaces them by the ops that they draw; name an image to see what they draw and what then fuses"
		if r.Image != "" {
			text = "; the steps above are those of the draw of seed 0, epoch 0, ordinal 0; other draws may fuse otherwise"
		}
		t.Row("random: " + strings.Join(l, ", ") + text)
	}
	return t.Write(a.Stdout)
}

// arenaBytes sums the buffers. Unknown sizes count as 0.
func arenaBytes(c datagraph.Costs) int64 {
	n := int64(0)
	for _, b := range c.Buffers {
		n += b
	}
	return n
}

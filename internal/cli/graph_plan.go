package cli

import (
	"fmt"

	"github.com/spf13/cobra"
)

func (a *app) graphPlanCmd() *cobra.Command {
	f := &graphFlags{}
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "plan [--preset NAME | --graph FILE | …] [IMAGE]",
		Short: "Tell how a graph uses memory",
		Long: `Tell which buffer every tensor of a run lies in, and how large the buffers are.
Tensors share a buffer when one is no longer needed before the other is made.
With IMAGE the sizes are those of that image, of which only the header is
decoded; without it sizes that depend on the image are unknown and count as
nothing.`,
		Example: `  infer-prep graph plan --preset yolo
  infer-prep graph plan --preset clip cat.jpg`,
		DisableFlagsInUseLine: true,
		Args:                  oneImage,
		RunE: func(cmd *cobra.Command, args []string) error {
			g, err := f.load(cmd, a.stdin)
			if err != nil {
				return err
			}
			r, err := inferGraph(f, g, first(args))
			if err != nil {
				return err
			}
			return a.printPlan(r, asJSON)
		},
	}
	f.add(cmd)
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON object")
	return cmd
}

// bufferUse is a buffer and the tensors that lie in it, one after another.
type bufferUse struct {
	Buffer  int      `json:"buffer"`
	Bytes   int64    `json:"bytes"`
	Tensors []string `json:"tensors"` // step-op.column
}

func (a *app) printPlan(r *inferred, asJSON bool) error {
	sizes := bufferSizes(r.steps, r.plan.Buffers(), r.descs)
	uses := make([]bufferUse, len(sizes))
	arena, apart := int64(0), int64(0)
	unknown := false
	for i, n := range sizes {
		uses[i] = bufferUse{Buffer: i, Bytes: n, Tensors: []string{}}
		arena += n
	}
	for i, s := range r.steps {
		for j, b := range s.Buffers {
			uses[b].Tensors = append(uses[b].Tensors, fmt.Sprintf("%d-%s.%s", i, s.Op, s.Out[j].Name))
			apart += max(0, r.descs[i][j].Size())
			unknown = unknown || r.descs[i][j].Size() < 0
		}
	}
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
		return a.printJSON(struct {
			Image      string      `json:"image,omitempty"`
			Steps      []stepJSON  `json:"steps"`
			Buffers    []bufferUse `json:"buffers"`
			ArenaBytes int64       `json:"arena_bytes"`
			ApartBytes int64       `json:"unshared_bytes"`
			Unknown    bool        `json:"sizes_unknown"`
		}{r.image, steps, uses, arena, apart, unknown})
	}
	t := table{}
	t.row("STEP", "OP", "OUT", "TENSOR", "BYTES", "BUFFER")
	for i, s := range r.steps {
		for j, c := range s.Out {
			t.row(fmt.Sprint(i), s.Op, c.Name, c.Desc.String(), bytesText(c.Desc.Size()), fmt.Sprint(s.Buffers[j]))
		}
	}
	t.row()
	if err := t.write(a.stdout); err != nil {
		return err
	}
	t = table{}
	t.row("BUFFER", "BYTES", "TENSORS")
	for _, u := range uses {
		text := ""
		for i, s := range u.Tensors {
			if i > 0 {
				text += ", then "
			}
			text += s
		}
		t.row(fmt.Sprint(u.Buffer), bytesText(u.Bytes), text)
	}
	t.row()
	note := ""
	if unknown {
		note = ", and what depends on the image (give one for all sizes)"
	}
	t.row(fmt.Sprintf("arena: %s bytes%s; without sharing %s", bytesText(arena), note, bytesText(apart)))
	return t.write(a.stdout)
}

// bytesText is a number with its thousands apart, or ? if it is not known.
func bytesText(n int64) string {
	if n < 0 {
		return "?"
	}
	s := fmt.Sprint(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

package diff

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/infer-prep/infer-prep/cmd/internal/cli/command"
	"github.com/infer-prep/infer-prep/datagraph/diff"
	"github.com/infer-prep/infer-prep/tensor"
)

// text formats the report. colored adds styles to the verdict.
func (r *diffReport) text(colored func(style, s string) string) string {
	var b strings.Builder
	if r.one {
		d := r.Tensors[0].Difference
		if r.Equal {
			fmt.Fprintf(&b, "%s: %v\n", colored(command.Green, "equal"), d.A)
			return b.String()
		}
		fmt.Fprintf(&b, "A  %s: %v\nB  %s: %v\n\n%s\n", command.Printable(r.A), d.A, command.Printable(r.B), d.B, colored(command.Red, sentence(d)))
		b.WriteString(places(d))
	} else {
		equal := 0
		t := command.Table{}
		for _, c := range r.Tensors {
			what := "equal"
			switch {
			case c.equal():
				equal++
			case c.Missing != "":
				what = "missing in " + command.Printable(c.Missing)
			default:
				what = sentence(c.Difference)
			}
			t.Row(command.Printable(c.Name), what)
		}
		_ = t.Write(&b) // to memory
		if r.Equal {
			fmt.Fprintf(&b, "\n%s: all %d\n", colored(command.Green, "equal"), equal)
			return b.String()
		}
		i := slices.IndexFunc(r.Tensors, func(c compared) bool { return !c.equal() })
		verdict := fmt.Sprintf("%d of %d are equal. The first that differs is %s", equal, len(r.Tensors), command.Printable(*r.First))
		fmt.Fprintf(&b, "\n%s\n", colored(command.Red, verdict))
		if d := r.Tensors[i].Difference; d != nil {
			if d.A != d.B {
				fmt.Fprintf(&b, "  A is %v\n  B is %v\n", d.A, d.B)
			}
			b.WriteString(places(d))
		}
	}
	if r.Explain != nil {
		b.WriteString(explained(r.Explain, colored))
	}
	return b.String()
}

// sentence summarizes a difference.
func sentence(d *diff.Difference) string {
	hint := d.Hint
	if hint != "" {
		hint = ": " + hint
	}
	switch {
	case d.Equal:
		return "equal"
	case !d.Comparable:
		return fmt.Sprintf("%v against %v%s", d.A, d.B, hint)
	case d.Differ == 0:
		return fmt.Sprintf("%v against %v%s", d.A.DType, d.B.DType, hint)
	}
	s := fmt.Sprintf("%d of %d elements differ (%s)", d.Differ, d.Elements, command.Percent(float64(d.Differ)/float64(d.Elements)))
	if d.Largest != nil {
		s += fmt.Sprintf(", largest difference %s at %s, mean of all %s", command.Figure(d.Max), at(d, d.Largest.At), command.Figure(d.Mean))
	}
	if d.NotFinite > 0 {
		s += fmt.Sprintf(", %d by NaN or infinity", d.NotFinite)
	}
	return s
}

func at(d *diff.Difference, place []int) string {
	var l []string
	for i, n := range place {
		if d.Image {
			l = append(l, fmt.Sprintf("%s %d", []string{"y", "x", "c"}[i], n))
		} else {
			l = append(l, strconv.Itoa(n))
		}
	}
	return "(" + strings.Join(l, ", ") + ")"
}

func places(d *diff.Difference) string {
	t := command.Table{}
	for _, p := range d.Places {
		digits := func(n diff.Number, dt tensor.DType) string {
			size := 64
			if dt == tensor.Float32 || dt == tensor.Float16 || dt == tensor.BFloat16 {
				size = 32
			}
			return strconv.FormatFloat(float64(n), 'g', -1, size)
		}
		t.Row("  at "+at(d, p.At)+":", "A "+digits(p.A, d.A.DType), "B "+digits(p.B, d.B.DType))
	}
	var b strings.Builder
	_ = t.Write(&b) // to memory
	return b.String()
}

// explained formats the report of diff.Explain.
func explained(r *diff.Report, colored func(style, s string) string) string {
	var b strings.Builder
	b.WriteString("\n")
	for _, f := range r.Facts {
		fmt.Fprintf(&b, "%s\n", f)
	}
	if len(r.Explanations) == 0 {
		fmt.Fprintf(&b, "none of %d combinations of usual differences explains a tensor of that shape\n", r.Tried)
		return b.String()
	}
	best := r.Explanations[0]
	switch {
	case len(best.Changes) == 0 && (best.Equal || best.Rounding):
		fmt.Fprintf(&b, "%s\n", colored(command.Bold, command.Remains(&best)))
		return b.String()
	case best.Equal:
		b.WriteString(colored(command.Bold, "all values are equal if") + "\n")
	case best.Rounding:
		b.WriteString(colored(command.Bold, "all values are equal up to rounding if") + "\n")
	case len(best.Changes) == 0:
		fmt.Fprintf(&b, "none of %d combinations of usual differences explains it; is it another image, or an unusual op?\n", r.Tried)
		return b.String()
	default:
		fmt.Fprintf(&b, "none of %d combinations of usual differences makes all values equal; nearest:\n", r.Tried)
	}
	for i, x := range r.Explanations {
		if i > 0 {
			b.WriteString("or if\n")
		}
		for j, s := range x.Changes {
			and := ""
			if len(x.Also[j]) > 0 {
				and = "; the same here: " + strings.Join(x.Also[j], ", ")
			}
			fmt.Fprintf(&b, "  - %s (%s%s)\n", s.Text, s.Name, and)
			if w := float64(x.Without[j]); len(x.Changes) > 1 && !math.IsInf(w, 0) {
				fmt.Fprintf(&b, "    without this: mean difference %s\n", command.Figure(x.Without[j]))
			}
		}
		if !x.Equal {
			fmt.Fprintf(&b, "    %s\n", command.Remains(&x))
		}
	}
	if r.More > 0 {
		fmt.Fprintf(&b, "and %d more\n", r.More)
	}
	return b.String()
}

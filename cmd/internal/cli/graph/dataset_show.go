package graph

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/infer-prep/infer-prep/cmd/internal/cli/command"
	"github.com/infer-prep/infer-prep/cmd/internal/cli/source"
	"github.com/infer-prep/infer-prep/datagraph"
	"github.com/infer-prep/infer-prep/dataset"
	"github.com/infer-prep/infer-prep/internal/newfile"
	"github.com/infer-prep/infer-prep/internal/paths"
	"github.com/infer-prep/infer-prep/transforms"
)

// treeFlags select a dataset's tree for graph show.
type treeFlags struct {
	file   string
	passes bool
}

func (f *treeFlags) add(cmd *cobra.Command) {
	fl := cmd.Flags()
	fl.StringVar(&f.file, "dataset", "", "show the tree of the dataset defined in the JSON `FILE` instead of a graph; - reads standard input")
	fl.BoolVar(&f.passes, "passes", false, "with --dataset, show the tree that runs, after the passes")
	command.Must(cmd.MarkFlagFilename("dataset", "json"))
}

// TreeNode is a node of a dataset's tree, the top first.
type TreeNode struct {
	Path    string            `json:"path"`
	Node    string            `json:"node"`
	Depth   int               `json:"depth"`
	Samples *int64            `json:"samples,omitempty"` // -1 if unknown, -2 without end; absent without data
	Params  map[string]string `json:"params,omitempty"`
	Columns []columnJSON      `json:"columns,omitempty"`
	Steps   []treeStep        `json:"steps,omitempty"`
	Roles   []string          `json:"roles,omitempty"`
	Passes  []string          `json:"passes,omitempty"`

	params []param
	above  int // the index of the node above, -1 for the top
}

// treeStep is a step of a map's graph.
type treeStep struct {
	Op     string            `json:"op"`
	Params map[string]string `json:"params,omitempty"`
	In     []string          `json:"in"`
	Out    []string          `json:"out"`

	params []param
}

// showTree prints the tree of a dataset.
func showTree(ctx context.Context, a *command.App, f *treeFlags, files command.Outside, all, asJSON bool, svg string) error {
	b, err := source.ReadUTF8(ctx, f.file, a.Stdin)
	if err != nil {
		return command.UsageErr("--dataset %w", err)
	}
	d := &dataset.Dataset{}
	if err := d.UnmarshalJSON(b); err != nil {
		return command.UsageErr("--dataset %s: %w", f.file, err)
	}
	nodes, err := treeOf(ctx, d, files, f.passes, all)
	if err := command.Interrupted(ctx, "nothing was done"); err != nil {
		return err
	}
	if err != nil {
		if nodes == nil || f.passes {
			return source.WrongDefinition(err)
		}
		a.Complain(fmt.Errorf("without columns and sizes: %w", err))
	}
	if svg != "" {
		draw := func(w io.Writer) error {
			_, err := io.WriteString(w, drawBoxes(treeBoxes(nodes)))
			return err
		}
		if svg == "-" {
			return draw(a.Stdout)
		}
		if err := newfile.Write(ctx, svg, draw); err != nil {
			return command.FailErr("%w", err)
		}
	}
	switch {
	case asJSON:
		return a.PrintJSON(struct {
			Nodes []TreeNode `json:"nodes"`
		}{nodes})
	case svg != "":
		return nil
	}
	return treeTable(nodes, f.passes).Write(a.Stdout)
}

// treeOf returns the nodes of a definition. If its sources cannot be opened, it
// returns the nodes without columns and sizes, and the error. Other errors come
// without nodes.
func treeOf(ctx context.Context, d *dataset.Dataset, files command.Outside, passes, all bool) ([]TreeNode, error) {
	nodes := definitionNodes(nil, d, "", 0, -1, all)
	o := dataset.Options{Store: files.Files(), OnWarning: func(error) {}}
	if !passes {
		o.Disable = dataset.Passes()
	}
	plain := withoutFiles(d)
	built, err := dataset.Build(ctx, plain, o)
	if err != nil {
		var e *command.ExitError
		if errors.As(source.WrongDefinition(err), &e) && e.Status == command.ExitUsage {
			return nil, err
		}
		return nodes, err
	}
	defer built.Close() // it wrote nothing
	steps := built.Steps()
	if passes {
		named := map[string]*TreeNode{} // by the path in plain
		for i, n := range definitionNodes(nil, plain, "", 0, -1, all) {
			named[n.Path] = &nodes[i]
		}
		nodes = passedNodes(named, steps, all)
	}
	for i, s := range steps {
		n := &nodes[i]
		n.Columns, n.Samples = columnsJSON(s.Columns), &s.Len
	}
	return nodes, nil
}

// withoutFiles returns a definition whose file caches have a name that no file
// can have, so that Build creates none and goes on.
func withoutFiles(d *dataset.Dataset) *dataset.Dataset {
	if d == nil {
		return nil
	}
	c := &dataset.Dataset{Node: d.Node}
	if f, ok := d.Node.(*dataset.FileCache); ok {
		c.Node = &dataset.FileCache{File: "\x00", Bytes: f.Bytes}
	}
	for _, in := range d.In {
		c.In = append(c.In, withoutFiles(in))
	}
	return c
}

// definitionNodes appends the nodes of a definition, from the top down.
func definitionNodes(l []TreeNode, d *dataset.Dataset, before string, depth, above int, all bool) []TreeNode {
	n := TreeNode{Node: dataset.InfoOf(d.Node).Name, Depth: depth, above: above}
	n.Path = before + n.Node
	var usual []param
	if i := dataset.InfoOf(d.Node); i.New != nil && !all {
		usual = params(i.New(), false)
	}
	for _, p := range params(d.Node, all) {
		if m, ok := d.Node.(*dataset.Map); ok && p.name == "graph" {
			n.addGraph(m.Graph, all)
			continue
		}
		if slices.Contains(usual, p) {
			continue
		}
		p.value = paths.Shown(p.value)
		n.params = append(n.params, p)
	}
	n.Params = paramMap(n.params)
	at := len(l)
	l = append(l, n)
	for i, in := range d.In {
		prefix := n.Path + "/"
		if len(d.In) > 1 {
			prefix += strconv.Itoa(i) + ":"
		}
		l = definitionNodes(l, in, prefix, depth+1, at, all)
	}
	return l
}

// passedNodes returns the nodes of a built tree. Nodes that are those of the
// definition keep their parameters; maps show the steps that run.
func passedNodes(named map[string]*TreeNode, steps []dataset.StepInfo, all bool) (l []TreeNode) {
	at := []int{} // the last node of each depth
	for i, s := range steps {
		n := TreeNode{Path: s.Path, Node: s.Node, Depth: s.Depth, above: -1}
		if o := named[s.Path]; o != nil {
			if n.Path = o.Path; s.Plan == nil {
				n.Node, n.params, n.Params = o.Node, o.params, o.Params
			}
		}
		if s.Plan != nil {
			n.addGraph(s.Plan.Graph(), all)
		}
		for _, p := range s.Passes {
			n.Passes = append(n.Passes, p.String())
		}
		if s.Depth > 0 {
			n.above = at[s.Depth-1]
		}
		at = append(at[:s.Depth], i)
		l = append(l, n)
	}
	return l
}

func (n *TreeNode) addGraph(g *datagraph.Graph, all bool) {
	for _, s := range g.Steps {
		t := treeStep{Op: transforms.InfoOf(s.Op).Name, In: s.In, Out: s.Out, params: params(s.Op, all)}
		t.Params = paramMap(t.params)
		n.Steps = append(n.Steps, t)
	}
	for _, r := range g.Roles {
		n.Roles = append(n.Roles, fmt.Sprintf("%s: %v of %s", r.Column, r.Kind, r.Image))
	}
}

func paramMap(l []param) map[string]string {
	m := map[string]string{}
	for _, p := range l {
		m[p.name] = p.value
	}
	return m
}

// samples returns a number of samples for people.
func samples(n *int64) string {
	switch {
	case n == nil || *n == dataset.Unknown:
		return "?"
	case *n == dataset.Endless:
		return "endless"
	}
	return strconv.FormatInt(*n, 10)
}

// columnTexts returns the columns for people.
func (n *TreeNode) columnTexts() (l []string) {
	for _, c := range n.Columns {
		l = append(l, c.Column+": "+c.Desc.String())
	}
	return l
}

func treeTable(nodes []TreeNode, passes bool) *command.Table {
	t := &command.Table{}
	head := []string{"NODE", "SAMPLES", "COLUMNS", "PARAMETERS"}
	if passes {
		head = []string{"NODE", "SAMPLES", "COLUMNS", "PASSES", "PARAMETERS"}
	}
	t.Row(head...)
	for i := range nodes {
		n := &nodes[i]
		indent := strings.Repeat("  ", n.Depth)
		columns, lines := n.columnTexts(), wrapParams(n.params, 60)
		for j := range max(1, len(columns), len(lines)) {
			cell := func(l []string) string {
				if j < len(l) {
					return command.Printable(l[j])
				}
				return ""
			}
			row := []string{"", "", cell(columns)}
			if j == 0 {
				row[0], row[1] = indent+n.Node, samples(n.Samples)
			}
			if passes {
				row = append(row, "")
				if j == 0 {
					row[3] = strings.Join(n.Passes, ", ")
				}
			}
			t.Row(append(row, cell(lines))...)
		}
		blank := make([]string, len(head)-2)
		for j, s := range n.Steps {
			name := fmt.Sprintf("%s  %d %s", indent, j, s.Op)
			for k, line := range wrapParams(s.params, 60) {
				if k > 0 {
					name = ""
				}
				t.Row(append(append([]string{name}, blank...), command.Printable(line))...)
			}
			if len(s.params) == 0 {
				t.Row(name)
			}
		}
		for _, r := range n.Roles {
			t.Row(indent + "  role " + command.Printable(r))
		}
	}
	return t
}

// treeBoxes returns the boxes of a tree, the sources on top, and the arrows
// from inputs to the nodes above them.
func treeBoxes(nodes []TreeNode) (boxes []svgNode, edges []svgEdge) {
	at := map[int]int{} // the box of a node
	var add func(i int)
	add = func(i int) {
		n := &nodes[i]
		var in []int
		for j := i + 1; j < len(nodes) && nodes[j].Depth > n.Depth; j++ {
			if nodes[j].above == i {
				add(j)
				in = append(in, j)
			}
		}
		at[i] = len(boxes)
		for _, j := range in {
			label := samples(nodes[j].Samples) + " samples"
			if l := nodes[j].columnTexts(); len(l) > 0 {
				label += "; " + strings.Join(l, ", ")
			}
			edges = append(edges, svgEdge{from: at[j], to: at[i], label: command.Shorten(label, 100)})
		}
		b := svgNode{title: fmt.Sprintf("%d %s", len(boxes), n.Node), class: "step"}
		for _, p := range n.params {
			b.lines = append(b.lines, p.name+"="+command.Shorten(p.value, 48))
		}
		for j, s := range n.Steps {
			b.lines = append(b.lines, fmt.Sprintf("%d=%s", j, command.Shorten(strings.TrimSpace(s.Op+" "+joinParams(s.params)), 60)))
		}
		for _, r := range n.Roles {
			b.lines = append(b.lines, "role="+r)
		}
		if len(n.Passes) > 0 {
			b.lines = append(b.lines, "passes="+strings.Join(n.Passes, ", "))
		}
		boxes = append(boxes, b)
	}
	add(0)
	top := len(boxes) - 1
	boxes = append(boxes, svgNode{title: samples(nodes[0].Samples) + " samples or batches", class: "output"})
	label := strings.Join(nodes[0].columnTexts(), ", ")
	edges = append(edges, svgEdge{from: top, to: top + 1, label: command.Shorten(label, 100)})
	return boxes, edges
}

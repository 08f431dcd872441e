package graph

import (
	"fmt"
	"html"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/infer-prep/infer-prep/cmd/internal/cli/command"
	"github.com/infer-prep/infer-prep/internal/sorts"
	"github.com/infer-prep/infer-prep/tensor"
)

// The measures of a drawing, in pixels. Letters of fixed-width fonts are 0.6
// times as wide as their size.
const (
	svgMargin   = 24
	svgPad      = 14 // inside a box, left and right
	svgTitle    = 15 // size of an op's name
	svgText     = 12 // size of parameters and labels
	svgLine     = 17 // from a line of text to the next
	svgHead     = 30 // height of a box's title
	svgArrow    = 46 // from a box to the next, with space for a label
	svgGap      = 18 // from a box to the next, without an arrow between them
	svgLane     = 14 // between arrows beside the boxes
	svgMinWidth = 190
	svgLetter   = 0.6
)

// svgNode is a box: an input, a step or an output.
type svgNode struct {
	title string
	lines []string
	class string // input, step, output or side
	y, h  float64
}

// svgEdge is an arrow from one box to another, for a tensor.
type svgEdge struct {
	from, to int
	label    string
	lane     int
}

// DrawSVG draws a graph.
func DrawSVG(r *Inferred, all bool) string { return drawBoxes(svgGraph(r, all)) }

// drawBoxes draws boxes from top to bottom. Arrows to the next box go straight
// down; others pass the boxes on the right, in lanes. Arrows only lead down.
func drawBoxes(nodes []svgNode, edges []svgEdge) string {
	straight := map[int][]string{} // labels of the arrow from a box to the next
	var around []svgEdge
	for _, e := range edges {
		if e.to == e.from+1 {
			straight[e.from] = append(straight[e.from], e.label)
		} else {
			around = append(around, e)
		}
	}

	width, right := float64(svgMinWidth), 0.0
	for _, n := range nodes {
		width = max(width, textWidth(n.title, svgTitle)+2*svgPad+30)
		for _, l := range n.lines {
			width = max(width, textWidth(l, svgText)+2*svgPad)
		}
	}
	y := float64(svgMargin)
	for i := range nodes {
		n := &nodes[i]
		n.y, n.h = y, svgHead
		if len(n.lines) > 0 {
			n.h += float64(len(n.lines)*svgLine) + 8
		}
		n.h = max(n.h, float64((svgLine+5)*(1+ends(around, i)))) // space for the arrows at its side, with labels
		y += n.h + svgGap
		if len(straight[i]) > 0 {
			y += svgArrow - svgGap + float64(svgLine*(len(straight[i])-1))
		}
	}
	last := nodes[len(nodes)-1]
	height := last.y + last.h + svgMargin
	for _, l := range straight {
		for _, s := range l {
			right = max(right, svgMargin+width/2+12+textWidth(s, svgText))
		}
	}
	lanesAt := max(svgMargin+width, right)
	for _, e := range around {
		lanesAt = max(lanesAt, svgMargin+width+16+textWidth(e.label, svgText))
	}
	lanes := assignLanes(around)
	right = max(right, svgMargin+width, lanesAt+float64(lanes*svgLane)) + svgMargin

	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" width="%.0f" height="%.0f" viewBox="0 0 %.0f %.0f">`+"\n", right, height, right, height)
	b.WriteString(svgStyle)
	fmt.Fprintf(&b, `<rect width="100%%" height="100%%" fill="#ffffff"/>`+"\n")
	center := svgMargin + width/2
	for i := range nodes {
		labels := straight[i]
		if len(labels) == 0 {
			continue
		}
		from, to := nodes[i].y+nodes[i].h, nodes[i+1].y
		fmt.Fprintf(&b, `<path class="edge" d="M%.1f %.1f V%.1f" marker-end="url(#head)"/>`+"\n", center, from, to-2)
		top := (from+to)/2 - float64((len(labels)-1)*svgLine)/2 + 2
		for j, l := range labels {
			svgLabel(&b, center+12, top+float64(j*svgLine), l)
		}
	}
	used := map[int]int{}
	port := func(i int) float64 {
		used[i]++
		return nodes[i].y + nodes[i].h*float64(used[i])/float64(ends(around, i)+1)
	}
	side := svgMargin + width
	for _, e := range around {
		x, y0, y1 := lanesAt+float64((e.lane+1)*svgLane), port(e.from), port(e.to)
		fmt.Fprintf(&b, `<path class="edge" d="M%.1f %.1f H%.1f q8 0 8 8 V%.1f q0 8 -8 8 H%.1f" marker-end="url(#head)"/>`+"\n",
			side, y0, x-8, y1-8, side+2)
		svgLabel(&b, side+8, y0-5, e.label)
	}
	for _, n := range nodes {
		n.draw(&b, width)
	}
	b.WriteString("</svg>\n")
	return b.String()
}

const svgStyle = `<defs><marker id="head" viewBox="0 0 10 10" refX="9" refY="5" markerWidth="8" markerHeight="8" orient="auto-start-reverse"><path d="M0 0.5 L10 5 L0 9.5 z" fill="#64748b"/></marker></defs>
<style>
text { font-family: ui-monospace, "DejaVu Sans Mono", Menlo, Consolas, monospace; font-size: 12px; fill: #334155; }
.title { font-size: 15px; font-weight: 600; fill: #0f172a; }
.name { fill: #64748b; }
.number { fill: #94a3b8; }
.label { fill: #475569; }
.edge { fill: none; stroke: #64748b; stroke-width: 1.5; }
.box { stroke-width: 1.5; }
.step { fill: #f8fafc; stroke: #94a3b8; }
.input { fill: #eff6ff; stroke: #60a5fa; }
.output { fill: #f0fdf4; stroke: #4ade80; }
.side { fill: #fefce8; stroke: #facc15; }
</style>
`

func (n *svgNode) draw(b *strings.Builder, width float64) {
	radius := 6.0
	if n.class != "step" {
		radius = n.h / 2
	}
	fmt.Fprintf(b, `<rect class="box %s" x="%d" y="%.1f" width="%.1f" height="%.1f" rx="%.1f"/>`+"\n", n.class, svgMargin, n.y, width, n.h, radius)
	if n.class != "step" {
		fmt.Fprintf(b, `<text class="title" x="%.1f" y="%.1f" text-anchor="middle">%s</text>`+"\n",
			svgMargin+width/2, n.y+n.h/2+5, html.EscapeString(n.title))
		return
	}
	number, name, _ := strings.Cut(n.title, " ")
	fmt.Fprintf(b, `<text class="title" x="%d" y="%.1f">%s</text>`+"\n", svgMargin+svgPad, n.y+20, html.EscapeString(name))
	fmt.Fprintf(b, `<text class="number" x="%.1f" y="%.1f" text-anchor="end">%s</text>`+"\n", svgMargin+width-svgPad, n.y+19, number)
	for i, l := range n.lines {
		key, value, _ := strings.Cut(l, "=")
		fmt.Fprintf(b, `<text x="%d" y="%.1f" xml:space="preserve"><tspan class="name">%s</tspan> %s</text>`+"\n",
			svgMargin+svgPad, n.y+svgHead+12+float64(i*svgLine), html.EscapeString(key), html.EscapeString(value))
	}
}

func svgLabel(b *strings.Builder, x, y float64, s string) {
	fmt.Fprintf(b, `<text class="label" x="%.1f" y="%.1f">%s</text>`+"\n", x, y, html.EscapeString(s))
}

func textWidth(s string, size int) float64 {
	return svgLetter * float64(size*utf8.RuneCountInString(s))
}

// ends counts the arrow ends at the side of box i.
func ends(l []svgEdge, i int) int {
	n := 0
	for _, e := range l {
		if e.from == i {
			n++
		}
		if e.to == i {
			n++
		}
	}
	return n
}

// assignLanes assigns each arrow the innermost lane that is free beside the
// boxes it passes, short arrows first, and returns the number of lanes.
func assignLanes(l []svgEdge) int {
	sorts.Stable(l, func(a, b svgEdge) int { return (a.to - a.from) - (b.to - b.from) })
	lanes := 0
	for i := range l {
		for taken := true; taken; {
			taken = slices.ContainsFunc(l[:i], func(o svgEdge) bool {
				return o.lane == l[i].lane && o.from <= l[i].to && l[i].from <= o.to
			})
			if taken {
				l[i].lane++
			}
		}
		lanes = max(lanes, l[i].lane+1)
	}
	sorts.Stable(l, func(a, b svgEdge) int { return b.lane - a.lane }) // outer arrows leave boxes above inner ones
	return lanes
}

// svgGraph returns the boxes, from top to bottom, and the arrows between them.
func svgGraph(r *Inferred, all bool) (nodes []svgNode, edges []svgEdge) {
	from := map[string]int{} // the box that writes a column
	descs := map[string]tensor.Desc{}
	label := func(column string) string { return column + ": " + descs[column].String() }
	for _, c := range r.Graph.Inputs {
		from[c.Name], descs[c.Name] = len(nodes), c.Desc
		nodes = append(nodes, svgNode{title: c.Name, class: "input"})
	}
	for i, s := range r.steps {
		for _, c := range s.In {
			edges = append(edges, svgEdge{from: from[c.Name], to: len(nodes), label: label(c.Name)})
		}
		for _, c := range s.Out {
			from[c.Name], descs[c.Name] = len(nodes), c.Desc
		}
		n := svgNode{title: fmt.Sprintf("%d %s", i, s.Op), class: "step"}
		for _, p := range params(r.Graph.Steps[i].Op, all) {
			n.lines = append(n.lines, p.name+"="+command.Shorten(p.value, 48))
		}
		nodes = append(nodes, n)
	}
	outputs := func(names []string, class string) {
		for _, o := range names {
			edges = append(edges, svgEdge{from: from[o], to: len(nodes), label: label(o)})
			nodes = append(nodes, svgNode{title: o, class: class})
		}
	}
	outputs(r.Graph.Outputs, "output")
	outputs(r.Graph.SideOutputs, "side")
	return nodes, edges
}

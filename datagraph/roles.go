package datagraph

import "github.com/infer-prep/infer-prep/transforms"

// ColumnRole says that a column moves with an image: a mask, boxes, keypoints
// or another image. Steps that move the image name the column in Moves.
type ColumnRole struct {
	Column string
	// Image is the column of the image. If a step moves both and writes the
	// image to a column of another name, the column belongs to that one from
	// then on.
	Image string
	transforms.Role
}

// Moves reports whether a step moves columns along with its image.
func (g *Graph) Moves() bool {
	for _, s := range g.Steps {
		if len(s.Moves) > 0 {
			return true
		}
	}
	return false
}

// Tie adds a column that moves with the graph's first input: as an input, an
// output, and a role. The steps that Add appends afterwards move it. It returns
// g.
func (g *Graph) Tie(c Column, r transforms.Role) *Graph {
	g.Roles = append(g.Roles, ColumnRole{c.Name, g.Inputs[0].Name, r})
	g.Inputs = append(g.Inputs, c)
	g.Outputs = append(g.Outputs, c.Name)
	return g
}

//go:build !small

package datagraph

import (
	"slices"

	"github.com/infer-prep/infer-prep/tensor"
	"github.com/infer-prep/infer-prep/transforms"
)

// roles reads the roles of a graph.
func (r *reader) roles() (l []ColumnRole) {
	n := r.Count(maxColumns)
	if r.Err == nil && n == 0 {
		r.Fail("an empty list of roles, want none")
	}
	for range n {
		r.Tuple(5)
		c := ColumnRole{Column: r.Text(maxName), Image: r.Text(maxName)}
		c.Kind, c.Format, c.Clamping = transforms.RoleKind(r.Uint8()), transforms.CoordFormat(r.Uint8()), transforms.Clamping(r.Uint8())
		l = append(l, c)
	}
	return l
}

// moves reads the columns that a step moves.
func (r *reader) moves() []string {
	l := r.strings()
	if r.Err == nil && len(l) == 0 {
		r.Fail("an empty list of moves, want none")
	}
	return l
}

// role returns the role of a column.
func (g *Graph) role(column string) (ColumnRole, bool) {
	for _, r := range g.Roles {
		if r.Column == column {
			return r, true
		}
	}
	return ColumnRole{}, false
}

// moving returns the columns that the last step, which is new, must move.
func (g *Graph) moving(op transforms.Op, image string) (l []string) {
	n := len(g.Steps) - 1 // without the step itself
	// A random op that makes something else of an image moves nothing.
	if !moves(op) && !(isRandom(op) && g.Steps[n].Out[0] == image) {
		return nil
	}
	for _, r := range g.Roles {
		if g.owner(r, n) == image && g.has(r.Column, n) {
			l = append(l, r.Column)
		}
	}
	return l
}

// has reports whether a column exists before step n.
func (g *Graph) has(column string, n int) bool {
	for _, c := range g.Inputs {
		if c.Name == column {
			return true
		}
	}
	for _, s := range g.Steps[:n] {
		if slices.Contains(s.Out, column) {
			return true
		}
	}
	return false
}

// moves reports whether the op moves pixels.
func moves(op transforms.Op) bool {
	_, ok := op.(transforms.Mover)
	return ok
}

// owner returns the image that a column belongs to before step n.
func (g *Graph) owner(r ColumnRole, n int) string {
	image := r.Image
	for _, s := range g.Steps[:n] {
		if slices.Contains(s.Moves, r.Column) {
			image = s.Out[0]
		}
	}
	return image
}

// left returns the columns that stay behind if step i moves pixels: those of
// the image that it replaces.
func (g *Graph) left(i int) (l []string) {
	s := g.Steps[i]
	if len(g.Roles) == 0 || len(s.In) == 0 || len(s.Out) == 0 || s.In[0] != s.Out[0] {
		return nil
	}
	for _, r := range g.Roles {
		if g.owner(r, i) == s.In[0] && g.has(r.Column, i) && !slices.Contains(s.Moves, r.Column) {
			l = append(l, r.Column)
		}
	}
	return l
}

// leftErr is the error of a step that leaves columns behind.
func leftErr(l []string) error {
	return graphErr("it moves the image and leaves %q behind: name them in moves, or write the image to another column", l)
}

// validateRoles checks the roles alone.
func (g *Graph) validateRoles() error {
	if len(g.Roles) > maxColumns {
		return graphErr("%d roles, want at most %d", len(g.Roles), maxColumns)
	}
	for i, r := range g.Roles {
		if err := r.Role.Validate(); err != nil {
			return graphErr("role of column %q: %v", r.Column, err)
		}
		if r.Column == r.Image {
			return graphErr("column %q moves with itself, want the column of an image", r.Column)
		}
		for _, o := range g.Roles[:i] {
			if o.Column == r.Column {
				return graphErr("column %q has two roles", r.Column)
			}
		}
	}
	return nil
}

// validateRoleColumns checks that the columns of the roles exist.
func (g *Graph) validateRoleColumns(have map[string]bool) error {
	for i, r := range g.Roles {
		for _, c := range [2]string{r.Column, r.Image} {
			if !have[c] {
				return graphErr("role %d: column %q is neither an input nor produced by a step", i, c)
			}
		}
	}
	return nil
}

// validateMoves checks the columns that step i moves.
func (g *Graph) validateMoves(i int, have map[string]bool) error {
	s := g.Steps[i]
	if moves(s.Op) {
		if l := g.left(i); len(l) > 0 {
			return leftErr(l)
		}
	}
	if len(s.Moves) == 0 {
		return nil
	}
	if !moves(s.Op) && !isRandom(s.Op) {
		return graphErr("it moves no pixels, so it cannot move %q", s.Moves)
	}
	for j, c := range s.Moves {
		r, ok := g.role(c)
		if !ok {
			return graphErr("it moves column %q, which has no role", c)
		}
		if slices.Index(s.Moves, c) != j || slices.Contains(s.Out, c) {
			return graphErr("column %q is written twice", c)
		}
		if !have[c] {
			return graphErr("it moves column %q, which is neither an input nor produced by an earlier step", c)
		}
		if of := g.owner(r, i); of != s.In[0] {
			return graphErr("it moves column %q, which belongs to %q and not to %q", c, of, s.In[0])
		}
	}
	return nil
}

// moved describes a column with a role after a step whose image is then to.
func moved(r transforms.Role, in, to tensor.Desc) (tensor.Desc, error) {
	if err := r.ValidateDesc(in); err != nil {
		return in, err
	}
	if r.Kind == transforms.RoleBoxes || r.Kind == transforms.RoleKeypoints {
		return in, nil
	}
	if !to.IsImage() {
		return in, graphErr("the result is %v, want an image for columns to move with", to)
	}
	return in.WithSize(to.Height(), to.Width()), nil
}

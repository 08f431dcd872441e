//go:build small

package datagraph

import (
	"github.com/infer-prep/infer-prep/tensor"
	"github.com/infer-prep/infer-prep/transforms"
)

// The small build of the npm package has no roles. It has no random ops either.

func (g *Graph) role(string) (r ColumnRole, ok bool)                  { return r, false }
func (g *Graph) moving(transforms.Op, string) []string                { return nil }
func (g *Graph) left(int) []string                                    { return nil }
func (g *Graph) validateRoleColumns(map[string]bool) error            { return nil }
func moves(transforms.Op) bool                                        { return false }
func leftErr([]string) error                                          { return nil }
func moved(_ transforms.Role, in, _ tensor.Desc) (tensor.Desc, error) { return in, nil }

func (g *Graph) validateRoles() error                     { return nil }
func (g *Graph) validateMoves(int, map[string]bool) error { return nil }

func (r *reader) roles() []ColumnRole {
	r.moves()
	return nil
}

func (r *reader) moves() []string {
	r.Fail("the small build moves no columns with an image: use the full one")
	return nil
}

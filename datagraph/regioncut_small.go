//go:build small

package datagraph

import "github.com/infer-prep/infer-prep/transforms"

// The small build has no RegionSource.

func (p *Plan) regionCut(int) transforms.Op { return nil }

func decodes(op transforms.Op) bool {
	_, ok := op.(transforms.RowSource)
	return ok
}

//go:build small

package datagraph

import (
	"github.com/infer-prep/infer-prep/tensor"
	"github.com/infer-prep/infer-prep/transforms"
)

// The small build has no models that read tiles or patches.

type blocks struct{}

func runPlaceBlocks(*Plan) {}

func (*blocks) infer(_ tensor.Desc, _, _ []tensor.Desc, _ []*tensor.Tensor) error { return nil }

func (*blocks) names(l []string) []string { return l }

func (*blocks) report([]*tensor.Tensor, []tensor.Desc) {}

func (*blocks) body(_ *transforms.Context, _ tensor.Desc, dst *tensor.Tensor, _ []*tensor.Tensor) ([]byte, error) {
	return dst.Data, nil
}

func (*blocks) begin(*transforms.Context, *output, tensor.Desc) {}

type placement struct{}

func (*placement) active() bool { return false }

func (*placement) rows(*output, int, []byte) {}

func (*placement) end(*output) {}

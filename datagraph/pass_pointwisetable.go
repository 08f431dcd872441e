package datagraph

import (
	"github.com/infer-prep/infer-prep/tensor"
	"github.com/infer-prep/infer-prep/transforms"
)

var pointwiseTable = passInfo{
	Name: "pointwise-table",
	Doc:  "pointwise ops on uint8, with dtype and layout, are one lookup in a table of 256 entries a channel",
	Run:  runPointwiseTable,
}

// maxTableChannels bounds the size of tables. No image format has more
// channels.
const maxTableChannels = 64

func runPointwiseTable(p *Plan) {
	for i := 0; i < len(p.steps); i++ {
		in := p.descs(p.steps[i].in)[0]
		if !in.IsImage() || in.DType != tensor.Uint8 || in.Channels() < 1 || in.Channels() > maxTableChannels {
			continue
		}
		n := 0
		var ops []transforms.Op
		for {
			op, ok := p.steps[i+n].op.(transforms.Pointwise)
			if !ok {
				break
			}
			ops = append(ops, op)
			n++
			if !p.feeds(i + n - 1) {
				break
			}
		}
		if n == 0 {
			continue
		}
		if t, ok := newTable(ops, in); ok {
			f := &fused{ops: ops, source: in, out: p.descs(p.steps[i+n-1].out), table: t}
			p.replace(i, n, f, PointwiseTable)
		}
	}
}

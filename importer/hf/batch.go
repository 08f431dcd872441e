package hf

import "github.com/infer-prep/infer-prep/datagraph"

// batchRules has the rules of outputs of which a batch is not a stack, by their
// names. The rules of padding and patches are where their steps are:
// padsWithMask, pads, patches.
type batchRules map[string]datagraph.BatchRule

// tilesJoined is the rule of classes that join the tiles of all images, and
// tilesPadded the one of classes that pad their number.
var (
	tilesJoined = batchRules{output: datagraph.BatchConcat}
	tilesPadded = batchRules{output: datagraph.BatchPad, "pixel_attention_mask": datagraph.BatchPad}
)

// apply sets the rules of the outputs that the graph has.
func (r batchRules) apply(g *datagraph.Graph) {
	for _, o := range g.Outputs {
		if rule := r[o]; rule != datagraph.BatchStack {
			g.SetBatch(o, datagraph.Batching{Rule: rule})
		}
	}
}

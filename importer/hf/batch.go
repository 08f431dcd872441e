package hf

import "github.com/infer-prep/infer-prep/datagraph"

// batchRules lists the outputs of classes with tiles or sequences of which a
// batch is not a stack. Rules of padding and patches are where their steps are:
// padsWithMask, pads, patches.
var batchRules = map[string]map[string]datagraph.BatchRule{
	"Aria":           {output: datagraph.BatchConcat, "pixel_mask": datagraph.BatchConcat},
	"Cohere2Vision":  {output: datagraph.BatchConcat},
	"DeepseekOcr2":   {"pixel_values_local": datagraph.BatchConcat},
	"Emu3":           {output: datagraph.BatchPad},
	"Gemma3":         {output: datagraph.BatchConcat},
	"GotOcr2":        {output: datagraph.BatchConcat},
	"GraniteDocling": tilesPadded,
	"Idefics3":       tilesPadded,
	"Inkling":        {output: datagraph.BatchConcat},
	"Inkling2":       {output: datagraph.BatchConcat},
	"Llama4":         {output: datagraph.BatchConcat},
	"Ovis2":          {output: datagraph.BatchConcat},
	"Pixtral":        {output: datagraph.BatchPad},
	"SmolVLM":        tilesPadded,
	"UltraVBert":     tilesPadded,
}

// tilesPadded is the rule of classes that pad the number of tiles.
var tilesPadded = map[string]datagraph.BatchRule{
	output: datagraph.BatchPad, "pixel_attention_mask": datagraph.BatchPad,
}

// batches sets the rules of a class for the outputs that the graph has.
func batches(g *datagraph.Graph, class string) {
	for _, o := range g.Outputs {
		if r := batchRules[class][o]; r != datagraph.BatchStack {
			g.SetBatch(o, datagraph.Batching{Rule: r})
		}
	}
}

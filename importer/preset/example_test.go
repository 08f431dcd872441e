package preset_test

import (
	"fmt"
	"log"

	"github.com/infer-prep/infer-prep/datagraph"
	"github.com/infer-prep/infer-prep/importer/preset"
	_ "github.com/infer-prep/infer-prep/transforms/all" // every op
)

func Example() {
	g, err := preset.Graph("clip")
	if err != nil {
		log.Fatal(err)
	}
	plan, err := datagraph.Compile(g, datagraph.CompileOptions{})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(preset.Names())
	fmt.Println(g.Reference)
	fmt.Println(plan.Outputs()[0].Name, plan.Outputs()[0].Desc)
	// Output:
	// [clip decode imagenet yolo]
	// transformers 5.23.0 CLIPImageProcessorPil, openai/clip-vit-base-patch32
	// pixel_values float32 CHW (3, 224, 224)
}

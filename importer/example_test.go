package importer_test

import (
	"fmt"

	"github.com/infer-prep/infer-prep/importer"
	_ "github.com/infer-prep/infer-prep/importer/hf"
	"github.com/infer-prep/infer-prep/transforms"
)

func Example() {
	hf, _ := importer.Lookup("hf")
	g, err := hf.Import([]byte(`{"feature_extractor_type": "ConvNextFeatureExtractor", "size": 224, "crop_pct": 0.875}`))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(g.Reference)
	for _, s := range g.Steps {
		fmt.Println(transforms.InfoOf(s.Op).Name, s.Out)
	}

	_, err = hf.Import([]byte(`{"feature_extractor_type": "ViTFeatureExtractor", "size": "big", "crop_pct": 0.875}`))
	fmt.Println(err)
	// Output:
	// transformers 5.23.0 ConvNextImageProcessor, backend torchvision
	// decode [image]
	// resize [image]
	// center_crop [image]
	// to_type [image]
	// normalize [image]
	// hwc2chw [pixel_values]
	// importer: hf: unknown key crop_pct: it changes no pixel, since ViTImageProcessor of transformers 5.23.0 does not read it (ConvNextImageProcessor reads it); --ignore-key crop_pct imports the file without it; invalid value size: "big", want a whole number, [height, width], or an object with height and width, shortest_edge, shortest_edge and longest_edge, or max_height and max_width
}

// Command eager prints the input tensor of an ImageNet classifier for an image.
package main

import (
	"fmt"
	"log"
	"os"

	_ "github.com/infer-prep/infer-prep/codec/all" // every image format
	"github.com/infer-prep/infer-prep/eager"
	"github.com/infer-prep/infer-prep/tensor"
	t "github.com/infer-prep/infer-prep/transforms"
)

func main() {
	if len(os.Args) != 2 {
		log.Fatal("usage: eager IMAGE")
	}
	image, err := os.ReadFile(os.Args[1])
	if err != nil {
		log.Fatal(err)
	}
	x, err := eager.Apply(image, t.NewDecode(), t.NewResizeShortest(256), t.NewCenterCrop(224, 224), t.NewToTensor(),
		t.NewNormalize([]float64{0.485, 0.456, 0.406}, []float64{0.229, 0.224, 0.225}))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(x.Desc, tensor.View[float32](x)[:3]) // float32 CHW (3, 224, 224) [...]
}

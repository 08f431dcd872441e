// Command vlm prints the inputs of a vision-language model for an image: the
// tensors, and the text that replaces the image's placeholder in the prompt.
//
//	go run ./examples/vlm examples/vlm/model testdata/images/jpeg_large.jpg
package main

import (
	"cmp"
	"context"
	"crypto/sha256"
	"flag"
	"fmt"
	"log"
	"os"

	inferprep "github.com/infer-prep/infer-prep"
	"github.com/infer-prep/infer-prep/codec"
	"github.com/infer-prep/infer-prep/importer/hf/tokens"
	"github.com/infer-prep/infer-prep/tensor"
)

func main() {
	flag.Parse()
	image, readErr := os.ReadFile(flag.Arg(1))
	info, infoErr := codec.DecodeConfig(image, nil)
	processor, tokensErr := tokens.Open(flag.Arg(0))
	prep, err := inferprep.Open(flag.Arg(0))
	if err = cmp.Or(readErr, infoErr, tokensErr, err); err != nil {
		log.Fatal(err)
	}
	out, err := prep.Run(context.Background(), tensor.FromBytes(image))
	text, textErr := processor.Images([2]int{info.OutHeight, info.OutWidth})
	if err = cmp.Or(err, textErr); err != nil {
		log.Fatal(err)
	}
	x, grid := out["pixel_values"], tensor.View[int64](out["image_grid_thw"])
	fmt.Printf("%v %x %v\n%s\n", x.Shape, sha256.Sum256(x.Data), grid, text[0].Text)
}

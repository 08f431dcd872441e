// Command image prints the input tensors of a model for an image.
//
//	go run ./examples/image preset:imagenet testdata/images/jpeg_large.jpg
package main

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"log"
	"os"

	inferprep "github.com/infer-prep/infer-prep"
	"github.com/infer-prep/infer-prep/tensor"
)

func main() {
	flag.Parse()
	p, err := inferprep.Open(flag.Arg(0))
	image, readErr := os.ReadFile(flag.Arg(1))
	if err = cmp.Or(err, readErr); err != nil {
		log.Fatal(err)
	}
	out, err := p.Run(context.Background(), tensor.FromBytes(image))
	if err != nil {
		log.Fatal(err)
	}
	for name, x := range out {
		fmt.Println(name, x.Desc, tensor.View[float32](x)[:3])
	}
}

// Command bundle saves a model with its preprocessing. inferprep.Open opens the
// bundle as it opens the preprocessing.
//
//	go run ./examples/bundle preset:imagenet model.onnx model.bundle
package main

import (
	"bytes"
	"cmp"
	"flag"
	"log"
	"os"

	inferprep "github.com/infer-prep/infer-prep"
	"github.com/infer-prep/infer-prep/modelbundle"
)

func main() {
	flag.Parse()
	p, err := inferprep.Open(flag.Arg(0))
	model, readErr := os.ReadFile(flag.Arg(1))
	if err = cmp.Or(err, readErr); err != nil {
		log.Fatal(err)
	}
	var b bytes.Buffer
	models := []modelbundle.Model{{Name: "model.onnx", Format: "onnx", Data: model}}
	if err = modelbundle.Create(&b, &modelbundle.Content{Graph: p.Graph(), Models: models}); err == nil {
		err = os.WriteFile(flag.Arg(2), b.Bytes(), 0o644)
	}
	if err != nil {
		log.Fatal(err)
	}
}

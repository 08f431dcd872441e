// Command folder writes the tensors of a folder of images as .npy files. A
// second run goes on where an interrupted one ended.
//
//	go run ./examples/folder preset:imagenet examples/classifier/images tensors
package main

import (
	"context"
	"flag"
	"fmt"
	"log"

	inferprep "github.com/infer-prep/infer-prep"
	"github.com/infer-prep/infer-prep/job"
)

func main() {
	flag.Parse()
	p, err := inferprep.Open(flag.Arg(0))
	if err != nil {
		log.Fatal(err)
	}
	j := job.Job{Preprocessor: p, Inputs: job.Paths(flag.Arg(1)), To: job.Sink{Dir: flag.Arg(2)}, Existing: job.ByName}
	s, err := j.Run(context.Background())
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(s.Done, "done,", s.Present, "done before")
}

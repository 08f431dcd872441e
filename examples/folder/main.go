// Command folder writes the tensors of a folder of images as .npy files. A
// second run goes on where an interrupted one ended.
//
//	folder preset:imagenet photos/ tensors/
package main

import (
	"context"
	"log"
	"os"

	inferprep "github.com/infer-prep/infer-prep"
	"github.com/infer-prep/infer-prep/job"
)

func main() {
	p, err := inferprep.Open(os.Args[1])
	if err != nil {
		log.Fatal(err)
	}
	j := job.Job{Preprocessor: p, Inputs: job.Paths(os.Args[2]), To: job.Sink{Dir: os.Args[3]}, Existing: job.ByName}
	s, err := j.Run(context.Background())
	if err != nil {
		log.Fatal(err)
	}
	log.Printf("%d images done, %d done before, %d files skipped", s.Done, s.Present, s.Skipped)
}

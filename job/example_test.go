package job_test

import (
	"context"
	"fmt"
	"os"

	inferprep "github.com/infer-prep/infer-prep"
	"github.com/infer-prep/infer-prep/job"
)

// A second run skips the images that are done.
func ExampleJob() {
	dir, err := os.MkdirTemp("", "job")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	p, err := inferprep.Open("preset:imagenet")
	if err != nil {
		panic(err)
	}
	j := job.Job{
		Preprocessor: p, Inputs: job.Paths("../examples/classifier/images"), To: job.Sink{Dir: dir}, Existing: job.ByName,
	}
	for range 2 {
		s, err := j.Run(context.Background())
		if err != nil {
			panic(err)
		}
		fmt.Println(s.Done, "done,", s.Present, "done before")
	}
	// Output:
	// 12 done, 0 done before
	// 0 done, 12 done before
}

// The tensors of a run without a folder are in its results, in order.
func ExampleJob_tensors() {
	p, err := inferprep.Open("preset:imagenet")
	if err != nil {
		panic(err)
	}
	j := job.Job{
		Preprocessor: p, Inputs: job.Paths("../examples/classifier/images/0[0-2].jpg"),
		OnResult: func(r job.Result) error {
			fmt.Println(r.Name, r.Outputs[0].Name, r.Tensors[0].Shape)
			return nil
		},
	}
	if _, err := j.Run(context.Background()); err != nil {
		panic(err)
	}
	// Output:
	// 00.jpg image (3, 224, 224)
	// 01.jpg image (3, 224, 224)
	// 02.jpg image (3, 224, 224)
}

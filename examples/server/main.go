// Command server answers an image with its tensor as a .npy file. It runs as
// many images at once as there are processors, and bounds their memory. The
// command infer-prep serve is a complete server.
//
//	go run ./examples/server preset:imagenet image localhost:8080
//	curl --data-binary @cat.jpg localhost:8080/tensor > cat.npy
package main

import (
	"cmp"
	"flag"
	"io"
	"log"
	"net/http"

	inferprep "github.com/infer-prep/infer-prep"
	"github.com/infer-prep/infer-prep/tensor"
)

func main() {
	flag.Parse()
	p, err := inferprep.Open(flag.Arg(0))
	if err != nil {
		log.Fatal(err)
	}
	http.HandleFunc("POST /tensor", func(w http.ResponseWriter, r *http.Request) {
		image, err := io.ReadAll(http.MaxBytesReader(w, r.Body, 16<<20))
		out, runErr := p.Run(r.Context(), tensor.FromBytes(image))
		if err = cmp.Or(err, runErr); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
		} else if err := tensor.WriteNPY(w, out[flag.Arg(1)]); err != nil {
			log.Print(err)
		}
	})
	log.Fatal(http.ListenAndServe(flag.Arg(2), nil))
}

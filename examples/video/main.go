// Command video prints the inputs of Qwen2-VL for a video, which is a folder of
// frames with a metadata.json: the patches, their grid, and the text that
// replaces the video's placeholder, a token for each four patches.
//
//	go run ./examples/video examples/vlm/model examples/video/frames
package main

import (
	"cmp"
	"crypto/sha256"
	"flag"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"strings"

	"github.com/infer-prep/infer-prep/codec"
	_ "github.com/infer-prep/infer-prep/codec/png"
	"github.com/infer-prep/infer-prep/importer/hf/video"
	"github.com/infer-prep/infer-prep/tensor"
)

func main() {
	flag.Parse()
	frames, err := video.OpenFolder(os.DirFS(flag.Arg(1)), 1<<26)
	_, config, fileErr := video.FromModel(func(name string) ([]byte, error) { return os.ReadFile(filepath.Join(flag.Arg(0), name)) })
	processor, importErr := video.Import(config)
	if err = cmp.Or(err, fileErr, importErr); err != nil {
		log.Fatal(err)
	}
	out, err := processor.NewRunner(codec.Limits{}).Run(frames.Metadata, frames.Frame)
	if err != nil {
		log.Fatal(err)
	}
	x, grid := out[0], tensor.View[int64](out[1])
	fmt.Printf("%v %x %v\n%s\n", x.Shape, sha256.Sum256(x.Data), grid, strings.Repeat("<|video_pad|>", x.Shape.At(0)/4))
}

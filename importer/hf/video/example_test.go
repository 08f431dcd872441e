package video_test

import (
	"fmt"
	"log"
	"os"

	"github.com/infer-prep/infer-prep/codec"
	"github.com/infer-prep/infer-prep/importer/hf/video"
)

func Example() {
	p, err := video.Import([]byte(`{
		"video_processor_type": "Qwen2VLVideoProcessor", "do_sample_frames": true, "fps": 1,
		"patch_size": 4, "min_frames": 2, "size": {"shortest_edge": 64, "longest_edge": 1024}
	}`))
	if err != nil {
		log.Fatal(err)
	}
	clip, err := video.OpenFolder(os.DirFS("testdata/wide"), 1<<20)
	if err != nil {
		log.Fatal(err)
	}
	clip.Metadata.FPS = 2
	out, err := p.NewRunner(codec.Limits{}).Run(clip.Metadata, clip.Frame)
	if err != nil {
		log.Fatal(err)
	}
	for i, o := range p.Outputs() {
		fmt.Println(o.Name, out[i].Desc)
	}
	// Output:
	// pixel_values_videos float32 (60, 96)
	// video_grid_thw int64 (3,)
}

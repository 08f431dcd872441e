package tokens_test

import (
	"fmt"

	"github.com/infer-prep/infer-prep/importer/hf/tokens"
)

// The files are those of Qwen2-VL, shortened.
func ExampleProcessor_Images() {
	p, err := tokens.Parse(tokens.Files{
		Preprocessor: []byte(`{
			"image_processor_type": "Qwen2VLImageProcessor", "processor_class": "Qwen2VLProcessor",
			"min_pixels": 3136, "max_pixels": 12845056, "patch_size": 14, "merge_size": 2
		}`),
		Tokens: map[string]string{"image_token": "<|image_pad|>"},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	images, err := p.Images([2]int{56, 56}, [2]int{1080, 1920})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(images[0].Tokens, images[1].Tokens)
	fmt.Println(images[0].Text)
	_, err = p.Images([2]int{1, 3000})
	fmt.Println(err)
	// Output:
	// 4 2691
	// <|image_pad|><|image_pad|><|image_pad|><|image_pad|>
	// importer: hf: Qwen2VLProcessor: invalid input: an image of 1 x 3000 (height x width) has an aspect ratio of 3000.0, want at most 200
}

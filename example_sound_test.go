package inferprep_test

import (
	"context"
	"fmt"
	"log"

	inferprep "github.com/infer-prep/infer-prep"
	"github.com/infer-prep/infer-prep/sound/wav"
	"github.com/infer-prep/infer-prep/tensor"
)

// Samples of a microphone, 16 kHz and 16 bits, become the input of a Wav2Vec2
// model. A graph of another rate is an error.
func ExamplePreprocessor_Run_sound() {
	p, err := inferprep.Open("testdata/bundle/wav2vec2.bundle")
	if err != nil {
		log.Fatal(err)
	}
	samples, err := tensor.New(tensor.Desc{DType: tensor.Int16, Shape: tensor.Dims(1600)})
	if err != nil {
		log.Fatal(err)
	}
	for _, rate := range []int{8000, 16000} {
		file, err := wav.Encode(samples, rate)
		if err != nil {
			log.Fatal(err)
		}
		out, err := p.Run(context.Background(), tensor.FromBytes(file))
		if err != nil {
			fmt.Println(err)
			continue
		}
		fmt.Println(out["input_values"].Desc)
	}
	// Output:
	// datagraph: step 0 (decode_sound): wav: unsupported: the sampling rate is 8000 Hz, the op decode_sound wants 16000 Hz; to resample, state 8000 there and let resample_sinc or resample_poly follow
	// float32 (1600,)
}

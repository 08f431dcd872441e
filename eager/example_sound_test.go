package eager_test

import (
	"crypto/sha256"
	"fmt"
	"log"
	"os"

	"github.com/infer-prep/infer-prep/eager"
	_ "github.com/infer-prep/infer-prep/sound/wav"
	"github.com/infer-prep/infer-prep/transforms"
)

// The input of a Wav2Vec2 model, from a WAV file. The digest is that of
// Wav2Vec2FeatureExtractor of transformers 5.23.0.
func ExampleApply_sound() {
	wav, err := os.ReadFile("../testdata/speech/sounds/speech.wav")
	if err != nil {
		log.Fatal(err)
	}
	values, err := eager.Apply(wav,
		transforms.NewDecodeSound(16000), // a file of another rate is an error
		transforms.NewMixMono(),
		transforms.NewNormalizeSequence())
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%v, sha256 %.8x…\n", values.Desc, sha256.Sum256(values.Data))
	// Output: float32 (4000,), sha256 96b72fc38c33cf45…
}

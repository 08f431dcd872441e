package imagerecord_test

import (
	"fmt"

	"github.com/infer-prep/infer-prep/recordio/imagerecord"
)

// Encode an image with two labels, and decode it again.
func Example() {
	in := imagerecord.Record{Labels: []float32{3, 0.5}, ID: 7, Content: []byte("JPEG data")}
	b := in.Append(nil)

	var out imagerecord.Record
	if err := out.Parse(b); err != nil {
		panic(err)
	}
	fmt.Println(out.ID, out.Labels, string(out.Content))
	// Output: 7 [3 0.5] JPEG data
}

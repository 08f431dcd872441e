package tfexample_test

import (
	"fmt"

	"github.com/infer-prep/infer-prep/records/tfexample"
)

// Encode a tf.train.Example, and decode it again. The encoding sorts features
// by name.
func Example() {
	b := tfexample.Append(nil, []tfexample.Feature{
		{Name: "label", Kind: tfexample.Int64, Ints: []int64{3}},
		{Name: "image", Kind: tfexample.Bytes, Bytes: [][]byte{[]byte("JPEG data")}},
	})

	features, err := tfexample.Parse(b)
	if err != nil {
		panic(err)
	}
	for _, f := range features {
		fmt.Printf("%s %s %d\n", f.Name, f.Bytes, f.Ints)
	}
	// Output:
	// image [JPEG data] []
	// label [] [3]
}

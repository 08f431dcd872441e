package mxnet_test

import (
	"context"
	"fmt"
	"io"
	"log"

	"github.com/infer-prep/infer-prep/compat/mxnet"
	"github.com/infer-prep/infer-prep/tensor"
)

func ExampleNDArrayIter() {
	data, err := tensor.New(tensor.Desc{DType: tensor.Float32, Shape: tensor.Dims(5, 2)})
	if err != nil {
		log.Fatal(err)
	}
	o := mxnet.DefaultNDArrayOptions()
	o.BatchSize, o.LastBatch = 2, "roll_over"
	it, err := mxnet.NewNDArrayIter([]tensor.Named{{T: data}}, nil, o)
	if err != nil {
		log.Fatal(err)
	}
	defer it.Close()
	fmt.Println(it.ProvideData()[0])
	for epoch := range 2 {
		for {
			b, err := it.Next(context.Background())
			if err == io.EOF {
				break
			}
			if err != nil {
				log.Fatal(err)
			}
			fmt.Println("epoch", epoch, "rows", b.Index, "pad", b.Pad)
		}
		if err := it.Reset(); err != nil {
			log.Fatal(err)
		}
	}
	// Output:
	// DataDesc[data,(2, 2),float32,NCHW]
	// epoch 0 rows [0 1] pad 0
	// epoch 0 rows [2 3] pad 0
	// epoch 1 rows [4 0] pad 0
	// epoch 1 rows [1 2] pad 0
	// epoch 1 rows [3 4] pad 0
}

func ExampleParseImageRecordParams() {
	_, err := mxnet.ParseImageRecordParams(map[string]string{
		"path_imgrec": "train.rec", "data_shape": "(3, 224, 224)", "batch_size": "32", "random_mirror": "True",
	})
	fmt.Println(err)
	// Output: mxnet: ImageRecordIter: unknown parameter "random_mirror"; did you mean "rand_mirror"?
}

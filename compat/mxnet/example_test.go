package mxnet_test

import (
	"context"
	"fmt"
	"io"
	"log"
	"os"
	"path/filepath"

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

// The images of a list of files, as mx.image.ImageIter gives them:
//
//	mx.image.ImageIter(2, (3, 24, 32), imglist=[[0, "jpeg_base_420.jpg"], [1, "png_rgb8.png"], [1, "jpeg_gray.jpg"]],
//	                   path_root="images", resize=32, mean=True, std=True)
func ExampleImageIter() {
	ctx := context.Background()
	p := mxnet.DefaultImageIterParams()
	p.BatchSize, p.DataShape = 2, tensor.Dims(3, 24, 32)
	p.ImgList = []mxnet.ImageItem{
		{Labels: []float32{0}, Path: "jpeg_base_420.jpg"}, {Labels: []float32{1}, Path: "png_rgb8.png"}, {Labels: []float32{1}, Path: "jpeg_gray.jpg"},
	}
	p.PathRoot = filepath.Join("..", "..", "testdata", "images")
	p.Resize, p.Mean, p.Std = 32, []float64{123.68, 116.28, 103.53}, []float64{58.395, 57.12, 57.375}
	it, err := mxnet.NewImageIter(ctx, p)
	if err != nil {
		log.Fatal(err)
	}
	defer it.Close()
	for {
		b, err := it.Next(ctx)
		if err == io.EOF {
			break
		}
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(b.Data[0].Shape, tensor.View[float32](b.Label[0]), "images", b.Index, "pad", b.Pad)
	}
	// Output:
	// (2, 3, 24, 32) [0 1] images [1 2] pad 0
	// (2, 3, 24, 32) [1 0] images [3 1] pad 1
}

// Boxes of images, padded with -1 to the image with the most.
func ExampleImageDetIter() {
	ctx := context.Background()
	p, err := mxnet.ParseImageDetIterParams(map[string]string{
		"batch_size": "2", "data_shape": "(3, 30, 30)", "path_imglist": filepath.Join("testdata", "boxes.lst"), "path_root": filepath.Join("..", "..", "testdata", "images"),
	})
	if err != nil {
		log.Fatal(err)
	}
	it, err := mxnet.NewImageDetIter(ctx, p)
	if err != nil {
		log.Fatal(err)
	}
	defer it.Close()
	b, err := it.Next(ctx)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(it.ProvideLabel()[0])
	l := tensor.View[float32](b.Label[0])
	for i := 0; i < len(l); i += 5 {
		fmt.Println(l[i : i+5])
	}
	// Output:
	// DataDesc[label,(2, 2, 5),float32,NCHW]
	// [0 0.25 0.25 0.75 0.5]
	// [3 0 0 0.5 1]
	// [1 0.5 0 1 1]
	// [-1 -1 -1 -1 -1]
}

// Sparse rows, as MXNet's CSRNDArray and dense.
func ExampleLibSVMIter() {
	ctx := context.Background()
	folder, err := os.MkdirTemp("", "libsvm")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(folder)
	file := filepath.Join(folder, "data.t")
	if err := os.WriteFile(file, []byte("1 0:0.5 2:1.25\n-2\n-3 0:0.5 1:2.5 2:1.25\n"), 0o600); err != nil {
		log.Fatal(err)
	}
	p, err := mxnet.ParseLibSVMParams(map[string]string{"data_libsvm": file, "data_shape": "(3,)", "batch_size": "2"})
	if err != nil {
		log.Fatal(err)
	}
	it, err := mxnet.NewLibSVMIter(ctx, p)
	if err != nil {
		log.Fatal(err)
	}
	defer it.Close()
	b, err := it.NextCSR(ctx)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(b.Data.Data, b.Data.Indices, b.Data.Indptr, b.Labels)
	dense, err := it.Next(ctx)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(tensor.View[float32](dense.Data[0]), tensor.View[float32](dense.Label[0]), "pad", dense.Pad)
	// Output:
	// [0.5 1.25] [0 2] [0 2 2] [1 -2]
	// [0.5 2.5 1.25 0.5 0 1.25] [-3 1] pad 1
}

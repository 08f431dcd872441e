package diff_test

import (
	"context"
	"fmt"
	"log"
	"os"

	"github.com/infer-prep/infer-prep/codec"
	_ "github.com/infer-prep/infer-prep/codec/jpeg"
	_ "github.com/infer-prep/infer-prep/codec/webp"
	"github.com/infer-prep/infer-prep/datagraph"
	"github.com/infer-prep/infer-prep/datagraph/diff"
	"github.com/infer-prep/infer-prep/eager"
	"github.com/infer-prep/infer-prep/tensor"
	"github.com/infer-prep/infer-prep/transforms"
)

// The other program decodes the image to BGR and resizes it with OpenCV.
func ExampleExplain() {
	image, err := os.ReadFile("../../testdata/images/jpeg_base_420.jpg")
	if err != nil {
		log.Fatal(err)
	}
	theirs, err := eager.Apply(image, &transforms.Decode{Color: codec.ToBGR},
		&transforms.Resize{Height: 16, Width: 16, Interpolation: transforms.Bilinear, Backend: transforms.OpenCV}, transforms.NewToTensor())
	if err != nil {
		log.Fatal(err)
	}

	resize := transforms.NewResize(16, 16)
	resize.Interpolation = transforms.Bilinear
	graph := datagraph.New(transforms.NewDecode(), resize, transforms.NewToTensor())
	report, err := diff.Explain(context.Background(), graph, "image", tensor.FromBytes(image), theirs, diff.Options{})
	if err != nil {
		log.Fatal(err)
	}
	best := report.Explanations[0]
	fmt.Println("equal:", best.Equal)
	for _, c := range best.Changes {
		fmt.Println("-", c.Name)
	}
	// Output:
	// equal: true
	// - bgr
	// - opencv-bilinear
}

// One program reads BGR. Its second tensor is of another image.
func ExampleExplainAll() {
	graph := datagraph.New(transforms.NewDecode(), transforms.NewResize(16, 16), transforms.NewToTensor())
	names := []string{"jpeg_base_420.jpg", "webp_lossy_q100.webp"}
	load := func(i int) (image, other *tensor.Tensor, err error) {
		file, err := os.ReadFile("../../testdata/images/" + names[i])
		if err != nil {
			return nil, nil, err
		}
		theirs, err := os.ReadFile("../../testdata/images/" + names[0])
		if err != nil {
			return nil, nil, err
		}
		other, err = eager.Apply(theirs, &transforms.Decode{Color: codec.ToBGR}, transforms.NewResize(16, 16), transforms.NewToTensor())
		return tensor.FromBytes(file), other, err
	}
	survey, err := diff.ExplainAll(context.Background(), graph, "image", len(names), load, diff.Options{})
	if err != nil {
		log.Fatal(err)
	}
	for i, v := range survey.Verdicts {
		if v.Diagnosis < 0 {
			fmt.Println(names[i], "unexplained")
			continue
		}
		fmt.Println(names[i], survey.Diagnoses[v.Diagnosis][0].Name)
	}
	// Output:
	// jpeg_base_420.jpg bgr
	// webp_lossy_q100.webp unexplained
}

func ExampleCompare() {
	a, err := tensor.Wrap(tensor.Desc{DType: tensor.Uint8, Shape: tensor.Dims(2, 2)}, []byte{1, 2, 3, 4})
	if err != nil {
		log.Fatal(err)
	}
	b, err := tensor.Wrap(a.Desc, []byte{1, 2, 3, 9})
	if err != nil {
		log.Fatal(err)
	}
	d := diff.Compare(a, b, 1)
	fmt.Println(d.Differ, "of", d.Elements, "elements differ, at", d.Places[0].At)
	// Output: 1 of 4 elements differ, at [1 1]
}

func ExampleHeatMap() {
	a, err := tensor.New(tensor.Image(tensor.Uint8, tensor.HWC, 2, 2, 1))
	if err != nil {
		log.Fatal(err)
	}
	b := a.Clone()
	b.Data[3] = 7 // the last pixel
	m, err := diff.HeatMap(a, b)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(m.At(0, 0), m.At(1, 1))
	// Output: {0 0 0 255} {255 255 255 255}
}

package modelbundle_test

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"fmt"
	"log"
	"os"

	"github.com/infer-prep/infer-prep/codec"
	_ "github.com/infer-prep/infer-prep/codec/jpeg"
	"github.com/infer-prep/infer-prep/datagraph"
	"github.com/infer-prep/infer-prep/modelbundle"
	"github.com/infer-prep/infer-prep/transforms"
)

// Pack a model with its preprocessing and a golden sample, and verify the
// bundle.
func Example() {
	g := datagraph.New(transforms.NewDecode(), transforms.NewResize(32, 32), transforms.NewToTensor()).Rename("pixel_values")
	image, err := os.ReadFile("../testdata/images/jpeg_base_420.jpg")
	if err != nil {
		log.Fatal(err)
	}
	golden, err := modelbundle.MakeGolden(g, "jpeg_base_420.jpg", image, codec.DefaultLimits())
	if err != nil {
		log.Fatal(err)
	}
	var file bytes.Buffer
	err = modelbundle.Create(&file, &modelbundle.Content{
		Graph: g, Versions: map[string]string{"torchvision": "0.29.2"},
		Models:  []modelbundle.Model{{Name: "net.onnx", Format: "onnx", Data: []byte("…")}},
		Goldens: []modelbundle.Golden{golden},
	})
	if err != nil {
		log.Fatal(err)
	}

	b, err := modelbundle.Open(file.Bytes(), modelbundle.Limits{})
	if err != nil {
		log.Fatal(err)
	}
	for _, s := range b.Sections() {
		fmt.Println(s.Name)
	}
	fmt.Println(b.Expected()[0].Outputs[0].Desc)
	fmt.Println("verified:", b.Verify(context.Background()) == nil)
	// Output:
	// golden/jpeg_base_420.jpg
	// graph
	// model/net.onnx
	// float32 CHW (3, 32, 32)
	// verified: true
}

// Sign a bundle, and verify it before use with a public key that the user
// trusts.
func ExampleBundle_Sign() {
	public, private, err := ed25519.GenerateKey(nil)
	if err != nil {
		log.Fatal(err)
	}
	var unsigned, signed bytes.Buffer
	g := datagraph.New(transforms.NewDecode())
	if err := modelbundle.Create(&unsigned, &modelbundle.Content{Graph: g}); err != nil {
		log.Fatal(err)
	}
	b, err := modelbundle.Open(unsigned.Bytes(), modelbundle.Limits{})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("signed:", b.Signer() != nil)
	if err := b.Sign(context.Background(), &signed, private); err != nil {
		log.Fatal(err)
	}
	if b, err = modelbundle.Open(signed.Bytes(), modelbundle.Limits{}); err != nil {
		log.Fatal(err)
	}
	fmt.Println("verified:", b.VerifySignature(public) == nil)
	// Output:
	// signed: false
	// verified: true
}

// Read a bundle from any io.ReaderAt. Only the sections in use are read.
func ExampleOpenReader() {
	f, err := os.Open("../testdata/bundle/torchvision.bundle")
	if err != nil {
		log.Fatal(err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		log.Fatal(err)
	}
	b, err := modelbundle.OpenReader(f, info.Size(), modelbundle.Limits{Parsed: 1 << 20})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(len(b.Graph().Steps) > 0, b.Least())
	// Output:
	// true exact
}

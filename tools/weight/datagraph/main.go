// Command datagraph decodes a JPEG file with a compiled graph: the smallest
// program of package datagraph, for the test of tools/weight.
package main

import (
	"os"

	_ "github.com/infer-prep/infer-prep/codec/jpeg"
	"github.com/infer-prep/infer-prep/datagraph"
	"github.com/infer-prep/infer-prep/tensor"
	"github.com/infer-prep/infer-prep/transforms"
)

func main() {
	if err := run(os.Args[1]); err != nil {
		os.Stderr.WriteString(err.Error() + "\n")
		os.Exit(1)
	}
}

func run(name string) error {
	data, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	p, err := datagraph.Compile(datagraph.New(transforms.NewDecode()), datagraph.CompileOptions{})
	if err != nil {
		return err
	}
	out, err := p.NewRunner().Run(tensor.FromBytes(data))
	if err != nil {
		return err
	}
	_, err = os.Stdout.WriteString(out[0].Desc.String() + "\n")
	return err
}

package datagraph_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log"

	"github.com/tinylib/msgp/msgp"

	"github.com/infer-prep/infer-prep/datagraph"
	"github.com/infer-prep/infer-prep/tensor"
	"github.com/infer-prep/infer-prep/transforms"
)

// ByteTokens is a tokenizer of the program's own: the id of a token is a byte
// plus Offset.
type ByteTokens struct {
	Offset int `json:"offset"`
}

// The registration makes the op known to graphs that are read, in JSON and
// msgp.
func init() { transforms.Register(&ByteTokens{}) }

func (o *ByteTokens) Info() transforms.Info {
	return transforms.Info{
		Name: "byte_tokens", Version: 1, New: func() transforms.Op { return &ByteTokens{Offset: 3} },
		In: []string{"text"}, Out: []string{"ids"}, Reference: "none", Exactness: "0",
	}
}

func (o *ByteTokens) Validate() error { return nil }

// Infer leaves the number of tokens Unknown: it depends on the text.
func (o *ByteTokens) Infer(dst, in []tensor.Desc) error {
	if in[0].DType != tensor.Bytes {
		return fmt.Errorf("%w: %v, want text", transforms.ErrInput, in[0])
	}
	dst[0] = tensor.Desc{DType: tensor.Int32, Shape: tensor.Dims(tensor.Unknown)}
	return nil
}

// InferData makes the op a transforms.DataShaped: it counts the tokens.
func (o *ByteTokens) InferData(_ *transforms.Context, dst []tensor.Desc, src []*tensor.Tensor) error {
	dst[0] = tensor.Desc{DType: tensor.Int32, Shape: tensor.Dims(len(src[0].Data))}
	return nil
}

func (o *ByteTokens) Apply(_ *transforms.Context, dst, src []*tensor.Tensor) error {
	ids := tensor.View[int32](dst[0])
	for i, b := range src[0].Data {
		ids[i] = int32(b) + int32(o.Offset)
	}
	return nil
}

// The msgp form is a tuple of the parameters.
func (o *ByteTokens) MarshalMsg(b []byte) ([]byte, error) {
	return msgp.AppendInt(msgp.AppendArrayHeader(b, 1), o.Offset), nil
}

func (o *ByteTokens) UnmarshalMsg(b []byte) (rest []byte, err error) {
	n, b, err := msgp.ReadArrayHeaderBytes(b)
	if err == nil && n != 1 {
		err = msgp.ArrayError{Wanted: 1, Got: n}
	}
	if err == nil {
		o.Offset, b, err = msgp.ReadIntBytes(b)
	}
	return b, err
}

// A tokenizer of the program's own in a graph with other ops: the ids are
// between a start and an end token, and padded or cut to eight.
func Example_tokenizer() {
	g := &datagraph.Graph{Inputs: []datagraph.Column{{Name: "text", Desc: tensor.Encoded()}}, Outputs: []string{"ids"}}
	ids := []string{"ids"}
	g.Then(&ByteTokens{Offset: 3}, []string{"text"}, ids)
	g.Then(transforms.NewConcatConstants([]float64{1}, []float64{2}), ids, ids)
	g.Then(transforms.NewPadEnd(8), ids, ids)

	text, err := json.Marshal(g)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(bytes.Contains(text, []byte(`"op":"byte_tokens"`)))
	var read datagraph.Graph
	if err := json.Unmarshal(text, &read); err != nil {
		log.Fatal(err)
	}
	plan, err := datagraph.Compile(&read, datagraph.CompileOptions{})
	if err != nil {
		log.Fatal(err)
	}
	runner := plan.NewRunner()
	for _, s := range []string{"abc", "", "abcdefgh"} {
		out, err := runner.Run(tensor.FromBytes([]byte(s)))
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(tensor.View[int32](out[0]))
	}
	// Output:
	// true
	// [1 100 101 102 2 0 0 0]
	// [1 2 0 0 0 0 0 0]
	// [1 100 101 102 103 104 105 106]
}

//go:build linux

// Command ours runs infer-prep for bench.py.
package main

import (
	"encoding/json"
	"fmt"
	"os"

	"github.com/infer-prep/infer-prep/bench/internal/peer"
	"github.com/infer-prep/infer-prep/codec"
	_ "github.com/infer-prep/infer-prep/codec/all" // every image format
	"github.com/infer-prep/infer-prep/codec/jpeg"
	"github.com/infer-prep/infer-prep/datagraph"
	"github.com/infer-prep/infer-prep/importer/hf"
	"github.com/infer-prep/infer-prep/importer/preset"
	"github.com/infer-prep/infer-prep/importer/torchvision"
	"github.com/infer-prep/infer-prep/tensor"
	"github.com/infer-prep/infer-prep/transforms"
	_ "github.com/infer-prep/infer-prep/transforms/all" // every op
)

func main() {
	if len(os.Args) == 4 && os.Args[1] == "ops" {
		if err := ops(os.Args[2], os.Args[3]); err != nil {
			fmt.Fprintln(os.Stderr, "ours: ops:", err)
			os.Exit(1)
		}
		return
	}
	peer.Main("this commit", map[string]peer.Case{
		"decode":             presetCase("decode"),
		"imagenet":           presetCase("imagenet"),
		"resize-bilinear":    resizeCase(transforms.Bilinear, transforms.Pillow),
		"resize-bicubic":     resizeCase(transforms.Bicubic, transforms.Pillow),
		"resize-u8-bilinear": resizeCase(transforms.Bilinear, transforms.TorchUint8),
		"resize-u8-bicubic":  resizeCase(transforms.Bicubic, transforms.TorchUint8),
		"v2-tensors": func(images [][]byte, _ []byte) (func(int) ([]byte, error), error) {
			return graphCase(images, []byte(compose), torchvision.ImportTensor)
		},
		"hf-default":      hfCase,
		"qwen2-vl":        hfCase,
		"llava-onevision": hfCase,
		"internvl":        hfCase,
		"train":           trainCase,
		"encode":          encodeCase(95),
		"encode-75":       encodeCase(75),
		"tensors":         tensorsCase,
	})
}

// compose is what Python prints for the transforms of
// bench/peers/torchvision_tensors.py.
const compose = `Compose(
      Resize(size=[256], interpolation=InterpolationMode.BILINEAR, antialias=True)
      CenterCrop(size=(224, 224))
      ToDtype(dtype=torch.float32, scale=True)
      Normalize(mean=[0.485, 0.456, 0.406], std=[0.229, 0.224, 0.225], inplace=False)
)`

// hfCase runs the image processor of a preprocessor_config.json, extra.
func hfCase(images [][]byte, extra []byte) (func(int) ([]byte, error), error) {
	return graphCase(images, extra, hf.Import)
}

// graphCase runs the graph that parse reads from config.
func graphCase(images [][]byte, config []byte, parse func([]byte) (*datagraph.Graph, error)) (func(int) ([]byte, error), error) {
	g, err := parse(config)
	if err != nil {
		return nil, err
	}
	r, err := runner(g)
	if err != nil {
		return nil, err
	}
	return func(i int) ([]byte, error) { return data(r.Run(tensor.FromBytes(images[i]))) }, nil
}

func runner(g *datagraph.Graph) (*datagraph.Runner, error) {
	p, err := datagraph.Compile(g, datagraph.CompileOptions{})
	if err != nil {
		return nil, err
	}
	return p.NewRunner(), nil
}

func data(out []*tensor.Tensor, err error) ([]byte, error) {
	if err != nil {
		return nil, err
	}
	return out[0].Data, nil
}

func presetCase(name string) peer.Case {
	return func(images [][]byte, _ []byte) (func(int) ([]byte, error), error) {
		return graphCase(images, nil, func([]byte) (*datagraph.Graph, error) { return preset.Graph(name) })
	}
}

func decodeAll(images [][]byte) (decoded []*tensor.Tensor, err error) {
	for _, b := range images {
		t, err := codec.Decode(b, nil)
		if err != nil {
			return nil, err
		}
		decoded = append(decoded, t)
	}
	return decoded, nil
}

// encodeCase encodes decoded images as Pillow and OpenCV do: 4:2:0, with the
// standard Huffman tables.
func encodeCase(quality int) peer.Case {
	return func(images [][]byte, _ []byte) (func(int) ([]byte, error), error) {
		decoded, err := decodeAll(images)
		if err != nil {
			return nil, err
		}
		var e jpeg.Encoder
		var file []byte
		return func(i int) (_ []byte, err error) {
			file, err = e.Encode(file[:0], decoded[i], jpeg.EncodeOptions{Quality: quality})
			return file, err
		}, nil
	}
}

// resizeCase resizes decoded images to a short edge of 256.
func resizeCase(interpolation transforms.Interpolation, backend transforms.Backend) peer.Case {
	return func(images [][]byte, _ []byte) (func(int) ([]byte, error), error) {
		decoded, err := decodeAll(images)
		if err != nil {
			return nil, err
		}
		op := transforms.NewResizeShortest(256)
		op.Interpolation, op.Backend = interpolation, backend
		g := datagraph.New(op)
		g.Inputs[0].Desc = tensor.Image(tensor.Uint8, tensor.HWC, tensor.Unknown, tensor.Unknown, 3)
		r, err := runner(g)
		if err != nil {
			return nil, err
		}
		return func(i int) ([]byte, error) { return data(r.Run(decoded[i])) }, nil
	}
}

// tensorsCase runs preset imagenet on decoded images.
func tensorsCase(images [][]byte, _ []byte) (func(int) ([]byte, error), error) {
	decoded, err := decodeAll(images)
	if err != nil {
		return nil, err
	}
	g, err := preset.Graph("imagenet")
	if err != nil {
		return nil, err
	}
	g.Steps = g.Steps[1:]
	g.Inputs[0].Desc = tensor.Image(tensor.Uint8, tensor.HWC, tensor.Unknown, tensor.Unknown, 3)
	r, err := runner(g)
	if err != nil {
		return nil, err
	}
	return func(i int) ([]byte, error) { return data(r.Run(decoded[i])) }, nil
}

// trainCase runs RandomResizedCrop with the given boxes. A box is part of a
// graph, so every image has a Runner and memory of its own.
func trainCase(images [][]byte, extra []byte) (func(int) ([]byte, error), error) {
	var boxes []struct {
		Top, Left, Height, Width int
		Flip                     bool
	}
	if err := json.Unmarshal(extra, &boxes); err != nil {
		return nil, err
	}
	if len(boxes) != len(images) {
		return nil, fmt.Errorf("%d boxes, want %d", len(boxes), len(images))
	}
	var runners []*datagraph.Runner
	for _, b := range boxes {
		ops := []transforms.Op{transforms.NewDecode(), transforms.NewResizedCrop(b.Top, b.Left, b.Height, b.Width, 224, 224)}
		if b.Flip {
			ops = append(ops, transforms.NewHorizontalFlip())
		}
		ops = append(ops, transforms.NewToTensor(), transforms.NewNormalize([]float64{0.485, 0.456, 0.406}, []float64{0.229, 0.224, 0.225}))
		r, err := runner(datagraph.New(ops...))
		if err != nil {
			return nil, err
		}
		runners = append(runners, r)
	}
	return func(i int) ([]byte, error) { return data(runners[i].Run(tensor.FromBytes(images[i]))) }, nil
}

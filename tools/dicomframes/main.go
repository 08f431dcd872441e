// Command dicomframes decodes frames of DICOM files for parity/dicom.py.
//
// It reads requests from the standard input until its end. A request is a line:
// what, frame, and the file's name. What is "stored" for the samples,
// "modality" for the result of modality_lut in float64, or "voi" for that of
// voi_lut of it, or of the samples if the file has no rescale. The answer is a
// line: the type and the SHA-256 of the values, in the machine's byte order, or
// "error:" and the error.
package main

import (
	"bufio"
	"crypto/sha256"
	"fmt"
	"os"
	"strings"

	"github.com/infer-prep/infer-prep/codec"
	_ "github.com/infer-prep/infer-prep/codec/dicom" // the format
	_ "github.com/infer-prep/infer-prep/codec/jp2"   // frames of JPEG 2000
	"github.com/infer-prep/infer-prep/tensor"
	"github.com/infer-prep/infer-prep/transforms"
	"github.com/infer-prep/infer-prep/transforms/radiology"
)

func main() {
	out := bufio.NewWriter(os.Stdout)
	in := bufio.NewScanner(os.Stdin)
	for in.Scan() {
		answer, err := decode(in.Text())
		if err != nil {
			answer = "error: " + err.Error()
		}
		fmt.Fprintln(out, answer)
		out.Flush()
	}
}

// decode answers a request.
func decode(line string) (string, error) {
	fields := strings.SplitN(line, " ", 3)
	if len(fields) < 3 {
		return "", fmt.Errorf("%d fields, want 3", len(fields))
	}
	var frame int
	if _, err := fmt.Sscan(fields[1], &frame); err != nil {
		return "", err
	}
	data, err := os.ReadFile(fields[2])
	if err != nil {
		return "", err
	}
	var d codec.Decoder
	i, err := d.OpenNative(data, &codec.Options{Frame: frame})
	if err != nil {
		return "", err
	}
	n := i.Info()
	x, err := tensor.New(n.Desc())
	if err != nil {
		return "", err
	}
	if err := i.Decode(x.Data, codec.Region{Width: n.Width, Height: n.Height}); err != nil {
		return "", err
	}
	file := tensor.FromBytes(data)
	if fields[0] != "stored" {
		y, err := apply(&radiology.ModalityLUT{DType: tensor.Float64}, x, file)
		switch {
		case err == nil:
			x = y
		case fields[0] == "modality":
			return "", err
		}
	}
	if fields[0] == "voi" {
		if x, err = apply(&radiology.VOILUT{DType: tensor.Float64}, x, file); err != nil {
			return "", err
		}
	}
	return fmt.Sprintf("%v %x", x.DType, sha256.Sum256(x.Data)), nil
}

// apply applies an op.
func apply(op transforms.Op, x, file *tensor.Tensor) (*tensor.Tensor, error) {
	var out [1]tensor.Desc
	if err := op.Infer(out[:], []tensor.Desc{x.Desc, file.Desc}); err != nil {
		return nil, err
	}
	y, err := tensor.New(out[0])
	if err != nil {
		return nil, err
	}
	return y, op.Apply(transforms.NewContext(codec.Limits{}), []*tensor.Tensor{y}, []*tensor.Tensor{x, file})
}

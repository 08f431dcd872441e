package imagelist

import (
	"fmt"

	"github.com/infer-prep/infer-prep/dataset"
	"github.com/infer-prep/infer-prep/tensor"
)

// MaxMore bounds the numbers of one row in memory, such as the boxes of an
// image. It is far more than any of these sets has.
const MaxMore = 1 << 20

// AddMore appends a row with the values of the columns More, in their order.
func (l *List) AddMore(paths []string, more []tensor.Tensor, numbers ...int32) error {
	if len(more) != len(l.More) {
		return fmt.Errorf("%w: %d values, want %d", dataset.ErrParam, len(more), len(l.More))
	}
	if err := l.Add(paths, numbers...); err != nil {
		return err
	}
	l.more = append(l.more, more...)
	return nil
}

// Array returns a tensor of numbers. Its first axis has as many elements as
// values fill; the further axes are those of shape.
func Array[T int32 | float32](values []T, shape ...int) (tensor.Tensor, error) {
	each := 1
	for _, n := range shape {
		each *= n
	}
	d := tensor.Desc{DType: tensor.Int32, Shape: tensor.Dims(append([]int{len(values) / each}, shape...)...)}
	if _, ok := any(values).([]float32); ok {
		d.DType = tensor.Float32
	}
	t, err := tensor.New(d)
	if err != nil {
		return tensor.Tensor{}, err
	}
	copy(tensor.View[T](t), values)
	return *t, nil
}

// ArrayColumn describes what Array returns for rows of any length.
func ArrayColumn(name string, kind tensor.DType, shape ...int) dataset.Column {
	return dataset.Column{Name: name, Desc: tensor.Desc{DType: kind, Shape: tensor.Dims(append([]int{tensor.Unknown}, shape...)...)}}
}

// TextColumn describes a text.
func TextColumn(name string) dataset.Column {
	return dataset.Column{Name: name, Desc: tensor.Encoded()}
}

// Text returns a text.
func Text(s string) tensor.Tensor { return *tensor.FromBytes([]byte(s)) }

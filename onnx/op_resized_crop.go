package onnx

import "github.com/infer-prep/infer-prep/transforms"

func init() {
	register(emitter[*transforms.ResizedCrop]{cut: (*lowering).resizedCut, anySize: (*lowering).resizedCrop})
}

func (l *lowering) resizedCut(o *transforms.ResizedCrop, x value) (value, error) {
	cut := value{desc: x.desc}
	err := l.window(&cut, x, known(o.Top), known(o.Left), known(o.Height), known(o.Width), []float64{0})
	return cut, err
}

func (l *lowering) resizedCrop(o *transforms.ResizedCrop, out []value, x value) error {
	ay, ax, ac := axes(x.desc)
	var sizes [3]num
	sizes[ac] = l.size(x, ac)
	cut, err := l.resizedCut(o, x)
	if err != nil {
		return err
	}
	sizes[ay], sizes[ax] = known(o.OutHeight), known(o.OutWidth)
	interp, backend, antialias := o.Sampling()
	return l.fastResize(interp, backend, antialias, sizes, &out[0], cut)
}

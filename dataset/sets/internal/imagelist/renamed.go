package imagelist

import (
	"github.com/infer-prep/infer-prep/dataset"
)

// classified is what a source of class folders opens.
type classified interface {
	dataset.Classed
	dataset.Keyed
	dataset.Stamped
	dataset.ClassIndexed
}

// Rename returns d, which package imagefolder opened, with other names of its
// classes.
func Rename(d dataset.Data, classes map[string]int32) dataset.Data {
	return &renamed{d.(classified), classes}
}

type renamed struct {
	classified
	classes map[string]int32
}

func (r *renamed) ClassIndex() map[string]int32 { return r.classes }

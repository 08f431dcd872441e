// Package all links every source of datasets of this module and the node save,
// so that definitions which are read may have any of them.
package all

import (
	_ "github.com/infer-prep/infer-prep/dataset/celeba"
	_ "github.com/infer-prep/infer-prep/dataset/cifar10"
	_ "github.com/infer-prep/infer-prep/dataset/cifar100"
	_ "github.com/infer-prep/infer-prep/dataset/coco"
	_ "github.com/infer-prep/infer-prep/dataset/csv"
	_ "github.com/infer-prep/infer-prep/dataset/fakeimage"
	_ "github.com/infer-prep/infer-prep/dataset/generator"
	_ "github.com/infer-prep/infer-prep/dataset/imagefolder"
	_ "github.com/infer-prep/infer-prep/dataset/imagerecord"
	_ "github.com/infer-prep/infer-prep/dataset/kaldi"
	_ "github.com/infer-prep/infer-prep/dataset/manifest"
	_ "github.com/infer-prep/infer-prep/dataset/mnist"
	_ "github.com/infer-prep/infer-prep/dataset/numpyslices"
	_ "github.com/infer-prep/infer-prep/dataset/random"
	_ "github.com/infer-prep/infer-prep/dataset/save"
	_ "github.com/infer-prep/infer-prep/dataset/textfile"
	_ "github.com/infer-prep/infer-prep/dataset/tfrecord"
	_ "github.com/infer-prep/infer-prep/dataset/voc"
	_ "github.com/infer-prep/infer-prep/dataset/webdataset"
)

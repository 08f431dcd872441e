// Package all registers all formats of package records.
package all

import (
	_ "github.com/infer-prep/infer-prep/records/kaldi"
	_ "github.com/infer-prep/infer-prep/records/mds"
	_ "github.com/infer-prep/infer-prep/records/mindrecord"
	_ "github.com/infer-prep/infer-prep/records/mxnet"
	_ "github.com/infer-prep/infer-prep/records/tfexample"
	_ "github.com/infer-prep/infer-prep/records/tfrecord"
	_ "github.com/infer-prep/infer-prep/records/webdataset"
)

// Package all links the formats of record files that need nothing beyond this module's
// usual dependencies.
package all

import (
	_ "github.com/infer-prep/infer-prep/records/kaldi"
	_ "github.com/infer-prep/infer-prep/records/mxnet"
	_ "github.com/infer-prep/infer-prep/records/tfexample"
	_ "github.com/infer-prep/infer-prep/records/tfrecord"
	_ "github.com/infer-prep/infer-prep/records/webdataset"
)

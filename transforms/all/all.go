// Package all registers every op of package transforms, so that graphs and
// bundles which name them can be read.
package all

import "github.com/infer-prep/infer-prep/transforms"

func init() { transforms.Register(transforms.All()...) }

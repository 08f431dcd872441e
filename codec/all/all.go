// Package all links every image format that codec knows, by importing them.
package all

import (
	_ "github.com/infer-prep/infer-prep/codec/png" // registers PNG
)

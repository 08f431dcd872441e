package pipe

import (
	"fmt"

	"github.com/infer-prep/infer-prep/records"
)

// NeedsFile returns the error of a stream in a format that has to seek.
func NeedsFile(f records.Format) error {
	return fmt.Errorf("the format %s cannot be read from a pipe, since it needs to seek and the files beside it: want a file", f.Name)
}

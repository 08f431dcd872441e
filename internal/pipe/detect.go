package pipe

import (
	"errors"
	"fmt"

	"github.com/infer-prep/infer-prep/records"
)

// NeedsFile returns the error of a stream in a format that has to seek.
func NeedsFile(f records.Format) error {
	return fmt.Errorf("the format %s cannot be read from a pipe, since it needs to seek and the files beside it: want a file", f.Name)
}

// Detect returns the format of a stream by its first bytes alone.
func Detect(path string, head []byte) (records.Format, error) {
	f, err := records.DetectHead(path, head)
	if err != nil && isMindRecord(head) {
		err = ErrMindRecord
	}
	return f, err
}

// isMindRecord reports whether a file begins like a MindRecord file. Package
// records/mindrecord knows it better, and may be missing.
func isMindRecord(head []byte) bool {
	const magic = `{"header_size":`
	return len(head) >= 8+len(magic) && string(head[8:8+len(magic)]) == magic
}

// ErrMindRecord reports a MindRecord file in a program without the package.
var ErrMindRecord = errors.New("a MindRecord file, and this program is built without records/mindrecord, which links SQLite")

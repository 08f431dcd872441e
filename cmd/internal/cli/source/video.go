package source

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/infer-prep/infer-prep/importer/hf/video"
)

// OpenVideo reads the video processor of a file, or of a model's folder.
func OpenVideo(ctx context.Context, name string, stdin io.Reader) (*video.Processor, error) {
	read := func(name string) ([]byte, error) { return ReadSmall(ctx, name, stdin, MaxGraphBytes) }
	var data []byte
	info, err := os.Stat(name)
	if err == nil && info.IsDir() {
		file := ""
		if file, data, err = video.FromModel(func(n string) ([]byte, error) { return read(filepath.Join(name, n)) }); file != "" {
			name = filepath.Join(name, file)
		}
	} else {
		data, err = read(name)
	}
	if err != nil {
		return nil, err
	}
	p, err := video.Import(data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return p, nil
}

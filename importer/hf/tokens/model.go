package tokens

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/infer-prep/infer-prep/importer"
	"github.com/infer-prep/infer-prep/importer/hf/video"
)

// FromModel reads the files of a model's folder: processor_config.json,
// preprocessor_config.json, tokenizer_config.json and the file that
// video.FromModel chooses, if the folder has a video processor. read returns
// the content of a file of the folder, or an error that matches fs.ErrNotExist.
// Files that the folder lacks stay nil; Parse says what it misses.
func FromModel(read func(name string) ([]byte, error)) (Files, error) {
	var f Files
	for _, file := range []struct {
		name string
		to   *[]byte
	}{
		{"processor_config.json", &f.Processor}, {"preprocessor_config.json", &f.Preprocessor}, {"tokenizer_config.json", &f.Tokenizer},
	} {
		b, err := read(file.name)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return Files{}, err
		}
		*file.to = b
	}
	_, b, err := video.FromModel(read)
	var e *importer.Error
	switch {
	case err == nil:
		f.Video = b
	case !errors.Is(err, fs.ErrNotExist) && !errors.As(err, &e): // a model of images alone names no video processor
		return Files{}, err
	}
	return f, nil
}

// Open reads the files of a model's folder on this machine, and parses them.
func Open(folder string) (*Processor, error) {
	f, err := FromModel(func(name string) ([]byte, error) { return os.ReadFile(filepath.Join(folder, name)) })
	if err != nil {
		return nil, err
	}
	return Parse(f)
}

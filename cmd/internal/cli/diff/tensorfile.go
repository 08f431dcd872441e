package diff

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/infer-prep/infer-prep/cmd/internal/cli/command"
	"github.com/infer-prep/infer-prep/codec"
	"github.com/infer-prep/infer-prep/internal/paths"
	"github.com/infer-prep/infer-prep/internal/pipe"
	"github.com/infer-prep/infer-prep/store"
	"github.com/infer-prep/infer-prep/tensor"
	"github.com/infer-prep/infer-prep/tensor/npz"
)

// tensorExtensions are the extensions of tensor files.
var tensorExtensions = []string{".npy", ".npz", ".pb", ".safetensors", ".raw", ".bin"}

// isRaw reports whether a file's extension says that it holds elements only.
func isRaw(path string) bool {
	e := strings.ToLower(filepath.Ext(store.Path(path)))
	return e == ".raw" || e == ".bin"
}

// LoadTensors reads the tensors of a file. The extension decides the format:
// npy, npz, pb (ONNX TensorProto), safetensors, raw or bin. like describes a
// raw file; if it is nil the file is bytes of uint8. FILE:NAME selects one
// tensor of a file of several. Tensors of npy and raw files have no name. limit
// bounds the bytes of the elements.
func LoadTensors(ctx context.Context, path string, like *tensor.Desc, limit int64) ([]tensor.Named, error) {
	member := ""
	if there, err := paths.Exists(ctx, path); !there || err != nil {
		if i := strings.LastIndexByte(path, ':'); i > 0 && slices.Contains(tensorExtensions, strings.ToLower(filepath.Ext(path[:i]))) {
			path, member = path[:i], path[i+1:]
		}
	}
	l, err := ReadTensorFile(ctx, path, like, limit)
	if err != nil {
		return nil, paths.Error(path, err)
	}
	if member == "" {
		return l, nil
	}
	var have []string
	for _, n := range l {
		if n.Name == member {
			return []tensor.Named{n}, nil
		}
		have = append(have, n.Name)
	}
	return nil, fmt.Errorf("%s: no tensor %q; the file has %q", path, member, have)
}

func ReadTensorFile(ctx context.Context, path string, like *tensor.Desc, limit int64) ([]tensor.Named, error) {
	file, err := store.URI.Open(ctx, paths.StoreName(path))
	if err != nil {
		return nil, err
	}
	defer file.Close()
	size := file.Size()
	f := io.NewSectionReader(file, 0, size)
	one := func(name string, t *tensor.Tensor, err error) ([]tensor.Named, error) {
		if err == nil {
			err = atEnd(f)
		}
		if err != nil {
			return nil, err
		}
		return []tensor.Named{{Name: name, T: t}}, nil
	}
	switch strings.ToLower(filepath.Ext(store.Path(path))) {
	case ".npy":
		t, err := tensor.ReadNPY(f, limit)
		return one("", t, err)
	case ".npz":
		return npz.Read(f, size, limit)
	case ".pb":
		name, t, err := tensor.ReadTensorProto(f, limit)
		return one(name, t, err)
	case ".safetensors":
		l, _, err := tensor.ReadSafetensors(f, limit)
		return l, err
	case ".raw", ".bin":
		d := tensor.Desc{DType: tensor.Uint8, Shape: tensor.Dims(int(size))}
		if like != nil && like.DType != tensor.Bytes {
			d = *like
		}
		if d.Size() != size {
			return nil, fmt.Errorf("the file has %d bytes, want %d for %v", size, d.Size(), d)
		}
		t, err := tensor.ReadRaw(f, d, limit)
		return one("", t, err)
	}
	return nil, fmt.Errorf("unknown extension, want one of %s", strings.Join(tensorExtensions, ", "))
}

// readTensorPipe reads the tensors of standard input or a pipe. The first bytes
// decide the format, since a pipe has no extension: npy, npz or safetensors, or
// else the elements of like.
func readTensorPipe(cmd *cobra.Command, path string, like *tensor.Desc, limit int64) (l []tensor.Named, err error) {
	p := pipe.Open(cmd.Context(), cmd.InOrStdin(), path)
	defer p.Close()
	defer func() {
		if stopped := command.Interrupted(cmd.Context(), "nothing was compared"); stopped != nil {
			err = stopped
		}
	}()
	r := bufio.NewReaderSize(p, pipe.Buffer)
	head, err := pipe.Head(r)
	if err != nil {
		return nil, paths.Error(path, err)
	}
	const object, longest = 8, 100_000_000 // the place of safetensors' JSON object, and its limit
	switch {
	case bytes.HasPrefix(head, []byte("\x93NUMPY")):
		t, err := tensor.ReadNPY(r, limit)
		if err == nil {
			err = atEnd(r)
		}
		return []tensor.Named{{T: t}}, paths.Error(path, err)
	case bytes.HasPrefix(head, []byte("PK\x03\x04")):
		// The list of a zip file is at its end. It is little longer than its
		// tensors.
		b, err := pipe.ReadAll(r, codec.Limits{Bytes: limit})
		if err == nil {
			l, err = npz.Read(bytes.NewReader(b), int64(len(b)), limit)
		}
		return l, paths.Error(path, err)
	case len(head) > object && head[object] == '{' && binary.LittleEndian.Uint64(head) <= longest:
		l, _, err := tensor.ReadSafetensors(r, limit)
		return l, paths.Error(path, err)
	case like != nil && like.DType != tensor.Bytes:
		t, err := tensor.ReadRaw(r, *like, limit)
		if err == nil {
			err = atEnd(r)
		}
		return []tensor.Named{{T: t}}, paths.Error(path, err)
	}
	return nil, fmt.Errorf("%s: unknown format: a pipe holds npy, npz, safetensors, or raw elements with --like or a graph", path)
}

func atEnd(r io.Reader) error {
	var b [1]byte
	if n, err := io.ReadFull(r, b[:]); n > 0 {
		return errors.New("unexpected bytes after the tensor")
	} else if err != io.EOF {
		return err
	}
	return nil
}

// parseDesc parses a description such as float32:1,3,224,224. It may end in a
// layout, as in float32:224,224,3:HWC.
func parseDesc(s string) (tensor.Desc, error) {
	bad := fmt.Errorf("%q: want a description such as float32:3,224,224 or uint8:224,224,3:HWC", s)
	parts := strings.Split(s, ":")
	if len(parts) < 2 || len(parts) > 3 {
		return tensor.Desc{}, bad
	}
	t, err := tensor.ParseDType(parts[0])
	if err != nil || t == tensor.Bytes {
		return tensor.Desc{}, bad
	}
	d := tensor.Desc{DType: t}
	if parts[1] != "" {
		var dims []int
		for _, p := range strings.Split(parts[1], ",") {
			n, err := strconv.Atoi(p)
			if err != nil || n < 0 || len(dims) == tensor.MaxRank {
				return tensor.Desc{}, bad
			}
			dims = append(dims, n)
		}
		d.Shape = tensor.Dims(dims...)
	}
	if len(parts) == 3 {
		if err := d.Layout.UnmarshalText([]byte(strings.ToUpper(parts[2]))); err != nil {
			return tensor.Desc{}, bad
		}
	}
	if d.Validate() != nil {
		return tensor.Desc{}, bad
	}
	return d, nil
}

// tensorFile is a tensor file of a folder. Its name is the file's name without
// the extension.
type tensorFile struct{ name, path string }

// tensorFolder lists the tensor files of a folder, sorted by name. It ignores
// other files. Two files with one name are an error.
func tensorFolder(ctx context.Context, dir string) ([]tensorFile, error) {
	entries, err := store.ListNames(ctx, store.URI, paths.StoreName(dir))
	if err != nil {
		return nil, paths.Error(dir, err)
	}
	var l []tensorFile
	for _, e := range entries {
		ext := filepath.Ext(e.Base)
		if e.Folder || !slices.Contains(tensorExtensions, strings.ToLower(ext)) {
			continue
		}
		s := tensorFile{strings.TrimSuffix(e.Base, ext), paths.Join(dir, e.Base)}
		if i := slices.IndexFunc(l, func(o tensorFile) bool { return o.name == s.name }); i >= 0 {
			return nil, fmt.Errorf("%s and %s: two files of one tensor", l[i].path, s.path)
		}
		l = append(l, s)
	}
	return l, nil
}

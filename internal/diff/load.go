package diff

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/infer-prep/infer-prep/tensor"
)

// extensions are those of files of tensors.
var extensions = []string{".npy", ".npz", ".pb", ".safetensors", ".raw", ".bin"}

// IsRaw reports whether a file's name says that it has elements alone.
func IsRaw(path string) bool {
	e := strings.ToLower(filepath.Ext(path))
	return e == ".raw" || e == ".bin"
}

// Load reads the tensors of a file, by its extension: npy, npz, pb (ONNX
// TensorProto), safetensors, raw or bin, of which like is the description (nil:
// bytes as uint8). FILE:NAME is one tensor of a file of several. Tensors have their
// names in the file; that of npy and raw is empty. limit bounds the elements' bytes.
func Load(path string, like *tensor.Desc, limit int64) ([]tensor.Named, error) {
	member := ""
	if _, err := os.Stat(path); err != nil {
		if i := strings.LastIndexByte(path, ':'); i > 0 && slices.Contains(extensions, strings.ToLower(filepath.Ext(path[:i]))) {
			path, member = path[:i], path[i+1:]
		}
	}
	l, err := load(path, like, limit)
	if err != nil {
		var pe *os.PathError
		if errors.As(err, &pe) {
			err = pe.Err
		}
		return nil, fmt.Errorf("%s: %w", path, err)
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
	return nil, fmt.Errorf("%s: no tensor %q, there are %q", path, member, have)
}

func load(path string, like *tensor.Desc, limit int64) ([]tensor.Named, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = errors.New("not a regular file")
	}
	if err != nil {
		return nil, err
	}
	one := func(name string, t *tensor.Tensor, err error) ([]tensor.Named, error) {
		if err == nil {
			err = atEnd(f)
		}
		if err != nil {
			return nil, err
		}
		return []tensor.Named{{Name: name, T: t}}, nil
	}
	switch strings.ToLower(filepath.Ext(path)) {
	case ".npy":
		t, err := tensor.ReadNPY(f, limit)
		return one("", t, err)
	case ".npz":
		return tensor.ReadNPZ(f, info.Size(), limit)
	case ".pb":
		name, t, err := tensor.ReadTensorProto(f, limit)
		return one(name, t, err)
	case ".safetensors":
		l, _, err := tensor.ReadSafetensors(f, limit)
		return l, err
	case ".raw", ".bin":
		d := tensor.Desc{DType: tensor.Uint8, Shape: tensor.Dims(int(info.Size()))}
		if like != nil && like.DType != tensor.Bytes {
			d = *like
		}
		if d.Size() != info.Size() {
			return nil, fmt.Errorf("it has %d bytes, want %d: %v", info.Size(), d.Size(), d)
		}
		t, err := tensor.ReadRaw(f, d, limit)
		return one("", t, err)
	}
	return nil, fmt.Errorf("its name does not say what it is, want one of %s", strings.Join(extensions, ", "))
}

func atEnd(r io.Reader) error {
	var b [1]byte
	if n, err := io.ReadFull(r, b[:]); n > 0 {
		return errors.New("bytes after the tensor")
	} else if err != io.EOF {
		return err
	}
	return nil
}

// ParseLike reads a description: float32:1,3,224,224, with or without a layout at
// the end, float32:224,224,3:HWC.
func ParseLike(s string) (tensor.Desc, error) {
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
	if d.Check() != nil {
		return tensor.Desc{}, bad
	}
	return d, nil
}

// Step is a tensor of a folder, by the file's name without the extension.
type Step struct {
	Name string
	Path string
}

// Folder lists the files of tensors in a folder, by name. Other files, such as
// pictures, are left out; two of one name are an error.
func Folder(dir string) ([]Step, error) {
	entries, err := os.ReadDir(dir) // sorted
	if err != nil {
		var pe *os.PathError
		if errors.As(err, &pe) {
			err = pe.Err
		}
		return nil, fmt.Errorf("%s: %w", dir, err)
	}
	var l []Step
	for _, e := range entries {
		ext := filepath.Ext(e.Name())
		if e.IsDir() || !slices.Contains(extensions, strings.ToLower(ext)) {
			continue
		}
		s := Step{Name: strings.TrimSuffix(e.Name(), ext), Path: filepath.Join(dir, e.Name())}
		if i := slices.IndexFunc(l, func(o Step) bool { return o.Name == s.Name }); i >= 0 {
			return nil, fmt.Errorf("%s and %s: one tensor in two files", l[i].Path, s.Path)
		}
		l = append(l, s)
	}
	return l, nil
}

package tfds

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/infer-prep/infer-prep/dataset"
	"github.com/infer-prep/infer-prep/records/tfexample"
	"github.com/infer-prep/infer-prep/tensor"
)

// shape is the shape of a feature.
type shape struct {
	Dimensions []string `json:"dimensions"`
}

// numbers describes a feature of numbers or of bytes.
type numbers struct {
	Shape    shape  `json:"shape"`
	DType    string `json:"dtype"`
	Encoding string `json:"encoding"`
	Lazy     bool   `json:"lazyDecode"`
}

// feature is a feature as features.json has it: the message Feature of
// feature.proto.
type feature struct {
	Class string `json:"pythonClassName"`
	Dict  *struct {
		Features map[string]*feature `json:"features"`
	} `json:"featuresDict"`
	Tensor *numbers   `json:"tensor"`
	Box    *numbers   `json:"boundingBox"`
	Audio  *numbers   `json:"audio"`
	Label  *struct{}  `json:"classLabel"`
	Image  *numbers   `json:"image"`
	Text   *struct{}  `json:"text"`
	Words  *languages `json:"translation"`
	List   *struct {
		Feature *feature `json:"feature"`
		Length  string   `json:"length"`
	} `json:"sequence"`
}

type languages struct {
	Languages []string `json:"languages"`
	Variable  bool     `json:"variableLanguagesPerExample"`
}

// maxDepth bounds nested features, and maxColumns their number.
const (
	maxDepth   = 32
	maxColumns = 1 << 16
)

// columns returns the features as columns.
func (f *feature) columns() (l []column, err error) {
	if f.Dict == nil {
		return nil, errors.New("no featuresDict at the top")
	}
	err = f.walk(column{}, 0, &l)
	return l, err
}

func (f *feature) walk(c column, depth int, l *[]column) error {
	if f == nil || depth > maxDepth || len(*l) > maxColumns {
		return fmt.Errorf("a feature that is null, %d deep or number %d: want at most %d and %d", depth, len(*l), maxDepth, maxColumns)
	}
	under := func(name string) column {
		if c.from != "" {
			c.Name, c.from = c.Name+"."+name, c.from+"/"+name
		} else {
			c.Name, c.from = name, name
		}
		return c
	}
	n := &numbers{}
	switch {
	case f.Dict != nil:
		before := c
		for _, name := range slices.Sorted(maps.Keys(f.Dict.Features)) {
			if name == "" {
				return errors.New("a feature without a name")
			}
			c = before
			if err := f.Dict.Features[name].walk(under(name), depth+1, l); err != nil {
				return err
			}
		}
		return nil
	case f.List != nil:
		size, err := strconv.Atoi(f.List.Length)
		if f.List.Length == "" {
			size, err = -1, nil
		}
		if err != nil || size < -1 {
			return fmt.Errorf("feature %q: a sequence of length %q", c.Name, f.List.Length)
		}
		c.shape = append(slices.Clone(c.shape), size)
		c.ragged++
		return f.List.Feature.walk(c, depth+1, l)
	case f.Words != nil && !f.Words.Variable:
		before := c
		for _, name := range slices.Sorted(slices.Values(f.Words.Languages)) {
			c = before
			x := under(name)
			x.text()
			*l = append(*l, x)
		}
		return nil
	case f.Text != nil, f.Image != nil:
		c.text()
		*l = append(*l, c)
		return nil
	case f.Label != nil:
		c.label = c.ragged == 0
		n.DType = "int64"
	case f.Tensor != nil:
		n = f.Tensor
	case f.Box != nil:
		n = f.Box
	case f.Audio != nil:
		n = f.Audio
	default:
		c.bad = "of the type " + strconv.Quote(path.Ext("x." + f.Class)[1:])
	}
	if c.bad == "" {
		c.numbers(n)
	}
	*l = append(*l, c)
	return nil
}

// text describes a text or an encoded image.
func (c *column) text() {
	c.Desc = tensor.Encoded()
	if c.ragged > 0 {
		c.bad = "a sequence of texts or of images"
	}
}

// types are the types of numbers. The records have int64 and float32.
var types = map[string]tensor.DType{
	"bool": tensor.Bool, "int8": tensor.Int8, "int16": tensor.Int16, "int32": tensor.Int32, "int64": tensor.Int64,
	"uint8": tensor.Uint8, "uint16": tensor.Uint16, "uint32": tensor.Int64, "uint64": tensor.Int64,
	"float16": tensor.Float16, "float32": tensor.Float32, "float64": tensor.Float64,
}

// numbers describes a feature of numbers.
func (c *column) numbers(n *numbers) {
	for _, d := range n.Shape.Dimensions {
		size, err := strconv.Atoi(d)
		if err != nil || size < -1 {
			c.bad = fmt.Sprintf("of a shape with %q", d)
			return
		}
		c.shape = append(slices.Clone(c.shape), size)
	}
	c.encoding = strings.ToLower(n.Encoding)
	dtype, ok := types[n.DType]
	c.wide = n.DType == "uint64"
	switch {
	case (n.DType == "string" || n.DType == "object") && len(c.shape) == 0:
		c.Desc = tensor.Encoded()
		return
	case !ok:
		c.bad = fmt.Sprintf("of the type %q", n.DType)
	case n.Lazy:
		c.bad = "encoded sound"
	case c.encoding != "" && c.encoding != "none" && c.encoding != "bytes" && c.encoding != "zlib":
		c.bad = fmt.Sprintf("encoded as %q", n.Encoding)
	case c.encoding == "none":
		c.encoding = ""
	case c.encoding != "" && c.ragged > 0:
		c.bad = "a sequence of encoded tensors"
	case c.encoding != "" && n.DType == "uint32":
		c.bad = "an encoded tensor of uint32"
	}
	switch {
	case c.bad != "":
	case len(c.shape) > tensor.MaxRank:
		c.bad = fmt.Sprintf("of %d axes, want at most %d", len(c.shape), tensor.MaxRank)
	case c.encoding == "" && c.unknown() > max(1, c.ragged):
		c.bad = fmt.Sprintf("of the shape %v, whose sizes are unknown", c.shape)
	}
	c.Desc.DType = dtype
	if c.bad != "" {
		return
	}
	for _, n := range c.shape {
		c.Desc.Shape = c.Desc.Shape.Append(n)
	}
}

// unknown returns the number of unknown sizes.
func (c *column) unknown() (n int) {
	for _, d := range c.shape {
		if d < 0 {
			n++
		}
	}
	return n
}

// find returns a feature of a record.
func find(l []tfexample.Feature, name string) (*tfexample.Feature, error) {
	for i := range l {
		if l[i].Name == name {
			return &l[i], nil
		}
	}
	return nil, fmt.Errorf("the record has no feature %q", name)
}

// maxDecoded bounds the bytes of an encoded tensor.
const maxDecoded = 1 << 30

// set makes v the column's value in a record.
func (c *column) set(v *dataset.Value, l []tfexample.Feature) error {
	if c.encoding != "" {
		return c.encoded(v, l)
	}
	name := c.from
	sizes := slices.Clone(c.shape)
	if c.ragged > 1 {
		name += "/ragged_flat_values"
		if err := c.lengths(l, sizes); err != nil {
			return err
		}
	}
	f, err := find(l, name)
	if err != nil {
		return err
	}
	if c.Desc.DType == tensor.Bytes {
		if f.Kind != tfexample.Bytes || len(f.Bytes) != 1 {
			return fmt.Errorf("%d byte strings, want 1", len(f.Bytes))
		}
		copy(v.Bytes(len(f.Bytes[0])), f.Bytes[0])
		return nil
	}
	n, kind := len(f.Ints), tfexample.Int64
	switch c.Desc.DType {
	case tensor.Float16, tensor.Float32, tensor.Float64:
		n, kind = len(f.Floats), tfexample.Float
	}
	if f.Kind != kind {
		return fmt.Errorf("a list of kind %d, want %d (feature.proto)", f.Kind, kind)
	}
	if err := c.reset(v, sizes, n); err != nil {
		return err
	}
	return c.fill(v, f)
}

// reset gives v the column's type and a shape of n elements, of which one size
// may be unknown.
func (c *column) reset(v *dataset.Value, sizes []int, n int) error {
	rest, unknown := 1, -1
	for i, d := range sizes {
		switch {
		case d < 0 && unknown >= 0:
			return fmt.Errorf("a shape of %v", sizes)
		case d < 0:
			unknown = i
		case d > 0 && rest > math.MaxInt32/d:
			return fmt.Errorf("a shape of %v", sizes)
		default:
			rest *= d
		}
	}
	if unknown >= 0 {
		if sizes[unknown] = 0; rest > 0 {
			sizes[unknown] = n / rest
		}
		rest *= sizes[unknown]
	}
	if rest != n {
		return fmt.Errorf("%d elements, want a shape of %v", n, c.shape)
	}
	d := tensor.Desc{DType: c.Desc.DType}
	for _, n := range sizes {
		d.Shape = d.Shape.Append(n)
	}
	return v.Reset(d)
}

// lengths sets the sizes of nested sequences, which must be equal in a row.
func (c *column) lengths(l []tfexample.Feature, sizes []int) error {
	for k := range c.ragged - 1 {
		f, err := find(l, fmt.Sprintf("%s/ragged_row_lengths_%d", c.from, k))
		if err != nil {
			return err
		}
		if k == 0 && sizes[0] < 0 {
			sizes[0] = len(f.Ints)
		}
		have := 0
		for i, n := range f.Ints {
			if n < 0 || n > math.MaxInt32 || i > 0 && int(n) != have {
				return fmt.Errorf("sequences of %d and %d elements, want equal lengths in a row", have, n)
			}
			have = int(n)
		}
		sizes[k+1] = have
	}
	return nil
}

// fill copies the numbers of a feature.
func (c *column) fill(v *dataset.Value, f *tfexample.Feature) error {
	switch c.Desc.DType {
	case tensor.Float32:
		copy(tensor.View[float32](&v.Tensor), f.Floats)
	case tensor.Float64:
		for i, x := range f.Floats {
			tensor.View[float64](&v.Tensor)[i] = float64(x)
		}
	case tensor.Float16:
		for i, x := range f.Floats {
			tensor.View[uint16](&v.Tensor)[i] = tensor.Float16FromFloat32(x)
		}
	case tensor.Int64:
		for i, x := range f.Ints {
			if c.wide && x < 0 {
				return fmt.Errorf("%d, want at most %d", uint64(x), int64(math.MaxInt64))
			}
			tensor.View[int64](&v.Tensor)[i] = x
		}
	default:
		for i, x := range f.Ints { // narrower numbers keep their low bytes
			switch c.Desc.DType.Size() {
			case 1:
				v.Data[i] = byte(x)
			case 2:
				binary.NativeEndian.PutUint16(v.Data[2*i:], uint16(x))
			default:
				binary.NativeEndian.PutUint32(v.Data[4*i:], uint32(x))
			}
		}
	}
	return nil
}

// encoded decodes a tensor that is stored as bytes.
func (c *column) encoded(v *dataset.Value, l []tfexample.Feature) error {
	name, sizes := c.from, slices.Clone(c.shape)
	if c.unknown() > 1 {
		f, err := find(l, name+"/shape")
		if err != nil {
			return err
		}
		if len(f.Ints) != len(sizes) {
			return fmt.Errorf("a shape of %d sizes, want %d", len(f.Ints), len(sizes))
		}
		for i, n := range f.Ints {
			if n < 0 || n > math.MaxInt32 || sizes[i] >= 0 && int(n) != sizes[i] {
				return fmt.Errorf("a shape of %v, want %v", f.Ints, sizes)
			}
			sizes[i] = int(n)
		}
		name += "/value"
	}
	f, err := find(l, name)
	if err != nil {
		return err
	}
	if f.Kind != tfexample.Bytes || len(f.Bytes) != 1 {
		return fmt.Errorf("%d byte strings, want 1", len(f.Bytes))
	}
	b := f.Bytes[0]
	if c.encoding == "zlib" {
		z, err := zlib.NewReader(bytes.NewReader(b))
		if err != nil {
			return err
		}
		if b, err = io.ReadAll(io.LimitReader(z, maxDecoded+1)); err != nil {
			return err
		}
		if len(b) > maxDecoded {
			return fmt.Errorf("more than %d bytes", maxDecoded)
		}
	}
	size := c.Desc.DType.Size()
	if len(b)%size != 0 {
		return fmt.Errorf("%d bytes, want numbers of %d", len(b), size)
	}
	if err := c.reset(v, sizes, len(b)/size); err != nil {
		return err
	}
	copy(v.Data, b)
	for i := 0; i < len(b); i += size {
		switch x := v.Data[i:]; size { // the bytes are little-endian
		case 2:
			binary.NativeEndian.PutUint16(x, binary.LittleEndian.Uint16(x))
		case 4:
			binary.NativeEndian.PutUint32(x, binary.LittleEndian.Uint32(x))
		case 8:
			binary.NativeEndian.PutUint64(x, binary.LittleEndian.Uint64(x))
		}
		if c.wide && tensor.View[int64](&v.Tensor)[i/size] < 0 {
			return fmt.Errorf("a number above %d", int64(math.MaxInt64))
		}
	}
	return nil
}

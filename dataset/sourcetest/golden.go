package sourcetest

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/dataset"
	"github.com/infer-prep/infer-prep/internal/spec"
	"github.com/infer-prep/infer-prep/tensor"
)

// Golden compares sources with what a reference read from the same files, as a JSON file
// has it (testdata/gen/datasets1_common.py says how): the number and order of the
// rows, and of the columns that the reference has the types, shapes and values. A
// reference's uint32 and int64 are int32 here, and a Python integer has no type.
// Each case is tested with Run and Spec too. It returns the number of rows compared.
func Golden(t *testing.T, name string) (compared int) {
	t.Helper()
	b, err := os.ReadFile(name)
	require.NoError(t, err)
	var f struct {
		Reference string
		Cases     []struct {
			Source        string
			Params        json.RawMessage
			ClassIndexing map[string]int32 `json:"class_indexing"`
			Rows          []map[string]value
		}
	}
	require.NoError(t, json.Unmarshal(b, &f))
	require.NotEmpty(t, f.Cases)
	for _, c := range f.Cases {
		var short map[string]any
		require.NoError(t, json.Unmarshal(c.Params, &short))
		t.Run(fmt.Sprintf("%s %s %v%v %v", f.Reference, c.Source, short["name"], short["usage"], short["dir"]), func(t *testing.T) {
			var src dataset.Source
			for _, i := range dataset.Nodes() {
				if i.Name == c.Source {
					src = i.New().(dataset.Source)
				}
			}
			require.NotNil(t, src, "no source %q", c.Source)
			require.NoError(t, spec.Unmarshal(c.Params, src))
			Spec(t, src)
			Run(t, src)
			d, err := src.Open()
			require.NoError(t, err)
			defer d.Close()
			if c.ClassIndexing != nil {
				require.Equal(t, c.ClassIndexing, d.(dataset.ClassIndexed).ClassIndex())
			}
			r := d.(dataset.Rows)
			require.EqualValues(t, len(c.Rows), r.Len(), "rows")
			index := map[string]int{}
			for i, k := range d.Columns() {
				index[k.Name] = i
			}
			s := New(d)
			for i, want := range c.Rows {
				require.NoError(t, r.Read(int64(i), s), "row %d", i)
				require.NotEmpty(t, want)
				for k, v := range want {
					require.Contains(t, index, k, "row %d: column", i)
					require.NoError(t, v.equal(&s.Values[index[k]].Tensor), "row %d (%s): column %s", i, s.Key, k)
				}
				compared++
			}
		})
	}
	return compared
}

// value is an array: Data as text or the SHA-256 of its bytes, or the Size and
// SHA-256 of bytes.
type value struct {
	DType  string
	Shape  []int
	Data   []string
	Size   int
	SHA256 string
}

func (v *value) equal(got *tensor.Tensor) error {
	if v.DType == "bytes" {
		sum := sha256.Sum256(got.Data)
		if h := hex.EncodeToString(sum[:]); got.DType != tensor.Bytes || len(got.Data) != v.Size || h != v.SHA256 {
			return fmt.Errorf("got %v of %d bytes, %s; want %d bytes, %s", got.DType, len(got.Data), h, v.Size, v.SHA256)
		}
		return nil
	}
	dtype := got.DType.String()
	if dtype != v.DType && !(dtype == "int32" && (v.DType == "uint32" || v.DType == "int64" || v.DType == "int")) {
		return fmt.Errorf("got %s, want %s", dtype, v.DType)
	}
	if fmt.Sprint(got.Shape.Slice()) != fmt.Sprint(v.Shape) {
		return fmt.Errorf("got shape %v, want %v", got.Shape, v.Shape)
	}
	got = got.Clone()
	if v.SHA256 != "" {
		sum := sha256.Sum256(got.Data)
		if h := hex.EncodeToString(sum[:]); h != v.SHA256 {
			return fmt.Errorf("got %s, want %s", h, v.SHA256)
		}
		return nil
	}
	if int64(len(v.Data)) != got.Len() {
		return fmt.Errorf("got %d elements, want %d", got.Len(), len(v.Data))
	}
	for i, want := range v.Data {
		var have string
		switch got.DType {
		case tensor.Uint8:
			have = fmt.Sprint(got.Data[i])
		case tensor.Int32:
			have = fmt.Sprint(tensor.View[int32](got)[i])
		case tensor.Int64:
			have = fmt.Sprint(tensor.View[int64](got)[i])
		case tensor.Float32:
			x, err := strconv.ParseFloat(want, 64)
			if err != nil {
				return err
			}
			have, want = fmt.Sprint(tensor.View[float32](got)[i]), fmt.Sprint(float32(x))
		default:
			return fmt.Errorf("no comparison of %s", dtype)
		}
		if have != want {
			return fmt.Errorf("at %d: got %s, want %s", i, have, want)
		}
	}
	return nil
}

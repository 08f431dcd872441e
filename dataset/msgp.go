package dataset

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/tinylib/msgp/msgp"

	"github.com/infer-prep/infer-prep/internal/msgpack"
)

// The msgp form is the JSON form encoded as msgp, with sorted keys, so that
// equal definitions have equal bytes. Reading makes the same checks.

// MarshalMsg appends the definition's msgp form to b.
func (d *Dataset) MarshalMsg(b []byte) ([]byte, error) {
	text, err := d.MarshalJSON()
	if err != nil {
		return nil, err
	}
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.UseNumber()
	var v any
	if err := dec.Decode(&v); err != nil {
		return nil, err
	}
	return appendValue(b, v)
}

func appendValue(b []byte, v any) ([]byte, error) {
	switch v := v.(type) {
	case nil:
		return msgp.AppendNil(b), nil
	case bool:
		return msgp.AppendBool(b, v), nil
	case string:
		return msgp.AppendString(b, v), nil
	case json.Number:
		if i, err := v.Int64(); err == nil {
			return msgp.AppendInt64(b, i), nil
		}
		if u, err := strconv.ParseUint(v.String(), 10, 64); err == nil {
			return msgp.AppendUint64(b, u), nil
		}
		f, err := v.Float64()
		return msgp.AppendFloat64(b, f), err
	case []any:
		b = msgp.AppendArrayHeader(b, uint32(len(v)))
		for _, x := range v {
			var err error
			if b, err = appendValue(b, x); err != nil {
				return nil, err
			}
		}
		return b, nil
	case map[string]any:
		keys := make([]string, 0, len(v))
		for k := range v {
			keys = append(keys, k)
		}
		slices.Sort(keys)
		b = msgp.AppendMapHeader(b, uint32(len(v)))
		for _, k := range keys {
			b = msgp.AppendString(b, k)
			var err error
			if b, err = appendValue(b, v[k]); err != nil {
				return nil, err
			}
		}
		return b, nil
	}
	return nil, fmt.Errorf("dataset: %T has no msgp form", v)
}

// UnmarshalMsg reads the msgp form as UnmarshalJSON reads JSON, and returns the
// rest of b.
func (d *Dataset) UnmarshalMsg(b []byte) ([]byte, error) {
	var text strings.Builder
	rest, err := b, msgpack.Whole(b)
	if err == nil {
		rest, err = jsonOf(&text, b, 0)
	}
	if err != nil {
		return nil, fmt.Errorf("dataset: %w: offset %d: %w", ErrDefinition, len(b)-len(rest), err)
	}
	return rest, d.UnmarshalJSON([]byte(text.String()))
}

// maxMsgpDepth bounds the depth of msgp values: each node of a definition has
// two levels, and its parameters a few more.
const maxMsgpDepth = 3*maxDepth + 100

// jsonOf writes the first value of b as JSON and returns the rest.
func jsonOf(w *strings.Builder, b []byte, depth int) (rest []byte, err error) {
	if depth > maxMsgpDepth {
		return b, fmt.Errorf("values %d deep", depth)
	}
	str := func(b []byte) ([]byte, error) {
		s, rest, err := msgp.ReadStringZC(b)
		if err != nil {
			return b, err
		}
		t, err := json.Marshal(string(s))
		w.Write(t)
		return rest, err
	}
	switch t := msgp.NextType(b); t {
	case msgp.NilType:
		w.WriteString("null")
		return msgp.ReadNilBytes(b)
	case msgp.BoolType:
		v, rest, err := msgp.ReadBoolBytes(b)
		w.WriteString(strconv.FormatBool(v))
		return rest, err
	case msgp.StrType:
		return str(b)
	case msgp.IntType:
		v, rest, err := msgp.ReadInt64Bytes(b)
		w.WriteString(strconv.FormatInt(v, 10))
		return rest, err
	case msgp.UintType:
		v, rest, err := msgp.ReadUint64Bytes(b)
		w.WriteString(strconv.FormatUint(v, 10))
		return rest, err
	case msgp.Float64Type:
		v, rest, err := msgp.ReadFloat64Bytes(b)
		if err != nil {
			return b, err
		}
		t, err := json.Marshal(v)
		w.Write(t)
		return rest, err
	case msgp.ArrayType:
		n, rest, err := msgp.ReadArrayHeaderBytes(b)
		if err != nil {
			return b, err
		}
		w.WriteByte('[')
		for i := range n {
			if i > 0 {
				w.WriteByte(',')
			}
			if rest, err = jsonOf(w, rest, depth+1); err != nil {
				return rest, err
			}
		}
		w.WriteByte(']')
		return rest, nil
	case msgp.MapType:
		n, rest, err := msgp.ReadMapHeaderBytes(b)
		if err != nil {
			return b, err
		}
		w.WriteByte('{')
		for i := range n {
			if i > 0 {
				w.WriteByte(',')
			}
			if rest, err = str(rest); err != nil {
				return rest, err
			}
			w.WriteByte(':')
			if rest, err = jsonOf(w, rest, depth+1); err != nil {
				return rest, err
			}
		}
		w.WriteByte('}')
		return rest, nil
	default:
		return b, fmt.Errorf("a value of type %v", t)
	}
}

package binding

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/dataset"
	"github.com/infer-prep/infer-prep/tensor"
)

// counted is a definition with functions: batches of numbers from a generator,
// each doubled and those above 4 dropped.
const counted = `{"infer_prep_dataset":1,"top":{"node":"batch","version":1,"params":` +
	`{"size":2,"size_func":"","drop_remainder":false,"pad":[],"per_batch":"","out":[]},"in":[{"node":"filter","version":1,"params":` +
	`{"name":"python:small@1","in":["n"]},"in":[{"node":"func","version":1,"params":{"name":"python:double@1","in":["n"],` +
	`"out":[{"name":"n","dtype":"int64","layout":"none","shape":[]}]},"in":[{"node":"watch","version":1,"params":` +
	`{"name":"python:log@1","every":1,"waited":false},"in":[{"node":"from_generator","version":1,"params":{"name":"python:count@1"}}]}]}]}]}}`

var countedBy = []Function{
	{Name: "python:count@1", Columns: []dataset.OutColumn{{Name: "n", Desc: tensor.Desc{DType: tensor.Int64}}}},
	{Name: "python:double@1"}, {Name: "python:small@1"}, {Name: "python:log@1", Methods: []string{"epoch_end"}},
}

// python is the threads of a Python process.
type python struct {
	p    *Pipeline
	mu   sync.Mutex
	left map[int64]int64 // of each generator
}

func (y *python) serve() {
	for c := y.p.NextCall(true); c != nil; c = y.p.NextCall(false) {
		if c.More {
			go y.serve()
		}
		y.answer(c)
	}
}

func (y *python) answer(c *Call) {
	y.mu.Lock()
	defer y.mu.Unlock()
	number := func(n int64) []tensor.Tensor {
		b := binary.NativeEndian.AppendUint64(nil, uint64(n))
		t, err := Dense(int(tensor.Int64), nil, b)
		if err != nil {
			panic(err)
		}
		return []tensor.Tensor{t}
	}
	switch {
	case c.Kind == callStart:
		y.left[c.Reader] = 5
		y.p.Return(c.ID, true, nil)
	case c.Kind == callNext && y.left[c.Reader] == 0:
		y.p.Return(c.ID, false, nil)
	case c.Kind == callNext:
		y.left[c.Reader]--
		y.p.Return(c.ID, true, number(y.left[c.Reader]))
	case c.Kind != callSample:
		y.p.Return(c.ID, true, nil)
	case c.Function == 2:
		y.p.Return(c.ID, tensor.View[int64](&c.Tensors.List()[0])[0] <= 4, nil)
	case tensor.View[int64](&c.Tensors.List()[0])[0] == 0:
		y.p.Raise(c.ID, "zero")
	default:
		y.p.Return(c.ID, true, number(2*tensor.View[int64](&c.Tensors.List()[0])[0]))
	}
}

func TestFunctions(t *testing.T) {
	p, err := OpenPipeline([]byte(counted), Options{Functions: countedBy, OnError: "skip"})
	require.NoError(t, err)
	go (&python{p: p, left: map[int64]int64{}}).serve()
	b, err := p.Next(time.Minute)
	require.NoError(t, err)
	require.Equal(t, []int64{4, 2}, tensor.View[int64](&b.List()[0]))
	_, err = p.Next(time.Minute)
	require.Equal(t, io.EOF, err)
	require.Contains(t, strings.Join(p.Notes(), "\n"), "zero")
	require.NoError(t, p.Close())
	require.Nil(t, p.NextCall(false))
	p.Return(1, true, nil) // an old call: ignored
}

func TestFunctionErrors(t *testing.T) {
	for text, change := range map[string][2]string{
		`unknown function "other"`:         {"python:double@1", "python:other@1"},
		`unknown function "nobody"`:        {"python:count@1", "python:nobody@1"},
		"watch: invalid definition":        {`"in":[{"node":"from_generator","version":1,"params":{"name":"python:count@1"}}]`, `"in":[]`},
		"unknown dataset node":             {`"node":"filter"`, `"node":"filtre"`},
		"version 7, want version 1":        {`"node":"func","version":1`, `"node":"func","version":7`},
		`unknown column "m"`:               {`"name":"python:small@1","in":["n"]`, `"name":"python:small@1","in":["m"]`},
		"infer_prep_dataset is 2, want":    {`"infer_prep_dataset":1`, `"infer_prep_dataset":2`},
		`dataset function "python:x@1"`:    {`"size_func":""`, `"size_func":"python:x@1"`},
		"every -1":                         {`"every":1`, `"every":-1`},
		"'top.in' is a string, want":       {`"in":[{"node":"filter"`, `"in":"x","x":[{"node":"filter"`},
		`parameter "in" is missing`:        {`"name":"python:small@1","in":["n"]`, `"name":"python:small@1"`},
		`infer_prep: options: invalid arg`: {`{"infer_prep_dataset"`, `{{"infer_prep_dataset"`},
	} {
		definition := strings.Replace(counted, change[0], change[1], 1)
		require.NotEqual(t, counted, definition, text)
		_, err := OpenPipeline([]byte(definition), Options{Functions: countedBy})
		require.Error(t, err, text)
		require.Contains(t, Text(err), text)
		require.Contains(t, []string{"input", "node", "param"}, Code(err), Text(err))
	}
	_, err := Node("func", []byte(`{"name":"python:f@1","out":[],"in":["n"],"x":1}`))
	require.ErrorContains(t, err, `unknown parameter "x"`)
	require.Equal(t, "param", Code(err))
	n, err := Node("batch", []byte(`{"size":2,"per_batch":"python:f@1","out":[{"name":"n","dtype":"int64","layout":"none","shape":[]}]}`))
	require.NoError(t, err)
	require.Contains(t, string(n), `"per_batch":"python:f@1"`)
	require.Equal(t, "function", Code(fmt.Errorf("of a sample: %w", &RaisedError{3, "zero"})))
	for _, bytes := range []int{7, 9} {
		_, err = Dense(int(tensor.Int64), nil, make([]byte, bytes))
		require.ErrorIs(t, err, errInput)
	}
	_, err = Dense(99, nil, nil)
	require.Error(t, err)
	_, err = Dense(int(tensor.Int64), []int{-1}, nil)
	require.Error(t, err)
}

// FuzzFunctions checks that no definition with functions panics, and that its
// errors have a kind.
func FuzzFunctions(f *testing.F) {
	f.Add([]byte(counted))
	f.Add([]byte(`{"infer_prep_dataset":1,"top":{"node":"watch","version":1,"params":null}}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		_, err := withFunctions(b, countedBy, newCalls(), map[string]*dataset.Answers{})
		if err != nil && (Code(err) == "internal" || errors.Is(err, errInternal)) {
			t.Fatal(err)
		}
	})
}

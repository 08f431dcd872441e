package dataset_test

import (
	"encoding/json"
	"math/rand/v2"

	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/datagraph"
	"github.com/infer-prep/infer-prep/dataset"
	"github.com/infer-prep/infer-prep/tensor"
	t "github.com/infer-prep/infer-prep/transforms"
)

func init() {
	dataset.Register(dataset.Info{Name: "test/numbers", Version: 1, New: func() dataset.Node { return &numbers{} }})
}

func TestDefinitionsRoundTrip(test *testing.T) {
	for seed := range graphs(test, 500) {
		d := definition(rand.New(rand.NewPCG(uint64(seed), 5)), 5)
		text, err := json.Marshal(d)
		require.NoError(test, err)
		var back dataset.Dataset
		require.NoError(test, json.Unmarshal(text, &back), "%s", text)
		again, err := json.Marshal(&back)
		require.NoError(test, err)
		require.Equal(test, string(text), string(again))
		b, err := d.MarshalMsg([]byte("x"))
		require.NoError(test, err)
		var fromMsg dataset.Dataset
		rest, err := fromMsg.UnmarshalMsg(append(b[1:], 'y'))
		require.NoError(test, err)
		require.Equal(test, "y", string(rest))
		require.Equal(test, &back, &fromMsg)
	}
}

func TestDefinitionOfAMap(test *testing.T) {
	g := datagraph.New(t.NewDecode(), t.NewRandomHorizontalFlip(), t.NewToTensor())
	d := dataset.From(&numbers{N: 3}).MapColumns(g, []string{"image"}, []string{"pixels"}).Batch(3)
	text, err := json.Marshal(d)
	require.NoError(test, err)
	var back dataset.Dataset
	require.NoError(test, json.Unmarshal(text, &back))
	again, err := json.Marshal(&back)
	require.NoError(test, err)
	require.Equal(test, string(text), string(again))
}

func TestDefinitionsThatAreRefused(test *testing.T) {
	some := func(*dataset.Call, []*tensor.Tensor) (bool, error) { return true, nil }
	_, err := json.Marshal(dataset.From(&numbers{}).Filter(some, "x"))
	require.ErrorIs(test, err, dataset.ErrUnknownNode)
	for text, want := range map[string]string{
		`{}`: "infer_prep_dataset is 0",
		`{"infer_prep_dataset":1,"top":{"node":"shuffle","version":1,"params":{}}} x`:                                                 "invalid character",
		`{"infer_prep_dataset":1,"top":{"node":"none","version":1,"params":{}}}`:                                                      `unknown dataset node "none"`,
		`{"infer_prep_dataset":1,"top":{"node":"shuffle","version":2,"params":{}}}`:                                                   "version 2",
		`{"infer_prep_dataset":1,"top":{"node":"batch","version":1,"params":{"size":3}}}`:                                             `"size_func" is missing`,
		`{"infer_prep_dataset":1,"top":{"node":"take","version":1,"params":{"count":3,"seed":1}}}`:                                    "seed",
		`{"infer_prep_dataset":1,"top":{"node":"take","version":1,"params":{"count":-3}}}`:                                            "count -3",
		`{"infer_prep_dataset":1,"top":{"node":"filter","version":1,"params":{"name":"test/nobody","in":[]}}}`:                        `unknown dataset function "test/nobody"`,
		`{"infer_prep_dataset":1,"top":{"node":"filter","version":1,"params":{"name":"test/noise","in":[]}}}`:                         "want a dataset.Predicate",
		strings.Repeat(`{"infer_prep_dataset":1,"top":`, 1) + strings.Repeat(`{"node":"shuffle","version":1,"params":{},"in":[`, 300): "unexpected",
	} {
		var d dataset.Dataset
		err := json.Unmarshal([]byte(text), &d)
		require.ErrorContains(test, err, want, text)
	}
}

func FuzzDefinition(f *testing.F) {
	for seed := range 20 {
		d := definition(rand.New(rand.NewPCG(uint64(seed), 5)), 4)
		b, err := d.MarshalMsg(nil)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	f.Fuzz(func(test *testing.T, b []byte) {
		var d dataset.Dataset
		if _, err := d.UnmarshalMsg(b); err != nil {
			return
		}
		again, err := d.MarshalMsg(nil)
		require.NoError(test, err)
		var back dataset.Dataset
		_, err = back.UnmarshalMsg(again)
		require.NoError(test, err)
	})
}

func FuzzStateBinary(f *testing.F) {
	s := dataset.State{Version: 2, Fingerprint: 5, Epoch: 3, Step: 9, Rank: 1, World: 2, Words: []int64{1, -2, 3}, Sources: []int64{9, -1}}
	b, err := s.MarshalBinary()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(b)
	f.Fuzz(func(test *testing.T, b []byte) {
		var s dataset.State
		if s.UnmarshalBinary(b) != nil {
			return
		}
		again, err := s.MarshalBinary()
		require.NoError(test, err)
		require.LessOrEqual(test, len(again), len(b))
	})
}

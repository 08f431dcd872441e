// Package dataset describes training data: where samples come from, and the
// steps that turn them into batches.
//
//	ds := dataset.From(imagefolder.New("train")).Shuffle().Map(graph).Batch(32)
//
// A [Dataset] is a definition: a tree of nodes, which can be written as JSON.
// [Build] checks it and opens its sources. Package pullpipe runs the resulting
// [Built] sample by sample, without goroutines; package pipeline runs it in
// parallel stages. Both return the same samples in the same order. A [State] of
// one resumes the other.
//
// The packages below this one are sources: imagefolder, csv, webdataset and
// others. Importing one registers it for definitions that are read from JSON.
//
// # Order and randomness
//
// A source has rows. Nodes that only choose and order rows (Shuffle, Repeat,
// Skip, Take, Concat, Zip, Split, samplers) keep no samples: sample k of an
// epoch is a function of the seed, the epoch and k. So Shuffle mixes ten
// million rows completely without memory, and a run can resume at any sample.
// Nodes whose order depends on the data (Filter, FlatMap, BucketBatch, …) read
// their input one sample after another.
//
// Random numbers depend on the seed, the epoch, the node's path in the
// definition and the sample's ordinal. They do not depend on the engine, its
// workers, the rank or the time; see package rng.
package dataset

// Dataset is a definition: a node and its inputs. It is immutable, but shares
// its nodes: do not change a node that is part of a Dataset.
type Dataset struct {
	Node Node
	In   []*Dataset
}

// From returns the dataset of all rows of a source, in their order.
func From(s Source) *Dataset { return &Dataset{Node: s} }

// Of returns the dataset of a node and its inputs. The methods of Dataset are
// shorter forms for the nodes of this package.
func Of(n Node, in ...*Dataset) *Dataset { return &Dataset{n, in} }

// then returns the dataset of a node whose input is d.
func (d *Dataset) then(n Node) *Dataset { return Of(n, d) }

// Apply returns f(d). It inserts a part of a definition into a chain of calls.
func (d *Dataset) Apply(f func(*Dataset) *Dataset) *Dataset { return f(d) }

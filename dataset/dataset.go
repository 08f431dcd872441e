// Package dataset defines datasets: where samples come from and what is done to
// them on their way to a training step.
//
//	ds := dataset.From(imagefolder.New("train")).Shuffle().Map(graph).Batch(32)
//
// A [Dataset] is a definition, a tree of nodes. Nothing is opened or checked
// before [Build]; a [Built] is run by package pullpipe, sample by sample and
// without goroutines, or by package pipeline, in parallel stages. Both give the
// same samples in the same order, and stop and resume at the same places.
//
// # Order and randomness
//
// A source has rows. Nodes that only choose and order rows (Shuffle, Repeat,
// Skip, Take, Concat, Zip, Split, samplers) have no memory: sample k of an epoch
// is a function of the seed, the epoch and k. So a dataset of ten million rows is
// shuffled completely in no time and no space, and every sample can be found again.
// Nodes above whose order depends on the data (Filter, FlatMap, BucketBatch, …)
// read from below one sample after another.
//
// What is random depends on the seed, the epoch, the place of the node in the
// definition and the sample's ordinal, and on nothing else: not on the engine,
// its workers, the rank or the time; see package rng.
package dataset

// Dataset is a definition: a node, and the datasets that it takes. It is
// immutable, except that nodes are shared: they must not be changed once they are
// part of a Dataset.
type Dataset struct {
	Node Node
	In   []*Dataset
}

// From is the dataset of a source: all its rows in their order.
func From(s Source) *Dataset { return &Dataset{Node: s} }

// Of is the dataset that a node makes of others. The methods of Dataset are
// shorter forms for the nodes of this package.
func Of(n Node, in ...*Dataset) *Dataset { return &Dataset{n, in} }

// then is the dataset that a node makes of d.
func (d *Dataset) then(n Node) *Dataset { return Of(n, d) }

// Apply is what f makes of d: a place for parts of definitions that are used several times.
func (d *Dataset) Apply(f func(*Dataset) *Dataset) *Dataset { return f(d) }

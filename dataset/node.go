package dataset

import "context"

// A node of this package is an op and one or more of router, mapper, streamer
// and indexer. It states in its own file all that the rest of the package must
// know of it: nothing else tells nodes apart by their types.

// op is a node of this package with inputs.
type op interface {
	Node
	traits() traits
	// build checks s.in, and sets the columns, size, indexed and state of s.
	build(b *Built, s *step) error
}

// traits are what passes, iterators and states must know of an op.
type traits struct {
	// joins allows several inputs. Samples have ordinals that depend on the
	// input; see ofInput.
	joins bool
	// batches reports that the op stacks samples.
	batches bool
	// several reports that the op makes several samples of one.
	several bool
	// selects reports that the op only selects, orders and renames columns,
	// which is too little work for a goroutine.
	selects bool
	// filters reports that the op is a Filter: its state is the numbers of the
	// columns that it reads.
	filters bool
	// caches reports that the op keeps samples and runs all steps below it
	// itself, if it has an index.
	caches bool
	// persists reports that the op keeps samples for later runs, so that
	// sources note the files they open.
	persists bool
	// changes reports that the samples or their order differ between epochs.
	changes bool
	// draws reports that samples may depend on the seed, though they do not
	// differ between epochs.
	draws bool
	// lockstep reports that all ranks have equal states after equally many
	// samples. It is true of every oneToOne.
	lockstep bool
	// unrefillable says why single samples above the op cannot be found again
	// to refill a buffer; %s is the op's path. Empty if they can.
	unrefillable string
}

// traitsOf returns the traits of any node.
func traitsOf(n Node) traits {
	if o, ok := n.(op); ok {
		return o.traits()
	}
	return traits{}
}

// router is an op that only chooses and orders samples. locator returns a
// function, for one goroutine, that maps a place of an epoch to an input's
// place.
type router interface {
	op
	locator(b *Built, s *step) func(epoch uint64, k int64) (in int, e uint64, pos int64)
}

// noRow is the place that the locator of a refusing router returns if the epoch
// has no order.
const noRow = -1

// refusing is a router whose epochs may have no order.
type refusing interface {
	router
	// refusal returns why an epoch has no order.
	refusal(s *step, epoch uint64) error
}

// mapper is an op that turns one sample into one, or drops it. It has no state
// of its own.
type mapper interface {
	op
	tracing
	worker(b *Built, s *step) (worker, error)
}

// oneToOne is a mapper that makes one sample of each, so that its length is
// that of its input, bad samples included.
type oneToOne interface {
	mapper
	// from returns for every column the column of the input that it is a copy
	// of, or a negative number.
	from(s *step) []int
}

// streamer is an op with its own iterator.
type streamer interface {
	op
	tracing
	stream(o *opener, s *step, epoch uint64) (iterator, error)
	// merge reads the words that the iterators of all ranks saved, writes those
	// of the merged state, and calls m.inputs.
	merge(m *merger, s *step, epoch uint64) error
}

// indexer is an op with its own iterator within an indexed tree.
type indexer interface {
	op
	index(o *opener, s *step, f feed) (iterator, error)
}

// measured is an op without an index that may know its length.
type measured interface {
	op
	// length returns the number of samples of an epoch of this rank, Endless or
	// Unknown.
	length(b *Built, s *step) int64
}

// tracing is an op that InferenceGraph follows.
type tracing interface {
	op
	// trace puts the op's effect on a sample into s, which has the columns of
	// the inputs, s.below.
	trace(ctx context.Context, t *tracer, s *scope) error
}

// unwritable is a node that may have no written form, since its function has no
// name.
type unwritable interface{ unwritable() error }

// required is a node with parameters that have no default. clear unsets them,
// so that Validate refuses a node without them.
type required interface{ clear() }

package dataset

import "sort"

// ShuffleShards returns all samples in a random order that reads a few shards
// at a time, a new order in each epoch. A full Shuffle reads from every file of
// the dataset all the time, which is slow where a file is opened or read
// through a network.
//
// The shards are put in a random order. The samples in that order are cut into
// Lanes pieces of equal length, or one sample longer, and each piece into
// windows of Window samples, which are shuffled. Sample k of the epoch is
// sample k / Lanes of piece k mod Lanes. If Options.World divides Lanes, a rank
// reads the shards of its own pieces alone. The order is the same for any
// number of ranks, so a run is resumed on another number of them. Each lane
// reads the shards of one window at a time, mostly one or two.
//
// As with Shuffle, the order needs no memory for samples. The input must be a
// source of shards (Sharded): webdataset, image_record, tfrecord, mind_record,
// kaldi, csv or text_file.
//
// Reference: the shard shuffle and the sample shuffle of webdataset, whose
// buffer becomes a window; the canonical nodes of MosaicML's streaming are
// Lanes. The orders themselves are not those of these libraries.
type ShuffleShards struct {
	Window int64 `json:"window"` // samples that are mixed, 1 or more
	Lanes  int64 `json:"lanes"`  // pieces, 1 to 1,048,576; one sample of each is returned at a time
}

func init() {
	Register(Info{Name: "shuffle_shards", Version: 1, New: func() Node { return &ShuffleShards{Window: 1000, Lanes: 1} }, Doc: "shards in random order, mixed within windows"})
}

// ShuffleShards returns all samples in a random order that reads a few shards
// at a time.
func (d *Dataset) ShuffleShards(window, lanes int64) *Dataset {
	return d.then(&ShuffleShards{window, lanes})
}

// maxLanes is the most lanes, more than any number of ranks.
const maxLanes = 1 << 20

// Validate requires a window of 1 or more samples, and 1 to 1,048,576 lanes.
func (n *ShuffleShards) Validate() error {
	if n.Window < 1 || n.Lanes < 1 || n.Lanes > maxLanes {
		return paramErr("a window of %d samples and %d lanes, want 1 or more samples and 1 to %d lanes", n.Window, n.Lanes, maxLanes)
	}
	return nil
}

func (n *ShuffleShards) traits() traits { return traits{changes: true} }

func (n *ShuffleShards) build(_ *Built, s *step) error {
	in := s.inherit()
	if err := in.requireFinite("a shuffle of shards"); err != nil {
		return err
	}
	d, ok := in.data.(Sharded)
	if !ok {
		return defErr("%s has no shards, want a source of shards (dataset.Sharded)", in.path)
	}
	s.state = append(d.Shards(), in.size)
	return nil
}

func (n *ShuffleShards) locator(b *Built, s *step) func(uint64, int64) (int, uint64, int64) {
	starts, size := s.state.([]int64), s.in[0].size
	shards := len(starts) - 1
	shard := permuted(b.options.Seed, s.path, int64(shards))
	draw := drawn(b.options.Seed, s.path+"/windows")
	// The order of an epoch: the shard at each place, and the number of samples
	// before it.
	var order []int32
	var before []int64
	of, ready := uint64(0), false
	begin := func(epoch uint64) {
		order, before = order[:0], append(before[:0], 0)
		for i := range shards {
			k := shard(epoch, int64(i))
			order = append(order, int32(k))
			before = append(before, before[i]+starts[k+1]-starts[k])
		}
		of, ready = epoch, true
	}
	return func(epoch uint64, k int64) (int, uint64, int64) {
		if !ready || of != epoch {
			begin(epoch)
		}
		lane, at := k%n.Lanes, k/n.Lanes
		each, longer := size/n.Lanes, size%n.Lanes
		first := lane*each + min(lane, longer)
		if lane < longer {
			each++
		}
		from := at / n.Window * n.Window
		p := permutation(min(n.Window, each-from), draw(epoch, first+from))
		at = first + from + int64(p.At(uint64(at-from)))
		place := sort.Search(shards, func(i int) bool { return before[i+1] > at })
		return 0, epoch, starts[order[place]] + at - before[place]
	}
}

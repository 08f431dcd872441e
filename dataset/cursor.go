package dataset

// origin says where a sample comes from, so that it can be found again.
type origin struct {
	root int32 // of the tree, counted from the left
	sub  int32 // of the samples that one sample was made into
	k    int64 // place in the root's order
}

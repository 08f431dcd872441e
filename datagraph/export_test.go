package datagraph

// TakeDeclined reports whether a run since the last call was repeated without
// passes.
func (r *Runner) TakeDeclined() bool {
	d := r.unfused != nil
	r.unfused = nil
	return d
}

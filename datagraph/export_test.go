package datagraph

// TakeDeclined reports whether a run since the last call was done again without passes.
func (r *Runner) TakeDeclined() bool {
	d := r.unfused != nil
	r.unfused = nil
	return d
}

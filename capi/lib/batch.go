package main

// #include "infer_prep.h"
import "C"

import (
	"fmt"
	"unsafe"

	"github.com/infer-prep/infer-prep/tensor"
)

// maxResults is the most results of a batch.
const maxResults = 1 << 24

//export ipgo_collate
func ipgo_collate(h C.uintptr_t, results unsafe.Pointer, n C.size_t, lent *C.uintptr_t, e *C.ip_error) C.ip_status {
	return do(e, func() error {
		g, err := get[*graph](h)
		if err != nil {
			return err
		}
		if n > maxResults {
			return fmt.Errorf("infer_prep: collate: %w: %d results, want at most %d", errInput, n, maxResults)
		}
		samples := make([][]*tensor.Tensor, n)
		for i, h := range unsafe.Slice((*C.uintptr_t)(results), n) {
			r, err := get[*result](h)
			if err == nil && r.graph != g {
				err = fmt.Errorf("%w: not a result of a run of this graph", errInput)
			}
			if err != nil {
				return fmt.Errorf("infer_prep: collate: result %d: %w", i, err)
			}
			samples[i] = make([]*tensor.Tensor, len(r.list))
			for k := range r.list {
				samples[i][k] = &r.list[k]
			}
		}
		batch, err := g.pool.Plan().Collate(samples)
		if err != nil {
			return err
		}
		res := &result{names: g.names, list: make([]tensor.Tensor, len(batch))}
		for k, t := range batch {
			res.list[k] = *t
		}
		*lent = res.lend()
		return nil
	})
}

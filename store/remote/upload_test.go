package remote

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/store"
)

// uploader is a Backend that keeps the context of Create.
type uploader struct {
	*service
	ctx context.Context
}

func (u *uploader) Create(ctx context.Context, name string) (store.NewFile, error) {
	u.ctx = ctx
	return u.service.Create(ctx, name)
}

// TestCountRequest tests what a Store counts of uploads.
func TestCountRequest(t *testing.T) {
	u := &uploader{service: newService()}
	r := New(u, Options{})
	CountRequest(t.Context(), "a", 1) // of no Store
	create := func() context.Context {
		_, err := r.Create(t.Context(), "mem://d/a")
		require.NoError(t, err)
		ctx, cancel := context.WithCancel(u.ctx)
		t.Cleanup(cancel)
		return ctx
	}
	first := create()
	CountRequest(first, "PUT 1", 100)
	CountRequest(first, "PUT 2", 50)
	require.Equal(t, Stats{Requests: 2, Sent: 150}, r.Stats())
	CountRequest(first, "PUT 1", 100)
	require.Equal(t, Stats{Requests: 3, Retries: 1, Sent: 250}, r.Stats())
	CountRequest(create(), "PUT 1", 100) // another object
	require.Equal(t, Stats{Requests: 4, Retries: 1, Sent: 350}, r.Stats())
	CountSent(first, 7)
	CountSent(t.Context(), 7) // of no Store
	require.Equal(t, Stats{Requests: 4, Retries: 1, Sent: 357}, r.Stats())
}

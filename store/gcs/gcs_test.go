package gcs

import (
	"testing"

	"github.com/fsouza/fake-gcs-server/fakestorage"
	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/store/remote"
	"github.com/infer-prep/infer-prep/store/storetest"
)

// server starts fake-gcs-server in this process, with one bucket.
func server(t *testing.T) *fakestorage.Server {
	t.Helper()
	s, err := fakestorage.NewServerWithOptions(fakestorage.Options{Scheme: "http", Host: "127.0.0.1"})
	require.NoError(t, err)
	t.Cleanup(s.Stop)
	s.CreateBucketWithOpts(fakestorage.CreateBucketOpts{Name: "bucket"})
	t.Setenv("STORAGE_EMULATOR_HOST", s.URL())
	return s
}

func TestStore(t *testing.T) {
	server(t)
	b, err := New()
	require.NoError(t, err)
	storetest.Run(t, storetest.Config{Store: remote.New(b, remote.Options{}), Folder: "gs://bucket/a folder"})
}

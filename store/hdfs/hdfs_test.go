package hdfs

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/store/remote"
	"github.com/infer-prep/infer-prep/store/storetest"
)

func backend(t *testing.T) *Backend {
	t.Helper()
	b, err := New()
	require.NoError(t, err)
	return b
}

func TestStore(t *testing.T) {
	m := dfs(t)
	storetest.Run(t, storetest.Config{Store: remote.New(backend(t), remote.Options{}), Folder: m.uris[0] + "/a folder", Bad: ":"})
}

package hdfs

import (
	"os"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/store/hdfs/hdfstest"
)

var shared = sync.OnceValues(func() (*hdfstest.Cluster, error) {
	return hdfstest.Start("--datanodes", "2", "-D", "dfs.replication=2", "-D", "dfs.blocksize=1048576")
})

func wanted(t *testing.T) {
	t.Helper()
	if os.Getenv(hdfstest.Required) == "" {
		t.Skipf("needs an HDFS: %s is not set (make store-test sets it)", hdfstest.Required)
	}
}

// dfs returns an HDFS with two datanodes, which tests share.
func dfs(t *testing.T) *hdfstest.Cluster {
	t.Helper()
	wanted(t)
	m, err := shared()
	require.NoError(t, err)
	return m
}

func TestMain(m *testing.M) {
	code := m.Run()
	if os.Getenv(hdfstest.Required) != "" {
		if m, err := shared(); err == nil {
			m.Close()
		}
	}
	os.Exit(code)
}

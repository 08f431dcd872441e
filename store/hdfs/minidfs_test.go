package hdfs

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// minidfs is a running HDFS.
type minidfs struct {
	uris []string // of its namenodes
	in   io.WriteCloser
	out  *bufio.Scanner
	cmd  *exec.Cmd
}

// start starts an HDFS. make store-test sets the variable without which tests
// that need one are skipped: it takes Java, Maven and 20 s.
func start(args ...string) (*minidfs, error) {
	m := &minidfs{cmd: exec.Command("./minidfs.sh", args...)}
	m.cmd.Stderr = os.Stderr
	var err error
	if m.in, err = m.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := m.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	m.out = bufio.NewScanner(out)
	if err := m.cmd.Start(); err != nil {
		return nil, err
	}
	if !m.out.Scan() {
		return nil, fmt.Errorf("minidfs.sh: %w", m.cmd.Wait())
	}
	m.uris = strings.Fields(m.out.Text())
	return m, nil
}

func (m *minidfs) close() {
	_ = m.in.Close()
	_ = m.cmd.Wait()
}

// do has the HDFS obey a command.
func (m *minidfs) do(t *testing.T, format string, args ...any) {
	t.Helper()
	_, err := fmt.Fprintf(m.in, format+"\n", args...)
	require.NoError(t, err)
	require.True(t, m.out.Scan(), "minidfs.sh has ended")
	require.Equal(t, "ok", m.out.Text())
}

var shared = sync.OnceValues(func() (*minidfs, error) {
	return start("--datanodes", "2", "-D", "dfs.replication=2", "-D", "dfs.blocksize=1048576")
})

func wanted(t *testing.T) {
	t.Helper()
	if os.Getenv("INFER_PREP_STORE_TEST") == "" {
		t.Skip("needs an HDFS: INFER_PREP_STORE_TEST is not set (make store-test sets it)")
	}
}

// dfs returns an HDFS with two datanodes, which tests share.
func dfs(t *testing.T) *minidfs {
	t.Helper()
	wanted(t)
	m, err := shared()
	require.NoError(t, err)
	return m
}

func TestMain(m *testing.M) {
	code := m.Run()
	if os.Getenv("INFER_PREP_STORE_TEST") != "" {
		if m, err := shared(); err == nil {
			m.close()
		}
	}
	os.Exit(code)
}

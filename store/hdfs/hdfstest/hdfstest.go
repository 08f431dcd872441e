// Package hdfstest starts Hadoop's MiniDFSCluster, a real HDFS, for tests.
package hdfstest

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Required is the environment variable without which tests that need an HDFS
// are skipped: it takes Java, Maven and 20 s. make store-test sets it.
const Required = "INFER_PREP_STORE_TEST"

// Cluster is a running HDFS. It listens on the loopback address. It is not safe
// for concurrent use.
type Cluster struct {
	// URIs are those of its namenodes, for example hdfs://127.0.0.1:40001.
	URIs []string

	in  io.WriteCloser
	out *bufio.Scanner
	cmd *exec.Cmd
}

// Start starts an HDFS with the arguments of store/hdfs/minidfs.sh, which
// installs it if needed. The caller closes it.
func Start(args ...string) (*Cluster, error) {
	dir, err := exec.Command("go", "list", "-f", "{{.Dir}}", "github.com/infer-prep/infer-prep/store/hdfs").Output()
	if err != nil {
		return nil, fmt.Errorf("the folder of minidfs.sh: %w", err)
	}
	c := &Cluster{cmd: exec.Command(filepath.Join(strings.TrimSpace(string(dir)), "minidfs.sh"), args...)}
	c.cmd.Stderr = os.Stderr
	if c.in, err = c.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := c.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	c.out = bufio.NewScanner(out)
	if err := c.cmd.Start(); err != nil {
		return nil, err
	}
	if !c.out.Scan() {
		return nil, fmt.Errorf("minidfs.sh: %w", c.cmd.Wait())
	}
	c.URIs = strings.Fields(c.out.Text())
	return c, nil
}

// Close ends the HDFS.
func (c *Cluster) Close() {
	_ = c.in.Close() // which ends it
	_ = c.cmd.Wait()
}

// Do makes the HDFS obey a command of testdata/minidfs/MiniDFS.java.
func (c *Cluster) Do(t testing.TB, format string, args ...any) {
	t.Helper()
	_, err := fmt.Fprintf(c.in, format+"\n", args...)
	require.NoError(t, err)
	require.True(t, c.out.Scan(), "minidfs.sh has ended")
	require.Equal(t, "ok", c.out.Text())
}

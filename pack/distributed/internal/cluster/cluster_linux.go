// Package cluster starts a Spark cluster and Beam's job server for tests. It
// must run in the namespaces of package isolated: the job server listens on all
// addresses, and ports are fixed.
package cluster

import (
	"bytes"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// Endpoint is the address of the job server.
const Endpoint = "127.0.0.1:8099"

// master is the address of Spark's master.
const master = "127.0.0.1:7077"

// opens lists the packages that Spark 3.2 needs on JDK 17.
var opens = strings.Fields("java.lang java.lang.invoke java.lang.reflect java.io java.net java.nio java.util java.util.concurrent java.util.concurrent.atomic sun.nio.ch sun.nio.cs sun.security.action sun.util.calendar")

// Spark is a master, workers with one core each, and Beam's job server.
type Spark struct {
	dir     string // of install.sh
	logs    string
	workers []*process
}

// Start starts a cluster of so many workers from the folder that
// cluster/install.sh printed. It ends with the test, and its log files are
// printed if the test fails.
func Start(t testing.TB, dir string, workers int) *Spark {
	t.Helper()
	c := &Spark{dir: dir, logs: t.TempDir()}
	t.Cleanup(func() { c.printLogs(t) })
	c.start(t, "master", "org.apache.spark.deploy.master.Master", "--host", "127.0.0.1", "--port", "7077", "--webui-port", "0")
	wait(t, master)
	for i := range workers {
		name := fmt.Sprintf("worker%d", i)
		c.workers = append(c.workers, c.start(t, name, "org.apache.spark.deploy.worker.Worker",
			"--host", "127.0.0.1", "--webui-port", "0", "--cores", "1", "--memory", "1g", "--work-dir", filepath.Join(c.logs, name), "spark://"+master))
	}
	c.start(t, "jobs", "org.apache.beam.runners.spark.SparkJobServerDriver",
		"--job-host", "127.0.0.1", "--job-port", "8099", "--artifact-port", "8098", "--expansion-port", "8097",
		"--artifacts-dir", filepath.Join(c.logs, "artifacts"), "--spark-master-url", "spark://"+master)
	wait(t, Endpoint)
	for end := time.Now().Add(time.Minute); ; time.Sleep(100 * time.Millisecond) {
		b, err := os.ReadFile(filepath.Join(c.logs, "master.log"))
		if err == nil && bytes.Count(b, []byte("Registering worker")) == workers {
			return c
		}
		if time.Now().After(end) {
			t.Fatalf("cluster: the master has no %d workers after a minute", workers)
		}
	}
}

// KillWorker kills a worker and its executors, as the end of a machine does.
func (c *Spark) KillWorker(i int) { c.workers[i].kill() }

// process is a Java program that leads a process group.
type process struct {
	c    *exec.Cmd
	done chan struct{}
}

func (c *Spark) start(t testing.TB, name, class string, args ...string) *process {
	t.Helper()
	log, err := os.Create(filepath.Join(c.logs, name+".log"))
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	path := filepath.Join(c.dir, "home/jars/*") + ":" + filepath.Join(c.dir, "beam/*")
	if !strings.Contains(class, ".beam.") {
		path = filepath.Join(c.dir, "home/jars/*") // a cluster knows nothing of Beam
	}
	p := &process{exec.Command("java", append([]string{"-Xmx768m", "-cp", path, class}, args...)...), make(chan struct{})}
	var options []string
	for _, o := range opens {
		options = append(options, "--add-opens=java.base/"+o+"=ALL-UNNAMED")
	}
	p.c.Env = append(os.Environ(), "SPARK_HOME="+filepath.Join(c.dir, "home"), "SPARK_SCALA_VERSION=2.12", "SPARK_LOCAL_IP=127.0.0.1",
		"SPARK_LOCAL_HOSTNAME=127.0.0.1", "SPARK_LOCAL_DIRS="+filepath.Join(c.logs, "local"), "JAVA_TOOL_OPTIONS="+strings.Join(options, " "))
	p.c.Dir = c.logs
	p.c.Stdout, p.c.Stderr = log, log
	p.c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := p.c.Start(); err != nil {
		t.Fatalf("cluster: %s: %v", name, err)
	}
	go func() {
		_ = p.c.Wait()
		close(p.done)
	}()
	t.Cleanup(p.kill)
	return p
}

// kill kills the group and waits for its leader.
func (p *process) kill() {
	_ = syscall.Kill(-p.c.Process.Pid, syscall.SIGKILL)
	<-p.done
}

func wait(t testing.TB, address string) {
	t.Helper()
	for end := time.Now().Add(2 * time.Minute); ; time.Sleep(100 * time.Millisecond) {
		c, err := net.Dial("tcp", address)
		if err == nil {
			_ = c.Close()
			return
		}
		if time.Now().After(end) {
			t.Fatalf("cluster: nothing listens on %s after two minutes", address)
		}
	}
}

// printLogs prints the ends of the log files of a failed test.
func (c *Spark) printLogs(t testing.TB) {
	if !t.Failed() {
		return
	}
	logs, _ := filepath.Glob(filepath.Join(c.logs, "*.log"))
	inner, _ := filepath.Glob(filepath.Join(c.logs, "worker*/*/*/stderr"))
	for _, name := range append(logs, inner...) {
		b, _ := os.ReadFile(name)
		t.Logf("%s:\n%s", name, b[max(0, len(b)-4000):])
	}
}

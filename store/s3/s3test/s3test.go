// Package s3test starts versitygw, an S3 server, for tests.
package s3test

import (
	"context"
	"crypto/rand"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"
	"github.com/stretchr/testify/require"
)

// Required is the environment variable that makes a missing server a failure
// instead of a skip.
const Required = "INFER_PREP_STORE_TEST"

// Server is a server with one bucket. It listens on the loopback address and
// ends with its test.
type Server struct {
	URL       string // for example http://127.0.0.1:40001
	Bucket    string
	AccessKey string
	SecretKey string
}

// install returns the path of the program, which it installs if needed.
var install = sync.OnceValues(func() (string, error) {
	dir, err := exec.Command("go", "list", "-f", "{{.Dir}}", "github.com/infer-prep/infer-prep/store/s3/s3test").Output()
	if err != nil {
		return "", fmt.Errorf("the folder of versitygw.sh: %w", err)
	}
	out, err := exec.Command(filepath.Join(strings.TrimSpace(string(dir)), "versitygw.sh")).CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("versitygw.sh: %w: %s", err, out)
	}
	l := strings.Split(strings.TrimSpace(string(out)), "\n")
	return l[len(l)-1], nil
})

// Start starts a server. It skips the test if the server cannot be installed,
// unless the variable Required is set.
func Start(t testing.TB) *Server {
	t.Helper()
	program, err := install()
	if err != nil {
		if os.Getenv(Required) != "" {
			t.Fatal(err)
		}
		t.Skip("no S3 server:", err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	addr := l.Addr().String()
	require.NoError(t, l.Close())
	s := &Server{URL: "http://" + addr, Bucket: "bucket", AccessKey: "TESTKEY" + rand.Text(), SecretKey: rand.Text() + rand.Text()}
	c := exec.Command(program, "--quiet", "--keep-alive", "--port", addr, "posix", t.TempDir())
	c.Env = append(os.Environ(), "ROOT_ACCESS_KEY="+s.AccessKey, "ROOT_SECRET_KEY="+s.SecretKey)
	log := filepath.Join(t.TempDir(), "log")
	f, err := os.Create(log)
	require.NoError(t, err)
	c.Stdout, c.Stderr = f, f
	require.NoError(t, c.Start())
	t.Cleanup(func() {
		_ = c.Process.Kill()
		_ = c.Wait()
		_ = f.Close()
	})
	up := time.Now().Add(20 * time.Second)
	for {
		r, err := http.Get(s.URL)
		if err == nil {
			_ = r.Body.Close()
			break
		}
		if time.Now().After(up) {
			b, _ := os.ReadFile(log)
			t.Fatalf("versitygw does not answer: %v: %s", err, b)
		}
		time.Sleep(20 * time.Millisecond)
	}
	require.NoError(t, s.Client(t).MakeBucket(context.Background(), s.Bucket, minio.MakeBucketOptions{}))
	return s
}

// Client returns a client of the server, for what a store cannot do.
func (s *Server) Client(t testing.TB) *minio.Client {
	t.Helper()
	c, err := minio.New(strings.TrimPrefix(s.URL, "http://"), &minio.Options{Creds: s.Credentials()})
	require.NoError(t, err)
	return c
}

// Credentials returns those of the server's user.
func (s *Server) Credentials() *credentials.Credentials {
	return credentials.NewStaticV4(s.AccessKey, s.SecretKey, "")
}

// Setenv makes the server that of s3:// in store.URI, for the test's process.
// It must be called before the first name of s3://.
func (s *Server) Setenv(t testing.TB) {
	for k, v := range map[string]string{
		"AWS_ENDPOINT_URL_S3": s.URL, "AWS_ACCESS_KEY_ID": s.AccessKey, "AWS_SECRET_ACCESS_KEY": s.SecretKey,
		"AWS_SESSION_TOKEN": "", "AWS_REGION": "us-east-1",
	} {
		t.Setenv(k, v)
	}
}

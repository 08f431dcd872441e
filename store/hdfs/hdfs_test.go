package hdfs

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/user"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/infer-prep/infer-prep/store"
	"github.com/infer-prep/infer-prep/store/hdfs/hdfstest"
	"github.com/infer-prep/infer-prep/store/remote"
	"github.com/infer-prep/infer-prep/store/storetest"
)

func backend(t *testing.T) *Backend {
	t.Helper()
	b, err := New()
	require.NoError(t, err)
	return b
}

// fresh returns the name of a folder of its own.
func fresh(t *testing.T, m *hdfstest.Cluster) string {
	return m.URIs[0] + "/" + strings.ReplaceAll(t.Name(), "/", "-")
}

func random(n int, seed uint64) []byte {
	b := make([]byte, n)
	_, _ = rand.NewChaCha8([32]byte{byte(seed)}).Read(b)
	return b
}

func put(t *testing.T, b *Backend, name string, content []byte) {
	t.Helper()
	w, err := b.Create(t.Context(), name)
	require.NoError(t, err)
	_, err = w.Write(content)
	require.NoError(t, err)
	require.NoError(t, w.Close())
}

// read reads a part of a file in one attempt.
func read(ctx context.Context, b *Backend, name string, off, n int64, version string) ([]byte, *remote.Object, error) {
	o, err := b.Get(ctx, name, off, n, version)
	if err != nil {
		return nil, nil, err
	}
	got, err := io.ReadAll(o.Body)
	return got, o, errors.Join(err, o.Body.Close())
}

func isTemporary(t *testing.T, err error) {
	t.Helper()
	var temp *remote.TemporaryError
	require.ErrorAs(t, err, &temp)
}

// bases lists a folder.
func bases(t *testing.T, b *Backend, folder string) (l []string) {
	t.Helper()
	in, err := b.List(t.Context(), folder)
	require.NoError(t, err)
	for _, i := range in {
		l = append(l, store.Base(i.Name))
	}
	return l
}

// TestStore runs the suite of all stores.
func TestStore(t *testing.T) {
	m := dfs(t)
	folder := fresh(t, m)
	st := remote.New(backend(t), remote.Options{})
	require.NoError(t, store.WriteFile(t.Context(), st, folder+"/counted", make([]byte, 100)))
	require.Equal(t, remote.Stats{Requests: 1, Sent: 100}, st.Stats())
	storetest.Run(t, storetest.Config{Store: st, Folder: folder + "/a folder", Bad: ":"})
}

// TestURI reads by the names that store.URI dispatches, with the namenode of
// the configuration.
func TestURI(t *testing.T) {
	m := dfs(t)
	t.Setenv("HADOOP_CONF_DIR", conf(t, map[string]string{"fs.defaultFS": m.URIs[0] + "/"}))
	require.NoError(t, store.WriteFile(t.Context(), store.URI, "hdfs:///TestURI/a", []byte("a")))
	b, err := store.ReadFile(t.Context(), store.URI, m.URIs[0]+"/TestURI/a", nil, 10)
	require.NoError(t, err)
	require.Equal(t, "a", string(b))
}

// conf writes a Hadoop configuration and returns its folder.
func conf(t *testing.T, values map[string]string) string {
	t.Helper()
	var s strings.Builder
	s.WriteString("<configuration>")
	for k, v := range values {
		fmt.Fprintf(&s, "<property><name>%s</name><value>%s</value></property>", k, v)
	}
	s.WriteString("</configuration>")
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "core-site.xml"), []byte(s.String()), 0o600))
	return dir
}

func TestNames(t *testing.T) {
	t.Setenv("HADOOP_HOME", "")
	t.Setenv("HADOOP_CONF_DIR", conf(t, map[string]string{
		"fs.defaultFS": "hdfs://ha", "dfs.ha.namenodes.ha": "one, two", "dfs.ha.namenodes.half": "one",
		"dfs.namenode.rpc-address.ha.one": "h1:1", "dfs.namenode.rpc-address.ha.two": "h2:2",
	}))
	b := backend(t)
	for authority, want := range map[string][]string{
		"": {"h1:1", "h2:2"}, "ha": {"h1:1", "h2:2"}, "h": {"h:8020"}, "h:9000": {"h:9000"}, "[::1]": {"[::1]:8020"}, "[::1]:9": {"[::1]:9"},
	} {
		got, err := b.addresses(authority)
		require.NoError(t, err)
		require.Equal(t, want, got, authority)
	}
	_, err := b.addresses("half")
	require.ErrorContains(t, err, "dfs.namenode.rpc-address.half.one")
	for name, want := range map[string]string{
		"hdfs://h:1": "/", "hdfs://h:1/": "/", "hdfs://h:1/a%20b?c#d/": "/a%20b?c#d", "hdfs:///a/../b": "/b", "hdfs://": "/",
	} {
		_, got, err := b.split(name)
		require.NoError(t, err)
		require.Equal(t, want, got, name)
	}
	for _, name := range []string{"hdfs://user:secret@h/a", "hdfs:/a", "s3://a/b", ""} {
		_, err := b.Stat(t.Context(), name)
		require.ErrorContains(t, err, "want hdfs://HOST:PORT/PATH")
	}

	t.Setenv("HADOOP_CONF_DIR", conf(t, map[string]string{"fs.defaultFS": "file:///"}))
	_, err = backend(t).Stat(t.Context(), "hdfs:///a")
	require.ErrorContains(t, err, `no namenode: fs.defaultFS is "file:///"`)
	t.Setenv("HADOOP_CONF_DIR", conf(t, map[string]string{"hadoop.security.authentication": "kerberos"}))
	t.Setenv("KRB5_CONFIG", "none")
	_, err = backend(t).Stat(t.Context(), "hdfs://h/a")
	require.ErrorContains(t, err, "kerberos")
	var temp *remote.TemporaryError
	require.False(t, errors.As(err, &temp))
}

// TestTemporaryName: names that are too long for the addition are cut.
func TestTemporaryName(t *testing.T) {
	for _, base := range []string{"a", strings.Repeat("é", 127), strings.Repeat("日", 85)} {
		name := filepath.Base(temporary("/x/" + base))
		require.LessOrEqual(t, len(name), 255)
		require.True(t, strings.HasPrefix(name, "."+base[:1]))
		require.Equal(t, name, strings.ToValidUTF8(name, "?"))
	}
}

// TestBlocks reads parts of a file of several blocks, around their borders.
func TestBlocks(t *testing.T) {
	m := dfs(t)
	b, name, want := backend(t), fresh(t, m)+"/f", random(4<<20+5000, 1) // 1 MiB a block
	put(t, b, name, want)
	size := int64(len(want))
	for _, off := range []int64{0, 1, 511, 512, 1<<20 - 1, 1 << 20, 1<<20 + 513, 3<<20 - 700, size - 1, size, size + 1} {
		for _, n := range []int64{0, 1, 600, 1<<20 + 2, size + 7, 1 << 62} {
			got, o, err := read(t.Context(), b, name, off, n, "")
			require.NoError(t, err)
			has := max(0, min(n, size-off))
			require.EqualValues(t, has, o.Length)
			require.EqualValues(t, size, o.Size)
			require.EqualValues(t, has, len(got), "%d bytes at %d", n, off)
			require.True(t, has == 0 || bytes.Equal(want[off:off+has], got), "%d bytes at %d", n, off)
		}
	}
	// A file of whole blocks has no empty block at its end.
	for _, n := range []int{1 << 20, 2 << 20} {
		put(t, b, name, want[:n])
		got, _, err := read(t.Context(), b, name, 0, size, "")
		require.NoError(t, err)
		require.True(t, bytes.Equal(want[:n], got))
	}
}

// TestPermission: another user's files are refused, and a user who is not the
// one of the system is who HADOOP_USER_NAME says.
func TestPermission(t *testing.T) {
	m := dfs(t)
	b, dir := backend(t), fresh(t, m)
	put(t, b, dir+"/private/f", []byte("a"))
	require.NoError(t, b.call(t.Context(), dir+"/private", func(c *client, p string) error { return c.Chmod(p, 0o700) }))
	t.Setenv("HADOOP_USER_NAME", "stranger")
	b = backend(t)
	_, err := b.Stat(t.Context(), dir+"/private/f")
	require.ErrorIs(t, err, fs.ErrPermission)
	_, err = b.Get(t.Context(), dir+"/private/f", 0, 1, "")
	require.ErrorIs(t, err, fs.ErrPermission)
	_, err = b.List(t.Context(), dir+"/private")
	require.ErrorIs(t, err, fs.ErrPermission)
	_, err = b.Create(t.Context(), dir+"/f")
	require.ErrorIs(t, err, fs.ErrPermission)
	var temp *remote.TemporaryError
	require.False(t, errors.As(err, &temp))
}

// TestRefused: a namenode refuses the user at the connection.
func TestRefused(t *testing.T) {
	wanted(t)
	us, err := user.Current()
	require.NoError(t, err)
	m, err := hdfstest.Start("-D", "hadoop.security.authorization=true", "-D", "security.client.protocol.acl="+us.Username)
	require.NoError(t, err)
	defer m.Close()
	t.Setenv("HADOOP_USER_NAME", "stranger")
	_, err = backend(t).Stat(t.Context(), m.URIs[0]+"/")
	require.ErrorIs(t, err, fs.ErrPermission)
	require.ErrorContains(t, err, "the namenode refuses this user, or wants Kerberos")
}

// TestCorrupt: a replica with a wrong byte is not read. Without this package's
// small reads the library returns that byte.
func TestCorrupt(t *testing.T) {
	m := dfs(t)
	b, name, want := backend(t), fresh(t, m)+"/f", random(1<<20, 2)
	put(t, b, name, want)
	path := strings.TrimPrefix(name, m.URIs[0])
	for first := 1; first <= 2; first++ {
		m.Do(t, "corrupt %d %s", first, path) // the first; then the second, and the first is mended
		for range 4 {                         // the library picks one
			got, _, err := read(t.Context(), b, name, 0, 1<<20, "")
			require.NoError(t, err)
			require.True(t, bytes.Equal(want, got))
			got, _, err = read(t.Context(), b, name, 1<<19-100, 1000, "")
			require.NoError(t, err)
			require.True(t, bytes.Equal(want[1<<19-100:][:1000], got))
		}
	}
	m.Do(t, "corrupt 1 %s", path) // both
	_, _, err := read(t.Context(), b, name, 0, 1<<20, "")
	require.ErrorIs(t, err, remote.ErrChecksum)
	// What lies before the wrong byte can be read.
	got, _, err := read(t.Context(), b, name, 1000, 1000, "")
	require.NoError(t, err)
	require.True(t, bytes.Equal(want[1000:2000], got))
}

// TestChanged: a file that was replaced or appended to has another version.
func TestChanged(t *testing.T) {
	m := dfs(t)
	b, name := backend(t), fresh(t, m)+"/f"
	put(t, b, name, []byte("first"))
	_, o, err := read(t.Context(), b, name, 0, 5, "")
	require.NoError(t, err)
	got, again, err := read(t.Context(), b, name, 1, 3, o.Version)
	require.NoError(t, err)
	require.Equal(t, "irs", string(got))
	require.Equal(t, o.Version, again.Version)
	put(t, b, name, []byte("other"))
	_, _, err = read(t.Context(), b, name, 0, 5, o.Version)
	require.ErrorIs(t, err, remote.ErrChanged)
	_, o, err = read(t.Context(), b, name, 0, 5, "")
	require.NoError(t, err)
	require.NoError(t, b.call(t.Context(), name, func(c *client, p string) error {
		w, err := c.Append(p)
		if err == nil {
			if _, err = w.Write([]byte("!")); err == nil {
				err = w.Close()
			}
		}
		return err
	}))
	_, _, err = read(t.Context(), b, name, 0, 5, o.Version)
	require.ErrorIs(t, err, remote.ErrChanged)
}

// TestReplacedWhileOpened: a reader never gets bytes of another version than
// the one it is told.
func TestReplacedWhileOpened(t *testing.T) {
	m := dfs(t)
	b, name := backend(t), fresh(t, m)+"/f"
	content := func(i int) []byte { return bytes.Repeat([]byte{byte(i)}, 1000+i) }
	put(t, b, name, content(0))
	stop := make(chan struct{})
	done := make(chan int)
	go func() {
		i := 1
		for ; ; i++ {
			select {
			case <-stop:
				done <- i
				return
			default:
				if err := store.WriteFile(t.Context(), remote.New(b, remote.Options{}), name, content(i%200)); err != nil {
					t.Error(err)
				}
			}
		}
	}()
	reads, changed := 0, 0
	for end := time.Now().Add(3 * time.Second); time.Now().Before(end); reads++ {
		got, o, err := read(t.Context(), b, name, 0, 5000, "")
		if err != nil { // the replaced file's blocks are deleted
			isTemporary(t, err)
			changed++
			continue
		}
		require.EqualValues(t, o.Size, len(got))
		require.True(t, bytes.Equal(content(len(got)-1000), got))
	}
	close(stop)
	t.Logf("%d reads during %d writes, %d of them told of a change", reads, <-done, changed)
}

// TestFailures of writers: nothing appears, nothing is left.
func TestFailures(t *testing.T) {
	m := dfs(t)
	b, dir := backend(t), fresh(t, m)
	put(t, b, dir+"/f", []byte("old"))
	before := goleak.IgnoreCurrent()

	ctx, cancel := context.WithCancel(t.Context())
	w, err := b.Create(ctx, dir+"/f")
	require.NoError(t, err)
	_, err = w.Write(random(3<<20, 3))
	require.NoError(t, err)
	cancel()
	for err == nil {
		_, err = w.Write(random(1<<20, 3))
	}
	require.ErrorIs(t, err, context.Canceled)
	require.ErrorIs(t, w.Close(), context.Canceled)
	require.NoError(t, w.Abort())
	_, err = w.Write([]byte("more"))
	require.ErrorIs(t, err, fs.ErrClosed)

	ctx, cancel = context.WithCancel(t.Context())
	w, err = b.Create(ctx, dir+"/f")
	require.NoError(t, err)
	_, err = w.Write([]byte("new"))
	require.NoError(t, err)
	require.Len(t, bases(t, b, dir), 2)
	cancel()
	require.ErrorIs(t, w.Close(), context.Canceled, "Close does not let the file appear")

	require.Equal(t, []string{"f"}, bases(t, b, dir))
	got, _, err := read(t.Context(), b, dir+"/f", 0, 10, "")
	require.NoError(t, err)
	require.Equal(t, "old", string(got))

	_, err = b.Create(t.Context(), dir)
	require.ErrorIs(t, err, errFolder)
	_, err = b.Create(t.Context(), dir+"/f/below")
	require.Error(t, err)
	time.Sleep(idleTimeout)
	goleak.VerifyNone(t, before)
}

// TestCancel: a call returns when its context ends, whatever the server does.
func TestCancel(t *testing.T) {
	m := dfs(t)
	b, name := backend(t), fresh(t, m)+"/f"
	put(t, b, name, random(3<<20, 5))
	ctx, cancel := context.WithCancel(t.Context())
	o, err := b.Get(ctx, name, 0, 3<<20, "")
	require.NoError(t, err)
	_, err = io.ReadFull(o.Body, make([]byte, 1000))
	require.NoError(t, err)
	cancel()
	_, err = io.Copy(io.Discard, o.Body)
	require.ErrorIs(t, err, context.Canceled)
	require.NoError(t, o.Body.Close())
	_, err = b.Stat(ctx, name)
	require.ErrorIs(t, err, context.Canceled)
	// The clients that are left serve others.
	_, err = b.Stat(t.Context(), name)
	require.NoError(t, err)
}

// TestDatanodes stops datanodes while a file is read and written.
func TestDatanodes(t *testing.T) {
	wanted(t)
	m, err := hdfstest.Start("--datanodes", "2", "-D", "dfs.replication=2", "-D", "dfs.blocksize=1048576")
	require.NoError(t, err)
	defer m.Close()
	b, name, want := backend(t), fresh(t, m)+"/f", random(6<<20, 6)
	put(t, b, name, want)
	o, err := b.Get(t.Context(), name, 0, 6<<20, "")
	require.NoError(t, err)
	got := make([]byte, len(want))
	_, err = io.ReadFull(o.Body, got[:1000])
	require.NoError(t, err)
	m.Do(t, "stop-datanode 0")
	_, err = io.ReadFull(o.Body, got[1000:])
	require.NoError(t, err)
	require.True(t, bytes.Equal(want, got), "one of two datanodes has stopped")
	require.NoError(t, o.Body.Close())

	w, err := b.Create(t.Context(), fresh(t, m)+"/new")
	require.NoError(t, err)
	_, err = w.Write(want[:2<<20])
	if err == nil { // the namenode may know of the stop already, and use the other
		m.Do(t, "stop-datanode 0")
		for range 10 {
			if _, err = w.Write(want); err != nil {
				break
			}
		}
	} else {
		m.Do(t, "stop-datanode 0")
	}
	require.Error(t, err)
	require.Contains(t, err.Error(), "write "+fresh(t, m)+"/new: ")
	require.Error(t, w.Close())
	require.Equal(t, []string{"f"}, bases(t, b, fresh(t, m)))

	_, _, err = read(t.Context(), b, name, 0, 100, "")
	isTemporary(t, err)
	t.Log(err)
	m.Do(t, "start-datanodes")
	require.Eventually(t, func() bool {
		got, _, err := read(t.Context(), b, name, 0, 6<<20, "")
		return err == nil && bytes.Equal(want, got)
	}, 20*time.Second, 100*time.Millisecond)
}

// TestNamenode stops and starts the namenode.
func TestNamenode(t *testing.T) {
	wanted(t)
	m, err := hdfstest.Start()
	require.NoError(t, err)
	defer m.Close()
	b, name := backend(t), fresh(t, m)+"/f"
	put(t, b, name, []byte("content"))
	w, err := b.Create(t.Context(), fresh(t, m)+"/new")
	require.NoError(t, err)
	_, err = w.Write([]byte("new"))
	require.NoError(t, err)
	m.Do(t, "stop-namenode 0")
	for range 2 { // on a connection from before, and on a new one
		_, err = b.Stat(t.Context(), name)
		isTemporary(t, err)
		_, _, err = read(t.Context(), b, name, 0, 10, "")
		isTemporary(t, err)
	}
	t.Log(err)
	err = w.Close()
	require.Error(t, err)
	require.Contains(t, err.Error(), "/new")
	m.Do(t, "start-namenode 0")
	require.Eventually(t, func() bool {
		got, _, err := read(t.Context(), b, name, 0, 10, "")
		return err == nil && string(got) == "content"
	}, 20*time.Second, 100*time.Millisecond)
	_, err = b.Stat(t.Context(), fresh(t, m)+"/new")
	require.ErrorIs(t, err, fs.ErrNotExist)
}

// TestStandby: of two namenodes the active one is used, and a change of roles
// is followed.
func TestStandby(t *testing.T) {
	wanted(t)
	m, err := hdfstest.Start("--ha", "-D", "dfs.ha.tail-edits.period=1s")
	require.NoError(t, err)
	defer m.Close()
	values := map[string]string{"fs.defaultFS": "hdfs://ns", "dfs.ha.namenodes.ns": "a,b"}
	for i, uri := range m.URIs {
		values[fmt.Sprintf("dfs.namenode.rpc-address.ns.%c", 'a'+i)] = strings.TrimPrefix(uri, "hdfs://")
	}
	t.Setenv("HADOOP_CONF_DIR", conf(t, values))
	b := backend(t)
	put(t, b, "hdfs://ns/d/f", []byte("content"))
	m.Do(t, "activate 1")
	for range 3 {
		got, _, err := read(t.Context(), b, "hdfs:///d/f", 0, 10, "")
		require.NoError(t, err)
		require.Equal(t, "content", string(got))
	}
	put(t, b, "hdfs:///d/g", []byte("more"))
	require.Equal(t, []string{"f", "g"}, bases(t, b, "hdfs://ns/d"))
	// A standby alone is not an answer.
	_, err = b.Stat(t.Context(), m.URIs[0]+"/d/f")
	isTemporary(t, err)
	t.Log(err)
}

// TestMemory writes and reads a large file. The figures are in docs/stores.md.
func TestMemory(t *testing.T) {
	m := dfs(t)
	const size = 512 << 20
	b, name, part := backend(t), fresh(t, m)+"/f", random(4<<20, 7)
	var stats runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&stats)
	before, peak := stats.HeapAlloc, uint64(0) // stores of other tests have blocks
	look := func() {
		runtime.GC()
		runtime.ReadMemStats(&stats)
		peak = max(peak, stats.HeapAlloc)
	}
	start := time.Now()
	w, err := b.Create(t.Context(), name)
	require.NoError(t, err)
	for range size / len(part) {
		_, err = w.Write(part)
		require.NoError(t, err)
		look()
	}
	require.NoError(t, w.Close())
	wrote := time.Since(start)
	start = time.Now()
	o, err := b.Get(t.Context(), name, 0, size, "")
	require.NoError(t, err)
	buf := make([]byte, len(part))
	for range size / len(part) {
		_, err = io.ReadFull(o.Body, buf)
		require.NoError(t, err)
		require.True(t, bytes.Equal(part, buf))
		look()
	}
	require.NoError(t, o.Body.Close())
	t.Logf("%d MiB: written in %v, read in %v, at most %.1f MiB of heap", size>>20, wrote, time.Since(start), (float64(peak)-float64(before))/(1<<20))
	require.Less(t, peak, before+(16<<20))
}

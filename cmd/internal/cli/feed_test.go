package cli

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"hash/crc32"
	"io"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/cmd/internal/cli/bench"
	"github.com/infer-prep/infer-prep/internal/hexdoc"
)

// fed is a frame.
type fed struct {
	kind    bench.FeedKind
	header  bench.FeedHeader
	payload []byte
}

// readFeed reads the frames of a stream and checks their numbers, padding and
// checksums.
func readFeed(t *testing.T, b []byte) (l []fed) {
	t.Helper()
	for len(b) > 0 {
		require.GreaterOrEqual(t, len(b), bench.FeedHead)
		require.Equal(t, "IPfd\x01\x00", string(b[:6]))
		header, payload := int(binary.LittleEndian.Uint32(b[8:])), int(binary.LittleEndian.Uint64(b[16:]))
		require.Zero(t, binary.LittleEndian.Uint32(b[12:]))
		require.EqualValues(t, len(l), binary.LittleEndian.Uint64(b[24:]))
		require.Zero(t, (bench.FeedHead+header)%bench.FeedAlign)
		require.Zero(t, payload%bench.FeedAlign)
		end := bench.FeedHead + header + payload
		require.GreaterOrEqual(t, len(b), end+4)
		require.Equal(t, crc32.ChecksumIEEE(b[:end]), binary.LittleEndian.Uint32(b[end:]))
		f := fed{kind: bench.FeedKind(binary.LittleEndian.Uint16(b[6:])), payload: b[bench.FeedHead+header : end]}
		require.NoError(t, json.Unmarshal(b[bench.FeedHead:bench.FeedHead+header], &f.header))
		l = append(l, f)
		b = b[end+4:]
	}
	return l
}

func feedIn(ctx context.Context, args ...string) called {
	var out, errs bytes.Buffer
	status := Run(ctx, append([]string{"feed"}, args...), strings.NewReader(""), &out, &errs)
	return called{status, out.String(), errs.String()}
}

// TestFeedByteOrderMark reads a definition that an editor saved with a byte
// order mark.
func TestFeedByteOrderMark(t *testing.T) {
	trainTree(t)
	b, err := os.ReadFile("train.json")
	require.NoError(t, err)
	require.NoError(t, os.WriteFile("marked.json", append([]byte("\ufeff"), b...), 0o666))
	want := feedIn(t.Context(), "train.json")
	require.Zero(t, want.status, want.stderr)
	require.Equal(t, want, feedIn(t.Context(), "marked.json"))
}

// TestFeed reads all epochs of a dataset, and then resumes from the token of
// every frame: the rest has the same bytes, but for the frames' numbers.
func TestFeed(t *testing.T) {
	trainTree(t)
	r := feedIn(t.Context(), "train.json", "--epochs", "2", "--seed", "3")
	require.Equal(t, called{0, r.stdout, ""}, r)
	frames := readFeed(t, []byte(r.stdout))
	var kinds []bench.FeedKind
	for _, f := range frames {
		kinds = append(kinds, f.kind)
	}
	require.Equal(t, []bench.FeedKind{bench.FeedStart, bench.FeedBatch, bench.FeedBatch, bench.FeedBatch, bench.FeedBatch, bench.FeedEpoch, bench.FeedBatch, bench.FeedBatch, bench.FeedBatch, bench.FeedBatch, bench.FeedEpoch, bench.FeedEnd}, kinds)
	require.EqualValues(t, 4, *frames[0].header.Len)
	require.Equal(t, []int{-1, 3, 224, 224}, frames[0].header.Columns[0].Shape)
	last := frames[9].header.Tensors
	require.Equal(t, []any{"image", "float32", []int{1, 3, 224, 224}, int64(0), int64(3 * 224 * 224 * 4)},
		[]any{last[0].Name, last[0].DType, last[0].Shape, *last[0].Offset, *last[0].Bytes})
	require.NotEqual(t, frames[1].payload, frames[6].payload, "the second epoch has another order")
	for i, f := range frames {
		r := feedIn(t.Context(), "train.json", "--epochs", "2", "--seed", "3", "--resume", f.header.Resume)
		require.Equal(t, called{0, r.stdout, ""}, r)
		rest := readFeed(t, []byte(r.stdout))[1:]
		want := frames[i+1:]
		if f.kind == bench.FeedEnd {
			want = frames[i:]
		}
		require.Equal(t, want, rest, "after frame %d", i)
	}
}

// TestFeedUneven: seven images for two feeds, in batches of two.
func TestFeedUneven(t *testing.T) {
	trainTree(t)
	for _, c := range []struct {
		args   []string
		images [2]int
	}{
		{nil, [2]int{4, 4}},
		{[]string{"--uneven", "drop"}, [2]int{3, 3}},
		{[]string{"--uneven", "end", "--on-error", "skip"}, [2]int{4, 4}},
	} {
		for rank, want := range c.images {
			r := feedIn(t.Context(), append([]string{"train.json", "--world", "2", "--rank", strconv.Itoa(rank)}, c.args...)...)
			require.Equal(t, called{0, r.stdout, ""}, r)
			images := 0
			for _, f := range readFeed(t, []byte(r.stdout)) {
				if f.kind == bench.FeedBatch {
					images += f.header.Tensors[0].Shape[0]
				}
			}
			require.Equal(t, want, images, "%v, rank %d", c.args, rank)
		}
	}
}

// TestFeedBytes: a batch takes a quarter of --bytes at most, and a larger one
// is an error that names the flag.
func TestFeedBytes(t *testing.T) {
	trainTree(t)
	most := len(readFeed(t, []byte(feedIn(t.Context(), "train.json").stdout))[1].payload)
	r := feedIn(t.Context(), "train.json", "--bytes", strconv.Itoa(4*most))
	require.Equal(t, called{0, r.stdout, ""}, r)
	r = feedIn(t.Context(), "train.json", "--bytes", strconv.Itoa(4*most/2))
	require.Equal(t, 1, r.status)
	require.Contains(t, r.stderr, "the batch is too large")
	require.Contains(t, r.stderr, "--bytes")
	frames := readFeed(t, []byte(r.stdout))
	require.Contains(t, frames[len(frames)-1].header.Error, "the batch is too large")
}

// TestFeedErrors ends with an error frame whose token continues at the bad
// sample.
func TestFeedErrors(t *testing.T) {
	dir := trainTree(t)
	b, err := os.ReadFile("train.json")
	require.NoError(t, err)
	require.NoError(t, os.Rename(filepath.Join(dir, "broken", "3.png"), filepath.Join(dir, "classes", "1", "3.png")))
	r := feedIn(t.Context(), "train.json")
	require.Equal(t, 1, r.status)
	require.Contains(t, r.stderr, "3.png")
	frames := readFeed(t, []byte(r.stdout))
	bad := frames[len(frames)-1]
	require.Equal(t, bench.FeedError, bad.kind)
	require.Contains(t, bad.header.Error, "3.png")
	require.False(t, bad.header.Stopped)
	again := readFeed(t, []byte(feedIn(t.Context(), "train.json", "--resume", bad.header.Resume).stdout))
	require.Equal(t, bad.header, again[len(again)-1].header)
	r = feedIn(t.Context(), "train.json", "--on-error", "skip")
	require.Equal(t, 0, r.status)
	require.Contains(t, r.stderr, "3.png")
	frames = readFeed(t, []byte(r.stdout))
	require.EqualValues(t, 1, *frames[len(frames)-1].header.Skipped)

	other := filepath.Join(dir, "other.json")
	require.NoError(t, os.WriteFile(other, bytes.ReplaceAll(b, []byte("classes"), []byte("broken")), 0o666))
	for _, c := range []struct {
		args []string
		want string
	}{
		{nil, "got 0 definitions, want one"},
		{[]string{"nowhere.json"}, "nowhere.json"},
		{[]string{"not.json"}, "not.json"},
		{[]string{"train.json", "--resume", "%"}, "--resume: not a token of a frame"},
		{[]string{"train.json", "--resume", "AAAA"}, "--resume: not a token of a frame"},
		{[]string{"train.json", "--resume", "@nowhere"}, "nowhere"},
		{[]string{"train.json", "--seed", "1", "--resume", frames[1].header.Resume}, "made with another definition or seed"},
		{[]string{"train.json", "--epochs", "-1"}, "--epochs -1: want at least 0"},
		{[]string{"train.json", "--rank", "2", "--world", "2"}, "--rank 2: want 0 to 1"},
		{[]string{"train.json", "--world", "0"}, "--world 0"},
		{[]string{"train.json", "--cache", "0"}, "--cache 0: want at least 1"},
		{[]string{"train.json", "--uneven", "stop"}, "--uneven"},
		{[]string{"train.json", "--world", "2", "--on-error", "skip"}, "the number of samples depends on the data"},
		{[]string{"train.json", "--workers", "0"}, "--workers 0"},
		{[]string{"train.json", "--prefetch", "0"}, "--prefetch 0"},
		{[]string{"train.json", "--bytes", "0"}, "--bytes"},
		{[]string{"train.json", "--on-error", "ignore"}, "on-error"},
		{[]string{"train.json", "--socket", ""}, "the path is empty"},
		{[]string{"train.json", "--socket", "train.json"}, "exists and is not a socket"},
	} {
		r := feedIn(t.Context(), c.args...)
		require.Equal(t, 2, r.status, "%v: %s", c.args, r.stderr)
		require.Contains(t, r.stderr, c.want, "%v", c.args)
		require.Empty(t, r.stdout)
	}
}

// gone is a writer whose reader leaves after some bytes.
type gone struct{ left int }

func (w *gone) Write(b []byte) (int, error) {
	if w.left -= len(b); w.left < 0 {
		return 0, syscall.EPIPE
	}
	return len(b), nil
}

// TestFeedConsumer: a consumer that leaves is named, and one that does not read
// does not keep an interrupted feed.
func TestFeedConsumer(t *testing.T) {
	trainTree(t)
	var errs bytes.Buffer
	require.Equal(t, 1, Run(t.Context(), []string{"feed", "train.json", "--epochs", "0"}, strings.NewReader(""), &gone{4 << 20}, &errs))
	require.Contains(t, errs.String(), "the consumer left in epoch 0, after batch")
	require.Contains(t, errs.String(), "--resume")

	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	r := feedIn(ctx, "train.json")
	require.Equal(t, 130, r.status)

	ctx, cancel = context.WithCancel(t.Context())
	defer cancel()
	read, write := io.Pipe()
	errs.Reset()
	done := make(chan int)
	go func() {
		done <- Run(ctx, []string{"feed", "train.json", "--epochs", "0"}, strings.NewReader(""), write, &errs)
	}()
	_, err := io.ReadFull(read, make([]byte, 1<<20))
	require.NoError(t, err)
	cancel()
	go func() { _, _ = io.Copy(io.Discard, read) }() // it reads again
	require.Equal(t, 130, <-done)
	require.Contains(t, errs.String(), "interrupted: the feed ended before its last epoch")
}

func TestFeedSocket(t *testing.T) {
	if runtime.GOOS == "js" || runtime.GOOS == "windows" {
		t.Skip("no Unix sockets with file modes")
	}
	trainTree(t)
	stale, err := net.ListenUnix("unix", &net.UnixAddr{Name: "feed.sock", Net: "unix"})
	require.NoError(t, err)
	stale.SetUnlinkOnClose(false)
	require.NoError(t, stale.Close())
	done := make(chan called)
	go func() { done <- feedIn(t.Context(), "train.json", "--socket", "feed.sock") }()
	var c net.Conn
	require.Eventually(t, func() bool {
		c, err = net.Dial("unix", "feed.sock")
		return err == nil
	}, 10e9, 10e6)
	defer c.Close()
	b, err := io.ReadAll(c)
	require.NoError(t, err)
	require.Equal(t, called{0, "", ""}, <-done)
	frames := readFeed(t, b)
	require.Equal(t, bench.FeedEnd, frames[len(frames)-1].kind)
	require.NoFileExists(t, "feed.sock")
	require.Equal(t, feedIn(t.Context(), "train.json").stdout, string(b))
}

// TestFeedDocument reads the example of docs/format/feed.md.
func TestFeedDocument(t *testing.T) {
	frames := readFeed(t, hexdoc.Read(t, "../../..", "feed"))
	require.Len(t, frames, 1)
	require.Equal(t, bench.FeedBatch, frames[0].kind)
	require.Equal(t, "x", frames[0].header.Tensors[0].Name)
	require.Equal(t, []byte{1, 0, 2, 0, 3, 0}, frames[0].payload[:6])
}

package pipeline

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/dataset"
)

// TestTrace checks that the file is a JSON array in the Trace Event Format:
// docs.google.com/document/d/1CvAClvFfyA5R-PhYUmn5OOQtYMH4h6I0nSsKchNAySU. It
// has names of tracks, complete events that do not overlap on a track, and
// counters.
func TestTrace(t *testing.T) {
	var out bytes.Buffer
	trace := NewTrace(&out)
	const n = 60
	bad := each(func(i int) error {
		if i == 5 {
			return errors.New("bad")
		}
		return nil
	})
	b := build(t, dataset.Of(&source{n: n}).MapFunc(bad, x, column...).Batch(3), dataset.Options{OnError: dataset.SkipOnError})
	p := open(t, b, Options{Workers: 3, Trace: trace})
	within(t, func() {
		for range 2 {
			_, err := drain(p)
			require.NoError(t, err)
			require.NoError(t, p.NextEpoch())
		}
		require.NoError(t, p.Close())
	})
	require.NoError(t, trace.Close())
	require.NoError(t, trace.Close())

	var events []map[string]any
	d := json.NewDecoder(&out)
	require.NoError(t, d.Decode(&events))
	require.False(t, d.More())
	tracks := map[float64]string{}
	names := map[string]bool{}
	last := map[float64]float64{}
	work, counters := map[string]int{}, map[string]int{}
	for i, e := range events {
		what := fmt.Sprint("event ", i, ": ", e)
		require.IsType(t, "", e["name"], what)
		require.NotEmpty(t, e["name"], what)
		require.EqualValues(t, 1, e["pid"], what)
		tid, ok := e["tid"].(float64)
		require.True(t, ok && tid == math.Trunc(tid), what)
		ts, ok := e["ts"].(float64)
		require.True(t, ok && ts >= 0, what)
		args, ok := e["args"].(map[string]any)
		require.True(t, ok, what)
		switch e["ph"] {
		case "M":
			switch e["name"] {
			case "thread_name":
				name := args["name"].(string)
				require.False(t, names[name], "%s: a track for each worker", what)
				names[name] = true
				tracks[tid] = name
			case "thread_sort_index":
				require.IsType(t, 0.0, args["sort_index"], what)
			default:
				require.Equal(t, "process_name", e["name"], what)
				require.Zero(t, i, "it is the first")
			}
		case "X":
			dur, ok := e["dur"].(float64)
			require.True(t, ok && dur >= 0, what)
			require.Contains(t, tracks[tid], e["name"].(string)+" #", "%s: the track has a name before", what)
			require.GreaterOrEqual(t, ts+0.002, last[tid], "%s: one after another", what)
			last[tid] = ts + dur
			require.IsType(t, "", args["key"], what)
			require.IsType(t, 0.0, args["ordinal"], what)
			work[e["name"].(string)]++
		case "C":
			require.IsType(t, 0.0, args["at work"], what)
			require.IsType(t, 0.0, args["ready"], what)
			counters[e["name"].(string)]++
		default:
			require.Fail(t, "no such phase", what)
		}
	}
	for _, s := range p.Stats() {
		require.EqualValues(t, s.In, work[s.Path], s.Path)
		require.Positive(t, counters[s.Path+" samples"], s.Path)
	}
	require.LessOrEqual(t, len(tracks), 3+3+1)
}

// TestTraceFails checks that Close returns an error of the writer.
func TestTraceFails(t *testing.T) {
	full := errors.New("disk is full")
	trace := NewTrace(writerFunc(func([]byte) (int, error) { return 0, full }))
	p := open(t, build(t, dataset.Of(&source{n: 500}), dataset.Options{}), Options{Trace: trace})
	within(t, func() {
		_, err := drain(p)
		require.NoError(t, err)
		require.NoError(t, p.Close())
	})
	require.ErrorIs(t, trace.Close(), full)
}

type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(b []byte) (int, error) { return f(b) }

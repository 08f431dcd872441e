package remote

import (
	"fmt"
	"math"
	"os"
	"strconv"
	"strings"
	"sync/atomic"
	"time"
)

// Options are the options of a Store. A zero field has the value of its
// environment variable, or else the default. docs/stores.md lists the
// variables for users.
type Options struct {
	// Attempts is how often a request is sent until the Store gives up.
	// Default: INFER_PREP_STORE_ATTEMPTS, or 6; 1 to 100.
	Attempts int
	// Stall is how long a request may bring no byte until it is sent again.
	// Default: INFER_PREP_STORE_STALL, such as 10s, or 30 seconds; at least 1
	// millisecond.
	Stall time.Duration
	// Memory bounds the blocks of all open files, also those that are read
	// ahead, in bytes. Reads in progress may need more. Default:
	// INFER_PREP_STORE_MEMORY, such as 256MiB, or 64 MiB; at least 1 MiB.
	Memory int64
	// Cache is the folder of the cache that processes share. Default:
	// INFER_PREP_CACHE, or no cache.
	Cache string
	// CacheSize bounds the files of the cache folder, in bytes. Default:
	// INFER_PREP_CACHE_SIZE, such as 50GB, or 10 GB; at least 1 MB.
	CacheSize int64
	// OnWarning, if not nil, is called when the Store goes on without its cache
	// folder, once. Any goroutine may call it.
	OnWarning func(error)
}

// withEnv returns the options with all fields set.
func (o Options) withEnv() (Options, error) {
	if o.Cache == "" {
		o.Cache = os.Getenv("INFER_PREP_CACHE")
	}
	for _, v := range []struct {
		name           string
		field          *int64
		def, low, high int64
		parse          func(string) (int64, error)
		want           string
	}{
		{"CACHE_SIZE", &o.CacheSize, 10e9, 1e6, math.MaxInt64, parseSize, "a size of at least 1MB, such as 50GB"},
		{"STORE_MEMORY", &o.Memory, 64 << 20, 1 << 20, math.MaxInt64 / 4, parseSize, "a size of at least 1MiB, such as 256MiB"},
		{"STORE_STALL", (*int64)(&o.Stall), int64(30 * time.Second), int64(time.Millisecond), math.MaxInt64, parseDuration, "a duration of at least 1ms, such as 30s"},
	} {
		if *v.field == 0 {
			*v.field = v.def
			if text := os.Getenv("INFER_PREP_" + v.name); text != "" {
				n, err := v.parse(text)
				if err != nil || n < v.low || n > v.high {
					return o, fmt.Errorf("remote: INFER_PREP_%s=%q: want %s", v.name, text, v.want)
				}
				*v.field = n
			}
		}
		if *v.field < v.low || *v.field > v.high {
			return o, fmt.Errorf("remote: options: %s is %d: want %s", v.name, *v.field, v.want)
		}
	}
	if o.Attempts == 0 {
		o.Attempts = 6
		if text := os.Getenv("INFER_PREP_STORE_ATTEMPTS"); text != "" {
			n, err := strconv.Atoi(text)
			if err != nil || n == 0 {
				n = -1 // refused below
			}
			o.Attempts = n
		}
	}
	if o.Attempts < 1 || o.Attempts > 100 {
		return o, fmt.Errorf("remote: attempts, or INFER_PREP_STORE_ATTEMPTS: want 1 to 100")
	}
	return o, nil
}

func parseDuration(text string) (int64, error) {
	d, err := time.ParseDuration(text)
	return int64(d), err
}

// units are those of parseSize, longest first.
var units = []struct {
	name string
	n    int64
}{
	{"KiB", 1 << 10}, {"MiB", 1 << 20}, {"GiB", 1 << 30}, {"TiB", 1 << 40},
	{"KB", 1e3}, {"MB", 1e6}, {"GB", 1e9}, {"TB", 1e12}, {"B", 1}, {"", 1},
}

// parseSize parses a size in bytes: a whole number and an optional unit, with
// or without a space.
func parseSize(text string) (int64, error) {
	for _, u := range units {
		if len(text) < len(u.name) || !strings.EqualFold(text[len(text)-len(u.name):], u.name) {
			continue
		}
		n, err := strconv.ParseInt(strings.TrimSpace(text[:len(text)-len(u.name)]), 10, 64)
		if err != nil || n < 0 || n > math.MaxInt64/u.n {
			break
		}
		return n * u.n, nil
	}
	return 0, fmt.Errorf("size %q: want a whole number with or without a unit, such as 10GB or 512MiB", text)
}

// Stats are counters of a Store since it was made.
type Stats struct {
	// Requests is the number of attempts, those that failed included. It also
	// counts the requests of uploads.
	Requests int64
	// Retries is the number of attempts that followed a failed one.
	Retries int64
	// Stalls is the number of attempts that ended because no byte came.
	Stalls int64
	// Received is the number of bytes of objects that the service sent.
	Received int64
	// Sent is the number of bytes of objects in requests of uploads, those that
	// failed included.
	Sent int64
	// Served is the number of bytes that readers took.
	Served int64
	// CacheHits and CacheMisses count blocks that were looked up in the cache
	// folder.
	CacheHits, CacheMisses int64
}

// counters are the Stats of a Store while they change.
type counters struct {
	requests, retries, stalls, received, sent, served, hits, misses atomic.Int64
}

// Stats returns the counters. It is safe for concurrent use.
func (s *Store) Stats() Stats {
	c := &s.counters
	return Stats{
		c.requests.Load(), c.retries.Load(), c.stalls.Load(), c.received.Load(), c.sent.Load(), c.served.Load(), c.hits.Load(), c.misses.Load(),
	}
}

package cli

import (
	"fmt"

	"github.com/infer-prep/infer-prep/store"
	"github.com/infer-prep/infer-prep/store/remote"
)

// storeStats is what the stores of URIs did, as --json prints it.
type storeStats struct {
	Requests int64 `json:"requests"`
	Retries  int64 `json:"retries"`
	Received int64 `json:"bytes_received"`
	Sent     int64 `json:"bytes_sent"`
}

// readStats returns what the stores did since the program began.
func readStats() (s storeStats) {
	seen := map[store.Opener]bool{}
	for _, o := range store.Opened() {
		with, ok := o.(interface{ Stats() remote.Stats })
		if !ok || seen[o] {
			continue
		}
		seen[o] = true
		x := with.Stats()
		s.Requests += x.Requests
		s.Retries += x.Retries
		s.Received += x.Received
		s.Sent += x.Sent
	}
	return s
}

// storeStats returns what the stores did since the command began.
func (a *app) storeStats() storeStats {
	s := readStats()
	return storeStats{s.Requests - a.before.Requests, s.Retries - a.before.Retries, s.Received - a.before.Received, s.Sent - a.before.Sent}
}

// sayStore prints what the stores did, if they did anything, as the last line
// of a summary.
func (a *app) sayStore() {
	if s := a.storeStats(); s.Requests > 0 {
		sent := ""
		if s.Sent > 0 {
			sent = fmt.Sprintf(", %s sent", byteSize(float64(s.Sent)))
		}
		fmt.Fprintf(a.stderr, "store: %s, %d retried, %s received%s\n", plural(int(s.Requests), "request"), s.Retries, byteSize(float64(s.Received)), sent)
	}
}

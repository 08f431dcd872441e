package command

import (
	"fmt"

	"github.com/infer-prep/infer-prep/store"
	"github.com/infer-prep/infer-prep/store/remote"
)

// StoreStats is what the stores of URIs did, as --json prints it.
type StoreStats struct {
	Requests int64 `json:"requests"`
	Retries  int64 `json:"retries"`
	Received int64 `json:"bytes_received"`
	Sent     int64 `json:"bytes_sent"`
}

// ReadStats returns what the stores did since the program began.
func ReadStats() (s StoreStats) {
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

// StoreStats returns what the stores did since the command began.
func (a *App) StoreStats() StoreStats {
	s := ReadStats()
	return StoreStats{s.Requests - a.Before.Requests, s.Retries - a.Before.Retries, s.Received - a.Before.Received, s.Sent - a.Before.Sent}
}

// SayStore prints what the stores did, if they did anything, as the last line
// of a summary.
func (a *App) SayStore() {
	if s := a.StoreStats(); s.Requests > 0 {
		sent := ""
		if s.Sent > 0 {
			sent = fmt.Sprintf(", %s sent", ByteSize(float64(s.Sent)))
		}
		fmt.Fprintf(a.Stderr, "store: %s, %d retried, %s received%s\n", Plural(int(s.Requests), "request"), s.Retries, ByteSize(float64(s.Received)), sent)
	}
}

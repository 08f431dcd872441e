package ort

import (
	"bufio"
	"fmt"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/device"
	_ "github.com/infer-prep/infer-prep/transforms/all" // every op
)

// TestSlots compares the slots with the header's, which
// testdata/gen/models/ort_api.py wrote.
func TestSlots(t *testing.T) {
	f, err := os.Open("testdata/api.txt")
	require.NoError(t, err)
	defer f.Close()
	lines := bufio.NewScanner(f)
	require.True(t, lines.Scan())
	version := 0
	_, err = fmt.Sscanf(lines.Text(), "ORT_API_VERSION %d", &version)
	require.NoError(t, err)
	require.GreaterOrEqual(t, version, apiAssignment)
	header := map[slot]string{}
	for lines.Scan() {
		var s slot
		var name string
		_, err := fmt.Sscanf(lines.Text(), "%d %s", &s, &name)
		require.NoError(t, err)
		header[s] = name
	}
	require.NoError(t, lines.Err())
	require.Greater(t, len(header), 400)
	for s, name := range slotNames {
		require.Equal(t, header[s], name, "slot %d", s)
	}
	require.Equal(t, apiBase, slotAppendProvider.since())
	require.Equal(t, apiLibraries, slotEpDeviceEpName.since())
	require.Equal(t, apiAssignment, slotSessionGetAssignment.since())
}

func TestOptions(t *testing.T) {
	for _, c := range []struct{ spec, err string }{
		{"ort:cpu,form=whole", `option form="whole": want one of host, tail, fast, exact`},
		{"ort:cpu,claim=unsupported", `option claim="unsupported"`},
		{"ort:cpu,threads=0", `option threads="0"`},
		{"ort:cpu,threads=2x", `option threads="2x"`},
		{"ort:cpu,device_id=1", `unknown option "device_id"; known: claim, form, lib, threads; or an entry of ORT`},
		{"ort:cpu,ep_library=x", "want neither for this provider"},
		{"ort:cuda,fallback=always", `option fallback="always"`},
		{"ort:cuda,form=", "option form: want a value"},
		{"ort:cuda,a=b\x00c", "want no zero byte"},
		{"ort:plugin", "option ep_library: missing: want a path"},
	} {
		_, err := device.Open(c.spec)
		require.ErrorContains(t, err, c.err, c.spec)
	}
	_, err := device.Open("ort:abacus")
	require.ErrorIs(t, err, device.ErrUnknown)

	c, err := configure(providers[3], map[string]string{"device_id": "1", "session.x": "2", "threads": "3", "lib": "l", "claim": "exact", "fallback": "none", "form": "host"})
	require.NoError(t, err)
	require.Equal(t, config{
		lib: "l", ep: "CUDAExecutionProvider", form: formHost, claim: device.Exact, fallback: fallbackNone, threads: 3,
		session: map[string]string{"session.x": "2"}, provider: map[string]string{"device_id": "1"},
	}, c)
}

func TestProviders(t *testing.T) {
	seen := map[string]bool{}
	for _, p := range Providers() {
		require.False(t, seen[p.Name], p.Name)
		seen[p.Name] = true
	}
	for _, name := range []string{"cpu", "cuda", "qnn", "coreml", "openvino", "webgpu"} {
		require.True(t, seen[name], name)
	}
	n := 0
	for _, d := range device.Drivers() {
		if len(d.Name) > len(prefix) && d.Name[:len(prefix)] == prefix {
			require.True(t, seen[d.Name[len(prefix):]])
			n++
		}
	}
	require.Equal(t, len(providers), n)
}

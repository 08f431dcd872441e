package cli

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/cmd/internal/cli/command"
)

// onTerminal runs the program as on a terminal with these variables.
func onTerminal(t *testing.T, env map[string]string, args ...string) called {
	var out, errs bytes.Buffer
	a := &command.App{Stdin: strings.NewReader(""), Stdout: &out, Stderr: &errs, Styles: true, Getenv: func(name string) string {
		if name == "TERM" && env["TERM"] == "" {
			return "xterm"
		}
		return env[name]
	}}
	status := execute(t.Context(), a, args)
	return called{status, out.String(), errs.String()}
}

func TestColor(t *testing.T) {
	dir := tree(t, map[string][]byte{"a.png": pngBytes(t, 5, 4, 1), "b.png": pngBytes(t, 5, 4, 2)})
	at := func(n string) string { return filepath.Join(dir, n) }
	for _, n := range []string{"a", "b"} {
		require.Equal(t, command.ExitOK, call(t, "run", "--preset", "decode", "-q", "-o", dir, at(n+".png")).status)
	}
	a, b := at("a.png.npy"), at("b.png.npy")
	const sequence = "\x1b["
	differ := []string{"diff", a, b}
	for _, c := range []struct {
		name string
		env  map[string]string
		args []string
		want bool
	}{
		{"terminal", nil, differ, true},
		{"NO_COLOR", map[string]string{"NO_COLOR": "1"}, differ, false},
		{"dumb", map[string]string{"TERM": "dumb"}, differ, false},
		{"never", nil, append(differ, "--color", "never"), false},
		{"always", map[string]string{"NO_COLOR": "1", "TERM": "dumb"}, append([]string{"--color=always"}, differ...), true},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := onTerminal(t, c.env, c.args...)
			require.Equal(t, command.ExitFailed, r.status, r.stderr)
			require.Equal(t, c.want, strings.Contains(r.stdout, sequence), "%q", r.stdout)
		})
	}
	require.Contains(t, onTerminal(t, nil, "diff", a, a).stdout, "\x1b[32mequal\x1b[0m: ")
	require.Contains(t, onTerminal(t, nil, differ...).stdout, "\x1b[31m")
	r := onTerminal(t, nil, "diff", a, at("none.npy"))
	require.True(t, strings.HasPrefix(r.stderr, "\x1b[31minfer-prep: "), "%q", r.stderr)

	// Pipes get the plain text, which styles do not change.
	plain := call(t, differ...)
	require.NotContains(t, plain.stdout+plain.stderr, sequence)
	styled := onTerminal(t, nil, differ...).stdout
	for _, s := range []string{command.Bold, command.Red, command.Green, "0"} {
		styled = strings.ReplaceAll(styled, "\x1b["+s+"m", "")
	}
	require.Equal(t, plain.stdout, styled)
	r = call(t, append(differ, "--color", "blue")...)
	require.Equal(t, command.ExitUsage, r.status)
	require.Contains(t, r.stderr, `--color "blue": want auto, always or never`)
}

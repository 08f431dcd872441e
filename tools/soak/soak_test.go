package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// readings returns the readings of 90 seconds; at gives each its values.
func readings(at func(i int, r *reading)) []reading {
	l := make([]reading, 90)
	for i := range l {
		l[i] = reading{Second: i + 1, Resident: 100 << 20, Heap: -1, Goroutines: 11, Files: 9}
		if (i+1)%heapEvery == 0 {
			l[i].Heap = 50 << 20
		}
		at(i, &l[i])
	}
	return l
}

// TestGrow checks that growth fails and that noise, a warm-up and unknown
// values do not.
func TestGrow(t *testing.T) {
	for _, c := range []struct {
		name string
		at   func(i int, r *reading)
		want string
	}{
		{"flat", func(int, *reading) {}, ""},
		{"noise", func(i int, r *reading) { r.Resident += int64(i%7) << 20; r.Goroutines += i % 3 }, ""},
		{"warm-up", func(i int, r *reading) { r.Resident -= max(0, int64(30-i)) << 20 }, ""},
		{"unknown", func(_ int, r *reading) { r.Resident, r.Files = -1, -1 }, ""},
		{"a peak", func(i int, r *reading) {
			if i == 80 {
				r.Resident *= 3
			}
		}, ""},
		{"resident memory", func(i int, r *reading) { r.Resident += int64(i) << 20 }, "resident memory grew from"},
		{"live heap", func(i int, r *reading) {
			if r.Heap > 0 {
				r.Heap += int64(i) << 20
			}
		}, "live heap grew from"},
		{"goroutines", func(i int, r *reading) { r.Goroutines += i / 5 }, "goroutines grew from 22 in the second third to 28"},
		{"open files", func(i int, r *reading) { r.Files += i / 5 }, "open files grew from"},
	} {
		x := &section{}
		x.grow(&table{}, c.name, 3, readings(c.at), true)
		text := strings.Join(x.Failures, "\n")
		if c.want == "" {
			require.Empty(t, text, c.name)
		} else {
			require.Contains(t, text, c.want, c.name)
			require.Len(t, x.Failures, 1, c.name)
		}
		short := &section{}
		short.grow(&table{}, c.name, 3, readings(c.at), false)
		require.Empty(t, short.Failures, c.name)
	}
}

// TestIdle checks that a run without progress fails.
func TestIdle(t *testing.T) {
	for stop, want := range map[int]string{90: "", 40: "", 5: "x: no image from second 5 to 66"} {
		x := &section{}
		x.idle("x", readings(func(i int, r *reading) { r.Images = int64(min(i+1, stop)) }))
		require.Equal(t, want, strings.Join(x.Failures, "\n"))
	}
}

// TestAudit checks the counts of lost and repeated samples.
func TestAudit(t *testing.T) {
	a, b, c := item{"a", 1}, item{"b", 2}, item{"c", 3}
	for _, x := range []struct {
		got  []item
		size int
		want resumeTally
	}{
		{[]item{c, a, b}, 3, resumeTally{compared: 3}},
		{[]item{a, b, c, a}, 4, resumeTally{compared: 4, filled: 1}},
		{[]item{a, b}, 2, resumeTally{compared: 2, dropped: 1}},
		{[]item{a, b}, 3, resumeTally{compared: 2, lost: 1}},
		{[]item{a, b, b}, 3, resumeTally{compared: 3, lost: 1, twice: 1}},
		{[]item{a, b, {"c", 4}}, 3, resumeTally{compared: 3, lost: 1, twice: 1}}, // other pixels
	} {
		var t2 resumeTally
		t2.audit(x.got, []item{a, b, c}, x.size)
		require.Equal(t, x.want, t2)
	}
}

func TestMinuteRows(t *testing.T) {
	var l []reading
	for i := range 30 * 60 {
		l = append(l, reading{Second: i + 1, Images: int64(10 * (i + 1)), Resident: 1 << 20, Heap: -1, Goroutines: i % 60, Files: -1})
	}
	rows := minuteRows("x", l)
	var minutes []string
	for _, r := range rows {
		minutes = append(minutes, r[1])
	}
	require.Equal(t, []string{"1", "5", "10", "15", "20", "25", "30"}, minutes)
	require.Equal(t, []string{"x", "30", "18,000", "1.0 MiB", "-", "59", "-"}, rows[6])
}

func TestReplaceSection(t *testing.T) {
	file := filepath.Join(t.TempDir(), "x.md")
	page := "a\n" + sectionStart + "\n\nold\n\n" + sectionEnd + "\nb\n"
	require.NoError(t, os.WriteFile(file, []byte(page), 0o666))
	require.NoError(t, replaceSection(file, "new\n"))
	b, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Equal(t, strings.Replace(page, "old", "new", 1), string(b))
	require.NoError(t, os.WriteFile(file, []byte("a\n"), 0o666))
	require.ErrorContains(t, replaceSection(file, "new\n"), "no lines")
}

// TestReport checks that failures are printed and that prose keeps the width of
// Markdown.
func TestReport(t *testing.T) {
	x := &section{Title: "Kills"}
	x.textf("%s", strings.Repeat("words and ", 30))
	out := table{Head: []string{"a", "b"}}
	out.add("x|y", 12345)
	x.Tables = append(x.Tables, out)
	x.failf("it broke")
	text := report(&settings{Seed: 1}, "v1", []*section{x}, time.Minute)
	require.Contains(t, text, "| a | b |\n|---|---|\n| x\\|y | 12,345 |\n")
	require.Contains(t, strings.Join(strings.Fields(text), " "), "1 expectation failed.")
	require.Contains(t, text, "```\nit broke\n```")
	for _, l := range strings.Split(text, "\n") {
		require.LessOrEqual(t, len(l), proseColumns)
	}
}

func TestThousands(t *testing.T) {
	for n, want := range map[int64]string{0: "0", 999: "999", 1000: "1,000", 1234567: "1,234,567"} {
		require.Equal(t, want, thousands(n))
	}
}

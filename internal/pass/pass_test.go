package pass_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/internal/pass"
)

type id uint8

func TestTable(t *testing.T) {
	t.Parallel()
	order := ""
	table := pass.NewTable[id]("kitchen",
		&pass.Info[func()]{Name: "cut-bread", Doc: "cuts", Run: func() { order += "cut " }},
		&pass.Info[func()]{Name: "toast", Doc: "toasts", Run: func() { order += "toast " }},
	)
	require.Equal(t, []id{0, 1}, table.All())
	for _, p := range table.All() {
		table.Run(p)()
		q, err := table.Parse(table.Name(p))
		require.NoError(t, err)
		require.Equal(t, p, q)
	}
	require.Equal(t, "cut toast ", order)
	require.Equal(t, "toasts", table.Doc(1))

	on, err := table.Enabled(nil)
	require.NoError(t, err)
	require.Equal(t, []id{0, 1}, on)
	on, err = table.Enabled([]id{0})
	require.NoError(t, err)
	require.Equal(t, []id{1}, on)

	_, err = table.Enabled([]id{2})
	require.ErrorIs(t, err, pass.ErrUnknown)
	require.EqualError(t, err, "kitchen: unknown pass 2")
	_, err = table.Parse("tost")
	require.ErrorIs(t, err, pass.ErrUnknown)
	require.EqualError(t, err, `kitchen: unknown pass "tost"; did you mean "toast"?`)
	require.Equal(t, "pass 2", table.Name(2))
	require.Empty(t, table.Doc(2))
}

func TestAdd(t *testing.T) {
	t.Parallel()
	l := []id{3}
	require.Equal(t, []id{1, 3}, pass.Add(l, 1, 3))
	require.Equal(t, []id{3}, l)
	require.Empty(t, pass.Add[id](nil))
}

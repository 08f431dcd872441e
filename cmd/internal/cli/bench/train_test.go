package bench

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/pipeline"
)

func TestPercentages(t *testing.T) {
	before := []pipeline.StageStats{{Path: "b", Busy: time.Second, Waited: time.Second}}
	after := []pipeline.StageStats{{Path: "a", Workers: 2, Busy: time.Second}, {Path: "b", Workers: 1, Busy: 3 * time.Second, Waited: 2 * time.Second}, {Path: "c"}}
	l := percentages(before, after, 4*time.Second)
	require.Equal(t, [3]float64{12.5, 50, 0}, [3]float64{l[0].BusyPercent, l[1].BusyPercent, l[2].BusyPercent})
	require.Equal(t, [3]float64{0, 25, 0}, [3]float64{l[0].WaitedPercent, l[1].WaitedPercent, l[2].WaitedPercent})
}

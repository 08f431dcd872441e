package transforms

import (
	"math"

	"github.com/infer-prep/infer-prep/internal/exactmath"
)

// UpdateWeights returns the next weights of a FeedbackPolicy from its weights
// and from the mean loss of the samples of each of its lists. Their sum is 1 up
// to rounding. A loss of NaN stands for a list without samples: it counts as
// the mean of the others under their weights.
//
//	v[i] = weights[i] * exp(-rate * losses[i])
//	next[i] = (1-explore) * v[i] / sum(v) + explore / n
//
// Lists with smaller losses get more weight, or less with a negative rate, for
// augmentations that are as hard as possible. rate is -1e6 to 1e6, for losses
// of about 1 usually 0.1 to 1. explore, 0 to 1, is the share of the weights
// that all lists get alike, so that none disappears; usually 0.1.
//
// The result has the same bits on all platforms: all ranks that pass equal
// losses get equal weights. Its errors wrap ErrParam.
//
// Source: Freund and Schapire, A Decision-Theoretic Generalization of On-Line
// Learning (Hedge), 1997; the share of exploration is that of Exp3 in Auer,
// Cesa-Bianchi, Freund and Schapire, The Nonstochastic Multiarmed Bandit
// Problem, 2002.
func UpdateWeights(weights, losses []float64, rate, explore float64) ([]float64, error) {
	n := len(weights)
	if n < 1 || n > maxListed {
		return nil, paramErr("%d weights, want 1 to %d", n, maxListed)
	}
	if err := checkWeights("weights", weights, n); err != nil {
		return nil, err
	}
	if len(losses) != n {
		return nil, paramErr("%d losses, want %d, one for each weight", len(losses), n)
	}
	if err := checkWithin("rate", rate, 1e6); err != nil {
		return nil, err
	}
	if err := checkBounds("explore", explore, 0, 1); err != nil {
		return nil, err
	}
	mean, total := 0.0, 0.0
	for i, l := range losses {
		if math.IsNaN(l) {
			continue
		}
		if math.Abs(l) > 1e30 {
			return nil, paramErr("losses[%d] is %v, want -1e30 to 1e30, or NaN", i, l)
		}
		mean += float64(weights[i] * l)
		total += weights[i]
	}
	if total > 0 {
		mean /= total
	}
	next := make([]float64, n)
	most := math.Inf(-1)
	for i, l := range losses {
		if math.IsNaN(l) {
			l = mean
		}
		next[i] = float64(-rate * l)
		if weights[i] > 0 {
			most = max(most, next[i])
		}
	}
	sum := 0.0
	for i, w := range weights {
		if w > 0 { // else the exponential could overflow
			next[i] = float64(w * exactmath.Exp(next[i]-most))
		} else {
			next[i] = 0
		}
		sum += next[i]
	}
	for i := range next {
		next[i] = float64((1-explore)*(next[i]/sum)) + explore/float64(n)
	}
	return next, nil
}

package gomlx

import (
	"fmt"
	"math"
	"slices"

	"github.com/gomlx/gomlx/pkg/core/graph"
	"github.com/gomlx/gomlx/pkg/core/tensors"
	mlcontext "github.com/gomlx/gomlx/pkg/ml/context"
	"github.com/gomlx/gomlx/pkg/ml/train"
	"github.com/gomlx/gomlx/pkg/ml/train/metrics"

	"github.com/infer-prep/infer-prep/dataset"
	"github.com/infer-prep/infer-prep/transforms"
)

// Feedback changes the weights of a feedback policy after each epoch, by the
// mean losses of the samples of each of its lists. The checkpoint holds the
// sums of the epoch, so a resumed training sets the same weights.
type Feedback struct {
	d      *Dataset
	policy string
	label  int // the number of the column among the labels
	rate   float64
	share  float64
	sums   []float64
	counts []float64
}

// NewFeedback returns a Feedback of a policy of d's definition. The label
// column is the output of the policy_index of the policy. rate and explore are
// those of transforms.UpdateWeights: a negative rate gives more weight to lists
// with larger losses. Call it before the first Yield.
func NewFeedback(d *Dataset, policy, column string, rate, explore float64) (*Feedback, error) {
	weights, err := d.run.Weights(policy)
	if err != nil {
		return nil, err
	}
	f := &Feedback{
		d: d, policy: policy, label: slices.Index(d.o.Labels, column), rate: rate, share: explore,
		sums: make([]float64, len(weights)), counts: make([]float64, len(weights)),
	}
	if f.label < 0 {
		return nil, fmt.Errorf("gomlx: feedback policy %q: %w: column %q is no label: want one of %q", policy, dataset.ErrParam, column, d.o.Labels)
	}
	if d.o.From != nil {
		saved, ok := d.o.From.feedback[policy]
		if ok && len(saved.Sums) == len(weights) && len(saved.Counts) == len(weights) {
			f.sums, f.counts = slices.Clone(saved.Sums), slices.Clone(saved.Counts)
		} else if ok {
			return nil, fmt.Errorf("gomlx: feedback policy %q: %w: the checkpoint has %d lists, want %d", policy, dataset.ErrState, len(saved.Sums), len(weights))
		}
	}
	d.feedback = append(d.feedback, f)
	return f, nil
}

// metric is the name of the metric of a policy.
func (f *Feedback) metric() string { return "infer-prep feedback " + f.policy }

// Metric returns the metric that sums the losses by list; give it to
// train.NewTrainer. loss returns the loss of each sample, shape (batch). The
// metric's value has the sums of all lists, then their numbers of samples, so
// progress bars show it as a list.
func (f *Feedback) Metric(loss train.LossFn) metrics.Interface {
	return &lossesByList{metrics.NewBaseMetric(f.metric(), "fb", "infer-prep feedback", nil,
		func(value *tensors.Tensor) string { return value.String() }), f, loss}
}

// lossesByList is a metric that is no scalar, which GoMLX's own must be.
type lossesByList struct {
	metrics.Interface
	f    *Feedback
	loss train.LossFn
}

func (m *lossesByList) UpdateGraph(_ *mlcontext.Context, labels, predictions []*graph.Node) *graph.Node {
	losses := graph.StopGradient(m.loss(labels, predictions))
	if losses.Rank() != 1 {
		// Graph functions report errors by a panic, which GoMLX recovers.
		panic(fmt.Errorf("gomlx: feedback policy %q: the loss has the shape %s, want one number for each sample", m.f.policy, losses.Shape()))
	}
	lists := graph.OneHot(labels[m.f.label], len(m.f.sums), losses.DType())
	sums := graph.ReduceSum(graph.Mul(lists, graph.InsertAxes(losses, -1)), 0)
	return graph.Concatenate([]*graph.Node{sums, graph.ReduceSum(lists, 0)}, 0)
}

// OnStep adds the losses of a step; give it to Loop.OnStep with a priority
// below that of checkpoints.
func (f *Feedback) OnStep(loop *train.Loop, values []*tensors.Tensor) error {
	i := slices.IndexFunc(loop.Trainer.TrainMetrics(), func(m metrics.Interface) bool { return m.Name() == f.metric() })
	if i < 0 {
		return fmt.Errorf("gomlx: feedback policy %q: the trainer does not have the Feedback's Metric", f.policy)
	}
	v, err := floats(values[i])
	if err != nil {
		return err
	}
	for k := range f.sums {
		f.sums[k] += v[k]
		f.counts[k] += v[len(f.sums)+k]
	}
	return nil
}

// epochEnd sets the weights of the next epoch.
func (f *Feedback) epochEnd() error {
	losses := make([]float64, len(f.sums))
	for k := range losses {
		losses[k] = math.NaN() // of a list without samples
		if f.counts[k] > 0 {
			losses[k] = f.sums[k] / f.counts[k]
		}
	}
	clear(f.sums)
	clear(f.counts)
	weights, err := f.d.run.Weights(f.policy)
	if err != nil {
		return err
	}
	if weights, err = transforms.UpdateWeights(weights, losses, f.rate, f.share); err != nil {
		return err
	}
	return f.d.run.SetWeights(f.policy, weights)
}

// CrossEntropy is a train.LossFn: the cross entropy of each sample, shape
// (batch), of the logits predictions[0], shape (batch, classes), for the
// classes labels[0], integers of shape (batch). GoMLX's own returns the mean
// alone, which a Feedback cannot divide by list.
func CrossEntropy(labels, predictions []*graph.Node) *graph.Node {
	logits := predictions[0]
	classes := graph.OneHot(labels[0], logits.Shape().Dim(-1), logits.DType())
	return graph.Neg(graph.ReduceSum(graph.Mul(classes, graph.LogSoftmax(logits)), -1))
}

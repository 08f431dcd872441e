// Package prometheus exports the Stats of pipelines to Prometheus. It is a
// separate module, so that only its users link Prometheus's client.
//
//	p, err := pipeline.New(built, options, nil)
//	registry.MustRegister(prometheus.New(p, "train"))
package prometheus

import (
	client "github.com/prometheus/client_golang/prometheus"

	"github.com/infer-prep/infer-prep/pipeline"
)

// Collector collects the Stats of a pipeline for each scrape. It may be
// registered before the first Next and stay registered after Close.
type Collector struct {
	p    *pipeline.Pipeline
	bad  *client.Desc
	list []metric
}

// metric is a metric of every stage.
type metric struct {
	desc  *client.Desc
	kind  client.ValueType
	value func(*pipeline.StageStats) float64
}

// New returns a collector for p. name is the value of the label "pipeline",
// which distinguishes the pipelines of a program.
//
// The names of the metrics start with infer_prep_pipeline_. The label "stage"
// is the path of the stage. pipeline.StageStats describes the values.
//
//   - Gauges: workers, queue_samples, at_work_samples, ready_samples, bytes.
//   - Counters: in_samples_total, out_samples_total, errors_total,
//     busy_seconds_total, starved_seconds_total, full_seconds_total,
//     waited_seconds_total.
//   - A counter without a stage: bad_samples_total, the skipped bad samples.
func New(p *pipeline.Pipeline, name string) *Collector {
	c := &Collector{p: p}
	labels := client.Labels{"pipeline": name}
	desc := func(metric, help string, variable ...string) *client.Desc {
		return client.NewDesc("infer_prep_pipeline_"+metric, help, variable, labels)
	}
	add := func(kind client.ValueType, name, help string, value func(*pipeline.StageStats) float64) {
		c.list = append(c.list, metric{desc(name, help, "stage"), kind, value})
	}
	add(client.GaugeValue, "workers", "Workers now.", func(s *pipeline.StageStats) float64 { return float64(s.Workers) })
	add(client.GaugeValue, "queue_samples", "Samples at work and ready at once, at most.", func(s *pipeline.StageStats) float64 { return float64(s.Queue) })
	add(client.GaugeValue, "at_work_samples", "Samples that workers work on now.", func(s *pipeline.StageStats) float64 { return float64(s.AtWork) })
	add(client.GaugeValue, "ready_samples", "Samples that are done and wait to be given.", func(s *pipeline.StageStats) float64 { return float64(s.Ready) })
	add(client.GaugeValue, "bytes", "Memory of the samples in the stage now.", func(s *pipeline.StageStats) float64 { return float64(s.Bytes) })
	add(client.CounterValue, "in_samples_total", "Samples taken from below.", func(s *pipeline.StageStats) float64 { return float64(s.In) })
	add(client.CounterValue, "out_samples_total", "Samples given.", func(s *pipeline.StageStats) float64 { return float64(s.Out) })
	add(client.CounterValue, "errors_total", "Samples on which the work failed.", func(s *pipeline.StageStats) float64 { return float64(s.Errors) })
	add(client.CounterValue, "busy_seconds_total", "Time that workers worked, of all together.", func(s *pipeline.StageStats) float64 { return s.Busy.Seconds() })
	add(client.CounterValue, "starved_seconds_total", "Time that the stage waited for samples.", func(s *pipeline.StageStats) float64 { return s.Starved.Seconds() })
	add(client.CounterValue, "full_seconds_total", "Time that the stage waited for room in its queue.", func(s *pipeline.StageStats) float64 { return s.Full.Seconds() })
	add(client.CounterValue, "waited_seconds_total", "Time that the stage was waited for.", func(s *pipeline.StageStats) float64 { return s.Waited.Seconds() })
	c.bad = desc("bad_samples_total", "Bad samples that were left out.")
	return c
}

// Describe describes the metrics.
func (c *Collector) Describe(to chan<- *client.Desc) {
	for _, m := range c.list {
		to <- m.desc
	}
	to <- c.bad
}

// Collect sends the metrics.
func (c *Collector) Collect(to chan<- client.Metric) {
	l := c.p.Stats()
	for i := range l {
		for _, m := range c.list {
			to <- client.MustNewConstMetric(m.desc, m.kind, m.value(&l[i]), l[i].Path)
		}
	}
	to <- client.MustNewConstMetric(c.bad, client.CounterValue, float64(c.p.Skipped()))
}

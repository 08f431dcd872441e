// Package distributed packs a data set with Apache Beam. The work is that of a
// [pack.Plan]: the pipeline reads the listing, reads and processes each sample
// where a worker is free, groups the results by shard, sorts each group by
// position, and writes the shards, their indexes and summaries, and the index
// of all. The output has the bytes that one process writes with the same plan,
// whatever the runner, the number of workers and the retries.
//
//	err := distributed.Pack(ctx, s, distributed.Options{Plan: "s3://data/plan.json", Out: "s3://data/packed"})
//
// Shards that are in the output already, complete and of this plan, are not
// packed again, so a job that failed or was cancelled goes on when it is run
// again.
//
// Names of files are paths or URIs of package store. Every worker opens the
// plan, the input and the output by itself: paths must lie on a disk that all
// of them share. The program links the image formats and stores it needs:
// import codec/all, or single formats. The command infer-prep-beam is such a
// program.
//
// # Memory
//
// All records of a shard pass through one group. A worker holds the records of
// the shards that it writes at once, usually one for each core, and a runner
// holds a group once or twice more: Spark's sends it as one message of at most
// 2 GiB. Plan for shards of at most 256 MiB; [pack.Plan].Shards sets their
// number. Other stages hold single samples.
//
// # Counters
//
// The pipeline has these counters in the namespace infer-prep. Work that a
// runner repeats counts again.
//
//	records, bytes    processed samples and the bytes of their records
//	bad_KIND          bad samples, such as bad_missing or bad_image
//	shards, resumed   shards that were written, and that were there before
//
// The last step counts the complete output, for [Report]: output_shards,
// output_entries, output_records, output_bytes, output_resumed and
// output_bad_KIND.
package distributed

// Package distributed packs a data set with Apache Beam, as a [pack.Plan] says.
// The pipeline reads the listing, then reads and processes each sample where a
// worker is free. It groups the results by shard, sorts each group by position,
// and writes the shards, their indexes and summaries, and the index of all. The
// output's bytes equal those of one process with the same plan. They do not
// depend on the runner, the number of workers or retries.
//
//	err := distributed.Pack(ctx, s, distributed.Options{Plan: "s3://data/plan.json", Out: "s3://data/packed"})
//
// Complete shards of this plan in the output are not packed again. So a job
// that failed or was cancelled resumes when it is run again.
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

// Package pack writes record files from images and other files, in parallel and in
// order: the same bytes whatever the number of workers, and after a kill the next run
// goes on where the last one was.
//
// Lists finds the images of a folder and divides them among lists, as MXNet's im2rec does; RecordIO packs
// lists into record files with their indices:
//
//	lists, _, _, err := pack.Lists("photos", pack.ListOptions{Recursive: true, Seed: 100, TrainRatio: 1})
//	…
//	p := &pack.RecordIO{Root: "photos", Image: pack.ImageOptions{Resize: 256}, Skip: true}
//	for _, l := range lists {
//		p.Outputs = append(p.Outputs, pack.RecordIOOutput{Name: "data/photos" + l.Suffix, Items: l.Items})
//	}
//	stats, err := p.Run(ctx)
//
// What is written is called NAME.part until all of it is there, and a journal notes how much of it is sound, with
// checksums.
//
// Shards packs samples into tar files, as webdataset reads them: the files of a folder, images with labels, or
// Kaldi's features and waves with labels, in groups of like length:
//
//	s, err := pack.KaldiSamples(ctx, pack.KaldiOptions{
//		Scripts: []pack.KaldiFile{{Field: "mat.npy", File: "feats.scp"}},
//		Labels:  []pack.KaldiFile{{Field: "label.txt", File: "text"}},
//	})
//	…
//	report, err := pack.Shards(ctx, s, "data", pack.ShardOptions{Groups: []pack.Group{{From: 10, To: 500}, {From: 500, To: 800}}})
//
// A shard is there under its name when it is whole, and a journal notes each. The formats of images that are read are those that the program links: import codec/all, or
// only the ones needed.
package pack

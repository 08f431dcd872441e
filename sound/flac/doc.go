// Package flac decodes FLAC files, to the samples that libsndfile returns.
//
// A file of more than one of channels, bits or rates, whose frames differ, is
// an error. So is damage: a checksum that does not match, a missing frame, or
// data between frames. The MD5 sum of the samples is not checked, as in
// libsndfile.
package flac

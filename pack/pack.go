// Package pack writes record files from images and other files, in parallel and in
// order: the same bytes whatever the number of workers, and after a kill the next run
// goes on where the last one was.
package pack

// Package sqlitetest compares package records/mindrecord, which reads and
// writes MindRecord's indexes without SQLite, with SQLite. It is a module of
// its own, so that SQLite is no dependency of the main one, and has tests only.
package sqlitetest

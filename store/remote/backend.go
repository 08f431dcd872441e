// Package remote makes a [store.Opener] of a service that serves objects over a
// network. The service implements [Backend]; [New] adds what all of them need:
// retries, blocks that coalesce small reads, read-ahead, checks of lengths,
// checksums and versions, and a cache folder that processes share.
//
// Packages store/httpstore and, in modules of their own, store/s3, store/gcs,
// store/azure and store/hdfs have backends.
package remote

import (
	"context"
	"errors"
	"hash"
	"io"
	"time"

	"github.com/infer-prep/infer-prep/store"
)

// Backend reads and writes the objects of a service. Its methods make one
// attempt each, are safe for concurrent use, and end when ctx does; so do reads
// of an Object's Body. Errors wrap fs.ErrNotExist for an object that does not
// exist and fs.ErrPermission for refused credentials. An error that another
// attempt may not meet is a [TemporaryError]. No error holds credentials.
// Errors need not hold the name: the Store adds it.
//
// Names are whole URIs, as in [store.Opener].
type Backend interface {
	// Get opens the bytes of an object from off on, at most n of them;
	// math.MaxInt64 is all of them. It opens fewer only at the object's end;
	// past it, the body is empty. A version
	// that is not "" is that of an earlier Object: if the object has another
	// one now, the error wraps ErrChanged.
	Get(ctx context.Context, name string, off, n int64, version string) (*Object, error)
	// Stat describes an object or a folder.
	Stat(ctx context.Context, name string) (store.Info, error)
	// List describes the objects and folders directly in a folder, sorted by
	// name. A service that cannot list returns errors.ErrUnsupported. List
	// calls Alive after each answer of the service.
	List(ctx context.Context, folder string) ([]store.Info, error)
	// Create creates an object as store.Opener's Create does. A service that is
	// only read returns errors.ErrUnsupported. The requests of the object have
	// ctx, or a context below it, and are counted by CountRequest.
	Create(ctx context.Context, name string) (store.NewFile, error)
}

// Located is a Backend whose names do not tell the service, such as
// s3://bucket/key. Stores of different services share nothing in a cache
// folder.
type Located interface {
	Backend
	// Service identifies the service and the account, by its URL and an
	// account's name. It holds no secret. It is called once, when the first
	// object has been opened.
	Service() string
}

// Object is an object, or a part of it, that is being read.
type Object struct {
	// Body has the bytes of the part. It is for one goroutine at a time; the
	// caller closes it.
	Body io.ReadCloser
	// Length is the number of bytes that Body has when nothing is cut off. -1
	// if the service does not tell.
	Length int64
	// Size is that of the whole object. -1 if the service does not tell.
	Size int64
	// Modified is the modification time, zero if unknown.
	Modified time.Time
	// Version identifies the object's content, for example an ETag. "" if the
	// service has none; a change is then noticed by Size and Modified only.
	Version string
	// Sum, if not nil, is the checksum of the bytes of Body, computed by a new
	// Hash. It is set only if the service knows it for exactly these bytes.
	Sum     []byte
	NewHash func() hash.Hash
}

// ErrChanged reports an object that was replaced while it was read.
var ErrChanged = errors.New("the object has changed since it was opened")

// ErrChecksum reports bytes that do not have the checksum that the service
// stores for them.
var ErrChecksum = errors.New("the checksum does not match")

// TemporaryError is an error that another attempt may not meet: a broken
// connection, a busy server.
type TemporaryError struct {
	Err   error
	After time.Duration // the least time to wait, as the service asks; 0 if it does not
}

func (e *TemporaryError) Error() string { return e.Err.Error() }

// Unwrap returns Err.
func (e *TemporaryError) Unwrap() error { return e.Err }

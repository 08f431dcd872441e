package s3

import (
	"bytes"
	"context"
	"crypto/md5"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"time"

	"github.com/minio/minio-go/v7"

	"github.com/infer-prep/infer-prep/store"
)

// An object of up to partSize bytes is one request. A larger one is an upload
// of parts, of which inFlight are sent at a time: 64 MiB of memory for each
// object that is being written. All parts but the last have one size, as
// Cloudflare's service wants it.
const (
	partSize = 16 << 20
	maxParts = 10000 // of S3
	inFlight = 3
	// MaxSize is the size of the largest object that Create writes, in bytes.
	MaxSize = partSize * maxParts
)

// abortTimeout bounds the request that discards an upload.
const abortTimeout = 10 * time.Second

// Create implements objects.Creator. Backend describes the file.
func (s *service) Create(ctx context.Context, name, bucket, key string) (store.NewFile, error) {
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("s3: %w", err)
	}
	u := &upload{s: s, name: name, bucket: bucket, key: key, slots: make(chan struct{}, inFlight)}
	u.ctx, u.cancel = context.WithCancel(ctx)
	u.stop = context.AfterFunc(ctx, func() { _ = u.Abort() })
	return u, nil
}

// upload is an object that is being written.
type upload struct {
	s                 *service
	ctx               context.Context // of the requests
	cancel            context.CancelFunc
	name, bucket, key string
	stop              func() bool // removes what waits for the end of ctx

	mu     sync.Mutex // held by Write, Close and Abort
	buf    []byte     // bytes that no request has
	id     string     // of the upload, "" before the first part
	failed error
	done   bool

	sending sync.WaitGroup
	slots   chan struct{}
	parts   struct {
		sync.Mutex
		sums  [][]byte // MD5 of the parts
		done  []minio.CompletePart
		spare [][]byte // buffers of parts that were sent
		err   error
	}
}

var errClosed = errors.New("the file is closed")

// Write implements store.NewFile.
func (u *upload) Write(p []byte) (int, error) {
	u.mu.Lock()
	defer u.mu.Unlock()
	n := 0
	for n < len(p) {
		if err := u.check(); err != nil {
			return n, err
		}
		if len(u.buf) == partSize {
			if err := u.send(); err != nil {
				u.failed = err
				return n, err
			}
		}
		k := min(partSize-len(u.buf), len(p)-n)
		if need := len(u.buf) + k; need > cap(u.buf) {
			b := make([]byte, len(u.buf), min(partSize, max(need, 2*cap(u.buf), bufferSize)))
			copy(b, u.buf)
			u.buf = b
		}
		u.buf = append(u.buf, p[n:n+k]...)
		n += k
	}
	return n, nil
}

// check returns the error that keeps the upload from going on.
func (u *upload) check() error {
	if u.done {
		if u.failed == nil {
			u.failed = fmt.Errorf("s3: write: %s: %w", u.name, errClosed)
		}
		return u.failed
	}
	if err := u.ctx.Err(); err != nil {
		return fmt.Errorf("s3: write: %s: %w", u.name, err)
	}
	if u.failed == nil {
		u.parts.Lock()
		u.failed = u.parts.err
		u.parts.Unlock()
	}
	return u.failed
}

// send starts the request of a part with the bytes of buf.
func (u *upload) send() error {
	u.parts.Lock()
	number := len(u.parts.done) + 1
	u.parts.Unlock()
	if number > maxParts {
		return fmt.Errorf("s3: write: %s: %w: want at most %d bytes", u.name, store.ErrTooLarge, int64(MaxSize))
	}
	if u.id == "" {
		ctx, a := withAttempt(u.ctx)
		id, err := u.s.write.NewMultipartUpload(ctx, u.bucket, u.key, minio.PutObjectOptions{})
		if err != nil {
			return a.fail(ctx, "s3: write: "+u.name, err)
		}
		u.id = id
	}
	select {
	case u.slots <- struct{}{}:
	case <-u.ctx.Done():
		return u.check()
	}
	body := u.buf
	u.parts.Lock()
	u.parts.done = append(u.parts.done, minio.CompletePart{PartNumber: number})
	u.parts.sums = append(u.parts.sums, nil)
	u.buf = nil
	if n := len(u.parts.spare); n > 0 {
		u.buf, u.parts.spare = u.parts.spare[n-1], u.parts.spare[:n-1]
	}
	u.parts.Unlock()
	u.sending.Go(func() {
		defer func() { <-u.slots }()
		sum := md5.Sum(body)
		ctx, a := withAttempt(u.ctx)
		p, err := u.s.write.PutObjectPart(ctx, u.bucket, u.key, u.id, number, bytes.NewReader(body), int64(len(body)), minio.PutObjectPartOptions{
			Md5Base64: base64.StdEncoding.EncodeToString(sum[:]), Sha256Hex: u.s.sha256(body), DisableContentSha256: true,
		})
		if err != nil {
			err = a.fail(ctx, "s3: write: "+u.name, err)
		}
		u.parts.Lock()
		defer u.parts.Unlock()
		u.parts.done[number-1].ETag, u.parts.sums[number-1] = p.ETag, sum[:]
		u.parts.spare = append(u.parts.spare, body[:0])
		if u.parts.err == nil {
			u.parts.err = err
		}
	})
	return nil
}

// sha256 returns the hexadecimal digest that a request without TLS is signed
// with, "" with TLS.
func (s *service) sha256(body []byte) string {
	if s.tls {
		return ""
	}
	sum := sha256.Sum256(body)
	return hex.EncodeToString(sum[:])
}

// Close implements store.NewFile.
func (u *upload) Close() error {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.done {
		return u.failed
	}
	err := u.check()
	if err == nil {
		if err = u.finish(); err == nil {
			u.done = true
			u.release()
			return nil
		}
	}
	u.failed = err
	return errors.Join(err, u.discard())
}

// finish makes the object appear.
func (u *upload) finish() error {
	if u.id == "" {
		sum := md5.Sum(u.buf)
		ctx, a := withAttempt(u.ctx)
		_, err := u.s.write.PutObject(ctx, u.bucket, u.key, bytes.NewReader(u.buf), int64(len(u.buf)),
			base64.StdEncoding.EncodeToString(sum[:]), u.s.sha256(u.buf), minio.PutObjectOptions{DisableContentSha256: true})
		if err != nil {
			return a.fail(ctx, "s3: write: "+u.name, err)
		}
		return nil
	}
	if err := u.send(); err != nil {
		return err
	}
	u.sending.Wait()
	if err := u.check(); err != nil {
		return err
	}
	ctx, a := withAttempt(u.ctx)
	_, err := u.s.write.CompleteMultipartUpload(ctx, u.bucket, u.key, u.id, u.parts.done, minio.PutObjectOptions{})
	if err == nil {
		return nil
	}
	if minio.ToErrorResponse(err).Code == "NoSuchUpload" {
		// An earlier attempt may have done it, and only its answer was lost.
		if info, serr := u.s.write.StatObject(ctx, u.bucket, u.key, minio.StatObjectOptions{}); serr == nil && info.ETag == u.etag() {
			return nil
		}
	}
	return a.fail(ctx, "s3: write: "+u.name, err)
}

// etag returns the ETag of the whole object, as S3 makes it from parts.
func (u *upload) etag() string {
	h := md5.New()
	for _, s := range u.parts.sums {
		h.Write(s)
	}
	return hex.EncodeToString(h.Sum(nil)) + "-" + strconv.Itoa(len(u.parts.sums))
}

// Abort implements store.NewFile.
func (u *upload) Abort() error {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.done {
		return nil
	}
	return u.discard()
}

// discard ends the upload and tells the service to forget its parts.
func (u *upload) discard() error {
	u.done = true
	if err := u.ctx.Err(); err != nil && u.failed == nil {
		u.failed = fmt.Errorf("s3: write: %s: %w", u.name, err)
	}
	u.release() // which ends the requests of parts
	u.sending.Wait()
	if u.id == "" {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(u.ctx), abortTimeout)
	defer cancel()
	ctx, a := withAttempt(ctx)
	if err := u.s.write.AbortMultipartUpload(ctx, u.bucket, u.key, u.id); err != nil && minio.ToErrorResponse(err).Code != "NoSuchUpload" {
		return a.fail(ctx, "s3: abort: "+u.name, err)
	}
	return nil
}

// release frees what the upload holds.
func (u *upload) release() {
	u.stop()
	u.cancel()
	u.buf = nil
}

// Package s3 reads and writes objects of Amazon S3 and of services with its
// API, by minio-go v7. Importing it registers the scheme s3 with [store.URI]:
// s3://BUCKET/KEY is an object, and s3://BUCKET/PREFIX is the folder of the
// objects below PREFIX/. Keys are literal: nothing in a name is unescaped.
//
// The registered store takes its settings from the environment. A program with
// other settings makes a store of its own:
//
//	b, err := s3.New(s3.Options{Endpoint: "https://objects.example.com"})
//	…
//	s := remote.New(b, remote.Options{})
//
// No error holds a key, a token or a signature.
package s3

import (
	"context"
	"crypto/md5"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"hash/crc32"
	"io"
	"math"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/minio/crc64nvme"
	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"

	"github.com/infer-prep/infer-prep/store"
	"github.com/infer-prep/infer-prep/store/internal/objects"
	"github.com/infer-prep/infer-prep/store/remote"
)

func init() {
	store.Register("s3", func() (store.Opener, error) {
		b, err := New(Options{})
		if err != nil {
			return nil, err
		}
		return remote.New(b, remote.Options{}), nil
	})
}

// Options are the settings of a Backend. The environment has those of zero
// fields.
type Options struct {
	// Endpoint is the URL of the service, without a path. Default:
	// AWS_ENDPOINT_URL_S3, then AWS_ENDPOINT_URL, then Amazon's.
	Endpoint string
	// Region is the region that requests are signed for. Default: AWS_REGION,
	// then AWS_DEFAULT_REGION. Without any, Amazon is asked for the region of
	// each bucket; requests to other services are signed for us-east-1.
	Region string
	// PathStyle requests https://HOST/BUCKET/KEY instead of
	// https://BUCKET.HOST/KEY. All endpoints except those of Amazon, Google and
	// Alibaba get it by default.
	PathStyle bool
	// Credentials sign the requests. Default: the first of
	//   - AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and AWS_SESSION_TOKEN;
	//   - the profile AWS_PROFILE (default: "default") of the files
	//     AWS_SHARED_CREDENTIALS_FILE (~/.aws/credentials) and AWS_CONFIG_FILE
	//     (~/.aws/config): keys, SSO or credential_process;
	//   - the web identity of AWS_WEB_IDENTITY_TOKEN_FILE and AWS_ROLE_ARN;
	//   - the role of the container or the machine, unless
	//     AWS_EC2_METADATA_DISABLED is true;
	//   - none: requests are anonymous.
	Credentials *credentials.Credentials
}

// Backend is the remote.Backend of an S3 service. Its errors do not repeat the
// name, which a remote.Store adds. A file of Create uses up to 64 MiB of memory
// and is for one goroutine at a time. Its requests are sent up to 8 times. A
// write past MaxSize fails. The end of Create's context discards the file.
type Backend struct {
	*backend
	s *service
}

type backend = objects.Backend

var _ remote.Backend = (*Backend)(nil)

// service is an objects.Service. Its errors are explained by attempt.fail.
type service struct {
	read  *minio.Core // one attempt for each request
	write *minio.Core // repeats what an upload sends
	tls   bool
	// endpoint is the URL, and creds may choose the account there.
	endpoint string
	creds    *credentials.Credentials
}

// writeAttempts is the number of times that a part of an upload is sent before
// the upload fails. minio-go waits up to a second between them.
const writeAttempts = 8

// New returns the backend of a service. It sends no request.
func New(o Options) (*Backend, error) {
	endpoint := first(o.Endpoint, os.Getenv("AWS_ENDPOINT_URL_S3"), os.Getenv("AWS_ENDPOINT_URL"), "https://s3.amazonaws.com")
	u, err := url.Parse(endpoint)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.User != nil || strings.Trim(u.Path, "/") != "" || u.RawQuery != "" || u.Fragment != "" {
		// The URL may hold a password.
		return nil, errors.New("s3: invalid endpoint: want http://HOST:PORT or https://HOST, without user, path and query")
	}
	amazon := u.Host == "s3.amazonaws.com"
	region := first(o.Region, os.Getenv("AWS_REGION"), os.Getenv("AWS_DEFAULT_REGION"))
	if region == "" && !strings.Contains(u.Host, "amazonaws.com") {
		region = "us-east-1"
	}
	creds := o.Credentials
	if creds == nil {
		creds = credentials.New(&chain{})
	}
	opts := minio.Options{Creds: creds, Secure: u.Scheme == "https", Region: region, MaxRetries: 1}
	if opts.Transport, err = transport(opts.Secure); err != nil {
		return nil, fmt.Errorf("s3: %w", err)
	}
	if o.PathStyle {
		opts.BucketLookup = minio.BucketLookupPath
	}
	s := &service{tls: opts.Secure, endpoint: u.Scheme + "://" + u.Host}
	if !strings.HasSuffix(u.Hostname(), "amazonaws.com") {
		s.creds = creds
	}
	for _, c := range []struct {
		core     **minio.Core
		attempts int
	}{{&s.read, 1}, {&s.write, writeAttempts}} {
		opts.MaxRetries = c.attempts
		opts := opts
		if *c.core, err = minio.NewCore(u.Host, &opts); err != nil {
			return nil, fmt.Errorf("s3: endpoint %s: %s", u.Host, err)
		}
		if amazon {
			(*c.core).SetS3EnableDualstack(false) // the host that other tools use
		}
	}
	return &Backend{objects.New("s3", "bucket", s), s}, nil
}

// first returns the first string that is not empty.
func first(l ...string) string {
	i := slices.IndexFunc(l, func(s string) bool { return s != "" })
	if i < 0 {
		return ""
	}
	return l[i]
}

// errRange is the answer to a range past the end.
var errRange = &objects.Answer{Status: http.StatusRequestedRangeNotSatisfiable}

// Service implements objects.Service. Amazon's names of buckets are unique;
// with other services, each account can have a bucket of the name.
func (s *service) Service() string {
	if s.creds == nil {
		return s.endpoint
	}
	v, err := s.creds.GetWithContext(nil)
	if err != nil { // no object can be opened either
		return s.endpoint
	}
	return s.endpoint + " " + v.AccessKeyID
}

// Explain implements objects.Service.
func (s *service) Explain(err error) *objects.Answer {
	if err == errRange {
		return errRange
	}
	return nil
}

// explain is fail for a method of service.
func (a *attempt) explain(ctx context.Context, err error) error {
	return &objects.Explained{Err: a.fail(ctx, "s3", err)}
}

// Get implements objects.Service.
func (s *service) Get(ctx context.Context, bucket, key string, off, n int64, version string) (*remote.Object, error) {
	var o minio.GetObjectOptions
	if n > math.MaxInt64-off {
		n = math.MaxInt64 - off
	}
	if off > 0 || n < math.MaxInt64 { // servers answer whole objects faster
		o.Set("Range", "bytes="+strconv.FormatInt(off, 10)+"-"+strconv.FormatInt(off+n-1, 10))
	}
	if version != "" {
		o.Set("If-Match", `"`+version+`"`)
	}
	if off == 0 {
		o.Set("X-Amz-Checksum-Mode", "ENABLED")
	}
	ctx, a := withAttempt(ctx)
	body, i, h, err := s.read.GetObject(ctx, bucket, key, o)
	if err != nil {
		if a.status == http.StatusRequestedRangeNotSatisfiable {
			return nil, errRange
		}
		return nil, a.explain(ctx, err)
	}
	r := &remote.Object{Body: body, Length: i.Size, Size: -1, Modified: i.LastModified, Version: i.ETag}
	start := int64(0)
	if a.status == http.StatusPartialContent {
		if start, r.Size, err = contentRange(h.Get("Content-Range")); err == nil && start != off {
			err = fmt.Errorf("want bytes from %d on", off)
		}
	} else if r.Size = i.Size; off > 0 {
		err = errors.New("the service ignores ranges")
	}
	if err != nil {
		return nil, &objects.Explained{Err: errors.Join(fmt.Errorf("s3: %w", err), body.Close())}
	}
	if r.Length > n { // the whole object
		r.Body, r.Length = &limited{io.LimitReader(body, n), body}, n
	}
	if off == 0 && r.Length == r.Size {
		r.Sum, r.NewHash = sum(bucket, i.ETag, h)
	}
	return r, nil
}

// limited is the beginning of a body.
type limited struct {
	io.Reader
	io.Closer
}

// contentRange returns the start of a part and the size of the object from a
// header such as "bytes 0-9/100".
func contentRange(s string) (start, size int64, err error) {
	numbers, unit := strings.CutPrefix(s, "bytes ")
	from, rest, _ := strings.Cut(numbers, "-")
	to, all, _ := strings.Cut(rest, "/")
	start, err1 := strconv.ParseInt(from, 10, 64)
	end, err2 := strconv.ParseInt(to, 10, 64)
	size, err3 := strconv.ParseInt(all, 10, 64)
	if !unit || err1 != nil || err2 != nil || err3 != nil || start < 0 || end < start || size <= end {
		return 0, 0, fmt.Errorf("invalid Content-Range %.40q: want bytes FROM-TO/SIZE", s)
	}
	return start, size, nil
}

// checksums are those that a service may store, the cheapest to compute first.
// The tools of Amazon store one with each object by default.
var checksums = []struct {
	header  string
	size    int
	newHash func() hash.Hash
}{
	{"X-Amz-Checksum-Crc64nvme", crc64nvme.Size, func() hash.Hash { return crc64nvme.New() }},
	{"X-Amz-Checksum-Crc32c", crc32.Size, func() hash.Hash { return crc32.New(castagnoli) }},
	{"X-Amz-Checksum-Crc32", crc32.Size, func() hash.Hash { return crc32.NewIEEE() }},
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// sum returns the checksum of a whole object, nil if the service does not tell
// it.
func sum(bucket, etag string, h http.Header) ([]byte, func() hash.Hash) {
	for _, c := range checksums {
		// A checksum of the parts' checksums ends with their number and is not
		// base64.
		if b, err := base64.StdEncoding.DecodeString(h.Get(c.header)); err == nil && len(b) == c.size {
			return b, c.newHash
		}
	}
	switch h.Get("X-Amz-Server-Side-Encryption") {
	case "", "AES256":
	default:
		return nil, nil // the ETag is not an MD5
	}
	if h.Get("X-Amz-Server-Side-Encryption-Customer-Algorithm") != "" || strings.HasSuffix(bucket, "--x-s3") {
		return nil, nil // nor is it here; --x-s3 are buckets of S3 Express
	}
	if b, err := hex.DecodeString(etag); err == nil && len(b) == md5.Size {
		return b, md5.New
	}
	return nil, nil
}

// Head implements objects.Service.
func (s *service) Head(ctx context.Context, bucket, key string) (*remote.Object, error) {
	ctx, a := withAttempt(ctx)
	i, err := s.read.StatObject(ctx, bucket, key, minio.StatObjectOptions{})
	if err == nil {
		return &remote.Object{Size: i.Size, Modified: i.LastModified, Version: i.ETag}, nil
	}
	err = a.explain(ctx, err)
	if a.status == http.StatusBadRequest || a.status == http.StatusForbidden {
		// An answer to HEAD has no text. A list has one, if it fails for the
		// same reason.
		if _, lerr := s.List(ctx, bucket, key, 1); lerr != nil {
			err = lerr
		}
	}
	return nil, err
}

// List implements objects.Service.
func (s *service) List(ctx context.Context, bucket, prefix string, max int) (l []objects.Entry, err error) {
	ctx, a := withAttempt(ctx)
	for i := range s.read.ListObjectsIter(ctx, bucket, minio.ListObjectsOptions{Prefix: prefix, MaxKeys: max, FetchOwner: new(bool)}) {
		if i.Err != nil {
			return nil, a.explain(ctx, i.Err)
		}
		l = append(l, objects.Entry{Key: i.Key, Size: i.Size, Modified: i.LastModified, Version: i.ETag})
		if max > 0 && len(l) >= max {
			break
		}
	}
	if err := ctx.Err(); err != nil { // the iterator then ends without an error
		return nil, err
	}
	return l, nil
}

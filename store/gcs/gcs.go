// Package gcs reads and writes objects of Google Cloud Storage, by its JSON
// API. Importing it adds gs://BUCKET/OBJECT to the names that [store.URI]
// opens. gs://BUCKET/PREFIX is the folder of the objects below PREFIX/. Nothing
// in a name is unescaped.
//
// Credentials are the application default credentials: the file of
// GOOGLE_APPLICATION_CREDENTIALS, those of "gcloud auth application-default
// login", or those of the machine or the pod. Without any, requests are
// anonymous. STORAGE_EMULATOR_HOST replaces the service; requests to it are
// anonymous, too.
//
// An object's version is its generation. Whole objects are checked against
// their CRC32C. An object that is written appears when it is closed; Google
// deletes the parts of an upload that was not completed after a week.
package gcs

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"hash/crc32"
	"io"
	"io/fs"
	"math"
	"net/http"
	"os"
	"strconv"
	"strings"
	"time"

	"google.golang.org/api/googleapi"
	"google.golang.org/api/option"
	"google.golang.org/api/storage/v1"
	transport "google.golang.org/api/transport/http"

	"github.com/infer-prep/infer-prep/store"
	"github.com/infer-prep/infer-prep/store/internal/objects"
	"github.com/infer-prep/infer-prep/store/remote"
)

func init() {
	store.Register("gs", func() (store.Opener, error) {
		b, err := New()
		if err != nil {
			return nil, err
		}
		return remote.New(b, remote.Options{}), nil
	})
}

// chunk is how much of an upload is in memory, to be sent again if need be.
const chunk = 8 << 20

// New returns a backend with the settings of the environment. It sends no
// request but, where no file has credentials, to the machine's metadata server.
func New() (remote.Backend, error) {
	s := &service{}
	opts := []option.ClientOption{option.WithScopes(storage.DevstorageReadWriteScope)}
	endpoint := "https://storage.googleapis.com"
	if host := os.Getenv("STORAGE_EMULATOR_HOST"); host != "" {
		endpoint = strings.TrimSuffix(host, "/")
		if !strings.Contains(host, "://") {
			endpoint = "http://" + endpoint
		}
		opts = append(opts, option.WithoutAuthentication())
	}
	base := http.DefaultTransport.(*http.Transport).Clone()
	base.MaxIdleConns, base.MaxIdleConnsPerHost = 0, 64
	ctx := context.Background()
	t, err := transport.NewTransport(ctx, stored{base}, opts...)
	if err != nil && os.Getenv("GOOGLE_APPLICATION_CREDENTIALS") == "" {
		s.anonymous = true
		t, err = transport.NewTransport(ctx, stored{base}, option.WithoutAuthentication())
	}
	if err != nil {
		return nil, fmt.Errorf("gcs: credentials: %w", err)
	}
	s.api, err = storage.NewService(ctx, option.WithHTTPClient(&http.Client{Transport: t}), option.WithEndpoint(endpoint+"/storage/v1/"))
	if err != nil {
		return nil, fmt.Errorf("gcs: %w", err)
	}
	s.api.UserAgent = "infer-prep"
	s.endpoint = endpoint
	return objects.New("gs", "bucket", s), nil
}

// stored asks for the bytes of objects as they are stored. The service would
// unpack those with the encoding gzip, and then ignore ranges. It also counts
// the requests of uploads. A request that has a whole object counts with the
// some 200 bytes that describe it.
type stored struct{ http.RoundTripper }

func (t stored) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Header.Get("Range") != "" {
		r = r.Clone(r.Context())
		r.Header.Set("Accept-Encoding", "gzip")
	}
	objects.CountUpload(r, r.Header.Get("Content-Range") != "")
	if strings.HasPrefix(r.Header.Get("Content-Type"), "multipart/") && r.Body != nil {
		r = r.Clone(r.Context())
		r.Body = sentBody{r.Body, r.Context()}
	}
	return t.RoundTripper.RoundTrip(r)
}

// sentBody is the body of a request that has a whole object.
type sentBody struct {
	io.ReadCloser
	ctx context.Context
}

func (b sentBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	remote.CountSent(b.ctx, n)
	return n, err
}

// service is an objects.Service.
type service struct {
	api       *storage.Service
	endpoint  string
	anonymous bool // no credentials were found
}

// Service implements objects.Service. Names of buckets are unique.
func (s *service) Service() string { return s.endpoint }

// Explain implements objects.Service.
func (s *service) Explain(err error) *objects.Answer {
	var e *googleapi.Error
	if !errors.As(err, &e) {
		return nil
	}
	if e.Message == "" { // of a download: the client has not looked at it
		var body struct{ Error *googleapi.Error }
		if json.Unmarshal([]byte(e.Body), &body) == nil && body.Error != nil {
			e.Message, e.Errors = body.Error.Message, body.Error.Errors
		}
	}
	a := &objects.Answer{Status: e.Code, Text: e.Message, After: e.Header.Get("Retry-After")}
	if a.Text == "" {
		a.Text = http.StatusText(e.Code)
	}
	for _, item := range e.Errors {
		if strings.HasSuffix(strings.ToLower(item.Reason), "ratelimitexceeded") {
			a.Status = http.StatusTooManyRequests
		}
	}
	if s.anonymous && (e.Code == http.StatusUnauthorized || e.Code == http.StatusForbidden) {
		a.Text += " (no credentials were found: want GOOGLE_APPLICATION_CREDENTIALS, or gcloud auth application-default login)"
	}
	return a
}

// explained returns an error of the client. Errors of credentials come without
// an answer of the service.
func explained(err error) error {
	if err != nil && strings.Contains(err.Error(), "cannot fetch token") {
		return fmt.Errorf("%w: credentials: %w", fs.ErrPermission, err)
	}
	return err
}

// Get implements objects.Service.
func (s *service) Get(ctx context.Context, bucket, key string, off, n int64, version string) (*remote.Object, error) {
	call := s.api.Objects.Get(bucket, key).Context(ctx)
	span := fmt.Sprintf("bytes=%d-", off) // a request without a range may decompress
	if n < math.MaxInt64-off {
		span += strconv.FormatInt(off+n-1, 10)
	}
	call.Header().Set("Range", span)
	if g, err := strconv.ParseInt(version, 10, 64); err == nil {
		call.IfGenerationMatch(g)
	}
	a, err := call.Download()
	if err != nil {
		return nil, explained(err)
	}
	o := &remote.Object{Body: a.Body, Length: a.ContentLength, Size: a.ContentLength, Version: a.Header.Get("X-Goog-Generation")}
	if t, err := http.ParseTime(a.Header.Get("Last-Modified")); err == nil {
		o.Modified = t
	}
	var start, last int64
	if a.StatusCode == http.StatusPartialContent {
		if _, err = fmt.Sscanf(a.Header.Get("Content-Range"), "bytes %d-%d/%d", &start, &last, &o.Size); err == nil && start != off {
			err = errors.New("other bytes than asked for")
		}
	} else if off > 0 {
		err = errors.New("the service ignores ranges")
	}
	if err != nil {
		return nil, errors.Join(&remote.TemporaryError{Err: fmt.Errorf("invalid answer to a range: %w", err)}, a.Body.Close())
	}
	if o.Length > n {
		o.Body, o.Length = limited{io.LimitReader(a.Body, n), a.Body}, n
	}
	if off == 0 && o.Length == o.Size {
		o.Sum, o.NewHash = sum(a.Header.Values("X-Goog-Hash"))
	}
	return o, nil
}

// limited is the beginning of a body.
type limited struct {
	io.Reader
	io.Closer
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// sum returns the checksum in headers such as "crc32c=AAAAAA==,md5=…".
func sum(headers []string) ([]byte, func() hash.Hash) {
	for f := range strings.SplitSeq(strings.Join(headers, ","), ",") {
		if s, ok := strings.CutPrefix(strings.TrimSpace(f), "crc32c="); ok {
			if b, err := base64.StdEncoding.DecodeString(s); err == nil && len(b) == crc32.Size {
				return b, func() hash.Hash { return crc32.New(castagnoli) }
			}
		}
	}
	return nil, nil
}

// Head implements objects.Service.
func (s *service) Head(ctx context.Context, bucket, key string) (*remote.Object, error) {
	o, err := s.api.Objects.Get(bucket, key).Context(ctx).Fields("size", "updated", "generation").Do()
	if err != nil {
		return nil, explained(err)
	}
	return &remote.Object{Size: int64(o.Size), Modified: modified(o.Updated), Version: strconv.FormatInt(o.Generation, 10)}, nil
}

// modified returns a time as a header has it.
func modified(s string) time.Time {
	t, err := time.Parse(time.RFC3339, s)
	if err != nil {
		return time.Time{}
	}
	return t.Truncate(time.Second)
}

// List implements objects.Service.
func (s *service) List(ctx context.Context, bucket, prefix string, max int) (l []objects.Entry, err error) {
	call := s.api.Objects.List(bucket).Prefix(prefix).Delimiter("/").Fields("nextPageToken", "prefixes", "items(name,size,updated,generation)")
	if max > 0 {
		call.MaxResults(int64(max))
	}
	err = call.Pages(ctx, func(p *storage.Objects) error {
		for _, o := range p.Items {
			l = append(l, objects.Entry{Key: o.Name, Size: int64(o.Size), Modified: modified(o.Updated), Version: strconv.FormatInt(o.Generation, 10)})
		}
		for _, folder := range p.Prefixes {
			l = append(l, objects.Entry{Key: folder})
		}
		if max > 0 && len(l) >= max {
			return errEnough
		}
		remote.Alive(ctx)
		return nil
	})
	if err == errEnough {
		err = nil
	}
	return l, explained(err)
}

var errEnough = errors.New("enough")

// Upload implements objects.Service. The client repeats a chunk for up to 32
// seconds.
func (s *service) Upload(ctx context.Context, bucket, key string, r io.Reader) (int64, error) {
	o, err := s.api.Objects.Insert(bucket, &storage.Object{Name: key}).Context(ctx).Fields("size").
		Media(r, googleapi.ChunkSize(chunk), googleapi.ContentType("application/octet-stream"), googleapi.EnableAutoChecksum()).Do()
	if err != nil {
		return 0, explained(err)
	}
	return int64(o.Size), nil
}

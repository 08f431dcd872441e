// Package azure reads and writes blobs of Azure Blob Storage, also those of
// accounts with a hierarchical namespace (Data Lake Storage). Importing it adds
// az://CONTAINER/BLOB to the names that [store.URI] opens. The folder
// az://CONTAINER/PREFIX holds the blobs below PREFIX/. Nothing in a name is
// unescaped. The service itself changes some names: it makes a slash of a
// backslash, and drops dots at the end.
//
// The account comes from the variables that the command az reads:
//
//	AZURE_STORAGE_CONNECTION_STRING   account, key and address at once
//	AZURE_STORAGE_ACCOUNT             the account's name
//	AZURE_STORAGE_KEY                 its key
//	AZURE_STORAGE_SAS_TOKEN           or a shared access signature
//	AZURE_STORAGE_SERVICE_ENDPOINT    default: https://ACCOUNT.blob.core.windows.net
//
// Without key and signature, azidentity's default credential is used: variables
// such as AZURE_CLIENT_ID, the workload's or the machine's identity, or that of
// "az login".
//
// A blob's version is its ETag. Whole blobs are checked against their MD5 where
// the service has one. A blob that is written appears when it is closed. It has
// at most 50,000 blocks of 8 MiB, 390 GiB. Azure deletes the blocks of an
// upload that was not completed after a week.
package azure

import (
	"context"
	"crypto/md5"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/azidentity"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/blob"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/blockblob"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/container"
	sdk "github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/service"

	"github.com/infer-prep/infer-prep/store"
	"github.com/infer-prep/infer-prep/store/internal/objects"
	"github.com/infer-prep/infer-prep/store/remote"
)

func init() {
	store.Register("az", func() (store.Opener, error) {
		b, err := New()
		if err != nil {
			return nil, err
		}
		return remote.New(b, remote.Options{}), nil
	})
}

const (
	block       = 8 << 20 // the size of a block of an upload
	concurrency = 2       // blocks of an upload that are in memory
	// writeRetries is how often a block is sent again, with pauses of 0.8 to 5
	// seconds.
	writeRetries = 4
)

// New returns a backend with the settings of the environment. It sends no
// request.
func New() (remote.Backend, error) {
	s := &service{}
	for _, c := range []struct {
		client  **sdk.Client
		retries int32
	}{{&s.read, -1}, {&s.write, writeRetries}} {
		base := http.DefaultTransport.(*http.Transport).Clone()
		base.MaxIdleConns, base.MaxIdleConnsPerHost = 0, 64
		base.DisableCompression = true // bytes arrive as they are stored
		var o sdk.ClientOptions
		o.Transport = &http.Client{Transport: counting{base}}
		o.Telemetry.ApplicationID = "infer-prep"
		o.Retry = policy.RetryOptions{MaxRetries: c.retries, MaxRetryDelay: 5 * time.Second}
		var err error
		if *c.client, err = client(&o); err != nil {
			return nil, fmt.Errorf("azure: %w", err)
		}
	}
	return objects.New("az", "container", s), nil
}

// counting counts the requests of uploads.
type counting struct{ http.RoundTripper }

func (t counting) RoundTrip(r *http.Request) (*http.Response, error) {
	list := r.URL.Query().Get("comp") == "blocklist"
	objects.CountUpload(r, r.Method == http.MethodPut && !list)
	return t.RoundTripper.RoundTrip(r)
}

// client returns a client of the account of the environment.
func client(o *sdk.ClientOptions) (*sdk.Client, error) {
	if s := os.Getenv("AZURE_STORAGE_CONNECTION_STRING"); s != "" {
		c, err := sdk.NewClientFromConnectionString(s, o)
		if err != nil { // its text may repeat the key
			return nil, errors.New("invalid AZURE_STORAGE_CONNECTION_STRING: want AccountName=…;AccountKey=…;EndpointSuffix=core.windows.net")
		}
		return c, nil
	}
	account, endpoint := os.Getenv("AZURE_STORAGE_ACCOUNT"), os.Getenv("AZURE_STORAGE_SERVICE_ENDPOINT")
	if account == "" {
		return nil, errors.New("no account: want AZURE_STORAGE_ACCOUNT or AZURE_STORAGE_CONNECTION_STRING")
	}
	if endpoint == "" {
		endpoint = "https://" + account + ".blob.core.windows.net"
	}
	u, err := url.Parse(endpoint)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.User != nil || u.RawQuery != "" {
		return nil, errors.New("invalid AZURE_STORAGE_SERVICE_ENDPOINT: want https://HOST or https://HOST/ACCOUNT, without user and query")
	}
	if key := os.Getenv("AZURE_STORAGE_KEY"); key != "" {
		cred, err := sdk.NewSharedKeyCredential(account, key)
		if err != nil {
			return nil, errors.New("invalid AZURE_STORAGE_KEY: want base64")
		}
		return sdk.NewClientWithSharedKeyCredential(endpoint, cred, o)
	}
	if token := os.Getenv("AZURE_STORAGE_SAS_TOKEN"); token != "" {
		return sdk.NewClientWithNoCredential(strings.TrimSuffix(endpoint, "/")+"/?"+strings.TrimPrefix(token, "?"), o)
	}
	cred, err := azidentity.NewDefaultAzureCredential(nil)
	if err != nil {
		return nil, fmt.Errorf("credentials: %w", err)
	}
	return sdk.NewClient(endpoint, cred, o)
}

// service is an objects.Service.
type service struct {
	read  *sdk.Client // one attempt for each request
	write *sdk.Client // repeats the blocks of an upload
}

// Service implements objects.Service. The URL has the account, and may have a
// signature in its query.
func (s *service) Service() string {
	u, _, _ := strings.Cut(s.read.URL(), "?")
	return strings.TrimRight(u, "/")
}

// Explain implements objects.Service.
func (s *service) Explain(err error) *objects.Answer {
	var e *azcore.ResponseError
	if !errors.As(err, &e) {
		return nil
	}
	a := &objects.Answer{Status: e.StatusCode, Text: e.ErrorCode}
	if a.Text == "" {
		a.Text = http.StatusText(e.StatusCode)
	}
	if e.RawResponse != nil {
		a.After = e.RawResponse.Header.Get("Retry-After")
	}
	return a
}

// explained returns an error of the client. Errors of credentials come without
// an answer of the service.
func explained(err error) error {
	var failed *azidentity.AuthenticationFailedError
	if err != nil && (errors.As(err, &failed) || strings.Contains(err.Error(), "failed to acquire a token")) {
		return fmt.Errorf("%w: credentials: %w", fs.ErrPermission, err)
	}
	return err
}

// Get implements objects.Service.
func (s *service) Get(ctx context.Context, bucket, key string, off, n int64, version string) (*remote.Object, error) {
	o := blob.DownloadStreamOptions{Range: blob.HTTPRange{Offset: off, Count: min(n, math.MaxInt64-off)}}
	if version != "" {
		tag := azcore.ETag(version)
		o.AccessConditions = &blob.AccessConditions{ModifiedAccessConditions: &blob.ModifiedAccessConditions{IfMatch: &tag}}
	}
	a, err := s.read.NewContainerClient(bucket).NewBlobClient(key).DownloadStream(ctx, &o)
	if err != nil {
		return nil, explained(err)
	}
	r := &remote.Object{Body: a.Body, Length: value(a.ContentLength), Modified: value(a.LastModified), Version: etag(a.ETag)}
	r.Size = r.Length
	if rng := value(a.ContentRange); rng != "" {
		var start, last int64
		if _, err = fmt.Sscanf(rng, "bytes %d-%d/%d", &start, &last, &r.Size); err == nil && start != off {
			err = errors.New("other bytes than asked for")
		}
	} else if off > 0 || r.Length > n {
		err = errors.New("the service ignores ranges")
	}
	if err != nil {
		return nil, errors.Join(&remote.TemporaryError{Err: fmt.Errorf("invalid answer to a range: %w", err)}, a.Body.Close())
	}
	if off == 0 && r.Length == r.Size {
		sum := a.BlobContentMD5 // of the whole, in an answer to a range
		if sum == nil {
			sum = a.ContentMD5
		}
		if len(sum) == md5.Size {
			r.Sum, r.NewHash = sum, md5.New
		}
	}
	return r, nil
}

// etag returns an ETag with quotation marks, as headers and conditions have
// it. Listings have none.
func etag(tag *azcore.ETag) string {
	if tag == nil {
		return ""
	}
	return `"` + strings.Trim(string(*tag), `"`) + `"`
}

func value[T any](p *T) (v T) {
	if p != nil {
		v = *p
	}
	return v
}

// Head implements objects.Service.
func (s *service) Head(ctx context.Context, bucket, key string) (*remote.Object, error) {
	p, err := s.read.NewContainerClient(bucket).NewBlobClient(key).GetProperties(ctx, nil)
	if err != nil {
		return nil, explained(err)
	}
	if value(p.Metadata["hdi_isfolder"]) == "true" || value(p.Metadata["Hdi_isfolder"]) == "true" {
		return nil, fmt.Errorf("a folder of a hierarchical namespace: %w", fs.ErrNotExist)
	}
	return &remote.Object{Size: value(p.ContentLength), Modified: value(p.LastModified), Version: etag(p.ETag)}, nil
}

// List implements objects.Service.
func (s *service) List(ctx context.Context, bucket, prefix string, max int) (l []objects.Entry, err error) {
	o := container.ListBlobsHierarchyOptions{Prefix: &prefix}
	if max > 0 {
		n := int32(max)
		o.MaxResults = &n
	}
	pages := s.read.NewContainerClient(bucket).NewListBlobsHierarchyPager("/", &o)
	for pages.More() && (max <= 0 || len(l) < max) {
		p, err := pages.NextPage(ctx)
		if err != nil {
			return nil, explained(err)
		}
		folders := map[string]bool{}
		for _, f := range p.Segment.BlobPrefixes {
			folders[value(f.Name)] = true
			l = append(l, objects.Entry{Key: value(f.Name)})
		}
		for _, i := range p.Segment.BlobItems {
			if i.Properties == nil || folders[value(i.Name)+"/"] && value(i.Properties.ContentLength) == 0 {
				continue // the marker of a folder of a hierarchical namespace
			}
			l = append(l, objects.Entry{Key: value(i.Name), Size: value(i.Properties.ContentLength), Modified: value(i.Properties.LastModified), Version: etag(i.Properties.ETag)})
		}
		remote.Alive(ctx)
	}
	return l, nil
}

// Upload implements objects.Service.
func (s *service) Upload(ctx context.Context, bucket, key string, r io.Reader) (int64, error) {
	c := &counter{r: r}
	_, err := s.write.NewContainerClient(bucket).NewBlockBlobClient(key).UploadStream(ctx, c, &blockblob.UploadStreamOptions{
		BlockSize: block, Concurrency: concurrency,
	})
	return c.n, explained(err)
}

// counter counts bytes.
type counter struct {
	r io.Reader
	n int64
}

func (c *counter) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n += int64(n)
	return n, err
}

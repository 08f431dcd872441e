package s3

import (
	"bytes"
	"crypto/md5"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"

	"github.com/minio/crc64nvme"
	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"
	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/store"
	"github.com/infer-prep/infer-prep/store/remote"
	"github.com/infer-prep/infer-prep/store/s3/s3test"
)

// open returns the backend of a new server, and the name of its bucket.
func open(t *testing.T) (*s3test.Server, *Backend, string) {
	t.Helper()
	srv := s3test.Start(t)
	b, err := New(Options{Endpoint: srv.URL, Credentials: srv.Credentials()})
	require.NoError(t, err)
	return srv, b, "s3://" + srv.Bucket
}

func write(t *testing.T, b *Backend, name string, content []byte) {
	t.Helper()
	f, err := b.Create(t.Context(), name)
	require.NoError(t, err)
	_, err = f.Write(content)
	require.NoError(t, err)
	require.NoError(t, f.Close())
}

func random(n int) []byte {
	b := make([]byte, n)
	_, _ = rand.NewChaCha8([32]byte{byte(n)}).Read(b)
	return b
}

func TestGet(t *testing.T) {
	_, b, bucket := open(t)
	content := random(300000)
	name := bucket + "/dir/a%20b?#.bin"
	write(t, b, name, content)
	whole, err := b.Get(t.Context(), name, 0, 1<<40, "")
	require.NoError(t, err)
	got, err := io.ReadAll(whole.Body)
	require.NoError(t, err)
	require.NoError(t, whole.Body.Close())
	require.Equal(t, content, got)
	require.EqualValues(t, len(content), whole.Length)
	require.EqualValues(t, len(content), whole.Size)
	require.NotEmpty(t, whole.Version)
	require.False(t, whole.Modified.IsZero())
	h := whole.NewHash()
	h.Write(got)
	require.Equal(t, whole.Sum, h.Sum(nil))

	part, err := b.Get(t.Context(), name, 100, 1000, whole.Version)
	require.NoError(t, err)
	got, err = io.ReadAll(part.Body)
	require.NoError(t, err)
	require.NoError(t, part.Body.Close())
	require.Equal(t, content[100:1100], got)
	require.EqualValues(t, 1000, part.Length)
	require.EqualValues(t, len(content), part.Size)
	require.Equal(t, whole.Version, part.Version)
	require.Nil(t, part.Sum)

	end, err := b.Get(t.Context(), name, int64(len(content)), 10, whole.Version)
	require.NoError(t, err)
	got, err = io.ReadAll(end.Body)
	require.NoError(t, err)
	require.Empty(t, got)
	require.EqualValues(t, len(content), end.Size)

	write(t, b, name, content[1:])
	for _, off := range []int64{0, 10, int64(len(content))} {
		_, err = b.Get(t.Context(), name, off, 10, whole.Version)
		require.ErrorIs(t, err, remote.ErrChanged)
	}
	write(t, b, bucket+"/empty", nil)
	empty, err := b.Get(t.Context(), bucket+"/empty", 0, 10, "")
	require.NoError(t, err)
	require.Zero(t, empty.Size)
	require.Zero(t, empty.Length)
}

func TestMissing(t *testing.T) {
	_, b, bucket := open(t)
	for _, name := range []string{bucket + "/none", "s3://no-such-bucket/key", bucket + "/folder/", bucket} {
		_, err := b.Get(t.Context(), name, 0, 10, "")
		require.ErrorIs(t, err, fs.ErrNotExist, name)
	}
	for _, name := range []string{bucket + "/none", "s3://no-such-bucket/key", "s3://no-such-bucket"} {
		_, err := b.Stat(t.Context(), name)
		require.ErrorIs(t, err, fs.ErrNotExist, name)
		_, err = b.List(t.Context(), name)
		require.ErrorIs(t, err, fs.ErrNotExist, name)
	}
	f, err := b.Create(t.Context(), "s3://no-such-bucket/key")
	require.NoError(t, err)
	require.ErrorIs(t, f.Close(), fs.ErrNotExist)
	i, err := b.Stat(t.Context(), bucket)
	require.NoError(t, err)
	require.True(t, i.Folder)
}

// TestList lists a folder of several pages.
func TestList(t *testing.T) {
	srv, b, bucket := open(t)
	var want []string
	c := srv.Client(t)
	for i := range 1300 {
		key := fmt.Sprintf("many/f%04d", i)
		if i%13 == 0 {
			key += "/x"
		}
		_, err := c.PutObject(t.Context(), srv.Bucket, key, bytes.NewReader([]byte("x")), 1, minio.PutObjectOptions{})
		require.NoError(t, err)
		want = append(want, bucket+fmt.Sprintf("/many/f%04d", i))
	}
	l, err := b.List(t.Context(), bucket+"/many")
	require.NoError(t, err)
	var got []string
	for i, in := range l {
		require.Equal(t, i%13 == 0, in.Folder)
		if !in.Folder {
			require.EqualValues(t, 1, in.Size)
			require.False(t, in.Modified.IsZero())
		}
		got = append(got, in.Name)
	}
	require.Equal(t, want, got)
	require.True(t, slices.IsSorted(got))
	l, err = b.List(t.Context(), bucket)
	require.NoError(t, err)
	require.Equal(t, []store.Info{{Name: bucket + "/many", Folder: true}}, l)
}

// TestUpload writes an object of several parts, and looks for what stays when
// one is given up.
func TestUpload(t *testing.T) {
	srv, b, bucket := open(t)
	content := random(3*partSize + 12345)
	write(t, b, bucket+"/big", content)
	o, err := b.Get(t.Context(), bucket+"/big", 0, 1<<40, "")
	require.NoError(t, err)
	got, err := io.ReadAll(o.Body)
	require.NoError(t, err)
	require.NoError(t, o.Body.Close())
	require.True(t, bytes.Equal(content, got))
	require.Contains(t, o.Version, "-4")
	if o.Sum != nil { // of the whole object, not of its parts
		h := o.NewHash()
		h.Write(content)
		require.Equal(t, h.Sum(nil), o.Sum)
	}

	write(t, b, bucket+"/exact", content[:partSize])
	o, err = b.Get(t.Context(), bucket+"/exact", 0, 1<<40, "")
	require.NoError(t, err)
	require.NoError(t, o.Body.Close())
	require.NotNil(t, o.Sum, "one request")

	r := remote.New(b, remote.Options{})
	require.NoError(t, store.WriteFile(t.Context(), r, bucket+"/big", content))
	require.Equal(t, remote.Stats{Requests: 6, Sent: int64(len(content))}, r.Stats(), "begin, four parts, and the end")
	require.NoError(t, store.WriteFile(t.Context(), r, bucket+"/exact", content[:partSize]))
	require.Equal(t, remote.Stats{Requests: 7, Sent: int64(len(content) + partSize)}, r.Stats())

	f, err := b.Create(t.Context(), bucket+"/aborted")
	require.NoError(t, err)
	_, err = f.Write(content)
	require.NoError(t, err)
	require.NoError(t, f.Abort())
	_, err = f.Write(content)
	require.ErrorIs(t, err, errClosed)
	_, err = b.Stat(t.Context(), bucket+"/aborted")
	require.ErrorIs(t, err, fs.ErrNotExist)
	for u := range srv.Client(t).ListIncompleteUploads(t.Context(), srv.Bucket, "", true) {
		require.Fail(t, "an upload is left", "%+v", u)
	}
}

// TestRetriesCount: a request of an upload that is repeated counts as a retry.
func TestRetriesCount(t *testing.T) {
	tries := 0
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		if tries++; tries <= 2 {
			w.WriteHeader(http.StatusServiceUnavailable)
		}
	}))
	defer srv.Close()
	b, err := New(Options{Endpoint: srv.URL, Credentials: credentials.NewStaticV4("KEY", "SECRET", "")})
	require.NoError(t, err)
	r := remote.New(b, remote.Options{})
	require.NoError(t, store.WriteFile(t.Context(), r, "s3://bucket/key", make([]byte, 1000)))
	require.Equal(t, remote.Stats{Requests: 3, Retries: 2, Sent: 3000}, r.Stats())
}

// TestChecksums reads objects with each of the checksums that S3 stores.
func TestChecksums(t *testing.T) {
	srv, b, bucket := open(t)
	content := random(100000)
	sha := sha256.New()
	sha.Write(content)
	for header, want := range map[string][]byte{
		"x-amz-checksum-crc64nvme": binary.BigEndian.AppendUint64(nil, crc64nvme.Checksum(content)),
		"x-amz-checksum-crc32c":    binary.BigEndian.AppendUint32(nil, crc32.Checksum(content, castagnoli)),
		"x-amz-checksum-crc32":     binary.BigEndian.AppendUint32(nil, crc32.ChecksumIEEE(content)),
		"x-amz-checksum-sha256":    sha.Sum(nil),
	} {
		_, err := minio.Core{Client: srv.Client(t)}.PutObject(t.Context(), srv.Bucket, "sum", bytes.NewReader(content), int64(len(content)), "", "", minio.PutObjectOptions{
			UserMetadata: map[string]string{header: base64.StdEncoding.EncodeToString(want)}, DisableContentSha256: true,
		})
		require.NoError(t, err, header)
		o, err := b.Get(t.Context(), bucket+"/sum", 0, 1<<20, "")
		require.NoError(t, err)
		require.NoError(t, o.Body.Close())
		h := o.NewHash()
		h.Write(content)
		require.Equal(t, o.Sum, h.Sum(nil), header)
		if header == "x-amz-checksum-sha256" {
			md5 := md5.Sum(content) // the ETag
			want = md5[:]
		}
		require.Equal(t, want, o.Sum, header)
	}
	for _, h := range []http.Header{{"X-Amz-Server-Side-Encryption": {"aws:kms"}}, {"X-Amz-Server-Side-Encryption-Customer-Algorithm": {"AES256"}}} {
		sum, _ := sum(bucket, "8f33d0ecfe648a745b169baf8a77658b", h)
		require.Nil(t, sum, "not an MD5: %v", h)
	}
	sum1, _ := sum("b--use1-az4--x-s3", "8f33d0ecfe648a745b169baf8a77658b", nil)
	require.Nil(t, sum1)
	sum1, _ = sum("b", "8f33d0ecfe648a745b169baf8a77658b", http.Header{"X-Amz-Checksum-Crc32c": {"AAAAAA==-2"}})
	require.Len(t, sum1, 16)
}

package s3

import (
	"testing"

	"github.com/infer-prep/infer-prep/store/remote"
	"github.com/infer-prep/infer-prep/store/storetest"
)

func TestStore(t *testing.T) {
	_, b, bucket := open(t)
	storetest.Run(t, storetest.Config{Store: remote.New(b, remote.Options{}), Folder: bucket + "/test"})
}

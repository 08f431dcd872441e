package azure

import (
	"bufio"
	"context"
	"os"
	"os/exec"
	"regexp"
	"testing"
	"time"

	sdk "github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/service"
	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/store/remote"
	"github.com/infer-prep/infer-prep/store/storetest"
)

// Azurite's account, which its documentation states.
const (
	account = "devstoreaccount1"
	key     = "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw=="
)

// server starts Azurite with one container, and returns its address.
func server(t *testing.T) string {
	t.Helper()
	if os.Getenv("INFER_PREP_STORE_TEST") == "" {
		t.Skip("needs Azurite: INFER_PREP_STORE_TEST is not set (make store-test sets it)")
	}
	c := exec.Command("./azurite.sh")
	c.Stderr = os.Stderr
	in, err := c.StdinPipe()
	require.NoError(t, err)
	out, err := c.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, c.Start())
	t.Cleanup(func() {
		_ = in.Close()
		_ = c.Wait()
	})
	listens := regexp.MustCompile(`listens on (http://127\.0\.0\.1:\d+)`)
	for s := bufio.NewScanner(out); s.Scan(); {
		if m := listens.FindStringSubmatch(s.Text()); m != nil {
			endpoint := m[1] + "/" + account
			t.Setenv("AZURE_STORAGE_CONNECTION_STRING", "")
			t.Setenv("AZURE_STORAGE_SAS_TOKEN", "")
			t.Setenv("AZURE_STORAGE_ACCOUNT", account)
			t.Setenv("AZURE_STORAGE_KEY", key)
			t.Setenv("AZURE_STORAGE_SERVICE_ENDPOINT", endpoint)
			cl, err := client(&sdk.ClientOptions{})
			require.NoError(t, err)
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			_, err = cl.CreateContainer(ctx, "bucket", nil)
			require.NoError(t, err)
			return endpoint
		}
	}
	t.Fatal("azurite.sh has ended")
	return ""
}

func TestStore(t *testing.T) {
	server(t)
	b, err := New()
	require.NoError(t, err)
	storetest.Run(t, storetest.Config{Store: remote.New(b, remote.Options{}), Folder: "az://bucket/a folder"})
}

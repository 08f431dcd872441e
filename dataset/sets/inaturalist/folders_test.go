package inaturalist

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/dataset"
	"github.com/infer-prep/infer-prep/store"
)

func TestBadFolders(t *testing.T) {
	for _, c := range []struct {
		version string
		folders []string
		want    string
	}{
		{"2021_valid", []string{"00000_a_b_c_d_e_f"}, `folder "00000_a_b_c_d_e_f"`},
		{"2021_valid", []string{"00001_a_b_c_d_e_f_g"}, "want 00000_KINGDOM"},
		{"2021_valid", []string{"00000_a_b_c_d_e_f_g"}, "has no images of this usage"},
		{"2018", []string{"Aves/x"}, `folder "x", want 0 to`},
		{"2018", []string{"Aves/1"}, "no species 0, want 0 to 0"},
		{"2019", []string{"Aves/0", "Plantae/0"}, "species 0 is both Aves/0 and Plantae/0"},
		{"2017", nil, "has no images of this usage"},
	} {
		dir := t.TempDir()
		for _, f := range c.folders {
			require.NoError(t, os.MkdirAll(filepath.Join(dir, filepath.FromSlash(f)), 0o700))
		}
		_, err := (&INaturalist{dir, c.version, "full"}).Open(t.Context(), store.Local)
		require.ErrorIs(t, err, dataset.ErrData)
		require.ErrorContains(t, err, c.want)
	}
}

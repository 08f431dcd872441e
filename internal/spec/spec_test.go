package spec

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

type size struct {
	Height int `json:"height"`
	Width  int `json:"width"`
}

type params struct {
	Name   string `json:"name"`
	Sizes  []size `json:"sizes"`
	Hidden int    `json:"-"`
	secret int
}

func TestUnmarshal(t *testing.T) {
	p := params{Name: "usual", Hidden: 1, secret: 2}
	require.NoError(t, Unmarshal([]byte(`{"name": "a", "sizes": [{"height": 3, "width": 4}]}`), &p))
	require.Equal(t, params{"a", []size{{3, 4}}, 1, 2}, p)

	for text, want := range map[string]string{
		`{"nmae": "a", "sizes": []}`:                         `unknown parameter "nmae"; did you mean "name"?`,
		`{"name": "a", "sizes": [], "Name": "b"}`:            `unknown parameter "Name"; did you mean "name"?`,
		`{"name": "a", "sizes": [], "x": 1}`:                 `unknown parameter "x"; known: name, sizes`,
		`{"name": "a", "sizes": [], "Hidden": 1}`:            `unknown parameter "Hidden"; known: name, sizes`,
		`{"sizes": []}`:                                      `parameter "name" is missing; every parameter is required; its usual value is "usual"`,
		`{"name": null, "sizes": []}`:                        `parameter "name" is missing; every parameter is required; its usual value is "usual"`,
		`{"name": "a", "sizes": [{"hieght": 3}]}`:            `unknown field "hieght"; did you mean "height"?`,
		`{"name": "a", "sizes": [{"name": "b"}]}`:            `field "name" is not in its place`,
		`{"name": "a", "sizes": [{"a\"b": 3}]}`:              `unknown field "a\"b"; known: height, name, sizes, width`,
		`{"name": "a", "sizes": [{"height": 1, "size": 3}]}`: `unknown field "size"; did you mean "sizes"?`,
	} {
		p := params{Name: "usual"}
		require.EqualError(t, Unmarshal([]byte(text), &p), want, text)
	}
	require.ErrorContains(t, Unmarshal([]byte(`[]`), &p), "want an object")
	require.ErrorContains(t, Unmarshal([]byte(`{"name": 1, "sizes": []}`), &p), "params.name")

	require.EqualError(t, Unmarshal([]byte(`{"a": 1}`), &struct{}{}), `unknown parameter "a": expected no parameters`)

	p = params{Name: "usual", Sizes: []size{{1, 2}, {3, 4}}}
	require.NoError(t, Merge([]byte(`{"sizes": [{"height": 5}]}`), &p))
	require.Equal(t, params{Name: "usual", Sizes: []size{{Height: 5}}}, p)
	require.NoError(t, Merge([]byte(`{}`), &p))
	require.EqualError(t, Merge([]byte(`{"nmae": "a"}`), &p), `unknown parameter "nmae"; did you mean "name"?`)
	require.ErrorContains(t, Merge([]byte(`{"name": null}`), &p), `parameter "name" is missing`)

	var untagged struct{ Name string }
	require.ErrorContains(t, Unmarshal([]byte(`{}`), &untagged), "Name has no json tag")
	require.EqualError(t, Decode([]byte(`{} {}`), &size{}), "data after the JSON value")
}

// TestManyObjects refuses more objects than a definition has.
func TestManyObjects(t *testing.T) {
	var v struct {
		L []struct{ A, B, C, D []string }
	}
	require.NoError(t, Decode([]byte(`{"L":[`+strings.Repeat("{},", 1000)+"{}]}"), &v))
	require.EqualError(t, Decode([]byte(`{"L":[`+strings.Repeat("{},", maxObjects)+"{}]}"), &v), "262146 objects, want at most 262144")
}

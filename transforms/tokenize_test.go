package transforms

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/tensor"
)

func tokenized(t *testing.T, op *Tokenize, text string) []int32 {
	t.Helper()
	return append([]int32{}, tensor.View[int32](applyOne(t, op, tensor.FromBytes([]byte(text))))...)
}

func TestTokenize(t *testing.T) {
	require.Equal(t, []int32{'h', 'é', 0x1F600}, tokenized(t, NewTokenize(TokenCodePoints), "hé😀"))
	require.Empty(t, tokenized(t, NewTokenize(TokenCodePoints), ""))

	op := NewTokenize(TokenCharacters, "", "a", "b", " ")
	require.Equal(t, []int32{1, 3, 2}, tokenized(t, op, "a b"))
	require.Equal(t, []int32{0}, tokenized(t, op, ""))
	op = NewTokenize(TokenLetters, "a", "b")
	require.Equal(t, []int32{0, 1, 0}, tokenized(t, op, " a b\u3000\ta\n"))
	op = NewTokenize(TokenWords, "to", "be", "?")
	op.Unknown = 2
	require.Equal(t, []int32{0, 1, 2, 2, 0, 1}, tokenized(t, op, " to be or  not\u3000to be\n"))
	op = NewTokenize(TokenPieces, "un", "##want", "##ed", "?", "北")
	op.Unknown = 3
	require.Equal(t, []int32{0, 1, 2, 3, 0, 4, 3}, tokenized(t, op, "unwanted unwant! un 北 北北"))
	op.MaxBytes = 7
	require.Equal(t, []int32{3, 0, 4}, tokenized(t, op, "unwanted un 北"))

	// The map of a Context is that of another op's vocabulary.
	c := newContext()
	for want, words := range [][]string{{"b", "a"}, {"a", "b"}} {
		out, err := run(c, NewTokenize(TokenWords, words...), tensor.FromBytes([]byte("b")))
		require.NoError(t, err)
		require.Equal(t, []int32{int32(want)}, tensor.View[int32](out[0]))
	}
}

func TestTokenizeRefuses(t *testing.T) {
	for text, want := range map[string]string{
		"ab\xff": "byte 2 of 3 is not UTF-8", "\xe5\x8c": "byte 0 of 2", "�\xed\xa0\x80": "byte 3 of 6", "c": `token "c" is not in the vocabulary`,
		strings.Repeat("c", 1000): `"` + strings.Repeat("c", 64) + `" is not`,
	} {
		_, err := run(newContext(), NewTokenize(TokenWords, "a", "b"), tensor.FromBytes([]byte(text)))
		require.ErrorIs(t, err, ErrInput)
		require.ErrorContains(t, err, want)
	}
	refusesParam(t, "rule", &Tokenize{Rule: 5})
	refusesParam(t, "vocabulary has 0 tokens", NewTokenize(TokenWords))
	refusesParam(t, "vocabulary has 1 tokens, want none", NewTokenize(TokenCodePoints, "a"))
	refusesParam(t, `vocabulary[2] is "b", which vocabulary[1] is too`, NewTokenize(TokenWords, "a", "b", "b"))
	refusesParam(t, "want UTF-8", NewTokenize(TokenWords, "a\xff"))
	op := NewTokenize(TokenWords, "a")
	op.Unknown = 1
	refusesParam(t, "unknown is 1", op)
	op.Unknown = -2
	refusesParam(t, "unknown is -2", op)
	op = NewTokenize(TokenWords, "a")
	op.MaxBytes = 0
	refusesParam(t, "max_bytes", op)
	refusesInput(t, "want text", NewTokenize(TokenCodePoints), vector)
}

func TestReadVocabulary(t *testing.T) {
	for text, want := range map[string]TextList{"": nil, "a\nb\n": {"a", "b"}, "a\r\nb": {"a", "b"}, "a\n\n c \n": {"a", "", " c "}} {
		l, err := ReadVocabulary(strings.NewReader(text))
		require.NoError(t, err)
		require.Equal(t, want, l, "%q", text)
	}
	broken := errors.New("broken")
	_, err := ReadVocabulary(iotest.ErrReader(broken))
	require.ErrorIs(t, err, broken)
	require.ErrorContains(t, err, "transforms: vocabulary")
}

func ExampleTokenize() {
	words, err := ReadVocabulary(strings.NewReader("[UNK]\nun\n##want\n##ed\n"))
	if err != nil {
		panic(err)
	}
	op := NewTokenize(TokenPieces, words...)
	op.Unknown = 0
	ids := exampleRun(op, tensor.FromBytes([]byte("unwanted rain")))[0]
	fmt.Println(tensor.View[int32](ids))
	// Output: [1 2 3 0]
}

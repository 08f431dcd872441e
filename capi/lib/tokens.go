//go:build (cgo || wasip1) && !small

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"unsafe"

	"github.com/infer-prep/infer-prep/importer/hf/tokens"
	"github.com/infer-prep/infer-prep/tensor"
)

// processor computes the tokens of images.
type processor struct {
	*tokens.Processor
	files tokens.Files // if keepSource
}

func (p *processor) kind() int32 { return kindTokens }

func (p *processor) close() {}

func tokensOpen(folder *byte, files *ipTokenFiles, h *uintptr, e *ipError) int32 {
	return do(e, func() error {
		f, err := tokenFiles(folder, files)
		if err != nil {
			return fileError{err}
		}
		p, err := newProcessor(f)
		if err != nil {
			return fileError{err}
		}
		*h = put(p)
		return nil
	})
}

func newProcessor(f tokens.Files) (*processor, error) {
	p, err := tokens.Parse(f)
	if err != nil {
		return nil, err
	}
	if !keepSource {
		f = tokens.Files{}
	}
	return &processor{p, f}, nil
}

// tokenFiles returns the content of files, or that of the files of a folder.
func tokenFiles(folder *byte, files *ipTokenFiles) (tokens.Files, error) {
	if folder == nil {
		return filesOf(files)
	}
	name := goString(folder)
	// FromModel takes a folder without files for one that lacks all.
	if _, err := os.Stat(name); err != nil {
		return tokens.Files{}, fmt.Errorf("infer_prep: tokens: %w", err)
	}
	return tokens.FromModel(func(file string) ([]byte, error) { return os.ReadFile(filepath.Join(name, file)) })
}

func filesOf(from *ipTokenFiles) (f tokens.Files, err error) {
	if _, err := listOf("ip_token_files", from, 1); err != nil {
		return f, err
	}
	for _, x := range []struct {
		to   *[]byte
		from *byte
	}{{&f.Processor, from.processor}, {&f.Preprocessor, from.preprocessor}, {&f.Tokenizer, from.tokenizer}, {&f.Call, from.call}} {
		if x.from != nil {
			*x.to = []byte(goString(x.from))
		}
	}
	if from.pairs < 0 || from.pairs > 0 && from.tokens == nil {
		return f, fmt.Errorf("infer_prep: tokens: %w: %d pairs at %p", errInput, from.pairs, from.tokens)
	}
	l := unsafe.Slice(from.tokens, 2*int(from.pairs))
	for i := 0; i < len(l); i += 2 {
		if f.Tokens == nil {
			f.Tokens = map[string]string{}
		}
		f.Tokens[goString(l[i])] = goString(l[i+1])
	}
	return f, nil
}

func tokensImages(h uintptr, sizes *int64, n int32, images *ipImageTokens, to *byte, capacity uint64, bytes *uint64, e *ipError) int32 {
	return do(e, func() error {
		p, err := get[*processor](h)
		if err != nil {
			return err
		}
		l, err := listOf("ip_image_tokens", images, n)
		if err != nil {
			return err
		}
		args := make([][2]int, l.n)
		for i, s := range unsafe.Slice(sizes, 2*l.n) {
			args[i/2][i%2] = int(s)
		}
		res, err := p.Images(args...)
		if err != nil {
			return err
		}
		at := uint64(0)
		for i, r := range res {
			x := l.of(i)
			x.tokens, x.textTokens = int64(r.Tokens), int64(r.TextTokens)
			if r.TokensErr != nil {
				x.tokens = tensor.Unknown
			}
			x.textAt, x.textBytes = uint64(at), uint64(len(r.Text))
			at += uint64(len(r.Text))
		}
		if bytes != nil {
			*bytes = uint64(at)
		}
		if to == nil {
			return nil
		}
		if at > capacity {
			return fmt.Errorf("infer_prep: tokens: %w: the texts have %d bytes, the memory has %d", errCapacity, at, capacity)
		}
		b, err := bytesOf(address(unsafe.Pointer(to)), at)
		if err != nil {
			return err
		}
		for _, r := range res {
			b = b[copy(b, r.Text):]
		}
		return nil
	})
}

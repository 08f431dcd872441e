//go:build !small

package main

// #include "infer_prep.h"
import "C"

import (
	"fmt"
	"os"
	"unsafe"

	"github.com/infer-prep/infer-prep/importer/hf/tokens"
)

// processor computes the tokens of images.
type processor struct{ *tokens.Processor }

//export ipgo_tokens_open
func ipgo_tokens_open(folder *C.char, files *C.ip_token_files, h *C.uintptr_t, e *C.ip_error) C.ip_status {
	return do(e, func() (err error) {
		var p *tokens.Processor
		if folder != nil {
			// Open takes a folder without files for one that lacks all.
			if _, err = os.Stat(C.GoString(folder)); err != nil {
				return fmt.Errorf("infer_prep: tokens: %w", err)
			}
			p, err = tokens.Open(C.GoString(folder))
		} else {
			var f tokens.Files
			if f, err = filesOf(files); err == nil {
				p, err = tokens.Parse(f)
			}
		}
		if err != nil {
			return fileError{err}
		}
		*h = put(&processor{p})
		return nil
	})
}

func filesOf(from *C.ip_token_files) (f tokens.Files, err error) {
	if _, err := listOf("ip_token_files", from, 1); err != nil {
		return f, err
	}
	for _, x := range []struct {
		to   *[]byte
		from *C.char
	}{{&f.Processor, from.processor}, {&f.Preprocessor, from.preprocessor}, {&f.Tokenizer, from.tokenizer}, {&f.Call, from.call}} {
		if x.from != nil {
			*x.to = []byte(C.GoString(x.from))
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
		f.Tokens[C.GoString(l[i])] = C.GoString(l[i+1])
	}
	return f, nil
}

//export ipgo_tokens_images
func ipgo_tokens_images(h C.uintptr_t, sizes *C.int64_t, n C.int32_t, images *C.ip_image_tokens, to *C.char, capacity C.uint64_t, bytes *C.uint64_t, e *C.ip_error) C.ip_status {
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
			x.tokens, x.text_tokens = C.int64_t(r.Tokens), C.int64_t(r.TextTokens)
			if r.TokensErr != nil {
				x.tokens = C.IP_UNKNOWN
			}
			x.text_at, x.text_bytes = C.uint64_t(at), C.uint64_t(len(r.Text))
			at += uint64(len(r.Text))
		}
		if bytes != nil {
			*bytes = C.uint64_t(at)
		}
		if to == nil {
			return nil
		}
		if at > uint64(capacity) {
			return fmt.Errorf("infer_prep: tokens: %w: the texts have %d bytes, the memory has %d", errCapacity, at, capacity)
		}
		b, err := bytesOf(unsafe.Pointer(to), at)
		if err != nil {
			return err
		}
		for _, r := range res {
			b = b[copy(b, r.Text):]
		}
		return nil
	})
}

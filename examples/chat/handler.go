package main

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"os"
	"slices"
	"strings"
	"time"
)

// Message is a message of a conversation.
type Message struct {
	Role    string // system, user or assistant
	Content []Part
}

// Part is a text, or an encoded image if Image is not nil.
type Part struct {
	Text  string
	Image []byte
}

// request is a chat completion's request. Fields that are not here, such as
// temperature, are ignored.
type request struct {
	Model    string `json:"model"`
	Messages []struct {
		Role    string          `json:"role"`
		Content json.RawMessage `json:"content"` // a string, or a list of parts
	} `json:"messages"`
	MaxTokens int  `json:"max_tokens"`
	N         *int `json:"n"`
	Stream    bool `json:"stream"`
}

// part is an element of a message's content.
type part struct {
	Type     string  `json:"type"`
	Text     *string `json:"text"`
	ImageURL *struct {
		URL string `json:"url"`
	} `json:"image_url"`
}

// NewHandler returns the handler of POST /v1/chat/completions.
func NewHandler(d *Door, e Engine) http.Handler {
	slots := make(chan struct{}, d.limits.Requests)
	mux := http.NewServeMux()
	mux.HandleFunc("/v1/chat/completions", func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodPost {
			w.Header().Set("Allow", http.MethodPost)
			refuse(w, &requestError{http.StatusMethodNotAllowed, "", fmt.Errorf("method %.20q: want POST", r.Method)})
			return
		}
		// Before the body is read: its bytes are memory too.
		select {
		case slots <- struct{}{}:
			defer func() { <-slots }()
		default:
			w.Header().Set("Retry-After", "1")
			refuse(w, &requestError{http.StatusTooManyRequests, "", fmt.Errorf("%d requests are running; try again later", cap(slots))})
			return
		}
		if err := complete(w, r, d, e); err != nil {
			refuse(w, err)
		}
	})
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		refuse(w, &requestError{http.StatusNotFound, "", fmt.Errorf("path %.100q: want /v1/chat/completions", r.URL.Path)})
	})
	return mux
}

// complete answers a request. It has not written if it returns an error.
func complete(w http.ResponseWriter, r *http.Request, d *Door, e Engine) error {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, d.limits.Body))
	if err != nil {
		return err
	}
	q, messages, err := parse(body)
	if err != nil {
		return err
	}
	in, err := d.Prepare(r.Context(), messages)
	if err != nil {
		return err
	}
	in.MaxTokens = q.MaxTokens
	answer, err := e.Generate(r.Context(), in)
	if err != nil {
		return err
	}
	type message struct {
		Role    string `json:"role"`
		Content string `json:"content"`
	}
	type choice struct {
		Index        int     `json:"index"`
		Message      message `json:"message"`
		FinishReason string  `json:"finish_reason"`
	}
	reply(w, http.StatusOK, struct {
		Object  string   `json:"object"`
		Created int64    `json:"created"`
		Model   string   `json:"model"`
		Choices []choice `json:"choices"`
	}{"chat.completion", time.Now().Unix(), q.Model, []choice{{0, message{"assistant", answer}, "stop"}}})
	return nil
}

// parse reads a request's body. Its errors are requestErrors.
func parse(body []byte) (q request, messages []Message, err error) {
	if err := json.Unmarshal(body, &q); err != nil {
		return q, nil, invalid("", "the body is no request in JSON: %w", err)
	}
	switch {
	case q.Stream:
		return q, nil, invalid("stream", "streams are not supported")
	case q.N != nil && *q.N != 1:
		return q, nil, invalid("n", "%d: want 1", *q.N)
	case q.MaxTokens < 0:
		return q, nil, invalid("max_tokens", "%d: want 0 or more", q.MaxTokens)
	}
	messages = make([]Message, len(q.Messages))
	for i, m := range q.Messages {
		param := fmt.Sprintf("messages[%d]", i)
		if !slices.Contains([]string{"system", "user", "assistant"}, m.Role) {
			return q, nil, invalid(param+".role", "%.20q: want system, user or assistant", m.Role)
		}
		messages[i].Role = m.Role
		if messages[i].Content, err = content(param+".content", m.Content); err != nil {
			return q, nil, err
		}
	}
	return q, messages, nil
}

// special are the strings that Qwen2-VL's tokenizer does not read as text. A
// user who could write them could add turns or images to a conversation.
var special = []string{
	"<|endoftext|>", "<|im_start|>", "<|im_end|>", "<|object_ref_start|>", "<|object_ref_end|>", "<|box_start|>", "<|box_end|>",
	"<|quad_start|>", "<|quad_end|>", "<|vision_start|>", "<|vision_end|>", "<|vision_pad|>", "<|image_pad|>", "<|video_pad|>",
}

// longest is the largest number of bytes of one of special.
const longest = len("<|object_ref_start|>")

func content(param string, b json.RawMessage) ([]Part, error) {
	var parts []part
	if b = bytes.TrimSpace(b); len(b) > 0 && b[0] == '"' {
		parts = []part{{Type: "text"}}
		if err := json.Unmarshal(b, &parts[0].Text); err != nil {
			return nil, invalid(param, "%w", err)
		}
	} else if err := json.Unmarshal(b, &parts); err != nil || parts == nil {
		return nil, invalid(param, "want a string or a list of objects with type, text or image_url")
	}
	list := make([]Part, len(parts))
	tail := "" // the end of the text before, which the prompt joins with the next one
	for i, p := range parts {
		param := fmt.Sprintf("%s[%d]", param, i)
		switch {
		case p.Type == "text" && p.Text != nil && p.ImageURL == nil:
			tail += *p.Text
			for _, s := range special {
				if strings.Contains(tail, s) {
					return nil, invalid(param, "the text has the model's special token %s", s)
				}
			}
			tail = tail[max(0, len(tail)-longest):]
			list[i].Text = *p.Text
		case p.Type == "image_url" && p.ImageURL != nil && p.Text == nil:
			var err error
			if list[i].Image, err = data(p.ImageURL.URL); err != nil {
				return nil, invalid(param, "%w", err)
			}
			tail = ""
		default:
			return nil, invalid(param, "type %.20q: want text with a text, or image_url with an object that has an url", p.Type)
		}
	}
	return list, nil
}

// data returns the content of a URL of the scheme data in base64 (RFC 2397).
// Other schemes are refused: a client must not choose what the server loads.
func data(url string) ([]byte, error) {
	head, text, ok := strings.Cut(url, ",")
	media, isData := strings.CutPrefix(strings.ToLower(head), "data:")
	if !ok || !isData || !strings.HasSuffix(media, ";base64") {
		return nil, fmt.Errorf("URL %.40q: want data:image/TYPE;base64,…", url)
	}
	b, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		return nil, fmt.Errorf("URL %.40q: %w", url, err)
	}
	return b, nil
}

// refuse answers with OpenAI's error object. What is not the client's mistake
// is logged; the client learns its kind only.
func refuse(w http.ResponseWriter, err error) {
	var bad *requestError
	var large *http.MaxBytesError
	status, kind, param, text := http.StatusInternalServerError, "server_error", "", "internal error"
	switch {
	case errors.As(err, &bad):
		status, kind, param, text = bad.status, "invalid_request_error", bad.param, bad.Error()
	case errors.As(err, &large):
		status, kind, text = http.StatusRequestEntityTooLarge, "invalid_request_error", fmt.Sprintf("the body has more than %d bytes", large.Limit)
	case errors.Is(err, os.ErrDeadlineExceeded), errors.Is(err, io.ErrUnexpectedEOF):
		status, kind, text = http.StatusRequestTimeout, "invalid_request_error", "the body did not arrive"
	case errors.Is(err, context.Canceled): // the client has gone, or the server ends
		status, text = http.StatusServiceUnavailable, "canceled"
	default:
		log.Print(err)
	}
	var answer struct {
		Error struct {
			Message string  `json:"message"`
			Type    string  `json:"type"`
			Param   *string `json:"param"`
		} `json:"error"`
	}
	answer.Error.Message, answer.Error.Type = text, kind
	if param != "" {
		answer.Error.Param = &param
	}
	reply(w, status, answer)
}

func reply(w http.ResponseWriter, status int, v any) {
	b, err := json.Marshal(v)
	if err != nil {
		log.Print(err)
		status, b = http.StatusInternalServerError, []byte(`{"error":{"message":"internal error"}}`)
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(b) // the client may have gone
}

package outline

import "github.com/infer-prep/infer-prep/importer/hf/tokens"

// Tokens describes what a vision-language model's prompt has for an image.
type Tokens struct {
	// NumImageTokens is the number that the processor's
	// _get_num_multimodal_tokens returns, and Text replaces the placeholder of
	// the image, or stands before the prompt. TextTokens counts the tokens of
	// Text if it differs.
	NumImageTokens *int    `json:"num_image_tokens,omitempty"`
	TextTokens     *int    `json:"num_text_tokens,omitempty"`
	Text           *string `json:"text,omitempty"`
	TextBefore     bool    `json:"text_before,omitempty"`
	TokensError    string  `json:"tokens_error,omitempty"` // why a number or text is absent
}

// AddTokens adds the tokens of the line's size. A line whose size the processor
// refuses has no outputs.
func (l *Line) AddTokens(p *tokens.Processor) error {
	images, err := p.Images(*l.Size)
	if err != nil {
		l.Outputs, l.OutputsError = nil, ""
		return err
	}
	l.Tokens = TokensOf(images[0])
	return nil
}

// TokensOf describes the tokens of an image.
func TokensOf(i tokens.Image) Tokens {
	t := Tokens{Text: &i.Text, TextBefore: i.Before}
	if i.TokensErr != nil {
		t.TokensError = i.TokensErr.Error()
	} else {
		t.NumImageTokens = &i.Tokens
	}
	if i.TokensErr != nil || i.Tokens != i.TextTokens {
		t.TextTokens = &i.TextTokens
	}
	return t
}

package source

import (
	"encoding/json"
	"errors"
	"strings"

	"github.com/spf13/cobra"

	"github.com/infer-prep/infer-prep/cmd/internal/cli/command"
	"github.com/infer-prep/infer-prep/importer"
	"github.com/infer-prep/infer-prep/importer/hf/tokens"
	"github.com/infer-prep/infer-prep/internal/paths"
)

// TokenFlags name the files beside those of a processor.
type TokenFlags struct{ tokens, Call string }

// Add adds the flag --tokens.
func (f *TokenFlags) Add(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.tokens, "tokens", "", "with --hf: the JSON object in `FILE` maps attributes of the tokenizer, such as image_token, to their strings")
}

// AddCall adds the flag --call.
func (f *TokenFlags) AddCall(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.Call, "call", "", "with --hf: the JSON object in `FILE` has keyword arguments of the processor's call, such as do_pan_and_scan")
}

// Counter computes the tokens of images.
type Counter struct {
	Processor *tokens.Processor
	Err       error // why Processor is nil
}

// Open reads the processor's files. It returns nil if the command line asks for
// no tokens: --hf names a file and no other flag is given, or a folder whose
// files name no processor. Its errors are usage errors.
func (f *TokenFlags) Open(cmd *cobra.Command) (*Counter, error) {
	ctx := cmd.Context()
	asked := cmd.Flags().Changed("tokens") || cmd.Flags().Changed("call")
	name, _ := cmd.Flags().GetString("hf")
	if name == "" || name == "-" {
		if asked {
			return nil, command.UsageErr("--tokens and --call apply to --hf with the name of a file or folder")
		}
		return nil, nil
	}
	var files tokens.Files
	read := func(name string, to *[]byte) (err error) {
		if name != "" {
			*to, err = ReadUTF8(ctx, name, nil)
		}
		return err
	}
	folder := paths.FolderExists(ctx, name)
	if !folder && !asked {
		return nil, nil
	}
	var err error
	if folder {
		files, err = tokens.FromModel(func(file string) ([]byte, error) {
			return ReadUTF8(ctx, strings.TrimRight(name, "/")+"/"+file, nil)
		})
	} else if err = read(name, &files.Preprocessor); err == nil && importer.HasKey(files.Preprocessor, "image_processor") {
		files.Processor, files.Preprocessor = files.Preprocessor, nil
	}
	var strings []byte
	if err = errors.Join(err, read(f.tokens, &strings), read(f.Call, &files.Call)); err != nil {
		return nil, command.UsageErr("%w", err)
	}
	if strings != nil {
		if err := json.Unmarshal(strings, &files.Tokens); err != nil {
			return nil, command.UsageErr("--tokens %s: %w, want an object of strings", f.tokens, err)
		}
	}
	if !asked && !importer.HasKey(files.Processor, "processor_class") && !importer.HasKey(files.Preprocessor, "processor_class") {
		return nil, nil
	}
	c := &Counter{}
	c.Processor, c.Err = tokens.Parse(files)
	return c, nil
}

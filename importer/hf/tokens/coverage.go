package tokens

import (
	"maps"
	"slices"
	"strings"
)

// origin says where the code of a processor class has the tokens of an image.
type origin uint8

const (
	replaced  origin = iota + 1 // in replace_image_token
	written                     // in its own code
	plain                       // nowhere, although it takes images
	imageless                   // nowhere, and it takes no images
)

// refused holds the classes whose tokens have no rules here, with the reasons.
var refused = map[string]string{
	"IdeficsProcessor":           "its prompts are lists of texts and images, without placeholders",
	"InstructBlipVideoProcessor": "its tokens are those of a video",
	"Kosmos2Processor":           "it numbers the tokens of an image by their ids, not by their strings",
}

// Support says what this package does for one of transformers' processors.
type Support struct {
	// Class is the class's name, such as "Gemma3Processor".
	Class string
	// Exact reports that Parse accepts the class. The package's tests compare
	// its numbers and texts with the class's own.
	Exact bool
	// NoTokens reports that the class puts no tokens of images into a text.
	NoTokens bool
	// Reason says why the class is not exact.
	Reason string
}

// Supports lists the processor classes of transformers 5.23.0, sorted by name.
func Supports() []Support {
	l := make([]Support, 0, len(processors))
	for _, name := range slices.Sorted(maps.Keys(processors)) {
		l = append(l, supported(name))
	}
	return l
}

// supported describes a class of transformers.
func supported(name string) Support {
	s := Support{Class: name}
	_, s.Exact = classes.Get(strings.TrimSuffix(name, suffix))
	switch {
	case s.Exact:
	case processors[name] == plain:
		s.NoTokens, s.Reason = true, "it puts no tokens of images into a text"
	case processors[name] == imageless:
		s.NoTokens, s.Reason = true, "it takes no images"
	default:
		s.Reason = refused[name]
	}
	return s
}

package mnist

import "strings"

// The names of classes are those of torchvision 0.29.2.
var (
	digitClasses = []string{
		"0 - zero", "1 - one", "2 - two", "3 - three", "4 - four",
		"5 - five", "6 - six", "7 - seven", "8 - eight", "9 - nine",
	}
	fashionClasses = []string{
		"T-shirt/top", "Trouser", "Pullover", "Dress", "Coat", "Sandal", "Shirt", "Sneaker", "Bag", "Ankle boot",
	}
	kanaClasses = []string{"o", "ki", "su", "tsu", "na", "ha", "ma", "ya", "re", "wo"}

	emnistClasses = map[string][]string{
		"byclass":  strings.Split(digits+upper+lower, ""),
		"bymerge":  strings.Split(digits+upper+unmerged, ""),
		"balanced": strings.Split(digits+upper+unmerged, ""),
		// Label 0 is unused.
		"letters": append([]string{"N/A"}, strings.Split(lower, "")...),
		"digits":  strings.Split(digits, ""),
		"mnist":   strings.Split(digits, ""),
	}
)

const (
	digits = "0123456789"
	upper  = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	lower  = "abcdefghijklmnopqrstuvwxyz"
	// unmerged is the lower-case letters that do not look like their capitals.
	unmerged = "abdefghnqrt"
)

package tokens

import (
	"fmt"

	"github.com/infer-prep/infer-prep/importer/hf/video"
)

func init() {
	defineVideos(videoClass{videos: []string{"SmolVLM"}, build: smolVLMVideos}, "SmolVLM")
}

// smolVLMVideos writes a sentence with the number of frames in words and the
// length of the video, then the minutes and seconds of each frame and the
// tokens of an image that is not split. The sentence has the frames of the
// longest video if do_pad fills up the others, which else must be equal.
func smolVLMVideos(k *keys, p *video.Processor) videoRule {
	fake, token, global := k.token("fake_image_token", "<fake_token_around_image>"), k.token("image_token", "<image>"), k.token("global_image_token", "<global-img>")
	length, pad := k.int(k.file, "image_seq_len", 169, 0, maxLength), k.bool(k.video, "do_pad", true)
	return func(t *text, videos []Video, index int) error {
		v := videos[index].assumed(24)
		l, err := v.Timestamps()
		if err == nil && !pad {
			err = stacked(p, videos, index)
		}
		if err != nil {
			return err
		}
		most := 0
		for _, v := range videos {
			most = max(most, len(v.Indices))
		}
		seconds := int64(v.Duration)
		if v.Duration == 0 {
			seconds = int64(l[len(l)-1])
		}
		t.plain("You are provided the following series of " + words(most) + " frames from a " + clock(seconds) + " [H:MM:SS] video.\n")
		for _, s := range l {
			t.plain(fmt.Sprintf("\nFrame from %02d:%02d:", int64(s)/60, int64(s)%60))
			t.mark(fake)
			t.mark(global)
			t.image(token, length)
			t.mark(fake)
			if t.err != nil {
				return nil
			}
		}
		t.plain("\n\n")
		return nil
	}
}

// clock returns str(datetime.timedelta(seconds=s)).
func clock(s int64) string {
	text := fmt.Sprintf("%d:%02d:%02d", s/3600%24, s/60%60, s%60)
	switch days := s / 86400; days {
	case 0:
		return text
	case 1:
		return "1 day, " + text
	default:
		return fmt.Sprintf("%d days, %s", days, text)
	}
}

// small are the numbers below 20 in words, and tens those of 20, 30 to 90.
var (
	small = []string{
		"zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine",
		"ten", "eleven", "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen",
	}
	tens = []string{"twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"}
)

// words returns num2words(n) of num2words 0.5.14 for 0 to 999,999,999.
func words(n int) string {
	switch {
	case n < 20:
		return small[n]
	case n < 100:
		if n%10 == 0 {
			return tens[n/10-2]
		}
		return tens[n/10-2] + "-" + small[n%10]
	}
	unit, name := 100, "hundred"
	if n >= 1000 {
		unit, name = 1000, "thousand"
	}
	if n >= 1000000 {
		unit, name = 1000000, "million"
	}
	text := words(n/unit) + " " + name
	switch rest := n % unit; {
	case rest == 0:
		return text
	case rest < 100:
		return text + " and " + words(rest)
	default:
		return text + ", " + words(rest)
	}
}

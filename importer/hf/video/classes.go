package video

// Classes whose pixels are not reproduced yet. Their sampling is.
func init() {
	define(
		class{name: "MiniCPMOcr", sampler: readMiniCPM, samples: true, refused: "it compares natural logarithms to choose its grid of tiles; that rule is not reproduced"},
		class{name: "MiniCPMV4_6", sampler: readMiniCPM, samples: true, refused: "it compares natural logarithms to choose its grid of tiles; that rule is not reproduced"},
		class{name: "Molmo2", sampler: readMolmo2, samples: true, refused: "it resizes float32 without antialiasing and pools tiles by a table of indices; no op does either"},
		class{name: "NemotronH_Omni_Reasoning_V3", sampler: byDefault(0, 0), refused: "it resizes float32 values by torch's bicubic; the video's layout is not reproduced yet"},
	)
}

package command

// References are the libraries that the ops reproduce, at the versions that
// they are tested against.
var References = []Reference{
	{"Pillow", "13.0.0"},
	{"OpenCV", "5.0.0.93"},
	{"torchvision", "0.29.2"},
	{"transformers", "5.23.0"},
	{"timm", "1.0.31"},
}

type Reference struct {
	Name    string `json:"name"`
	Version string `json:"version"`
}

package diff

import "github.com/infer-prep/infer-prep/transforms"

func init() {
	register(resizer[*transforms.BlobCrop]{
		whole: true,
		filter: func(*transforms.BlobCrop) filter {
			return filter{transforms.Bilinear, transforms.OpenCV, false}
		},
	})
}

package serve

import (
	"errors"
	"fmt"
	"net/http"

	"github.com/infer-prep/infer-prep/cmd/internal/outline"
	"github.com/infer-prep/infer-prep/tensor"
)

// maxSizes is the largest number of sizes in one request.
const maxSizes = 1024

// sizes describes the graph's outputs for the sizes of the query, each
// size=HEIGHTxWIDTH, in their order.
func (s *Server) sizes(w http.ResponseWriter, r *http.Request) {
	if s.o.Noun == sound {
		refuse(w, http.StatusBadRequest, errors.New("the model takes sounds, which have no height and width"))
		return
	}
	list := r.URL.Query()["size"]
	if len(list) == 0 || len(list) > maxSizes {
		refuse(w, http.StatusBadRequest, fmt.Errorf("%d sizes, want 1 to %d, as in /v2/models/%s/sizes?size=480x640", len(list), maxSizes, s.o.Model))
		return
	}
	answer := struct {
		Sizes []outline.Line `json:"sizes"`
	}{}
	for _, text := range list {
		height, width, err := outline.ParseSize(text)
		if err != nil {
			refuse(w, http.StatusBadRequest, err)
			return
		}
		line := outline.Line{Size: &[2]int{height, width}}
		columns, err := s.o.Plan.Sizes(height, width)
		var values []*tensor.Tensor
		if err == nil {
			values, err = s.o.Plan.Values(height, width)
		}
		if err != nil {
			line.Error = err.Error()
		} else {
			if !s.o.SideOutputs {
				columns = columns[:len(s.o.Plan.Graph().Outputs)]
			}
			line.Outputs = outline.Outputs(columns, values)
			if s.o.Tokens != nil {
				if err := line.AddTokens(s.o.Tokens); err != nil {
					line.Error = err.Error()
				}
			}
		}
		answer.Sizes = append(answer.Sizes, line)
	}
	reply(w, http.StatusOK, answer)
}

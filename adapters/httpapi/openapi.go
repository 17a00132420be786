package httpapi

import (
	"crypto/sha256"
	_ "embed" // the document of the API
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"sync"

	"github.com/gin-gonic/gin"
	"go.yaml.in/yaml/v3"

	"aion/adapters/web"
)

//go:embed openapi.yaml
var openapi []byte

// Document is the API's own description as JSON, for whoever has no server.
func Document() ([]byte, error) { return newDescription("").json() }

// description serves the API's own description, with the address of the server.
type description struct {
	json func() ([]byte, error)
}

func newDescription(url string) description {
	return description{json: sync.OnceValues(func() ([]byte, error) {
		var tree map[string]any
		if err := yaml.Unmarshal(openapi, &tree); err != nil {
			return nil, fmt.Errorf("openapi.yaml: %w", err)
		}
		if url != "" {
			tree["servers"] = []map[string]string{{"url": url + prefix}}
		}
		return json.Marshal(tree)
	})}
}

func (d description) serve(c *gin.Context) {
	text, err := d.json()
	if err != nil {
		web.WriteProblem(c.Writer, c.Request, http.StatusInternalServerError, err)
		return
	}
	sum := sha256.Sum256(text)
	q := &request{Request: c.Request, out: c.Writer, media: mediaJSON}
	c.Writer.Header().Set("Cache-Control", "no-cache")
	_ = answer{raw: text, etag: hex.EncodeToString(sum[:])}.write(q) // raw text cannot fail to encode
}

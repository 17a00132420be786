package contract

import (
	"bytes"
	"encoding/json"
	"io"
	"mime"
	"net/http"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"
)

const prefix = "/api/v1"

// Transport is a round tripper whose exchanges with the API stand in its document, or the test fails: every answer, and
// every request that was not refused. It is safe for concurrent use.
type Transport struct {
	t     testing.TB
	inner http.RoundTripper
	doc   *openapi3.T
}

// New reads the document of the server at base through inner.
func New(t testing.TB, base string, inner http.RoundTripper) *Transport {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, base+"/openapi.json", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	res, err := inner.RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	text, err := io.ReadAll(res.Body)
	if err != nil || res.StatusCode != http.StatusOK {
		t.Fatalf("openapi.json: %d, %v", res.StatusCode, err)
	}
	return &Transport{t: t, inner: inner, doc: Load(t, text)}
}

// Load reads a document, and closes the schemas of its answers: clients must ignore what they do not know, tests must not.
func Load(t testing.TB, text []byte) *openapi3.T {
	t.Helper()
	var tree any
	if err := json.Unmarshal(text, &tree); err != nil {
		t.Fatal(err)
	}
	closeSchemas(tree)
	closed, err := json.Marshal(tree)
	if err != nil {
		t.Fatal(err)
	}
	loader := openapi3.NewLoader()
	doc, err := loader.LoadFromData(closed)
	if err != nil {
		t.Fatalf("the document cannot be read: %v", err)
	}
	if err := doc.Validate(loader.Context); err != nil {
		t.Fatalf("the document is not valid: %v", err)
	}
	return doc
}

func closeSchemas(node any) {
	switch node := node.(type) {
	case map[string]any:
		_, object := node["properties"].(map[string]any)
		if _, said := node["additionalProperties"]; object && !said {
			node["additionalProperties"] = false
		}
		for _, inner := range node {
			closeSchemas(inner)
		}
	case []any:
		for _, inner := range node {
			closeSchemas(inner)
		}
	}
}

// RoundTrip implements http.RoundTripper.
func (c *Transport) RoundTrip(req *http.Request) (*http.Response, error) {
	var sent []byte
	if req.Body != nil && req.Body != http.NoBody {
		var err error
		if sent, err = io.ReadAll(req.Body); err != nil {
			return nil, err
		}
		_ = req.Body.Close()
		req.Body = io.NopCloser(bytes.NewReader(sent))
	}
	res, err := c.inner.RoundTrip(req)
	if err != nil || !strings.HasPrefix(req.URL.Path, prefix+"/") {
		return res, err
	}
	c.judge(req, sent, res)
	return res, nil
}

func (c *Transport) judge(req *http.Request, sent []byte, res *http.Response) {
	c.t.Helper()
	route, params := c.find(req)
	what := req.Method + " " + req.URL.RequestURI()
	if route == nil {
		if res.StatusCode != http.StatusNotFound && res.StatusCode != http.StatusMethodNotAllowed && req.Method != http.MethodOptions {
			c.t.Errorf("%s is not in the document and was answered with %d", what, res.StatusCode)
		}
		return
	}
	copied := req.Clone(req.Context())
	copied.Body = io.NopCloser(bytes.NewReader(sent))
	copied.ContentLength = int64(len(sent))
	in := &openapi3filter.RequestValidationInput{
		Request: copied, PathParams: params, Route: route,
		Options: &openapi3filter.Options{AuthenticationFunc: openapi3filter.NoopAuthenticationFunc, SkipSettingDefaults: true, IncludeResponseStatus: true},
	}
	if res.StatusCode < http.StatusBadRequest {
		if err := openapi3filter.ValidateRequest(req.Context(), in); err != nil {
			c.t.Errorf("%s was accepted and is not in the document: %v", what, err)
		}
	}
	c.answer(what, in, res)
}

func (c *Transport) answer(what string, in *openapi3filter.RequestValidationInput, res *http.Response) {
	c.t.Helper()
	media, _, _ := mime.ParseMediaType(res.Header.Get("Content-Type"))
	out := &openapi3filter.ResponseValidationInput{RequestValidationInput: in, Status: res.StatusCode, Header: res.Header, Options: in.Options}
	if media != "application/json" && media != "application/problem+json" {
		listed := in.Route.Operation.Responses.Status(res.StatusCode)
		if in.Request.Method != http.MethodHead && res.StatusCode != http.StatusNotModified &&
			(listed == nil || media != "" && listed.Value.Content.Get(media) == nil) {
			c.t.Errorf("%s was answered with %d %s, which is not in the document", what, res.StatusCode, media)
		}
		return
	}
	body, err := io.ReadAll(res.Body)
	_ = res.Body.Close()
	res.Body = io.NopCloser(bytes.NewReader(body))
	if err != nil {
		return // the test that reads it sees it
	}
	out.SetBodyBytes(body)
	if err := openapi3filter.ValidateResponse(in.Request.Context(), out); err != nil {
		c.t.Errorf("%s was answered with %d and what is not in the document: %v\n%.2000s", what, res.StatusCode, err, body)
	}
}

// find gives the operation of a request. A parameter named path takes the rest of the URL.
func (c *Transport) find(req *http.Request) (*routers.Route, map[string]string) {
	have := strings.Split(strings.TrimPrefix(req.URL.EscapedPath(), prefix), "/")
	method := req.Method
	if method == http.MethodHead {
		method = http.MethodGet
	}
	var best *routers.Route
	var bound map[string]string
	for path, item := range c.doc.Paths.Map() {
		params, ok := match(strings.Split(path, "/"), have)
		op := item.GetOperation(method)
		if ok && op != nil && (best == nil || len(params) < len(bound)) {
			best, bound = &routers.Route{Spec: c.doc, Path: path, PathItem: item, Method: method, Operation: op}, params
		}
	}
	return best, bound
}

func match(want, have []string) (map[string]string, bool) {
	params := map[string]string{}
	for i, part := range want {
		if i >= len(have) {
			return nil, false
		}
		name, isParam := strings.CutPrefix(part, "{")
		name = strings.TrimSuffix(name, "}")
		switch {
		case isParam && name == "path" && i == len(want)-1:
			params[name] = strings.Join(have[i:], "/")
			return params, params[name] != ""
		case isParam && have[i] != "":
			params[name] = have[i]
		case part != have[i]:
			return nil, false
		}
	}
	return params, len(want) == len(have)
}

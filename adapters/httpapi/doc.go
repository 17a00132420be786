// Package httpapi serves the HTTP/JSON API under /api/v1: it turns requests into calls of use cases and their answers into
// JSON, event streams and lines. Each resource has one file with its routes and its wire forms; what all routes share
// (order of decisions, strict queries and bodies, problems, headers, streams) stands once beside them. The document of the
// API is openapi.yaml, kept by hand and held to the routes by tests.
package httpapi

// Package web is the HTTP host that every route adapter mounts itself on: listener and limits, the middleware that all
// requests pass, the rules for Origin and Host, who is calling, problem documents, health probes, request bodies and
// server-sent events. It knows no route but the probes, and no business at all.
package web

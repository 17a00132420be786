package mcp

import (
	"encoding/base64"
	"net/http"
	"net/textproto"
	"strings"
	"unicode/utf8"

	"aion/domain"
)

// The headers that repeat a part of the body for whoever routes the request (mcp 1.5).
const (
	headerVersion = "MCP-Protocol-Version"
	headerMethod  = "Mcp-Method"
	headerName    = "Mcp-Name"
)

// single reads a header that must be there once, in visible ASCII.
func single(h http.Header, name string) (string, *fault) {
	values := h[textproto.CanonicalMIMEHeaderKey(name)]
	if len(values) > 1 {
		return "", headerFault(name, "repeated", "header %s is there %d times; send it once", name, len(values))
	}
	value := ""
	if len(values) == 1 {
		value = strings.Trim(values[0], " \t")
	}
	if value == "" {
		return "", headerFault(name, "missing", "header %s is missing; every client of revision %s sends it", name, Revision)
	}
	for i := range len(value) {
		if b := value[i]; (b < 0x20 || b > 0x7e) && b != '\t' {
			return "", headerFault(name, "malformed", "header %s holds a byte that is no visible ASCII character", name)
		}
	}
	return value, nil
}

func mismatch(header, inHeader, what, inBody string) *fault {
	return headerFault(header, "mismatch", "header %s is `%s`, but %s is `%s`; both must be the same",
		header, domain.Quote(inHeader, 200), what, domain.Quote(inBody, 200))
}

// matchMethod checks the two headers that every request has; the version is compared later, when the body's is known.
func matchMethod(h http.Header, method string) (version string, f *fault) {
	version, f = single(h, headerVersion)
	if f != nil {
		return "", f
	}
	sent, f := single(h, headerMethod)
	if f != nil {
		return "", f
	}
	if sent != method {
		return "", mismatch(headerMethod, sent, "method", method)
	}
	return version, nil
}

const (
	sentinelBegin = "=?base64?"
	sentinelEnd   = "?="
)

// matchName checks Mcp-Name against the name in the body; what names the member.
func matchName(h http.Header, what, name string) *fault {
	sent, f := single(h, headerName)
	if f != nil {
		return f
	}
	if len(sent) >= len(sentinelBegin)+len(sentinelEnd) && strings.HasPrefix(sent, sentinelBegin) && strings.HasSuffix(sent, sentinelEnd) {
		decoded, err := base64.StdEncoding.DecodeString(sent[len(sentinelBegin) : len(sent)-len(sentinelEnd)])
		if err != nil || !utf8.Valid(decoded) {
			return headerFault(headerName, "malformed", "header %s holds no padded standard Base64 of UTF-8 text between %s and %s", headerName, sentinelBegin, sentinelEnd)
		}
		sent = string(decoded)
	}
	if sent != name {
		return mismatch(headerName, sent, what, name)
	}
	return nil
}

package bridge

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"

	"aion/adapters/web/jsontext"
	"aion/domain"
)

// noAnswer says why a call got no answer, and whether it may have been done.
func (u *upstream) noAnswer(ctx context.Context, to Target, sent bool, err error) error {
	cause := context.Cause(ctx)
	var op *net.OpError
	var untrusted *tls.CertificateVerificationError
	reason := err
	switch {
	case errors.Is(cause, errSilent):
		return unavailable("ServerSilent", err, "the aion server at %s has said nothing for %s; what the call asked for may have been done, so look before you repeat it",
			to.URL, u.patience)
	case cause != nil:
		return unavailable("CallGivenUp", err, "the call was given up; look at what it did before you repeat it")
	case errors.As(err, &untrusted):
		return unavailable("CertificateRefused", err, "the certificate of %s is not trusted (%v); name its authority with --ca-file", to.URL, untrusted.Err)
	case sent:
		return unavailable("AnswerLost", err, "the connection to the aion server at %s ended before its answer; what the call asked for may have been done, so look "+
			"before you repeat it (if the server has stopped: `aion server`)", to.URL)
	case errors.As(err, &op):
		reason = op.Err
	}
	var wrapped *url.Error
	if errors.As(reason, &wrapped) {
		reason = wrapped.Err
	}
	return unavailable("ServerUnreachable", err, "no aion server answers at %s (%v); start it with `aion server`, then repeat the call", to.URL, reason)
}

func unavailable(kind string, cause error, format string, args ...any) error {
	return domain.Unavailable(kind, fmt.Sprintf(format, args...), cause)
}

// strange says that what answers is no aion server, or a broken one.
func strange(to Target, what string) error {
	return unavailable("NoMCPServer", nil, "%s %s; name the aion server with --url, such as http://127.0.0.1:8080/mcp", to.URL, what)
}

// refused reads an HTTP answer that holds no MCP message.
func refused(to Target, res *http.Response, body []byte) error {
	said := problem(body)
	switch status := res.StatusCode; {
	case status == http.StatusUnauthorized:
		how := "no credential was sent; give the bridge one with AION_TOKEN, or --token @FILE"
		if to.Credential != "" {
			how = "it refuses the credential from " + to.Credential
		}
		return &domain.Error{Code: domain.CodeUnauthenticated, Type: "InvalidCredential", Message: fmt.Sprintf("the aion server at %s wants a credential: %s%s", to.URL, how, said.text())}
	case said.code != "":
		return &domain.Error{Code: domain.Code(said.code), Type: said.errorType, Message: said.message}
	case status >= 300 && status < 400:
		return strange(to, fmt.Sprintf("redirects to %q, and a credential must not follow", domain.Quote(res.Header.Get("Location"), 200)))
	case status == http.StatusNotFound:
		return strange(to, "has no MCP endpoint (404); mcp.enabled may be off there, or the path is another")
	case status == http.StatusTooManyRequests:
		return &domain.Error{Code: domain.CodeResourceExhausted, Type: "RateLimited", Message: fmt.Sprintf("%s takes no more calls now (429); wait and repeat the call", to.URL)}
	case status >= 500:
		return unavailable("ServerFault", nil, "%s answers with HTTP %d; repeat the call later", to.URL, status)
	default:
		return strange(to, fmt.Sprintf("answers with HTTP %d and no MCP message", status))
	}
}

// said is a refusal in the HTTP API's form; zero when the body holds none.
type said struct{ code, errorType, message string }

func problem(body []byte) said {
	var s said
	if jsontext.Check(body, maxNesting) != nil {
		return s
	}
	s.code, _ = jsontext.Text(member(body, "code"))
	s.errorType, _ = jsontext.Text(member(body, "error_type"))
	s.message, _ = jsontext.Text(member(body, "message"))
	if s.message == "" {
		return said{}
	}
	return s
}

func (s said) text() string {
	if s.message == "" {
		return ""
	}
	return " (" + s.message + ")"
}

package auth

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"aion/domain"
)

// bearer takes the token out of Authorization: exactly one header of the scheme Bearer, written in any case.
func bearer(authorization []string) (string, error) {
	if len(authorization) > 1 {
		return "", invalidCredential(fmt.Sprintf("header Authorization is there %d times; send it once", len(authorization)), nil)
	}
	value := ""
	if len(authorization) == 1 {
		value = strings.Trim(authorization[0], " \t")
	}
	scheme, token, _ := strings.Cut(value, " ")
	token = strings.TrimLeft(token, " ")
	if !strings.EqualFold(scheme, "Bearer") || token == "" {
		return "", missingCredential()
	}
	return token, nil
}

// plausible reports whether a name can stand for a caller: it appears in logs, histories and audit records.
func plausible(subject string) bool {
	return subject != "" && utf8.ValidString(subject) && utf8.RuneCountInString(subject) <= maxSubject &&
		!strings.ContainsFunc(subject, func(r rune) bool { return unicode.IsControl(r) || r == '\u2028' || r == '\u2029' })
}

func missingCredential() error {
	return &domain.Error{
		Code: domain.CodeUnauthenticated, Type: "MissingCredential",
		Message: "no credential was sent; send the header Authorization: Bearer with the token of this server",
	}
}

func invalidCredential(message string, cause error) error {
	return &domain.Error{Code: domain.CodeUnauthenticated, Type: "InvalidCredential", Message: message, Err: cause}
}

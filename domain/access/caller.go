// Package access holds who is calling and what they may reach.
package access

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"aion/domain"
)

// Caller is who makes a call, decided once where it enters. Grants are read per call.
type Caller struct {
	Subject       string
	AllNamespaces bool
	Namespaces    []domain.Namespace
	Deploy        bool
	Source        string // none, header or claim
	Mode          string // off, token or jwks
	Issuer        string // who vouches for the subject; empty outside mode jwks
	Via           Via    // no part of who they are
	// Expires is when the credential ends; zero: it has no end.
	Expires time.Time
}

// Operator is the caller of mode off: every namespace and the deploy grant. The label stands in the audit log only.
func Operator(label string) Caller {
	if label == "" {
		label = "operator"
	}
	return Caller{Subject: label, AllNamespaces: true, Deploy: true, Source: "none", Mode: "off"}
}

// Reach refuses a namespace that the caller lacks, before anything in it is looked up.
func (c Caller) Reach(ns domain.Namespace) error {
	if c.AllNamespaces || slices.Contains(c.Namespaces, ns) {
		return nil
	}
	return &domain.Error{
		Code: domain.CodeNamespaceDenied, Type: "NamespaceNotGranted",
		Message: fmt.Sprintf("%s may not use namespace %q%s; ask for it in x-aion-namespaces or the namespaces claim", c.Subject, ns, c.instead()),
	}
}

// Granted are the namespaces that the caller may use; nil: every one.
func (c Caller) Granted() []domain.Namespace {
	if c.AllNamespaces {
		return nil
	}
	return append([]domain.Namespace{}, c.Namespaces...)
}

// instead names the first namespaces that the caller may use, for the refusal of another.
func (c Caller) instead() string {
	const most = 8
	if len(c.Namespaces) == 0 {
		return ", nor any other"
	}
	names := make([]string, 0, most)
	for _, ns := range c.Namespaces[:min(len(c.Namespaces), most)] {
		names = append(names, domain.Quote(string(ns), 128))
	}
	if len(c.Namespaces) > most {
		names = append(names, "…")
	}
	return "; granted are " + strings.Join(names, ", ")
}

// MayDeploy refuses a caller without the deploy grant.
func (c Caller) MayDeploy() error {
	if c.Deploy {
		return nil
	}
	return &domain.Error{
		Code: domain.CodeDeployDenied, Type: "DeployGrantMissing",
		Message: fmt.Sprintf("%s lacks the deploy grant; send x-aion-deploy: true, or use a token with the deploy claim", c.Subject),
	}
}

package auth_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"aion/adapters/auth"
	"aion/domain"
	"aion/domain/access"
	"aion/ports"
)

const secret = "correct horse battery staple"

func shared(t *testing.T) *auth.Token {
	t.Helper()
	a, err := auth.NewToken(secret)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func sent(authorization ...string) ports.Credentials {
	return ports.Credentials{Authorization: authorization, Subject: []string{"ada"}}
}

// mcp 80
func TestOffIsTheOperatorWhateverIsSent(t *testing.T) {
	t.Parallel()
	for _, c := range []ports.Credentials{
		{},
		{Authorization: []string{"Bearer x", "Basic y"}, Namespaces: []string{"none"}, Deploy: []string{"false"}},
		{Subject: []string{"ada", "bob"}, Deploy: []string{"no"}},
	} {
		who, err := auth.Off{}.Authenticate(t.Context(), c)
		if err != nil || !who.AllNamespaces || !who.Deploy || who.Source != "none" || who.Mode != "off" {
			t.Errorf("%+v: %+v, %v", c, who, err)
		}
	}
	who, err := auth.Off{}.Authenticate(t.Context(), ports.Credentials{Subject: []string{strings.Repeat("é", 10_000)}})
	if err != nil || len(who.Subject) > 1_000 {
		t.Errorf("a label of %d bytes, %v", len(who.Subject), err)
	}
}

// mcp 81
func TestSharedSecretIsSentOnceAndWhole(t *testing.T) {
	t.Parallel()
	a := shared(t)
	for what, c := range map[string]struct {
		ports.Credentials
		errorType string
	}{
		"none":             {ports.Credentials{Subject: []string{"ada"}}, "MissingCredential"},
		"empty":            {sent(""), "MissingCredential"},
		"only the scheme":  {sent("Bearer"), "MissingCredential"},
		"another scheme":   {sent("Basic " + secret), "MissingCredential"},
		"without scheme":   {sent(secret), "MissingCredential"},
		"wrong":            {sent("Bearer wrong"), "InvalidCredential"},
		"beginning":        {sent("Bearer " + secret[:len(secret)-1]), "InvalidCredential"},
		"with an end":      {sent("Bearer " + secret + "."), "InvalidCredential"},
		"another case":     {sent("Bearer " + strings.ToUpper(secret)), "InvalidCredential"},
		"twice the same":   {sent("Bearer "+secret, "Bearer "+secret), "InvalidCredential"},
		"good behind bad":  {sent("Bearer wrong", "Bearer "+secret), "InvalidCredential"},
		"joined":           {sent("Bearer " + secret + ", Bearer " + secret), "InvalidCredential"},
		"huge":             {sent("Bearer " + strings.Repeat("x", 60_000)), "InvalidCredential"},
		"nobody":           {ports.Credentials{Authorization: []string{"Bearer " + secret}}, "MissingSubject"},
		"blank name":       {ports.Credentials{Authorization: []string{"Bearer " + secret}, Subject: []string{"  "}}, "MissingSubject"},
		"two names":        {ports.Credentials{Authorization: []string{"Bearer " + secret}, Subject: []string{"ada", "bob"}}, "MissingSubject"},
		"long name":        {ports.Credentials{Authorization: []string{"Bearer " + secret}, Subject: []string{strings.Repeat("a", 256)}}, "MissingSubject"},
		"control in name":  {ports.Credentials{Authorization: []string{"Bearer " + secret}, Subject: []string{"a\x1b[1m"}}, "MissingSubject"},
		"name not in UTF8": {ports.Credentials{Authorization: []string{"Bearer " + secret}, Subject: []string{"a\xff"}}, "MissingSubject"},
	} {
		who, err := a.Authenticate(t.Context(), c.Credentials)
		refusal := wantRefusal(t, what, who, err, c.errorType)
		if refusal.Code != domain.CodeUnauthenticated || strings.Contains(refusal.Error(), secret) {
			t.Errorf("%s: %v", what, refusal)
		}
		header := "Authorization: Bearer"
		if c.errorType == "MissingSubject" {
			header = "x-aion-subject"
		}
		if c.errorType != "InvalidCredential" && !strings.Contains(refusal.Message, header) {
			t.Errorf("%s: the refusal does not name the header to send: %s", what, refusal.Message)
		}
	}
	for _, good := range []string{"Bearer " + secret, "bearer " + secret, "BEARER   " + secret, " Bearer " + secret + "\t"} {
		who, err := a.Authenticate(t.Context(), sent(good))
		if d := cmp.Diff(access.Caller{Subject: "ada", Source: "header", Mode: "token"}, who); d != "" || err != nil {
			t.Errorf("%q: %v\n%s", good, err, d)
		}
	}
}

// mcp 82, 83
func TestGrantsOfTheHeaders(t *testing.T) {
	t.Parallel()
	a := shared(t)
	type names = []domain.Namespace
	for _, c := range []struct {
		namespaces []string
		deploy     []string
		all        bool
		list       names
		mayDeploy  bool
	}{
		{nil, nil, false, nil, false},
		{[]string{""}, []string{""}, false, nil, false},
		{[]string{" , ,, "}, []string{"1"}, false, nil, false},
		{[]string{"a,b"}, []string{"true"}, false, names{"a", "b"}, true},
		{[]string{" a , ,b,"}, []string{" TRUE "}, false, names{"a", "b"}, true},
		{[]string{"a", "b"}, []string{"yes"}, false, names{"a", "b"}, false},
		{[]string{"a, *"}, []string{"true", "true"}, true, nil, false},
		{[]string{"*"}, []string{"true,true"}, true, nil, false},
		{[]string{"**", "a*"}, []string{"True"}, false, names{"**", "a*"}, true},
	} {
		who, err := a.Authenticate(t.Context(), ports.Credentials{
			Authorization: []string{"Bearer " + secret}, Subject: []string{"ada"}, Namespaces: c.namespaces, Deploy: c.deploy,
		})
		want := access.Caller{Subject: "ada", AllNamespaces: c.all, Namespaces: c.list, Deploy: c.mayDeploy, Source: "header", Mode: "token"}
		if d := cmp.Diff(want, who); d != "" || err != nil {
			t.Errorf("%q %q: %v\n%s", c.namespaces, c.deploy, err, d)
		}
	}
}

func TestShortSecretIsRefused(t *testing.T) {
	t.Parallel()
	for _, short := range []string{"", "123456789012345", strings.Repeat("é", 15)} {
		if _, err := auth.NewToken(short); domain.CodeOf(err) != domain.CodeInvalidInput || err == nil {
			t.Errorf("%q: %v", short, err)
		}
	}
	if _, err := auth.NewToken(strings.Repeat("é", 16)); err != nil {
		t.Error(err)
	}
}

func TestSingleGivesEveryoneOneNamespace(t *testing.T) {
	t.Parallel()
	for _, next := range []ports.Authenticator{auth.Off{}, shared(t)} {
		who, err := auth.Single(next, "only").Authenticate(t.Context(), ports.Credentials{
			Authorization: []string{"Bearer " + secret}, Subject: []string{"ada"}, Namespaces: []string{"*"},
		})
		if err != nil || who.Reach("only") != nil || who.Reach("other") == nil || who.AllNamespaces {
			t.Errorf("%+v, %v", who, err)
		}
	}
	who, err := auth.Single(shared(t), "only").Authenticate(t.Context(), ports.Credentials{})
	wantRefusal(t, "without credential", who, err, "MissingCredential")
}

package auth

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"

	"aion/domain"
)

// The bounds of one fetch.
const (
	fetchTimeout   = 5 * time.Second
	maxKeySetBytes = 1 << 20
	maxRedirects   = 3
)

// fetcher gets the key set of one issuer. It follows no redirect to another host, reads a bounded answer in bounded time,
// and keeps no cookie.
type fetcher struct {
	url    string
	client *http.Client
}

// newFetcher takes the certificates that are trusted besides the system's; nil: none.
func newFetcher(address string, authorities []byte) (*fetcher, error) {
	config := &tls.Config{MinVersion: tls.VersionTLS12}
	if authorities != nil {
		pool, err := x509.SystemCertPool()
		if err != nil {
			pool = x509.NewCertPool()
		}
		if !pool.AppendCertsFromPEM(authorities) {
			return nil, errors.New("auth.jwks_ca_file holds no PEM certificate")
		}
		config.RootCAs = pool
	}
	transport := &http.Transport{
		Proxy: http.ProxyFromEnvironment, TLSClientConfig: config, ForceAttemptHTTP2: true, MaxResponseHeaderBytes: 64 << 10,
		DisableKeepAlives: true, // one fetch in minutes: a connection that waits for the next one only goes stale
	}
	return &fetcher{url: address, client: &http.Client{Transport: transport, CheckRedirect: sameHost}}, nil
}

func sameHost(next *http.Request, via []*http.Request) error {
	first := via[0].URL
	if next.URL.Scheme != first.Scheme || next.URL.Host != first.Host {
		return fmt.Errorf("it redirects to another host, %q, which is not followed; name the final address in auth.jwks_url", domain.Quote(next.URL.Host, 200))
	}
	if len(via) > maxRedirects {
		return fmt.Errorf("it redirects more than %d times", maxRedirects)
	}
	return nil
}

func (f *fetcher) fetch(ctx context.Context) (keySet, error) {
	ctx, cancel := context.WithTimeout(ctx, fetchTimeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, f.url, nil)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Accept", "application/jwk-set+json, application/json")
	req.Header.Set("User-Agent", "aion")
	res, err := f.client.Do(req)
	if err != nil {
		return nil, plain(err)
	}
	defer func() { _ = res.Body.Close() }()
	if res.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("status %d", res.StatusCode)
	}
	text, err := io.ReadAll(io.LimitReader(res.Body, maxKeySetBytes+1))
	if err != nil {
		return nil, fmt.Errorf("the answer breaks off: %w", err)
	}
	if len(text) > maxKeySetBytes {
		return nil, fmt.Errorf("the answer has more than %d bytes", maxKeySetBytes)
	}
	return parseKeySet(text)
}

// plain drops the URL that net/http repeats in its errors: its query may hold a key of the operator's.
func plain(err error) error {
	var wrapped *url.Error
	if errors.As(err, &wrapped) {
		return wrapped.Err
	}
	return err
}

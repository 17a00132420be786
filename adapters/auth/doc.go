// Package auth decides who is calling from what a request says about itself: auth mode off (everybody is the operator),
// one shared secret, or the claims of a JSON Web Token whose signature is checked against the key set of an issuer. It
// knows no HTTP request: the web host hands it header values and turns its refusals into answers.
package auth

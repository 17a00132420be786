package access

// Owner names whose tasks and idempotency keys may meet. In mode off every caller is the operator, whatever its label
// says; the same subject of two issuers is two owners.
func (c Caller) Owner() string {
	switch c.Mode {
	case "off":
		return "operator"
	case "jwks":
		return "jwks:" + c.Issuer + "#" + c.Subject
	}
	return c.Mode + ":" + c.Subject
}

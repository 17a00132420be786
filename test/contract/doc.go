// Package contract holds whatever tests exchange with the HTTP API against the document that the server gives of itself.
package contract

// Package postgres gives tests a Postgres: a fresh database each, a server of their own that they may stop, freeze and
// kill, and a link that cuts one client off. It knows nothing of the product.
package postgres

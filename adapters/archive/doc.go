// Package archive is the file format of backups (server 5.8): a tar of plain files, whose last member is the manifest with the
// SHA-256 of every other one. A file without it was not finished. Reading trusts nothing: no links, no other names than those
// of a backup, no member twice, nothing larger than the file itself.
package archive

package domain

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"
)

// AuditRecord says who changed something, or was refused to (server 5.9). It never holds payloads, texts or credentials.
// Seq, Chain, N, At, Prev and Hash are the store's.
type AuditRecord struct {
	Seq       int64  // over all chains, in the order of adding; no part of the record
	Chain     string // one per process
	N         int64  // dense in its chain, from 1
	At        time.Time
	Subject   string
	Mode      string // of authentication
	Source    string // of the grants
	Surface   string // mcp, cli, system
	Action    string // run.start, document.save, auth.refused, …
	Namespace string // empty: outside namespaces
	Target    string // workflow id, workflow type, document path, task id or tool
	Outcome   string // AuditOK or AuditRefused
	Code      Code   // of the refusal
	RequestID string
	Remote    string  // address of the client
	Detail    Payload // a JSON object of hashes, sizes and settings; nil: nothing
	Prev      string  // hash of the record before it in its chain; empty: it is the first
	Hash      string
}

// The outcomes.
const (
	AuditOK      = "ok"
	AuditRefused = "refused"
)

// AuditHead is the last record of a chain.
type AuditHead struct {
	Chain string `json:"chain"`
	N     int64  `json:"n"`
	Hash  string `json:"hash"`
}

// AuditDetail encodes what a record holds besides its members; members are sorted.
func AuditDetail(members map[string]any) Payload {
	text, err := json.Marshal(members)
	if err != nil {
		panic("audit: the detail cannot be encoded: " + err.Error()) // texts and numbers can
	}
	return text
}

// Bounds of what others write into a record.
const (
	maxAuditText = 255
)

// Follow gives the record its place behind a head of its chain. Texts are cut to what may stand in a log.
func (r AuditRecord) Follow(head AuditHead, at time.Time) AuditRecord {
	for _, text := range []*string{&r.Subject, &r.Namespace, &r.Target, &r.RequestID, &r.Remote} {
		*text = Quote(*text, maxAuditText)
	}
	r.Chain, r.N, r.Prev, r.At = head.Chain, head.N+1, head.Hash, at.UTC().Truncate(time.Microsecond)
	r.Hash = r.digest()
	return r
}

// Head is the record as the head of its chain.
func (r AuditRecord) Head() AuditHead { return AuditHead{Chain: r.Chain, N: r.N, Hash: r.Hash} }

// canonicalAudit is a record as it is hashed: these members, in this order.
type canonicalAudit struct {
	Chain     string          `json:"chain"`
	N         int64           `json:"n"`
	At        string          `json:"at"`
	Subject   string          `json:"subject"`
	Mode      string          `json:"auth_mode"`
	Source    string          `json:"grant_source"`
	Surface   string          `json:"surface"`
	Action    string          `json:"action"`
	Namespace string          `json:"namespace"`
	Target    string          `json:"target"`
	Outcome   string          `json:"outcome"`
	Code      Code            `json:"code"`
	RequestID string          `json:"request_id"`
	Remote    string          `json:"remote"`
	Detail    json.RawMessage `json:"detail"`
	Prev      string          `json:"prev"`
}

// digest is SHA-256 over the hash before and the canonical JSON of the record without its own.
func (r AuditRecord) digest() string {
	var detail json.RawMessage // empty is the same as none
	switch {
	case len(r.Detail) == 0:
	case r.Detail[0] == '{' && json.Valid(r.Detail):
		detail = r.Detail
	default: // nobody has written that
		detail, _ = json.Marshal(string(r.Detail)) // a text can be encoded
	}
	text, err := json.Marshal(canonicalAudit{
		Chain: r.Chain, N: r.N, At: r.At.UTC().Format("2006-01-02T15:04:05.000000Z"), Subject: r.Subject, Mode: r.Mode, Source: r.Source,
		Surface: r.Surface, Action: r.Action, Namespace: r.Namespace, Target: r.Target, Outcome: r.Outcome, Code: r.Code,
		RequestID: r.RequestID, Remote: r.Remote, Detail: detail, Prev: r.Prev,
	})
	if err != nil {
		panic("audit: a record cannot be encoded: " + err.Error())
	}
	sum := sha256.Sum256(append([]byte(r.Prev), text...))
	return hex.EncodeToString(sum[:])
}

// AuditTrail checks records in the order of adding. The zero trail has seen none.
type AuditTrail struct {
	heads map[string]AuditHead
	cut   map[string]AuditHead // where the removed part of a chain ends
	count int64
}

// AuditCut is the action of the record that is left of chains whose retention is over: its detail names their heads.
const AuditCut = "audit.cut"

// Cut notes what a record says was removed. It is told every record of the log before any is added.
func (t *AuditTrail) Cut(r AuditRecord) {
	if r.Action != AuditCut {
		return
	}
	heads, err := r.Heads()
	if err != nil {
		return // Add tells
	}
	if t.cut == nil {
		t.cut = map[string]AuditHead{}
	}
	for _, head := range heads {
		if head.N > t.cut[head.Chain].N {
			t.cut[head.Chain] = head
		}
	}
}

// Heads are those that the detail of a record names.
func (r AuditRecord) Heads() ([]AuditHead, error) {
	var detail struct {
		Heads []AuditHead `json:"heads"`
	}
	if len(r.Detail) > 0 && json.NewDecoder(bytes.NewReader(r.Detail)).Decode(&detail) != nil {
		return nil, broken(r, "its detail cannot be read")
	}
	return detail.Heads, nil
}

// Add checks the next record: its place and hash in its chain, and the heads that a first record names. The refusal names
// the chain and the record that does not hold.
func (t *AuditTrail) Add(r AuditRecord) error {
	if t.heads == nil {
		t.heads = map[string]AuditHead{}
	}
	head, begun := t.heads[r.Chain]
	if end := t.cut[r.Chain]; !begun {
		if r.N <= end.N {
			return nil // it is being removed
		}
		head = end
	}
	switch {
	case r.N != head.N+1:
		return broken(r, fmt.Sprintf("it follows record %d", head.N))
	case r.Prev != head.Hash:
		return broken(r, "it names another record before it")
	case r.Hash != r.digest():
		return broken(r, "it was changed after it was written")
	}
	if r.N == 1 {
		if err := t.named(r); err != nil {
			return err
		}
	}
	t.heads[r.Chain] = r.Head()
	t.count++
	return nil
}

// named checks the heads that the first record of a chain names.
func (t *AuditTrail) named(r AuditRecord) error {
	heads, err := r.Heads()
	if err != nil {
		return err
	}
	for _, head := range heads {
		if t.heads[head.Chain] != head && (head.N == 0 || head.N > t.cut[head.Chain].N) {
			return broken(r, fmt.Sprintf("it names record %d of chain %s as the last, and that is another", head.N, head.Chain))
		}
	}
	return nil
}

// Heads are the last records of all chains, by chain.
func (t *AuditTrail) Heads() []AuditHead {
	list := make([]AuditHead, 0, len(t.heads))
	for _, head := range t.heads {
		list = append(list, head)
	}
	slices.SortFunc(list, func(a, b AuditHead) int { return strings.Compare(a.Chain, b.Chain) })
	return list
}

// Count is the number of records that held.
func (t *AuditTrail) Count() int64 { return t.count }

func broken(r AuditRecord, how string) error {
	return &Error{
		Code: CodeBackend, Type: "AuditBroken",
		Details: map[string]any{"chain": r.Chain, "n": r.N},
		Message: fmt.Sprintf("the audit log does not hold at record %d of chain %q: %s; compare the log with a backup", r.N, Quote(r.Chain, 64), how),
	}
}

package bridge

import (
	"bytes"
	"encoding/json"
	"errors"
	"strconv"

	"aion/domain"
)

// answer is the end of one request: a result, or the error object of JSON-RPC.
type answer struct{ result, fault []byte }

func (a answer) empty() bool { return a.result == nil && a.fault == nil }

// encode writes an answer as one line. Without an id the member is left out.
func (a answer) encode(id []byte) []byte {
	out := []byte(`{"jsonrpc":"2.0"`)
	if id != nil {
		out = appendMember(out, "id", id)
	}
	if a.fault != nil {
		out = appendMember(out, "error", a.fault)
	} else {
		out = appendMember(out, "result", a.result)
	}
	return oneLine(append(out, '}'))
}

// oneLine takes the line breaks out of checked JSON.
func oneLine(text []byte) []byte {
	if !bytes.ContainsAny(text, "\r\n") {
		return text
	}
	var out bytes.Buffer
	if json.Compact(&out, text) != nil {
		return text // cannot be: the text was checked
	}
	return out.Bytes()
}

func (f *fault) answer(data []byte) answer {
	out := strconv.AppendInt([]byte(`{"code":`), int64(f.code), 10)
	out = domain.AppendText(append(out, `,"message":`...), f.message)
	if data != nil {
		out = appendMember(out, "data", data)
	}
	return answer{fault: append(out, '}')}
}

// refuse answers what could not be asked: a tool call with a refusal that a model can read, anything else with a protocol
// error that carries the same words.
func refuse(method string, err error) answer {
	var refusal *domain.Error
	if !errors.As(err, &refusal) {
		refusal = &domain.Error{Code: domain.CodeBackend, Type: "Internal", Message: "the bridge failed at this call; its log holds the cause"}
	}
	if method != "tools/call" {
		data := domain.AppendText([]byte(`{"code":`), string(refusal.Code))
		data = append(domain.AppendText(append(data, `,"error_type":`...), refusal.Type), '}')
		return (&fault{codeInternal, refusal.Message}).answer(data)
	}
	words := domain.AppendText([]byte(`{"code":`), string(refusal.Code))
	words = domain.AppendText(append(words, `,"message":`...), refusal.Message)
	words = append(domain.AppendText(append(words, `,"error_type":`...), refusal.Type), '}')
	out := []byte(`{"resultType":"complete","isError":true,"content":[{"type":"text","text":`)
	out = domain.AppendText(out, refusal.Message)
	out = domain.AppendText(append(out, `},{"type":"text","text":`...), string(words))
	return answer{result: append(out, `}]}`...)}
}

package value_test

import (
	"bytes"
	"encoding/json"
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"aion/domain/awl/value"
)

// awl 4.1: canonical JSON; whole numbers within 64 bits keep their digits, whatever their spelling.
func TestDecodedNumbersAreExactAndCanonical(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"1.0": "1", "-0": "0", "-0.0": "0", "1e2": "100", "12.50e1": "125", "100e-2": "1", "0e99999999999": "0",
		"9007199254740993": "9007199254740993", "9007199254740993.0": "9007199254740993", "90071992547409930e-1": "9007199254740993",
		"9223372036854775807": "9223372036854775807", "-9223372036854775808": "-9223372036854775808",
		"9223372036854775808": "9223372036854776000", "0.1": "0.1", "1.10": "1.1", "1e21": "1e+21", "1e-7": "1e-7", "1e-400": "0",
		"123456789012345678.9": "123456789012345680", "1E400e": "", "1e400": "", "01": "", "1.": "", ".5": "", "-": "", "+1": "",
		"NaN": "", "1e": "", "0x1": "",
	} {
		v, err := value.Decode([]byte(text))
		if want == "" {
			if err == nil {
				t.Errorf("%s decodes to %s", text, value.Encode(v))
			}
			continue
		}
		if err != nil || string(value.Encode(v)) != want {
			t.Errorf("%s: %s, %v, want %s", text, value.Encode(v), err, want)
		}
	}
}

func TestObjectsAreSortedAndNothingIsEscapedNeedlessly(t *testing.T) {
	t.Parallel()
	v, err := value.Decode([]byte(" {\"b\" : [ true , null , \"<a>&\\u00e9\\ud83d\\ude00\\ud800x\\/\\b\" ] ,\n \"a\":{}, \"\\u0061a\": \"\\u0001\\n\" } "))
	if err != nil {
		t.Fatal(err)
	}
	if got, want := string(value.Encode(v)), `{"a":{},"aa":"\u0001\n","b":[true,null,"<a>&é😀`+"\uFFFD"+`x/\u0008"]}`; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestMalformedTextIsRefused(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"", " ", "{", "[", "[1,", "[1 2]", "{\"a\"}", "{\"a\":}", "{a:1}", "{\"a\":1,}", "[1,]", "tru", "nulll",
		"\"", "\"\\", "\"\\x\"", "\"\\u12\"", "\"\n\"", "1 1", "{\"a\":1,\"a\":2}", "{\"a\":1,\"\\u0061\":2}", strings.Repeat("[", value.MaxDepth+1),
	} {
		if v, err := value.Decode([]byte(text)); err == nil {
			t.Errorf("%q decodes to %s", text, value.Encode(v))
		}
	}
	deep := strings.Repeat("[", value.MaxDepth) + strings.Repeat("]", value.MaxDepth)
	if v, err := value.Decode([]byte(deep)); err != nil || value.Fits(v) != nil {
		t.Errorf("the deepest value is refused: %v", err)
	}
}

func TestAbsentMembersAreLeftOut(t *testing.T) {
	t.Parallel()
	o := value.NewObject([]value.Member{
		{Name: "b", Value: value.Absent{}},
		{Name: "c", Value: value.Null{}},
		{Name: "a", Value: value.List{value.Absent{}, value.Int(1)}},
		{Name: "c", Value: value.Int(2)},
	})
	if got := string(value.Encode(o)); got != `{"a":[null,1],"c":2}` {
		t.Errorf("got %s", got)
	}
	if value.Present(o.Get("b")) || !value.Present(o.Get("c")) || len(o.Members()) != 2 {
		t.Error("members")
	}
}

func TestOrderIsExactAcrossIntsAndFloats(t *testing.T) {
	t.Parallel()
	ascending := []value.Value{
		value.Float(-1e300), value.Int(math.MinInt64), value.Float(-0.5), value.Int(0), value.Float(0.5),
		value.Int(9007199254740992), value.Int(9007199254740993), value.Int(math.MaxInt64), value.Float(1 << 63), value.Float(1e300),
	}
	for i, a := range ascending {
		for j, b := range ascending {
			c, f := value.Compare(a, b)
			if f != nil || sign(c) != sign(i-j) || value.Equal(a, b) != (i == j) {
				t.Errorf("%v against %v: %d, %v", a, b, c, f)
			}
		}
	}
	if c, f := value.Compare(value.String("\uFFFF"), value.String("\U00010000")); f != nil || c >= 0 {
		t.Error("strings are not ordered by code point")
	}
	for _, pair := range [][2]value.Value{{value.Int(1), value.String("1")}, {value.Bool(true), value.Bool(false)}, {value.List{}, value.List{}}} {
		if _, f := value.Compare(pair[0], pair[1]); f == nil || f.Code != value.Invalid {
			t.Errorf("%v and %v have an order", pair[0], pair[1])
		}
	}
}

func sign(n int) int {
	switch {
	case n < 0:
		return -1
	case n > 0:
		return 1
	}
	return 0
}

func TestEqualComparesByContent(t *testing.T) {
	t.Parallel()
	distinct := []value.Value{
		value.Null{},
		value.Absent{},
		value.Bool(false), value.Int(0), value.Float(0.5), value.String(""),
		value.List{},
		value.List{value.Null{}},
		value.List{value.Int(1)},
		value.Object{},
		value.NewObject([]value.Member{{Name: "a", Value: value.List{}}}), value.NewObject([]value.Member{{Name: "b", Value: value.List{}}}),
	}
	for i, a := range distinct {
		for j, b := range distinct {
			if value.Equal(a, b) != (i == j) {
				t.Errorf("%v and %v", a, b)
			}
		}
	}
}

func TestSortIsStable(t *testing.T) {
	t.Parallel()
	list := value.List{value.String("b1"), value.String("a1"), value.String("b2"), value.String("a2")}
	keys := []value.Value{value.Int(2), value.Int(1), value.Int(2), value.Int(1)}
	got, f := value.Sort(list, keys)
	if f != nil || string(value.Encode(got)) != `["a1","a2","b1","b2"]` {
		t.Errorf("%s, %v", value.Encode(got), f)
	}
	if _, f := value.Sort(list, []value.Value{value.Int(1), value.String("x"), value.Int(1), value.Int(1)}); f == nil {
		t.Error("mixed keys are sorted")
	}
}

// awl 2.1: a value beyond 2 MiB is a failure, found without building its text.
func TestSizeIsBounded(t *testing.T) {
	t.Parallel()
	big := value.String(strings.Repeat("x", value.MaxBytes-2))
	if f := value.Fits(big); f != nil {
		t.Errorf("a value of the limit: %v", f)
	}
	if f := value.Fits(big + "x"); f == nil || f.Code != value.TooLarge {
		t.Errorf("a value beyond the limit: %v", f)
	}
	half := big[:value.MaxBytes/2]
	if _, _, f := value.Concat([]value.Value{half, half, half}); f == nil || f.Code != value.TooLarge {
		t.Error("a joined text beyond the limit")
	}
	list := make(value.List, 1_000_000)
	for i := range list {
		list[i] = value.Int(1)
	}
	if _, _, f := value.Map(list, func(value.Value) (value.Value, *value.Failure) { return big, nil }); f == nil || f.Code != value.TooLarge {
		t.Error("a mapped list beyond the limit")
	}
	var nested value.Value = value.List{}
	for range value.MaxDepth {
		nested = value.List{nested}
	}
	if f := value.Fits(nested); f == nil || f.Code != value.TooLarge {
		t.Error("a value that nests too deep")
	}
}

func values() *rapid.Generator[value.Value] {
	scalar := rapid.OneOf(
		rapid.Just[value.Value](value.Null{}),
		rapid.Map(rapid.Bool(), func(b bool) value.Value { return value.Bool(b) }),
		rapid.Map(rapid.Int64(), func(i int64) value.Value { return value.Int(i) }),
		rapid.Map(rapid.Float64Range(-1e300, 1e300), value.NewFloat),
		rapid.Map(rapid.String(), func(s string) value.Value { return value.String(strings.ToValidUTF8(s, "?")) }),
	)
	return nestedValues(scalar, 3)
}

func nestedValues(inner *rapid.Generator[value.Value], depth int) *rapid.Generator[value.Value] {
	if depth == 0 {
		return inner
	}
	list := rapid.Map(rapid.SliceOfN(inner, 0, 4), func(vs []value.Value) value.Value { return append(value.List{}, vs...) })
	object := rapid.Map(rapid.MapOfN(rapid.StringN(0, 4, -1), inner, 0, 4), func(m map[string]value.Value) value.Value {
		var members []value.Member
		for name, v := range m {
			members = append(members, value.Member{Name: strings.ToValidUTF8(name, "?"), Value: v})
		}
		return value.NewObject(members)
	})
	return nestedValues(rapid.OneOf(inner, list, object), depth-1)
}

func TestEncodingRoundTrips(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		v := values().Draw(t, "value")
		text := value.Encode(v)
		back, err := value.Decode(text)
		if err != nil || !value.Equal(v, back) || !bytes.Equal(text, value.Encode(back)) {
			t.Fatalf("%s: %v", text, err)
		}
		if n, f := value.Weigh(v, value.MaxBytes); f != nil || n != len(text) {
			t.Fatalf("%s weighs %d, has %d bytes", text, n, len(text))
		}
		if _, f := value.Weigh(v, len(text)-1); f == nil {
			t.Fatalf("%s fits into less", text)
		}
		if !json.Valid(text) {
			t.Fatalf("%s is no JSON", text)
		}
	})
}

func FuzzDecode(f *testing.F) {
	for _, seed := range []string{`{"a":[1,2.5e-3,true,null,"\u00e9"]}`, `"\ud83d\ude00"`, `[[[]]]`, `-0.0`, `1e400`, `{"a":1,"a":2}`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		v, err := value.Decode(text)
		if err != nil {
			return
		}
		if !json.Valid(text) {
			t.Fatalf("%q is no JSON and decodes", text)
		}
		once := value.Encode(v)
		again, err := value.Decode(once)
		if err != nil || !bytes.Equal(once, value.Encode(again)) {
			t.Fatalf("%q: %s, %v", text, once, err)
		}
	})
}

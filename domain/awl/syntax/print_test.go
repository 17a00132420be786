package syntax_test

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"aion/domain/awl/diag"
	"aion/domain/awl/syntax"
)

// sameTree shows that printing keeps what a document says (`parse(print(m)) = m`): everything but places, and but for what
// canonical form moves or leaves out, which are comments, directives and the default capture.
func sameTree(t *testing.T, d, again *syntax.Document) {
	t.Helper()
	sameComments(t, d, again)
	canonical(d)
	canonical(again)
	diff := cmp.Diff(d, again,
		cmpopts.IgnoreTypes(diag.Span{}, diag.Pos{}, []diag.Pos{}, syntax.Trivia{}, []syntax.Comment{}),
		cmpopts.IgnoreFields(syntax.Document{}, "Order", "BlankAfter"))
	if diff != "" {
		t.Errorf("the printed text says something else (-before +after):\n%s", diff)
	}
}

// canonical does to a tree what printing does to its text.
func canonical(d *syntax.Document) {
	for _, c := range d.Commands {
		slices.SortStableFunc(c.Directives, func(a, b *syntax.Directive) int {
			return boolRank(a.Export) - boolRank(b.Export)
		})
	}
	for _, w := range d.Workers {
		for _, a := range w.Actions {
			if b := a.Body; b != nil && (b.Run != nil && b.Capture == "outcome" || b.Command != nil && b.Capture == "text") {
				b.Capture = ""
			}
		}
	}
}

func boolRank(b bool) int {
	if b {
		return 1
	}
	return 0
}

// sameComments compares what the trees hold of comments and docs, in any order: canonical order may move them.
func sameComments(t *testing.T, a, b *syntax.Document) {
	t.Helper()
	if diff := cmp.Diff(remarks(a), remarks(b)); diff != "" {
		t.Errorf("comments (-before +after):\n%s", diff)
	}
}

// remarks gives the texts of all comments and docs of a tree, sorted.
func remarks(d *syntax.Document) []string {
	var list []string
	collect(reflect.ValueOf(d), &list)
	slices.Sort(list)
	return list
}

func collect(v reflect.Value, list *[]string) {
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		if !v.IsNil() {
			collect(v.Elem(), list)
		}
	case reflect.Slice:
		for i := range v.Len() {
			collect(v.Index(i), list)
		}
	case reflect.Struct:
		if c, ok := v.Interface().(syntax.Comment); ok {
			*list = append(*list, "// "+c.Text)
			return
		}
		for i := range v.NumField() {
			f := v.Type().Field(i)
			switch {
			case f.Name == "Order", f.Name == "Substep":
			case f.Name == "Trailing" && f.Type.Kind() == reflect.String:
				if s := v.Field(i).String(); s != "" {
					*list = append(*list, "// "+s)
				}
			case f.Name == "Doc", f.Name == "Narration":
				for j := range v.Field(i).Len() {
					*list = append(*list, "/// "+v.Field(i).Index(j).String())
				}
			case v.Type() == reflect.TypeFor[syntax.Substep]() && f.Name == "Node": // its trivia is the step's
			case f.IsExported():
				collect(v.Field(i), list)
			}
		}
	default: // no comments in there
	}
}

// sample is a document in a loose spelling and in the canonical one.
type sample struct{ name, loose, canonical string }

// text cuts the common indentation of a raw string in a table.
func text(s string) string { return strings.TrimPrefix(s, "\n") }

// printed are documents and their canonical form.
func printed() []sample {
	const head = "//! Prints.\nworkflow w\n  outcome done: type Nil, route success\n\n"
	long := strings.Repeat("x", 40)
	return []sample{
		{"comments survive everywhere", text(`
// Above the narration.

// Still above.

//! Line one.
// Between.
//!   Line two.
// Above the header.

workflow   w //! not narration
  // first

  // second

  input a : String   //  two spaces
  outcome done : type Nil , // inside
    route success
  // closes the header

//// four slashes
step one // behind a step
  // above a call
  make( // inside a call
    a: 1, // behind an argument
    // above a brace
  ) -> x // behind a call
    // above settings
    timeout 5m, // inside settings
      node big // behind settings
    // closes the settings
  // closes the step
// not the step's
type T { // behind a brace
  a: Int // behind a field
  // above a field
  b: Int
  // closes the type
} // behind the type
// the end
`), text(`
// Above the narration.

// Still above.

//! Line one.
//!   Line two.
// Between.
// Above the header.

workflow w // not narration
  // first

  // second

  input a: String //  two spaces
  // inside
  outcome done: type Nil, route success
  // closes the header

// not the step's
// behind a brace
type T {
  a: Int, // behind a field
  // above a field
  b: Int,
  // closes the type
} // behind the type

// four slashes
step one // behind a step
  // above a call
  // inside a call
  // behind an argument
  // above a brace
  make(a: 1) -> x // behind a call
    // above settings
    // inside settings
    node big, timeout 5m // behind settings
  // closes the settings
  // closes the step
// the end
`)},
		{"docs survive", head + text(`
/// A.
///
///  indented
type T {
  /// F.
  a: Int,
}
step s
  /// Sub.
  step inner
`), head + text(`
/// A.
///
///  indented
type T {
  /// F.
  a: Int,
}

step s
  /// Sub.
  step inner
`)},
		{"order of kinds", text(`
//! Order.
workflow w
  outcome done: type Nil, route success
  signal s: T
  input i: T
  timeout 1h
step a
  max 3 visits
  outcome x: otherwise, route a
  on failure
    route done

step b
subflow f()
  outcome o: type T
  step x
    route o
  step y
    route o
child c() -> Nil
worker k
  action a() -> Nil
command m:
  echo
type T { a: Int }
const z = 1
const a = 2
`), text(`
//! Order.
workflow w
  timeout 1h
  input i: T
  signal s: T
  outcome done: type Nil, route success

const z = 1
const a = 2

type T { a: Int }

command m:
  echo

worker k
  action a() -> Nil

child c() -> Nil

subflow f()
  outcome o: type T
  step x
    route o

  step y
    route o

step a
  on failure
    route done
  outcome x: otherwise, route a
  max 3 visits

step b
`)},
		{
			"long lists break", head + "child c(" + long + ": String, b: String, d: " + long + ") -> " + long + "\n" +
				"step s\n  make(a: \"" + long + "\", b: \"" + long + "\", c: [1, 2]) -> x\n  route done(\"" + long + "\" + \"" + long + "\" + name)\n",
			head + "child c(\n  " + long + ": String,\n  b: String,\n  d: " + long + ",\n) -> " + long + "\n\n" +
				"step s\n  make(\n    a: \"" + long + "\",\n    b: \"" + long + "\",\n    c: [1, 2],\n  ) -> x\n" +
				"  route done(\n    \"" + long + "\" + \"" + long + "\" + name\n  )\n",
		},
		{
			"long chains and guards break", head + "step s\n  " + long + " |> filter(." + long + ") |> map(.x) |> route done(value: " + long + ")\n" +
				"  outcome x: when " + long + " == 1 and " + long + " == 2 and (a or b) or c, route done\n" +
				"  outcome y: when " + long + " == 1 and " + long + " == 2 and (a or b), route s // why\n",
			head + "step s\n  " + long + "\n    |> filter(." + long + ")\n    |> map(.x)\n    |> route done(value: " + long + ")\n" +
				"  outcome x: when " + long + " == 1 and " + long + " == 2 and (a or b)\n    or c,\n    route done\n" +
				"  outcome y: when " + long + " == 1\n    and " + long + " == 2\n    and (a or b),\n    route s // why\n",
		},
		{
			"long enums break and short records join", head + "type E = A" + long + "|B" + long + "|C" + long + "\n" +
				"type R {\n  a: Int\n\n  b: [ Int ]?,\n}\ntype Em {}\n",
			head + "type E = A" + long + "\n  | B" + long + "\n  | C" + long + "\n\n" + "type R  { a: Int, b: [Int]? }\ntype Em {}\n",
		},
		{"spellings", head + text(`
const a = "A\u00e9\u0007\"\\\n\tend"
const b = 007
const c = -0
const d = 1.50e+3
const e = [ 1 ,2, ]
const f = json  {"a" :1}
const g = """raw " text
  kept  """
const h = xs[0].a |> filter( is present ) |> count
worker k
  action a( ) -> List<List<Int>>?
    retry 3 backoff 1s .. 2m, timeout 5m, node n,
    run "x" capture outcome
  action b() -> Nil
    runs command m capture text
command m a="b" *c +d :
  export B = "2"
  cwd "/"
  export A = "1"
  git  log   // not a comment
  // a comment
  |
`), head + text(`
const a = "Aé\u0007\"\\\n\tend"
const b = 7
const c = 0
const d = 1.50e+3
const e = [1, 2]
const f = json {"a" :1}

const g = """raw " text
  kept  """

const h = xs[0].a |> filter(is present) |> count

command m a="b" *c +d:
  cwd "/"
  export B = "2"
  export A = "1"
  git  log   // not a comment
  // a comment
  |

worker k
  action a() -> [[Int]]?
    node n, timeout 5m, retry 3 backoff 1s..2m
    run "x"
  action b() -> Nil
    runs command m
`)},
		{"blank lines", text(`
//! Blank.

workflow w

  input a: Int


  input b: Int
  outcome d: type Nil, route success
  outcome longer: type Nothing, route failure

  outcome e: type Nil, route success

const a = 1


const b = 2
const c = 3
type A { a: Int }

type BB { a: Int }
type C = X
type DDD = Y | Z
step s

  // first

  fork

    a(x: 1)

    b(x: 1)

  join

  loop x = 1

    a(x: 1) -> x

    until true
    max 1

`), text(`
//! Blank.
workflow w
  input a: Int

  input b: Int
  outcome d:      type Nil,     route success
  outcome longer: type Nothing, route failure

  outcome e: type Nil, route success

const a = 1

const b = 2
const c = 3

type A { a: Int }

type BB { a: Int }
type C   = X
type DDD = Y | Z

step s
  // first

  fork
    a(x: 1)

    b(x: 1)
  join

  loop x = 1
    a(x: 1) -> x

    until true
    max 1
`)},
		{
			"carriage returns and tabs between tokens", "//! CR.\r\nworkflow\tw\r\n  outcome done: type Nil, route success\r\n\r\nconst a = \"\"\"x\r\ny\"\"\"\r\n",
			"//! CR.\nworkflow w\n  outcome done: type Nil, route success\n\nconst a = \"\"\"x\ny\"\"\"\n",
		},
		{"words of one place are names elsewhere", head + text(`
worker k
  action output(type: String, step: Int) -> Nil
step s
  1 -> text
  text |> output |> count -> error
  error.of.step -> filter
  output(type: filter, step: 1)
`), head + text(`
worker k
  action output(type: String, step: Int) -> Nil

step s
  1 -> text
  text |> output |> count -> error
  error.of.step -> filter
  output(type: filter, step: 1)
`)},
	}
}

func TestLooseDocumentsPrintInCanonicalForm(t *testing.T) {
	t.Parallel()
	for _, tt := range printed() {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			d := mustParse(t, tt.loose)
			if diff := cmp.Diff(tt.canonical, string(syntax.Print(d))); diff != "" {
				t.Errorf("printed text (-want +got):\n%s", diff)
			}
			again := mustParse(t, tt.canonical)
			if diff := cmp.Diff(tt.canonical, string(syntax.Print(again))); diff != "" {
				t.Errorf("printing again (-want +got):\n%s", diff)
			}
			sameTree(t, d, again)
		})
	}
}

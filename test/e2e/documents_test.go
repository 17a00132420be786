package e2e_test

// threeSteps leaves a mark for each time a step runs; its second step waits for the file `go`.
const threeSteps = `//! Three steps with marks; the second waits for a file.
workflow three_steps
  input dir: String
  outcome done: type Done, route success

type Done { last: String }

worker shell
  action one(dir: String) -> Nil
    run "sh -c 'echo ran >> \"$1/one.ran\"' one {{dir}}"
  action two(dir: String) -> Nil
    run "sh -c 'echo ran >> \"$1/two.ran\"; touch \"$1/two.begun\"; while [ ! -e \"$1/go\" ]; do sleep 0.02; done' two {{dir}}"
  action three(dir: String) -> String
    run "sh -c 'echo ran >> \"$1/three.ran\"; echo end' three {{dir}}" capture text

step first
  one(dir: dir)

step second
  two(dir: dir)

step third
  three(dir: dir) -> last
  route done(last: last)
`

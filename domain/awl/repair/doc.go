// Package repair finds the edit that mends a finding. It proposes what the finding's author may have meant, in the order
// of plausibility, and keeps a proposal only when the document, judged again, has lost the finding and gained none. Of
// equally plausible ones more than one that passes means that the repair is not certain: then there is none.
package repair

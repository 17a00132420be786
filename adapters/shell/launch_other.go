//go:build !linux

package shell

import "errors"

// launch starts a supervisor process: not on this system, which is held together by process groups.
func (p *pool) launch(*slot) (*supervisor, error) {
	return nil, errors.New("this system has no supervisors")
}

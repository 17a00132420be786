package supervise

import (
	"errors"
	"io"

	"golang.org/x/sys/unix"
)

// receiver reads the channel and collects the descriptors that come with the bytes.
type receiver struct {
	fds []int
	oob []byte
}

// take gives the descriptors that came since the last call; the caller closes them. The kernel ends a read behind the first
// ones, so those of two orders never come together.
func (r *receiver) take() []int {
	fds := r.fds
	r.fds = nil
	return fds
}

func (r *receiver) Read(p []byte) (int, error) {
	if r.oob == nil {
		r.oob = make([]byte, unix.CmsgSpace(4*4))
	}
	for {
		n, oobn, _, _, err := unix.Recvmsg(socket, p, r.oob, unix.MSG_CMSG_CLOEXEC)
		if errors.Is(err, unix.EINTR) {
			continue
		}
		if err != nil {
			return 0, err
		}
		r.collect(r.oob[:oobn])
		if n == 0 {
			return 0, io.EOF
		}
		return n, nil
	}
}

func (r *receiver) collect(oob []byte) {
	messages, err := unix.ParseSocketControlMessage(oob)
	if err != nil {
		return
	}
	for i := range messages {
		if fds, err := unix.ParseUnixRights(&messages[i]); err == nil {
			r.fds = append(r.fds, fds...)
		}
	}
}

// send writes frames in one call. That the server is gone is seen by the next read, so an error needs no answer here.
func send(frames ...Frame) {
	all := make([]byte, 0, 128)
	for _, f := range frames {
		var err error
		if all, err = Append(all, f); err != nil {
			panic("supervise: a frame without an encoding: " + err.Error())
		}
	}
	for len(all) > 0 {
		n, err := unix.SendmsgN(socket, all, nil, nil, unix.MSG_NOSIGNAL)
		if errors.Is(err, unix.EINTR) {
			continue
		}
		if err != nil {
			return
		}
		all = all[n:]
	}
}

func closeAll(fds []int) {
	for _, fd := range fds {
		_ = unix.Close(fd)
	}
}

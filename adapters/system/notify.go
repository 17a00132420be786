package system

import (
	"fmt"
	"net"
	"os"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// Notifier tells the service manager that started this process how it stands (sd_notify). Without a manager it tells nobody.
// It is safe for concurrent use.
type Notifier struct {
	socket   string // empty: nobody listens
	watchdog bool
}

// NewNotifier reads what a manager has left in the environment: NOTIFY_SOCKET, WATCHDOG_USEC and WATCHDOG_PID.
func NewNotifier(getenv func(name string) string) *Notifier {
	socket := getenv("NOTIFY_SOCKET")
	if !strings.HasPrefix(socket, "/") && !strings.HasPrefix(socket, "@") { // other kinds of addresses there are none on one machine
		return &Notifier{}
	}
	period, err := strconv.ParseInt(getenv("WATCHDOG_USEC"), 10, 64)
	pid := getenv("WATCHDOG_PID")
	mine := pid == "" || pid == strconv.Itoa(os.Getpid())
	return &Notifier{socket: socket, watchdog: err == nil && period > 0 && mine}
}

// Ready says that the process serves, after its start and after a reload. text is shown by the manager.
func (n *Notifier) Ready(text string) error { return n.send("READY=1", status(text)) }

// Reloading says that the configuration is read again; Ready ends it.
func (n *Notifier) Reloading() error {
	var now unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &now); err != nil {
		return fmt.Errorf("read the monotonic clock: %w", err)
	}
	return n.send("RELOADING=1", fmt.Sprintf("MONOTONIC_USEC=%d", now.Nano()/int64(time.Microsecond)))
}

// Stopping says that the process has begun to end.
func (n *Notifier) Stopping(text string) error { return n.send("STOPPING=1", status(text)) }

// Status replaces the text that the manager shows.
func (n *Notifier) Status(text string) error { return n.send(status(text)) }

// Alive is the sign of life that a manager may wait for; where none does it says nothing.
func (n *Notifier) Alive() error {
	if !n.watchdog {
		return nil
	}
	return n.send("WATCHDOG=1")
}

// status is one line, whatever the text is.
func status(text string) string {
	return "STATUS=" + strings.Map(func(r rune) rune {
		if r < 0x20 || r == 0x7f {
			return ' '
		}
		return r
	}, text)
}

// send is one datagram. It does not wait: a manager that does not read must hold up nothing.
func (n *Notifier) send(lines ...string) error {
	if n.socket == "" {
		return nil
	}
	conn, err := net.DialUnix("unixgram", nil, &net.UnixAddr{Name: n.socket, Net: "unixgram"})
	if err != nil {
		return fmt.Errorf("tell the service manager: %w", err)
	}
	defer func() { _ = conn.Close() }()
	if err := conn.SetWriteDeadline(time.Now().Add(sendPatience)); err != nil {
		return fmt.Errorf("tell the service manager: %w", err)
	}
	if _, err := conn.Write([]byte(strings.Join(lines, "\n"))); err != nil {
		return fmt.Errorf("tell the service manager: %w", err)
	}
	return nil
}

const sendPatience = 100 * time.Millisecond

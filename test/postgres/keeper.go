package postgres

import (
	"bufio"
	"cmp"
	_ "embed"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
)

// keeperScript does all work on a server, one command after the other, and ends it with this process: a pipe closes also
// when its holder is killed.
//
//go:embed keeper.sh
var keeperScript string

// keeper is the process that keeps one server.
type keeper struct {
	folder   string
	port     int
	cmd      *exec.Cmd
	commands *os.File
	answers  *os.File
	lines    *bufio.Reader
}

// keep makes a server in a new temporary folder and starts it. A setting is a line of postgresql.conf, and wins over ours.
func keep(settings []string) (*keeper, error) {
	bin, err := binaries()
	if err != nil {
		return nil, err
	}
	folder, err := os.MkdirTemp("", "aion-postgres-")
	if err != nil {
		return nil, err
	}
	k, err := launch(bin, folder)
	if err != nil {
		_ = os.RemoveAll(folder)
		return nil, err
	}
	if err := k.begin(settings); err != nil {
		return nil, errors.Join(err, k.close())
	}
	return k, nil
}

// launch starts the keeper. Its standard streams are pipes of ours, not those of the test: `go test` waits for their end.
func launch(bin, folder string) (*keeper, error) {
	args := []string{"-c", keeperScript, "aion-postgres-keeper", bin, folder}
	if os.Geteuid() == 0 {
		uid, gid, err := unprivileged()
		if err != nil {
			return nil, err
		}
		if err := os.Chown(folder, uid, gid); err != nil {
			return nil, err
		}
		args = append(args, "setpriv", "--reuid", strconv.Itoa(uid), "--regid", strconv.Itoa(gid), "--clear-groups")
	}
	theirCommands, commands, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer theirCommands.Close()
	answers, theirAnswers, err := os.Pipe()
	if err != nil {
		return nil, errors.Join(err, commands.Close())
	}
	defer theirAnswers.Close()
	cmd := exec.Command("/bin/sh", args...)
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "LC_ALL=C"} // and nothing that begins with PG
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}        // a Ctrl-C is for the tests alone
	cmd.Stdin, cmd.Stdout = theirCommands, theirAnswers
	if err := cmd.Start(); err != nil {
		return nil, errors.Join(err, commands.Close(), answers.Close())
	}
	return &keeper{folder: folder, cmd: cmd, commands: commands, answers: answers, lines: bufio.NewReader(answers)}, nil
}

// begin writes the settings and starts the server, on another port when that one was taken meanwhile.
func (k *keeper) begin(settings []string) error {
	if err := k.answer("initdb"); err != nil {
		return err
	}
	conf := filepath.Join(k.folder, "data", "postgresql.conf")
	base, err := os.ReadFile(conf)
	if err != nil {
		return err
	}
	var started error
	for range 5 {
		if k.port, err = freePort(); err != nil {
			return err
		}
		lines := append([]string{
			string(base),
			"listen_addresses = '127.0.0.1'",
			fmt.Sprintf("port = %d", k.port),
			fmt.Sprintf("unix_socket_directories = '%s'", k.folder),
			"max_connections = 300",
			"shared_buffers = 256MB",
		}, settings...)
		if err := os.WriteFile(conf, []byte(strings.Join(lines, "\n")+"\n"), 0o600); err != nil {
			return err
		}
		started = k.do("start")
		if started == nil || !strings.Contains(started.Error(), "Address already in use") {
			return started
		}
	}
	return started
}

// do runs one pg_ctl command to its end.
func (k *keeper) do(command string) error {
	if _, err := fmt.Fprintln(k.commands, command); err != nil {
		return fmt.Errorf("pg_ctl %s: the server's keeper is gone: %w", command, err)
	}
	return k.answer("pg_ctl " + command)
}

func (k *keeper) answer(command string) error {
	code, err := k.lines.ReadString('\n')
	if err != nil {
		return fmt.Errorf("%s: the server's keeper is gone: %w", command, err)
	}
	if code = strings.TrimSpace(code); code != "0" {
		said, _ := os.ReadFile(filepath.Join(k.folder, "ctl.log"))
		return fmt.Errorf("%s ended with %s:\n%s%s", command, code, said, k.log())
	}
	return nil
}

// log is the end of what the server wrote.
func (k *keeper) log() string {
	text, _ := os.ReadFile(filepath.Join(k.folder, "server.log"))
	return string(text[max(0, len(text)-4096):])
}

// close stops the server and removes its folder.
func (k *keeper) close() error {
	_ = k.commands.Close()
	err := k.cmd.Wait()
	_ = k.answers.Close()
	return err
}

// binaries is the folder of the server's programs: that of PATH, else the newest of Debian's.
func binaries() (string, error) {
	var folders []string
	if path, err := exec.LookPath("pg_ctl"); err == nil {
		if path, err = filepath.EvalSymlinks(path); err == nil {
			folders = append(folders, filepath.Dir(path))
		}
	}
	installed, err := filepath.Glob("/usr/lib/postgresql/*/bin")
	if err != nil {
		return "", err
	}
	slices.SortFunc(installed, func(a, b string) int { return cmp.Compare(version(b), version(a)) })
	for _, folder := range append(folders, installed...) {
		complete := true
		for _, program := range []string{"pg_ctl", "initdb", "postgres"} {
			_, err := exec.LookPath(filepath.Join(folder, program))
			complete = complete && err == nil
		}
		if complete {
			return folder, nil
		}
	}
	return "", errors.New("no Postgres server is installed: install the package postgresql, or name a server in " + Variable)
}

func version(bin string) float64 {
	v, _ := strconv.ParseFloat(filepath.Base(filepath.Dir(bin)), 64)
	return v
}

// unprivileged is who runs the server in place of root, whom it refuses: user and group.
func unprivileged() (int, int, error) {
	for _, name := range []string{"postgres", "nobody"} {
		u, err := user.Lookup(name)
		if err != nil {
			continue
		}
		uid, err := strconv.Atoi(u.Uid)
		if err != nil {
			return 0, 0, err
		}
		gid, err := strconv.Atoi(u.Gid)
		return uid, gid, err
	}
	return 0, 0, errors.New("a Postgres server refuses to run as root, and there is no user postgres: install the package postgresql")
}

// freePort is a loopback port that nothing listens on.
func freePort() (int, error) {
	l, err := listen()
	if err != nil {
		return 0, err
	}
	return l.Addr().(*net.TCPAddr).Port, l.Close()
}

// listen takes a loopback port below those that the system gives to outgoing connections: one of these would take it while its
// server is stopped.
func listen() (l net.Listener, err error) {
	for range 100 {
		if l, err = net.Listen("tcp", loopback(15000+rand.IntN(15000))); err == nil {
			return l, nil
		}
	}
	return nil, err
}

func loopback(port int) string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(port)) }

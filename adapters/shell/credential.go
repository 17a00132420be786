package shell

import (
	"fmt"
	"os"
	"os/user"
	"strconv"
	"strings"

	"aion/domain"
)

// credential is the user that commands run as; nil: that of the server.
type credential struct {
	uid, gid uint32
	groups   []uint32 // of that user, and the one group that was named
}

// parseRunAs reads `user[:group]`, by name or number, and refuses what this process may not do.
func parseRunAs(text string) (*credential, error) {
	if text == "" {
		return nil, nil //nolint:nilnil // the server's own user
	}
	name, groupName, grouped := strings.Cut(text, ":")
	refused := func(what string) error {
		return refuse("ActionSettings", nil, "actions.run_as %q: %s", domain.Quote(text, 128), what)
	}
	u, err := user.Lookup(name)
	if err != nil {
		if u, err = user.LookupId(name); err != nil {
			return nil, refused("this host has no such user")
		}
	}
	c := &credential{}
	gid := u.Gid
	if grouped {
		g, err := user.LookupGroup(groupName)
		if err != nil {
			if g, err = user.LookupGroupId(groupName); err != nil {
				return nil, refused("this host has no such group")
			}
		}
		gid = g.Gid
	}
	ids, err := u.GroupIds()
	if err != nil {
		return nil, refused("the groups of the user cannot be read")
	}
	for _, id := range append([]string{gid}, ids...) {
		n, err := strconv.ParseUint(id, 10, 32)
		if err != nil {
			return nil, refused("the groups of the user cannot be read")
		}
		c.groups = append(c.groups, uint32(n))
	}
	uid, err := strconv.ParseUint(u.Uid, 10, 32)
	if err != nil {
		return nil, refused("this host has no such user")
	}
	c.uid, c.gid = uint32(uid), c.groups[0]
	if int(c.uid) == os.Geteuid() && int(c.gid) == os.Getegid() {
		return nil, nil //nolint:nilnil // as above
	}
	if !mayChangeUser() {
		return nil, refused("this process may not run commands as another user; start it as root, or with the capabilities " +
			"CAP_SETUID, CAP_SETGID, CAP_KILL and CAP_CHOWN")
	}
	return c, nil
}

// own gives a path to the user that commands run as.
func (c *credential) own(path string) error {
	if c == nil {
		return nil
	}
	return os.Lchown(path, int(c.uid), int(c.gid))
}

// shared makes a directory below the system's temporary one that commands of another user can pass: the home is private.
// Its name belongs to the home, so that the next server finds what this one leaves.
func shared(home string) (string, error) {
	dir := fmt.Sprintf("%s/aion-scratch-%s", strings.TrimRight(os.TempDir(), "/"), hashText(home)[:16])
	if err := os.Mkdir(dir, 0o711); err != nil && !os.IsExist(err) { //nolint:gosec // what is in it is private
		return "", err
	}
	info, err := os.Lstat(dir)
	if err != nil {
		return "", err
	}
	if !info.IsDir() || !ownedBySelf(info) {
		return "", fmt.Errorf("%s is not a directory of this process's user", dir)
	}
	return dir, os.Chmod(dir, 0o711) //nolint:gosec // as above
}

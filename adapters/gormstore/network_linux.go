package gormstore

import "golang.org/x/sys/unix"

// networkFS names the network file system that a directory is on; empty: none that is known.
func networkFS(dir string) string {
	var st unix.Statfs_t
	if unix.Statfs(dir, &st) != nil {
		return ""
	}
	switch uint32(st.Type) {
	case unix.NFS_SUPER_MAGIC:
		return "nfs"
	case unix.SMB_SUPER_MAGIC, unix.SMB2_SUPER_MAGIC, unix.CIFS_SUPER_MAGIC:
		return "smb"
	case unix.CEPH_SUPER_MAGIC:
		return "ceph"
	case unix.AFS_SUPER_MAGIC, unix.AFS_FS_MAGIC:
		return "afs"
	case unix.CODA_SUPER_MAGIC:
		return "coda"
	default:
		return ""
	}
}

// freeBytes is what may still be written to the disk of a directory; 0 when that cannot be known.
func freeBytes(dir string) int64 {
	var st unix.Statfs_t
	if unix.Statfs(dir, &st) != nil {
		return 0
	}
	return int64(st.Bavail) * st.Bsize
}

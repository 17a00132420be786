# Keeps one Postgres server in a folder: keeper.sh BINARIES FOLDER [PREFIX...], where the prefix makes another user run a
# command. Each line of standard input is one pg_ctl command, answered by its exit code; the first answer is initdb's. Standard
# input ends with the process that started this one, however that ends: then the server goes, and the folder with it.
bin=$1 folder=$2
shift 2
trap '' PIPE # nobody may be left to read an answer
cd "$folder" || exit 1

pg_ctl() { "$@" "$bin/pg_ctl" -D data -l server.log -w -t 120 $command </dev/null >ctl.log 2>&1; }

# The order of text is that of a language, as in most installations: a store that means bytes has to say so. The last word is
# for a server before 15, or one built without ICU.
"$@" "$bin/initdb" -D data -U postgres -A trust -E UTF8 --locale=C --no-sync --locale-provider=icu --icu-locale=en-US </dev/null >ctl.log 2>&1 ||
	"$@" "$bin/initdb" -D data -U postgres -A trust -E UTF8 --locale=C --no-sync </dev/null >ctl.log 2>&1
echo $?

while read -r command; do
	pg_ctl "$@"
	echo $?
done

# A frozen postmaster hears nothing; woken, it kills what does not hear it.
if read -r pid 2>/dev/null <data/postmaster.pid; then
	kill -CONT "$pid"
	command='stop -m immediate'
	pg_ctl "$@"
fi
cd / && rm -rf "$folder"

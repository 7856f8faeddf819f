//! Rows of commands whose output is known in part: names of files, commits, containers and resources, or numbers.
//!
//! Names that start with a dash are not expected of them. Whatever no row lists makes the output unknown; `output_row` describes the
//! format. An option that changes what is printed belongs in no row.

use super::output_row::Row;

/// Options of `git log` that select commits, and change nothing about how they are shown.
const COMMITS: &str = "* -- -<number> -n<number> -n:<number> --max-count=* --no-merges --merges --reverse --all --first-parent --since=* \
    --until=* --after=* --before=* --author=* --grep=* -S* -G*";

/// Options of `git diff` that select files.
const CHANGES: &str = "* -- --cached --staged --merge-base --diff-filter=* --relative* --ignore-submodules* --no-renames -M -C -R -w -z \
    -r -m --root --no-color --no-ext-diff --find-renames*";

/// Options of `git branch` and `git for-each-ref` that select references.
const REFERENCES: &str =
    "* --sort=* --count=* --merged* --no-merged* --contains* -r -a --all --remotes --list -l";

/// Options of `docker ps` and `docker images` that select containers and images.
const CONTAINERS: &str = "* -[alnqs] -qf -aqf -qaf -f= --filter= -n= --last= --all --latest --quiet --no-trunc --size --external --digests";

/// Options of `kubectl get` that select resources.
const RESOURCES: &str = "* -n -l -f --namespace= --context= --cluster= --user= --selector= --field-selector= --filename= --sort-by= \
    --chunk-size= --request-timeout= --no-headers --ignore-not-found --show-labels -R --recursive";

/// Options of `helm list` that select releases.
const RELEASES: &str = "* -[admr] -f= -l= -n= --all --date --deployed --failed --pending --superseded --uninstalled --uninstalling \
    --reverse --filter= --selector= --namespace= --kube-context= --max= --offset= --time-format= --no-headers";

/// Commands that print names, or numbers.
pub(super) const NAMES: &[Row] = &[
    // Files.
    Row(
        "find",
        &[],
        &[
            "* -H -L -P -E -X -s -x -d -a -and -o -or -not -daystart -delete -depth -empty -false -follow -ignore_readdir_race -mount -nogroup \
             -noleaf -nouser -noignore_readdir_race -nowarn -print -print0 -prune -quit -readable -true -warn -writable -xdev",
            "-amin:* -anewer:* -atime:* -cmin:* -cnewer:* -context:* -ctime:* -fstype:* -gid:* -group:* -ilname:* -iname:* -inum:* -ipath:* \
             -iregex:* -iwholename:* -links:* -lname:* -maxdepth:* -mindepth:* -mmin:* -mtime:* -name:* -newer:* -newermt:* -newerat:* -newerct:* \
             -path:* -perm:(-u+x|-a+x|-u=x|-a=x|-g+w|-o+w|-g=w|-o=w) -perm:* -regex:* -regextype:* -samefile:* -size:* -type:* -uid:* -used:* -user:* -wholename:* -xtype:*",
        ],
    ),
    Row(
        "fd|fdfind",
        &[],
        &[
            "* -[HIusigFaLp01q] -d= -t= -e= -E= -S= -j= -c= --hidden --no-ignore --no-ignore-vcs --no-ignore-parent --unrestricted \
             --case-sensitive --ignore-case --glob --regex --fixed-strings --absolute-path --follow --full-path --print0 --quiet --max-depth= \
             --min-depth= --exact-depth= --type= --extension= --exclude= --size= --changed-within= --changed-before= --owner= --max-results= \
             --color= --threads= --strip-cwd-prefix --one-file-system --base-directory= --search-path= --prune",
        ],
    ),
    // A long listing prints modes, which start with a dash, and dates in any format.
    Row("ls", &[], &["* -[1aAdrtRSXUFp]"]),
    Row(
        "grep|egrep",
        &["-[l+rRinEFwsIHzZ] --files-with-matches"],
        &[
            "* -- -[rRinEFwsIHzZvPxaGhyoq] -e= -m= -f= --include= --exclude= --exclude-dir= --exclude-from= --color=* --recursive --ignore-case \
             --word-regexp --line-regexp --invert-match --extended-regexp --fixed-strings --perl-regexp --no-messages --null --max-count= --regexp=",
        ],
    ),
    Row(
        "rg",
        &["-[l+rRinEFwsIHzZ] --files-with-matches --files"],
        &[
            "* -- -[iIsSvwxnNauPFLHhq0.U] -e= -g= -t= -T= -m= -j= -E= -d= --regexp= --glob= --iglob= --type= --type-not= --type-add= --max-count= \
             --max-depth= --maxdepth= --max-filesize= --threads= --encoding= --engine= --ignore-case --case-sensitive --smart-case --invert-match \
             --word-regexp --line-regexp --multiline --multiline-dotall --pcre2 --fixed-strings --follow --no-follow --hidden --no-hidden --no-ignore \
             --ignore --no-ignore-vcs --no-ignore-parent --no-ignore-global --no-ignore-dot --ignore-file= --no-require-git --unrestricted --text \
             --binary --sort= --sortr= --sort-files --null --color= --no-heading --no-line-number --no-messages --no-config --one-file-system \
             --glob-case-insensitive --print0 --line-number",
        ],
    ),
    // They print paths, or nothing.
    Row("which", &[], &["* -a"]),
    Row("pwd", &[], &[]),
    Row("npm|pnpm|yarn root|bin|prefix", &[], &[]),
    Row("npm|pnpm|yarn root|bin|prefix -g", &[], &[]),
    Row("rustc --print sysroot", &[], &[]),
    Row("brew --prefix", &[], &["*"]),
    // Of packages, `go list` prints import paths.
    Row("go env GOPATH|GOROOT|GOMODCACHE|GOBIN|GOCACHE", &[], &[]),
    Row("go list", &[], &["* -e -deps -test"]),
    // Tests, behind the paths of their files.
    Row("pytest", &["--collect-only --co", "-q"], &["* -k:*"]),
    Row(
        "python|python3 -m pytest",
        &["--collect-only --co", "-q"],
        &["* -k:*"],
    ),
    // Files that git knows.
    Row(
        "git ls-files",
        &[],
        &[
            "* -- -[cdmoikz] -x= -X= --cached --deleted --modified --others --ignored --killed --exclude-standard --exclude= --exclude-from= \
             --directory --no-empty-directory --error-unmatch --full-name --recurse-submodules --deduplicate --with-tree=*",
        ],
    ),
    Row(
        "git grep",
        &["-l -lE -li -il -lF -lw --name-only --files-with-matches"],
        &[
            "* -- -[inwEFIGPvHhazr] -e= --cached --untracked --no-index --and --or --not --all-match --ignore-case --word-regexp --invert-match \
             --extended-regexp --fixed-strings --perl-regexp --recursive --max-depth= --exclude-standard --recurse-submodules",
        ],
    ),
    Row("git diff", &["--name-only"], &[CHANGES]),
    Row(
        "git show|log|diff-tree",
        &["--name-only", "--format=(|format:) --pretty=(|format:)"],
        &[COMMITS, CHANGES, "--no-commit-id"],
    ),
    Row(
        "git diff-tree",
        &["--name-only", "--no-commit-id"],
        &[CHANGES],
    ),
    // Branches, tags and commits.
    Row(
        "git branch|for-each-ref",
        &["--format=(%(refname:short)|%(refname)|%(objectname)|%(objectname:short))"],
        &[REFERENCES],
    ),
    Row("git branch --show-current", &[], &[]),
    Row("git remote", &[], &[]),
    // With an operand and without `-l`, it makes a tag.
    Row("git tag", &["-l --list"], &["* --sort=*"]),
    Row("git tag", &[], &["--sort=*"]),
    Row(
        "git describe",
        &[],
        &["* --tags --always --abbrev=(0) --all"],
    ),
    Row(
        "git log",
        &[
            "--format=(%h|%H|%ct|%at|%cI|%aI|%cs|%as|format:%h|format:%H) --pretty=(%h|%H|%ct|%at|%cI|%aI|%cs|%as|format:%h|format:%H)",
        ],
        &[COMMITS],
    ),
    // What is no name of a commit is printed as it is.
    Row(
        "git rev-parse|merge-base",
        &[],
        &["* --short --verify --show-toplevel --abbrev-ref --git-dir"],
    ),
    Row(
        "git rev-list",
        &[],
        &[COMMITS, "--max-parents=* --min-parents=*"],
    ),
    // Containers, images and resources.
    Row(
        "docker|podman ps|images",
        &["-[q+aln] -qf -aqf -qaf --quiet"],
        &[CONTAINERS],
    ),
    Row(
        "docker|podman container|image|network|volume ls",
        &["-[q+aln] -qf -aqf -qaf --quiet"],
        &[CONTAINERS],
    ),
    Row(
        "docker|podman compose ps",
        &["-[q+a] --quiet"],
        &["* -a --all --status= --services --orphans --no-trunc --filter="],
    ),
    Row(
        "docker|podman compose -f|-p|--profile _ ps",
        &["-[q+a] --quiet"],
        &["* -a --all --status= --services --orphans --no-trunc --filter="],
    ),
    Row(
        "docker|podman ps|images",
        &["--format=<container> --format:<container>"],
        &[CONTAINERS],
    ),
    Row(
        "docker|podman container|image|network|volume ls",
        &["--format=<container> --format:<container>"],
        &[CONTAINERS],
    ),
    Row(
        "docker|podman compose ps",
        &["--format=<container> --format:<container>"],
        &["* -a --all --status= --filter="],
    ),
    Row(
        "docker|podman compose -f|-p|--profile _ ps",
        &["--format=<container> --format:<container>"],
        &["* -a --all --status= --filter="],
    ),
    Row(
        "kubectl|oc get",
        &["-o<resource> -o=<resource> -o:<resource> --output=<resource> --output:<resource>"],
        &[RESOURCES, "-A --all-namespaces"],
    ),
    Row(
        "kubectl|oc -n|--namespace|--context _ get",
        &["-o<resource> -o=<resource> -o:<resource> --output=<resource> --output:<resource>"],
        &[RESOURCES, "-A --all-namespaces"],
    ),
    Row(
        "helm list|ls",
        &["-q --short -aq"],
        &[RELEASES, "-A --all-namespaces"],
    ),
    // Identifiers that the provider gives.
    Row(
        "aws",
        &["--output:(text)", "--query:<identifier>"],
        &[
            "* --region= --profile= --no-cli-pager --no-paginate --max-items= --page-size= --filters --filter --owners --image-ids --instance-ids \
             --vpc-ids --subnet-ids --group-ids --group-names --names --tags --cluster= --clusters --services --service-name= --family= \
             --family-prefix= --desired-status= --launch-type= --status= --tasks --name= --stack-name= --load-balancer-arns --load-balancer-arn= \
             --target-group-arn= --log-group-name-prefix= --path-prefix= --scope= --role-name= --user-name= --function-name= --repository-name= \
             --hosted-zone-id= --distribution-id= --user-pool-id= --rest-api-id= --auto-scaling-group-names --topic-arn= --queue-url= \
             --nodegroup-name= --cluster-name= --db-instance-identifier= --db-cluster-identifier= --include-deprecated --endpoint-url=",
        ],
    ),
    Row(
        "gcloud",
        &["--format=(value(name)|value(projectId))", "list"],
        &[
            "* --filter= --project= --region= --regions= --zone= --zones= --location= --limit= --sort-by= --page-size= --quiet -q --verbosity= \
             --account= --configuration= --cluster= --platform= --namespace= --instance= --service= --all --global --folder= --organization=",
        ],
    ),
    // Numbers and times.
    Row(
        "gh run|pr|issue list|view",
        &["-q:<field> --jq:<field> --jq=<field>"],
        &[
            "* --json= -R= -L= -s= -a= -A= -l= -B= -H= -S= -w= -b= -e= -u= -c= -d --repo= --limit= --state= --assignee= --author= --label= --base= \
             --head= --search= --workflow= --branch= --event= --user= --commit= --status= --created= --all --draft --attempt= --job= -j= --mention= \
             --milestone=",
        ],
    ),
    Row(
        "pgrep",
        &[],
        &[
            "* -[cfinovxwuUgGPstF] --full --exact --newest --oldest --count --ignore-case --inverse --parent= --uid= --euid= --group= --pgroup= \
             --session= --terminal= --pidfile= --older= --runstates=",
        ],
    ),
    Row("pidof", &[], &["* -[cnoqswx]"]),
    Row("lsof", &["-t -ti"], &["* -[anPwlU] -i* -s* -p= -u= -c="]),
    Row(
        "date",
        &["+<time>$"],
        &["* -u -j -n --utc --universal -d:* -r= -f= -v* --date= --reference="],
    ),
    Row(
        "date",
        &["-I* --iso-8601*"],
        &["-u -j -n --utc --universal -d:* -r= -v* --date= --reference="],
    ),
];

/// Commands that print a table whose first two columns are names.
pub(super) const FIRST_TWO_COLUMNS: &[Row] = &[
    Row(
        "kubectl|oc get",
        &["-A --all-namespaces"],
        &[RESOURCES, WIDE],
    ),
    Row(
        "kubectl|oc -n|--namespace|--context _ get",
        &["-A --all-namespaces"],
        &[RESOURCES, WIDE],
    ),
    Row("helm list|ls", &["-A --all-namespaces"], &[RELEASES]),
    Row("git remote -v", &[], &[]),
    Row(
        "git ls-remote",
        &[],
        &["* -- -[htqb] --heads --tags --branches --refs --quiet --exit-code --sort=* --symref"],
    ),
];

/// Options of `kubectl get` that print more columns.
const WIDE: &str = "-owide -o=(wide) --output=(wide)";

/// Commands that print a table whose first column is a name.
pub(super) const FIRST_COLUMN: &[Row] = &[
    Row("kubectl|oc get", &[], &[RESOURCES, WIDE]),
    Row(
        "kubectl|oc -n|--namespace|--context _ get",
        &[],
        &[RESOURCES, WIDE],
    ),
    Row("helm list|ls", &[], &[RELEASES]),
    Row("docker|podman ps|images", &[], &[CONTAINERS]),
    Row("git log", &["--oneline"], &[COMMITS, "--no-decorate"]),
    Row("git worktree|stash list", &[], &[]),
    Row("ps ax", &[], &[]),
];

/// Commands that print a table whose second column is a name.
pub(super) const SECOND_COLUMN: &[Row] = &[
    Row("git status", &[], &["-s --short --porcelain -uno -uall -u"]),
    Row("git diff", &["--name-status"], &[CHANGES]),
    Row("ps aux|-ef|auxww|-eF", &[], &[]),
    Row("wc -l|-c|-w _", &[], &["*"]),
];

/// Commands that print at most one name of a branch, a tag or a commit, which has no blanks.
pub(super) const ONE_NAME: &[Row] = &[
    Row("git branch --show-current", &[], &[]),
    Row("git rev-parse HEAD", &[], &[]),
    Row("git rev-parse --abbrev-ref|--short HEAD", &[], &[]),
    Row(
        "git describe --tags|--abbrev=0|--always",
        &[],
        &[
            "* --tags --always --all --long --exact-match --first-parent --contains --abbrev=* --match=* --exclude=* --dirty",
        ],
    ),
];

/// Commands that print one number.
pub(super) const ONE_NUMBER: &[Row] = &[
    Row("nproc", &[], &["--all"]),
    Row(
        "wc",
        &["-l -c -w -m -L --lines --words --bytes --chars"],
        &[],
    ),
    Row(
        "date",
        &["+<digits>$"],
        &["-u -j --utc -d:* --date=* -r:* -v*"],
    ),
    Row("stat -c %s|%Y _", &[], &[]),
    Row("stat -c%s|-c%Y|-f%z|-f%m _", &[], &[]),
    // Of several files, it prints the names.
    Row("grep|egrep -c|-ic|-cE|-cv|-vc|-ci _", &[], &[]),
    Row("grep|egrep -c|-ic|-cE|-cv|-vc|-ci _ _", &[], &[]),
    Row(
        "git log -1 --format=%ct|--format=%at|--pretty=%ct",
        &[],
        &[],
    ),
    Row("git rev-list", &["--count"], &[COMMITS]),
];

/// Commands that print some of the lines of their input, in some order or in one line, or parts of paths in it.
pub(super) const FILTERS: &[Row] = &[
    Row(r"tr \n ~", &[], &[]),
    Row("xargs -n1|-I{} dirname|basename", &[], &[]),
    Row("xargs -n 1 dirname|basename", &[], &[]),
    Row("xargs dirname", &[], &[]),
    Row(
        "sort",
        &[],
        &[
            "-[bcdfghiMnRrsuVz] -t* -k<number> -k* -k:<number> --reverse --unique --numeric-sort --version-sort --ignore-case --human-numeric-sort",
        ],
    ),
    Row(
        "uniq",
        &[],
        &["-[cdiuDz] --count --repeated --unique -f<number> -w<number>"],
    ),
    Row(
        "head|tail",
        &[],
        &[
            "<number> -[qfFvz] -<number> -n* -n:<number> -c* -c:<number> --lines=* --bytes=* --quiet --follow",
        ],
    ),
    Row(
        "grep",
        &["*"],
        &["-[EFGPHivwxhnsyaqlLzIrRuTUZ] -e -m<number>"],
    ),
];

#[cfg(test)]
mod tests {
    use super::{
        FILTERS, FIRST_COLUMN, FIRST_TWO_COLUMNS, NAMES, ONE_NAME, ONE_NUMBER, Row, SECOND_COLUMN,
    };
    use crate::evaluate::output_row::{is_item, lists};

    fn rows() -> impl Iterator<Item = &'static Row> {
        let tables = [
            NAMES,
            FIRST_TWO_COLUMNS,
            FIRST_COLUMN,
            SECOND_COLUMN,
            ONE_NAME,
            ONE_NUMBER,
            FILTERS,
        ];
        tables.into_iter().flatten()
    }

    #[test]
    fn every_item_is_well_formed() {
        for Row(command, groups, others) in rows() {
            for item in groups
                .iter()
                .chain(*others)
                .flat_map(|list| list.split_ascii_whitespace())
            {
                assert!(is_item(item), "{command}: {item}");
            }
        }
    }

    #[test]
    fn no_row_knows_an_unlisted_option() {
        for Row(command, ..) in rows() {
            let first = command
                .split(' ')
                .map(|words| words.split('|').next().unwrap());
            let words: Vec<&str> = first.chain(["--unlisted"]).collect();
            for rows in [
                NAMES,
                FIRST_TWO_COLUMNS,
                FIRST_COLUMN,
                SECOND_COLUMN,
                ONE_NAME,
                ONE_NUMBER,
                FILTERS,
            ] {
                assert!(!lists(rows, &words), "{words:?}");
            }
        }
    }
}

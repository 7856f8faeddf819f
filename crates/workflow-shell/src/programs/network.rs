//! `curl`, `wget`, `ssh`, and queries of `gh`.

use super::options::{Place, argument, joined, split};
use super::shells::script;
use super::{Invocation, NestedCommand, Outcome, Result};
use crate::command::StandardInput;
use crate::effect::{Effect, Unknown, UnknownReason};
use crate::word::Word;

/// Returns the outcome of such a program.
pub(super) fn outcome(invocation: &Invocation<'_>) -> Option<Result> {
    Some(match invocation.name {
        "curl" => curl(invocation.arguments),
        "wget" => wget(invocation.arguments),
        "ssh" => ssh(invocation),
        "gh" => return graphql(invocation.arguments),
        _ => return None,
    })
}

/// `gh api graphql -f query='{ … }'`: a document without a mutation.
fn graphql(arguments: &[Word]) -> Option<Result> {
    const OPTIONS: &str = "-i -H= -q= -t= -f= -F= --header= --jq= --template= --raw-field= --field= --cache= --hostname= --include --paginate --slurp --silent --verbose";
    let [api, graphql, rest @ ..] = arguments else {
        return None;
    };
    if api.text() != Some("api") || graphql.text() != Some("graphql") {
        return None;
    }
    let known = match split(rest, OPTIONS, Place::Anywhere) {
        Ok(known) => known,
        Err(unknown) => return Some(Err(unknown)),
    };
    let mut queries = 0;
    for field in known.values(&["-f", "-F", "--raw-field", "--field"]) {
        let shape = field.shape();
        let (name, value) = shape.split_once('=').unwrap_or_default();
        let is_query = name == "query";
        queries += usize::from(is_query);
        let document = value.trim_start();
        let reads = field.text().is_some()
            && (document.starts_with('{') || document.starts_with("query"))
            && !["mutation", "subscription"]
                .iter()
                .any(|word| document.contains(word));
        // The name, and the file of a value, must be known.
        if name.is_empty()
            || name.contains('\0')
            || value.starts_with(['@', '\0'])
            || is_query && !reads
        {
            return Some(Err(argument(field)));
        }
    }
    if let Some(word) = known.operands.first() {
        return Some(Err(argument(word)));
    }
    (queries == 1).then(|| Ok(Outcome::reads()))
}

fn curl(arguments: &[Word]) -> Result {
    const OPTIONS: &str = "-sSfLkviIgGN0123 -46 -a -l -j -# -H= -A= -e= -b= -u= -m= -w= -r= -X= -x= -o= -O -J -R -D= -d= -F= -E= -y= -Y= -z= --silent --show-error --fail --fail-with-body --fail-early --location --location-trusted --insecure --verbose --include --head --globoff --get --no-buffer --compressed --ipv4 --ipv6 --http1.0 --http1.1 --http2 --http2-prior-knowledge --http3 --progress-bar --no-progress-meter --header= --user-agent= --referer= --cookie= --user= --max-time= --connect-timeout= --write-out= --range= --request= --proxy= --noproxy= --resolve= --connect-to= --retry= --retry-delay= --retry-max-time= --retry-connrefused --retry-all-errors --max-redirs= --output= --remote-name --remote-header-name --remote-name-all --output-dir= --create-dirs --dump-header= --data= --data-raw= --data-binary= --data-urlencode= --json= --form= --url= --unix-socket= --interface= --cacert= --cert= --key= --tlsv1.2 --tlsv1.3 --path-as-is --parallel --no-keepalive --basic --oauth2-bearer= --max-filesize= --limit-rate= --speed-limit= --speed-time= --remote-time --proto= --proto-default= --ssl-reqd --raw --tr-encoding --netrc --disable -q --styled-output --no-styled-output --aws-sigv4= -n -p -V -h --version --help --netrc-file= --form-string= --data-ascii= --url-query= --doh-url= --dns-servers= --socks4= --socks5= --socks5-hostname= --proxytunnel --proxy-user= --proxy-header= --tlsv1 --tlsv1.0 --tlsv1.1 --tls-max= --ciphers= --http0.9 --rate= --keepalive-time= --post301 --post302 --post303 --request-target= --cert-type= --key-type= --pass= --capath= --ca-native --cert-status --digest --ntlm --negotiate --anyauth --no-alpn --no-sessionid --local-port= --happy-eyeballs-timeout-ms= --expect100-timeout= --parallel-max= --parallel-immediate --no-fail --no-progress-bar --trace-time --trace-ids --ignore-content-length --list-only --suppress-connect-headers --compressed-ssh --disallow-username-in-url --haproxy-protocol --no-location --tcp-nodelay --tcp-fastopen --time-cond=";
    let known = split(arguments, OPTIONS, Place::Anywhere)?;
    if known.has(&[
        "-O",
        "--remote-name",
        "--remote-name-all",
        "-J",
        "--remote-header-name",
    ]) {
        return Ok(Outcome::writes_somewhere("`curl -O`"));
    }
    // `%output{file}` writes; the format may be in a file.
    let may_write = |word: &&&Word| {
        let shape = word.shape();
        shape.contains("%output") || shape.starts_with('@') || shape.contains('\0')
    };
    let formats = known.values(&["-w", "--write-out"]);
    if let Some(format) = formats.iter().find(may_write) {
        return Err(argument(format));
    }
    if let Some(directory) = known.values(&["--output-dir"]).first() {
        return Err(argument(directory));
    }
    let is_file = |word: &&Word| word.shape() != "-";
    let files = known.values(&["-o", "--output", "-D", "--dump-header"]);
    Ok(Outcome::writes(
        "`curl -o`",
        files.into_iter().filter(is_file),
    ))
}

fn wget(arguments: &[Word]) -> Result {
    const OPTIONS: &str = "-qSvd46c -O= -T= -t= -U= -P= --quiet --server-response --verbose --no-verbose --spider --no-check-certificate --output-document= --timeout= --connect-timeout= --tries= --user-agent= --header= --method= --max-redirect= --waitretry= --retry-connrefused --progress= --show-progress --content-on-error --save-headers --no-proxy --no-cache --no-config --no-hsts";
    // `-nv` is one option.
    let arguments: Vec<Word> = arguments
        .iter()
        .filter(|word| word.shape() != "-nv")
        .cloned()
        .collect();
    let known = split(&arguments, OPTIONS, Place::Anywhere)?;
    if known.has(&["--spider"]) {
        return Ok(Outcome::reads());
    }
    let files = known.values(&["-O", "--output-document"]);
    match files.as_slice() {
        [] => Ok(Outcome::writes_somewhere("`wget`")),
        [file] if file.shape() == "-" => Ok(Outcome::reads()),
        files => Ok(Outcome::writes("`wget -O`", files.iter().copied())),
    }
}

/// `ssh host command`: the command runs on another machine.
fn ssh(invocation: &Invocation<'_>) -> Result {
    const OPTIONS: &str = "-tTqvnxaC46 -p= -i= -l= -o= -J= -b= -c= -m=";
    const SETTINGS: &[&str] = &[
        "stricthostkeychecking",
        "connecttimeout",
        "batchmode",
        "loglevel",
        "serveraliveinterval",
        "serveralivecountmax",
        "connectionattempts",
        "identitiesonly",
        "port",
        "user",
        "requesttty",
        "passwordauthentication",
        "addressfamily",
    ];
    match invocation.arguments {
        [word] if word.text() == Some("-V") => return Ok(Outcome::reads()),
        // It prints the settings of a host.
        [word, host]
            if word.text() == Some("-G")
                && !host.may_hide_option()
                && !host.shape().starts_with('-') =>
        {
            return Ok(Outcome::reads());
        }
        _ => {}
    }
    let known = split(invocation.arguments, OPTIONS, Place::Leading)?;
    for word in known.values(&["-o"]) {
        let name = word.shape().split(['=', ' ']).next().unwrap_or_default();
        let is_known = SETTINGS.contains(&name.to_ascii_lowercase().as_str())
            || word.text() == Some("UserKnownHostsFile=/dev/null");
        if !is_known {
            return Err(argument(word));
        }
    }
    let rest = &invocation.arguments[known.length..];
    // Options may follow the host.
    let Some((_host, rest)) = rest.split_first() else {
        return Err(Unknown::new("ssh", UnknownReason::Missing));
    };
    let more = split(rest, OPTIONS, Place::Leading)?;
    if let Some(word) = more.values(&["-o"]).first() {
        return Err(argument(word));
    }
    let Some(text) = joined(&rest[more.length..]) else {
        return match invocation.input {
            StandardInput::Text(word) => Ok(script(word.clone(), NestedCommand::Elsewhere)),
            _ => Err(Unknown::new("ssh", UnknownReason::Input)),
        };
    };
    let mut outcome = script(text, NestedCommand::Elsewhere);
    if rest[more.length..].iter().any(|word| word.may_add_words) {
        outcome.effect = Effect::unknown("ssh", UnknownReason::Expansion);
    }
    Ok(outcome)
}

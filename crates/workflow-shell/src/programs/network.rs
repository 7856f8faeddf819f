//! `curl`, `wget`, `http`, `grpcurl`, `ssh`, and queries of `gh`: requests that only ask.

use super::options::{Known, Place, argument, joined, split};
use super::outcome::{Invocation, NestedCommand, Outcome, Result};
use super::shells::script;
use crate::command::StandardInput;
use crate::effect::{Effect, Unknown, UnknownReason};
use crate::word::Word;

/// Returns the outcome of such a program.
pub(super) fn outcome(invocation: &Invocation<'_>) -> Option<Result> {
    Some(match invocation.name {
        "curl" => curl(invocation),
        "wget" => wget(invocation.arguments),
        "http" | "https" | "httpie" | "xh" | "xhs" => httpie(invocation),
        "grpcurl" => grpcurl(invocation.arguments),
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

fn curl(invocation: &Invocation<'_>) -> Result {
    const OPTIONS: &str = "-sSfLkviIgGN0123 -46 -a -l -j -# -H= -A= -e= -b= -u= -m= -w= -r= -X= -x= -o= -O -J -R -D= -d= -F= -E= -y= -Y= -z= --silent --show-error --fail --fail-with-body --fail-early --location --location-trusted --insecure --verbose --include --head --globoff --get --no-buffer --compressed --ipv4 --ipv6 --http1.0 --http1.1 --http2 --http2-prior-knowledge --http3 --progress-bar --no-progress-meter --header= --user-agent= --referer= --cookie= --user= --max-time= --connect-timeout= --write-out= --range= --request= --proxy= --noproxy= --resolve= --connect-to= --retry= --retry-delay= --retry-max-time= --retry-connrefused --retry-all-errors --max-redirs= --output= --remote-name --remote-header-name --remote-name-all --output-dir= --create-dirs --dump-header= --data= --data-raw= --data-binary= --data-urlencode= --json= --form= --url= --unix-socket= --interface= --cacert= --cert= --key= --tlsv1.2 --tlsv1.3 --path-as-is --parallel --no-keepalive --basic --oauth2-bearer= --max-filesize= --limit-rate= --speed-limit= --speed-time= --remote-time --proto= --proto-default= --ssl-reqd --raw --tr-encoding --netrc --disable -q --styled-output --no-styled-output --aws-sigv4= -n -p -V -h --version --help --netrc-file= --form-string= --data-ascii= --url-query= --doh-url= --dns-servers= --socks4= --socks5= --socks5-hostname= --proxytunnel --proxy-user= --proxy-header= --tlsv1 --tlsv1.0 --tlsv1.1 --tls-max= --ciphers= --http0.9 --rate= --keepalive-time= --post301 --post302 --post303 --request-target= --cert-type= --key-type= --pass= --capath= --ca-native --cert-status --digest --ntlm --negotiate --anyauth --no-alpn --no-sessionid --local-port= --happy-eyeballs-timeout-ms= --expect100-timeout= --parallel-max= --parallel-immediate --no-fail --no-progress-bar --trace-time --trace-ids --ignore-content-length --list-only --suppress-connect-headers --compressed-ssh --disallow-username-in-url --haproxy-protocol --no-location --tcp-nodelay --tcp-fastopen --time-cond=";
    let known = split(invocation.arguments, OPTIONS, Place::Anywhere)?;
    if known.has(&[
        "-O",
        "--remote-name",
        "--remote-name-all",
        "-J",
        "--remote-header-name",
    ]) {
        return Ok(Outcome::writes_somewhere("`curl -O`"));
    }
    only_asks(&known, invocation.input)?;
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

/// Options of `curl` that send a text.
#[rustfmt::skip] // Names in order.
const DATA: &[&str] = &["-d", "--data", "--data-ascii", "--data-binary", "--data-raw", "--data-urlencode"];
const FORMS: &[&str] = &["-F", "--form", "--form-string", "--json"];

/// Returns whether a method of HTTP only asks.
fn is_asking_method(method: &str) -> bool {
    matches!(method, "GET" | "HEAD" | "OPTIONS" | "PROPFIND" | "TRACE")
}

/// Returns an error for a request of `curl` that may change something, sends a file, or speaks a protocol in which the address is
/// a command.
fn only_asks(known: &Known<'_>, input: &StandardInput) -> Result<()> {
    let urls = known
        .operands
        .iter()
        .copied()
        .chain(known.values(&["--url"]));
    let mut searches = true;
    for url in urls {
        // Telnet sends the input; without one, it only connects.
        let connects = url.shape().starts_with("telnet://") && !input.is_given();
        if !connects && !is_web_address(url.shape()) {
            return Err(argument(url));
        }
        searches &= is_search(url.shape());
    }
    let protocols = known.values(&["--proto-default"]);
    if let Some(word) = protocols
        .iter()
        .find(|word| !matches!(word.text(), Some("http" | "https")))
    {
        return Err(argument(word));
    }
    // The value may be in a file: `-H @file`.
    let is_file = |word: &&&Word| word.shape().starts_with('@');
    let files = known.values(&["-H", "--header", "--proxy-header", "--url-query"]);
    if let Some(word) = files.iter().find(is_file) {
        return Err(argument(word));
    }
    let is_data =
        |name: &str| DATA.contains(&name) || FORMS.contains(&name) || name == "--url-query";
    let data = known.options.iter().filter(|(name, _)| is_data(name));
    let becomes_query = known.has(&["-G", "--get"]);
    let mut sends = false;
    for (name, value) in data {
        let value = value.as_ref().map_or("", Word::shape);
        // `name@file` sends the file.
        let names_file = match name.as_str() {
            "--data-urlencode" | "--url-query" => value
                .split('=')
                .next()
                .is_some_and(|name| name.contains('@')),
            "--data-raw" | "--form-string" => false,
            _ => value.starts_with('@'),
        };
        let is_query = name == "--url-query" || becomes_query && DATA.contains(&name.as_str());
        let asks = searches && !known.operands.is_empty() && only_searches(value);
        if names_file || !is_query && !asks {
            return Err(Unknown::new(name, UnknownReason::Option));
        }
        sends |= !is_query;
    }
    let methods = known.values(&["-X", "--request"]);
    let may_change = |word: &&&Word| {
        !word
            .text()
            .is_some_and(|method| is_asking_method(method) || sends && method == "POST")
    };
    methods
        .iter()
        .find(may_change)
        .map_or(Ok(()), |word| Err(argument(word)))
}

/// Returns whether an address is one of HTTP, FTP or a file. `gopher`, `dict`, `telnet`, mail and others send the address, or the
/// input, as commands.
fn is_web_address(url: &str) -> bool {
    // The name of the host decides without a scheme.
    const HOSTS: &[&str] = &["dict.", "ldap.", "imap.", "smtp.", "pop3."];
    let url = url.to_ascii_lowercase();
    match url.split_once("://") {
        Some((scheme, _)) if scheme.bytes().all(|byte| byte.is_ascii_alphanumeric()) => matches!(
            scheme,
            "http" | "https" | "ftp" | "ftps" | "sftp" | "scp" | "file"
        ),
        // Only the shell knows the scheme, or it is part of a query.
        Some((scheme, _)) => scheme.contains(['\0', '?', '/']),
        None => !HOSTS.iter().any(|host| url.starts_with(host)),
    }
}

/// Returns whether an address is that of a search of Elasticsearch, or of GraphQL.
fn is_search(url: &str) -> bool {
    let path = url.split(['?', '#']).next().unwrap_or_default();
    ["/_search", "/_count", "/_msearch", "/_analyze", "/graphql"]
        .iter()
        .any(|end| path.ends_with(end))
}

/// Returns whether a body is a search: JSON without a mutation.
fn only_searches(body: &str) -> bool {
    body.trim_start().starts_with('{')
        && !["\0", "mutation", "subscription", "\"script", "\\u"]
            .iter()
            .any(|part| body.contains(part))
}

/// `http GET host/path name==value Header:value`
fn httpie(invocation: &Invocation<'_>) -> Result {
    const OPTIONS: &str = "-hbvfjFIqSd -p= -a= -A= -s= -o= --print= --headers --body --verbose --all --form --json --timeout= --follow --check-status --verify= --auth= --auth-type= --pretty= --style= --offline --ignore-stdin --max-redirects= --stream --version --quiet --proxy= --http-version= --meta --download --output=";
    let known = split(invocation.arguments, OPTIONS, Place::Anywhere)?;
    if known.has(&["--version"]) && known.operands.is_empty() {
        return Ok(Outcome::reads());
    }
    let files = known.values(&["-o", "--output"]);
    if known.has(&["-d", "--download"]) && files.is_empty() {
        return Ok(Outcome::writes_somewhere("`http --download`"));
    }
    let mut operands = known.operands.as_slice();
    if let [method, rest @ ..] = operands
        && method
            .text()
            .is_some_and(|text| text.bytes().all(|byte| byte.is_ascii_uppercase()))
    {
        if !method.text().is_some_and(is_asking_method) {
            return Err(argument(method));
        }
        operands = rest;
    }
    let Some((_address, items)) = operands.split_first() else {
        return Err(Unknown::new("http", UnknownReason::Missing));
    };
    let is_known = |word: &&Word| word.text().is_some_and(only_asks_for);
    if let Some(item) = items.iter().find(|word| !is_known(word)) {
        return Err(argument(item));
    }
    if invocation.input.is_given() && !known.has(&["-I", "--ignore-stdin"]) {
        return Err(Unknown::new(invocation.name, UnknownReason::Input));
    }
    Ok(Outcome::writes("`http -o`", files))
}

/// Returns whether an item of `http` is a header or a parameter: `name==value`, `Name:value`. Others are data or files.
fn only_asks_for(item: &str) -> bool {
    let Some(at) = item.find([':', '=', '@']) else {
        return false;
    };
    let separator = &item[at..];
    separator.starts_with("==") && !separator.starts_with("==@")
        || separator.starts_with(':')
            && !separator.starts_with(":=")
            && !separator.starts_with(":@")
}

/// `grpcurl host list`, `describe`, and calls whose names say that they read.
fn grpcurl(arguments: &[Word]) -> Result {
    const OPTIONS: &str = "-v";
    const FLAGS: &[&str] = &[
        "plaintext",
        "insecure",
        "v",
        "vv",
        "emit-defaults",
        "use-reflection",
        "msg-template",
        "version",
        "help",
    ];
    const VALUED: &[&str] = &[
        "proto",
        "import-path",
        "protoset",
        "d",
        "H",
        "max-time",
        "connect-timeout",
        "cacert",
        "cert",
        "key",
        "authority",
        "servername",
        "format",
        "rpc-header",
        "reflect-header",
    ];
    let mut rest = arguments;
    while let [word, after @ ..] = rest
        && word.shape().starts_with('-')
    {
        let name = word.shape().trim_start_matches('-');
        rest = if FLAGS.contains(&name) {
            after
        } else if VALUED.contains(&name) && !after.is_empty() && !after[0].may_hide_option() {
            if name == "d" && after[0].shape().starts_with('@') {
                return Err(argument(&after[0]));
            }
            &after[1..]
        } else {
            return Err(Unknown::new(word.shape(), UnknownReason::Option));
        };
    }
    let known = split(rest, OPTIONS, Place::Anywhere)?;
    match known.operands.as_slice() {
        [] | [_] => Ok(Outcome::reads()),
        [_, verb, ..] if matches!(verb.text(), Some("list" | "describe")) => Ok(Outcome::reads()),
        [verb, ..] if matches!(verb.text(), Some("list" | "describe")) => Ok(Outcome::reads()),
        [_, method] if method.text().is_some_and(names_query) => Ok(Outcome::reads()),
        [_, word, ..] => Err(argument(word)),
    }
}

/// Returns whether the name of a method says that it reads: `grpc.health.v1.Health/Check`.
fn names_query(method: &str) -> bool {
    let name = method.rsplit('/').next().unwrap_or_default();
    method.contains('/')
        && ["Check", "List", "Get", "Describe"]
            .iter()
            .any(|start| name.starts_with(start))
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
    let methods = known.values(&["--method"]);
    if let Some(word) = methods
        .iter()
        .find(|word| !word.text().is_some_and(is_asking_method))
    {
        return Err(argument(word));
    }
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

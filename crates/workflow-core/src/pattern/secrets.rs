//! Shapes of secrets: one list, for `redact: secrets` and for recordings.

use std::borrow::Cow;
use std::sync::OnceLock;

use regex::{NoExpand, Regex};

/// The word for the list among the patterns of `redact`.
pub(crate) const SECRETS: &str = "secrets";

/// The replacement for a secret, unless a rule sets one.
pub const REDACTED: &str = "[redacted]";

/// The shapes; each has bytes that [`is_mark`] knows. None begins in the middle of a word, so that hashes and encoded images are no secrets.
const SHAPES: &[&str] = &[
    // AWS: the id of a key. The key itself is known by its name only.
    r"(?-u:\b)A(?:KIA|SIA|BIA|CCA)[0-9A-Z]{16}(?-u:\b)",
    r#"(?:[sS]ecret_?[aA]ccess_?[kK]ey|SECRET_ACCESS_KEY)["'\\]*\s*[:=]\s*["'\\]*[A-Za-z0-9/+]{40,}"#,
    // GitHub.
    r"(?-u:\b)(?:gh[pousr]_|github_pat_)[A-Za-z0-9_]{20,}",
    // OpenAI, Anthropic and those who write their keys alike.
    r"(?-u:\b)sk-(?:(?:admin|ant|or|proj|svcacct)-[A-Za-z0-9_-]{20,}|[A-Za-z0-9]{20,})",
    // Slack.
    r"(?-u:\b)(?:xox[a-z]|xapp-[0-9])-[A-Za-z0-9-]{10,}",
    r"hooks\.slack\.com/services/[A-Za-z0-9/]{20,}",
    // Google.
    r"(?-u:\b)(?:AIza[A-Za-z0-9_-]{35}|ya29\.[A-Za-z0-9_-]{20,}|GOCSPX-[A-Za-z0-9_-]{20,})",
    // Stripe.
    r"(?-u:\b)(?:[rs]k_(?:live|test)_[A-Za-z0-9]{16,}|whsec_[A-Za-z0-9+/]{24,})",
    // npm.
    r"(?-u:\b)npm_[A-Za-z0-9]{30,}",
    // JWT.
    r"(?-u:\b)eyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}",
    // The beginning of any of these, as a text that is too long ends.
    r"(?-u:\b)(?:A[KS]IA|gh[pousr]_|github_pat_|sk-|xox[a-z]-|AIza|[rs]k_live_|npm_|eyJ)[A-Za-z0-9_.-]{8,}…",
    // PEM, also in a string with escaped line breaks, and if its end is cut off.
    r"-----BEGIN [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----(?:(?:[A-Za-z0-9+/=\s\\:,.()]|-[A-Za-z0-9])*-----END [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----|(?:\\[nr]|\s)*[A-Za-z0-9+/]{40,}[A-Za-z0-9+/=\s\\]*|[A-Za-z0-9+/=\s\\]*…)",
    // Connection strings: `scheme://user:password@host`, `…;Password=…`.
    r#"://[^\s:/?\#@"'\\<>]*:(?:[^\s/?\#@"'\\<>]+@|[0-9]*[^\s/?\#@"'\\<>0-9…][^\s/?\#@"'\\<>]*…)"#,
    r#";(?:[pP]assword|PASSWORD|[pP]wd|PWD)=[^;\s"'\\$]+"#,
];

/// The longest text that is searched for marks, in bytes.
const SHORT: usize = 1024;

/// The shapes as one pattern.
pub(crate) fn shapes() -> &'static Regex {
    static PATTERN: OnceLock<Regex> = OnceLock::new();
    PATTERN.get_or_init(|| Regex::new(&SHAPES.join("|")).expect("the shapes are patterns"))
}

/// Returns a text without the secrets that are known by their shape.
pub fn without_secrets(text: &str) -> Cow<'_, str> {
    // Compiling the pattern takes longer than everything else that a hook does.
    if text.len() <= SHORT && !text.as_bytes().windows(3).any(is_mark) {
        return Cow::Borrowed(text);
    }
    shapes().replace_all(text, NoExpand(REDACTED))
}

/// Returns true for three bytes that stand in secrets of a shape: every secret has some of these.
#[rustfmt::skip] // A shape a line.
fn is_mark(part: &[u8]) -> bool {
    matches!(
        part,
        b"KIA" | b"SIA" | b"BIA" | b"CCA"
        | b"sKe" | b"ssk" | b"s_k" | b"s_K" | b"S_K"
        | b"hp_" | b"ho_" | b"hu_" | b"hs_" | b"hr_" | b"b_p"
        | b"sk-"
        | b"xox" | b"xap" | b"k.c"
        | b"AIz" | b"a29" | b"GOC"
        | b"k_l" | b"k_t" | b"ec_"
        | b"pm_"
        | b"eyJ"
        | b"\xe2\x80\xa6"
        | b"-BE"
        | b"://"
        | b"rd=" | b"RD=" | b"wd=" | b"WD="
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_known_by_their_shape() {
        let pem = "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEA".to_owned();
        let header = "Proc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,0F\n\n";
        for secret in [
            "AKIAIOSFODNN7EXAMPLE".to_owned(),
            format!("secret_access_key = {}", "wJalrXUtnFEMI/K7MDENG".repeat(2)),
            format!("SecretAccessKey\": \"{}", "wJalrXUtnFEMI/K7MDENG".repeat(2)),
            format!("ghp_{}", "a1B2".repeat(9)),
            format!("github_pat_{}", "a1B2_".repeat(9)),
            format!("sk-{}", "a1B2".repeat(12)),
            format!("sk-proj-{}", "a1B2-_".repeat(12)),
            format!("sk-ant-api03-{}", "a1B2-_".repeat(12)),
            format!("xoxb-{}-{}", "1".repeat(12), "a1B2".repeat(6)),
            format!(
                "hooks.slack.com/services/T00000000/B00000000/{}",
                "X".repeat(24)
            ),
            format!("AIza{}", "a1B2-".repeat(7)),
            format!("sk_live_{}", "a1B2".repeat(6)),
            format!("npm_{}", "a1B2".repeat(9)),
            format!(
                "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.{}",
                "a1B2-_".repeat(6)
            ),
            format!("-----BEGIN PRIVATE KEY-----\n{pem}\n{pem}=\n-----END PRIVATE KEY-----"),
            format!("-----BEGIN RSA PRIVATE KEY-----\\n{pem}\\n-----END RSA PRIVATE KEY-----"),
            format!("-----BEGIN EC PRIVATE KEY-----\n{header}{pem}\n-----END EC PRIVATE KEY-----"),
            format!("-----BEGIN PRIVATE KEY-----\n{pem}\n{pem}"),
            "ghp_a1B2a1B2a1…".to_owned(),
            "eyJhbGciOiJIUzI1NiJ9.eyJz…".to_owned(),
            "://app:s3cr%40t@".to_owned(),
            "://app:s3cr%40…".to_owned(),
            "ASIAIOSFODNN7EXAMPLE".to_owned(),
            "ABIAIOSFODNN7EXAMPLE".to_owned(),
            "ACCAIOSFODNN7EXAMPLE".to_owned(),
            format!("SECRET_ACCESS_KEY={}", "wJalrXUtnFEMI/K7MDENG".repeat(2)),
            format!("secretaccesskey: {}", "wJalrXUtnFEMI/K7MDENG".repeat(2)),
            format!("Secret_access_Key={}", "wJalrXUtnFEMI/K7MDENG".repeat(2)),
            format!("gho_{}", "a1B2".repeat(9)),
            format!("ghu_{}", "a1B2".repeat(9)),
            format!("ghs_{}", "a1B2".repeat(9)),
            format!("ghr_{}", "a1B2".repeat(9)),
            format!("xapp-1-{}", "a1B2".repeat(6)),
            format!("ya29.{}", "a1B2".repeat(6)),
            format!("GOCSPX-{}", "a1B2".repeat(6)),
            format!("rk_test_{}", "a1B2".repeat(6)),
            format!("whsec_{}", "a1B2".repeat(6)),
            ";password=hunter2!".to_owned(),
            ";PASSWORD=hunter2!".to_owned(),
            ";pwd=hunter2!".to_owned(),
            ";PWD=hunter2!".to_owned(),
            ";Password=hunter2!".to_owned(),
        ] {
            for (before, after) in [("", ""), ("'", "'."), ("x=\n", "\""), ("é", "'é")] {
                let text = without_secrets(&format!("{before}{secret}{after}")).into_owned();
                assert_eq!(text, format!("{before}{REDACTED}{after}"), "{secret}");
            }
        }
    }

    #[test]
    fn everyday_texts_are_no_secrets() {
        let image = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
        for text in [
            "commit 0123456789abcdef0123456789abcdef01234567, tree 4b825dc642cb6eb9a060e54bf8d69288fbee4904",
            "123e4567-e89b-12d3-a456-426614174000",
            "sha512-9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08Qx==",
            image,
            &format!("data:image/png;base64,{}", image.repeat(50)),
            "data:application/json;base64,eyJ2ZXJzaW9uIjozLCJzb3VyY2VzIjpbXX0=",
            "Keys begin with `sk-`, as in sk-…; ask-me, task-list-of-the-whole-afternoon-and-more, sk-learn, .sk-folding-cube",
            "https://example.com:8443/a/b?c=d@e#f, ssh://git@github.com:22/a, git@github.com:a/b.git, http://[::1]:80/, http://localhost:8080…",
            "postgres://localhost:5432/db, postgres://app@localhost/db, and mail a@b.c",
            "the tokens ghp_ and npm_config_registry, AKIA, AKIAIOSFODNN7EXAMPLES1, xox, eyJ.eyJ.x",
            "grep -rn -- '-----BEGIN RSA PRIVATE KEY-----' . | wc -l",
            "-----BEGIN CERTIFICATE-----\nMIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEA\n-----END CERTIFICATE-----",
            "password=$(pass show x); pwd=$PWD; export PASSWORD=; a;pwd=$PWD",
            "const secretAccessKey = process.env.AWS_SECRET_ACCESS_KEY",
        ] {
            assert_eq!(without_secrets(text), text);
        }
    }

    #[test]
    fn long_texts_that_nearly_have_a_secret_cost_little() {
        for part in [
            "://a:",
            "eyJaaaaaaaaa.",
            "sk-",
            "-----BEGIN PRIVATE KEY-----",
            "é AKIA ghp_",
            "a;pwd=",
            "-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoI\n",
        ] {
            let text = part.repeat((1 << 19) / part.len());
            assert!(!without_secrets(&text).is_empty());
        }
    }
}

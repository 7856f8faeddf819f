//! The code of a request for approval, which only the user is shown, and the tokens that it makes.
//!
//! A decision has the token of its choice: an HMAC, with the code as its key, of the whole request as it was shown, and of the
//! choice. The session keeps the hash of each token. So a row of the store proves who wrote it, and another choice, another
//! request or another file needs another token.

use std::fmt;
use std::io;

use hmac::{Hmac, Mac};
use sha2::Sha256;
use workflow_core::approval::{Decision, Proofs, Request};

use crate::files::hash;

/// Letters and digits without look-alikes. Each stands for five bits.
const ALPHABET: &[u8; 32] = b"23456789ABCDEFGHJKLMNPQRSTUVWXYZ";
/// The number of characters, in groups of [`GROUP`].
const LENGTH: usize = 12;
const GROUP: usize = 4;

/// Sixty random bits.
#[derive(Clone)]
pub(crate) struct Code([u8; LENGTH]);

impl fmt::Debug for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Code(…)")
    }
}

impl fmt::Display for Code {
    /// As it is typed: `K7QF-M2XD-9TRB`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = String::from_utf8_lossy(&self.0);
        let (first, rest) = text.split_at(GROUP);
        let (second, third) = rest.split_at(GROUP);
        write!(f, "{first}-{second}-{third}")
    }
}

impl Code {
    pub(crate) fn new() -> io::Result<Self> {
        let mut bytes = [0; LENGTH];
        getrandom::fill(&mut bytes).map_err(io::Error::other)?;
        Ok(Self(bytes.map(|byte| ALPHABET[usize::from(byte % 32)])))
    }

    /// Reads a code that was typed, however it is grouped.
    pub(crate) fn parse(typed: &str) -> Option<Self> {
        let typed = typed.bytes().filter(u8::is_ascii_alphanumeric);
        let typed: Vec<u8> = typed.map(|c| c.to_ascii_uppercase()).collect();
        let is_code = typed.iter().all(|c| ALPHABET.contains(c));
        typed.try_into().ok().filter(|_| is_code).map(Self)
    }

    /// For each choice of a request the hash of the token that proves it.
    pub(crate) fn proofs(&self, request: &Request) -> Vec<String> {
        let choices = request.choices.iter();
        let tokens = choices.map(|choice| self.token(request, choice, None));
        tokens.map(hash).collect()
    }

    /// Returns true if it is the code of this request.
    pub(crate) fn is_of(&self, request: &Request) -> bool {
        !request.proofs.hashes.is_empty() && self.proofs(request) == request.proofs.hashes
    }

    /// A decision about a request, with what proves it.
    pub(crate) fn decide(
        &self,
        request: &Request,
        choice: &str,
        comment: Option<String>,
    ) -> Decision {
        let comment_token = comment.as_deref();
        let comment_token = comment_token.map(|it| self.token(request, choice, Some(it)));
        Decision {
            request: request.id.clone(),
            choice: choice.to_owned(),
            token: self.token(request, choice, None),
            comment_token: comment_token.unwrap_or_default(),
            comment,
            ..Decision::default()
        }
    }

    /// Returns true if the comment of a decision was made with this code.
    pub(crate) fn proves_comment(&self, request: &Request, decision: &Decision) -> bool {
        let comment = decision.comment.as_deref();
        decision.comment_token == self.token(request, &decision.choice, comment)
    }

    fn token(&self, request: &Request, choice: &str, comment: Option<&str>) -> String {
        let asked = Request {
            proofs: Proofs::default(),
            ..request.clone()
        };
        let what = serde_json::to_vec(&(asked, choice, comment));
        let mut token = Hmac::<Sha256>::new_from_slice(&self.0).expect("a key may have any length");
        token.update(&what.expect("a request that is stored is JSON"));
        format!("{:x}", token.finalize().into_bytes())
    }
}

/// Returns true if a decision has the token of its choice. The proofs are those of the session, not of the store.
pub(crate) fn is_proved(decision: &Decision, choices: &[String], proofs: &[String]) -> bool {
    let mut known = choices.iter().zip(proofs);
    let proof = hash(&decision.token);
    known.any(|(choice, known)| *choice == decision.choice && *known == proof)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::platform::answers::requests::tests::request;

    #[test]
    fn a_code_is_random_and_easily_typed() {
        let code = Code::new().unwrap();
        let text = code.to_string();
        assert_eq!(text.len(), 14, "{text}");
        assert!(!text.contains(['0', 'O', '1', 'I']), "{text}");
        assert_ne!(text, Code::new().unwrap().to_string());
        let typed = Code::parse(&text.to_lowercase().replace('-', " ")).unwrap();
        assert_eq!(typed.to_string(), text);
        for wrong in ["", "2222-2222-222", "2222-2222-22220", "0000-0000-0000"] {
            assert!(Code::parse(wrong).is_none(), "{wrong}");
        }
        assert!(!format!("{code:?}").contains(&text[..4]));
    }

    #[test]
    fn a_token_proves_one_choice_of_one_request_as_it_was_shown() {
        let code = Code::new().unwrap();
        let mut asked = request("wf-1");
        asked.proofs.hashes = code.proofs(&asked);
        assert!(code.is_of(&asked));
        assert!(!Code::new().unwrap().is_of(&asked));
        let revise = code.decide(&asked, "revise", None);
        let proved =
            |decision: &Decision| is_proved(decision, &asked.choices, &asked.proofs.hashes);
        assert!(proved(&revise));
        let changed = |change: fn(&mut Decision)| {
            let mut decision = revise.clone();
            change(&mut decision);
            decision
        };
        assert!(!proved(&changed(|it| it.choice = "approve".to_owned())));
        assert!(!proved(&changed(|it| it.token.clear())));
        assert!(!proved(&changed(|it| it.token.make_ascii_uppercase())));
        // The hashes that everybody can read are no tokens.
        for known in &asked.proofs.hashes {
            let mut decision = revise.clone();
            decision.token.clone_from(known);
            assert!(!proved(&decision));
        }
        let others: [fn(&mut Request); 5] = [
            |it| it.id = "m".to_owned(),
            |it| it.task_id = "wf-2".to_owned(),
            |it| it.ask = "Is it sunny?".to_owned(),
            |it| it.consequences.clear(),
            |it| it.shown_file.as_mut().unwrap().state = "another".to_owned(),
        ];
        for change in others {
            let mut other = asked.clone();
            change(&mut other);
            assert!(!code.is_of(&other), "{other:?}");
            assert!(!proved(&code.decide(&other, "revise", None)), "{other:?}");
        }
    }

    #[test]
    fn a_comment_counts_only_with_its_own_token() {
        let code = Code::new().unwrap();
        let asked = request("wf-1");
        let decision = code.decide(&asked, "revise", Some("name the risks".to_owned()));
        assert!(code.proves_comment(&asked, &decision));
        for comment in [Some("publish it".to_owned()), None] {
            let forged = Decision {
                comment,
                comment_token: decision.token.clone(),
                ..decision.clone()
            };
            assert_eq!(
                code.proves_comment(&asked, &forged),
                forged.comment.is_none()
            );
        }
    }
}

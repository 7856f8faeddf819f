//! The code that proves that an answer comes from the person to whom it was shown.
//!
//! Sixty random bits in letters and digits that look different from each other. A request has a code of its own; what is
//! stored of it is a hash, from which it cannot be found by trying.

use std::io;

use sha2::{Digest, Sha256};

/// Letters and digits without look-alikes. Each stands for five bits.
const ALPHABET: &[u8; 32] = b"23456789ABCDEFGHJKLMNPQRSTUVWXYZ";
/// The number of characters, in groups of [`GROUP`].
const LENGTH: usize = 12;
const GROUP: usize = 4;

/// Makes a code: `K7QM-2XWP-9RTB`.
pub(crate) fn new_code() -> io::Result<String> {
    let mut bytes = [0; LENGTH];
    getrandom::fill(&mut bytes).map_err(io::Error::other)?;
    let characters = bytes.map(|byte| char::from(ALPHABET[usize::from(byte % 32)]));
    let groups = characters.chunks(GROUP).map(|group| group.iter().collect());
    Ok(groups.collect::<Vec<String>>().join("-"))
}

/// Returns what is stored of a code. `subject` is what it proves the answer to: no other code has the same hash for it.
pub(crate) fn seal(subject: &str, code: &str) -> String {
    let code = code.chars().filter(char::is_ascii_alphanumeric);
    let code: String = code.map(|c| c.to_ascii_uppercase()).collect();
    format!("{:x}", Sha256::digest(format!("{subject}\0{code}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_code_is_random_and_easily_typed() {
        let code = new_code().unwrap();
        assert_eq!(code.len(), 14, "{code}");
        assert!(!code.contains(['0', 'O', '1', 'I']), "{code}");
        assert_ne!(code, new_code().unwrap());
        let typed = code.to_lowercase().replace('-', " ");
        assert_eq!(seal("n", &code), seal("n", &typed));
        assert_ne!(seal("n", &code), seal("m", &code));
        assert_ne!(seal("n", &code), seal("n", ""));
    }
}

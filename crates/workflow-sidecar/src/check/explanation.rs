//! Explanations of diagnostics: the sections of one page.

use anyhow::bail;
use workflow_core::diagnostic::{Code, shown};

const PAGE: &str = include_str!("../../../../docs/DIAGNOSTICS.md");

/// Returns the explanation of a code, for a terminal.
pub(crate) fn explanation(name: &str) -> anyhow::Result<String> {
    let Some(code) = code_named(name) else {
        let (first, last) = (Code::ALL[0], Code::ALL[Code::ALL.len() - 1]);
        bail!(
            "there is no diagnostic {}: codes are {first} to {last}, as in docs/DIAGNOSTICS.md",
            shown(name)
        );
    };
    let body = section(code.as_str()).unwrap_or_default();
    let mut lines = vec![format!("{code}: {}", code.summary()), String::new()];
    let mut in_example = false;
    for line in body.lines() {
        match line.strip_prefix("```") {
            Some(info) => {
                in_example = !info.is_empty();
                match info.rsplit(' ').next() {
                    Some("wrong") => lines.push("Wrong:".to_owned()),
                    Some("right") => lines.push("Right:".to_owned()),
                    _ => {}
                }
            }
            None if in_example => lines.push(format!("    {line}").trim_end().to_owned()),
            None => lines.push(line.to_owned()),
        }
    }
    lines.push(String::new());
    lines.push(format!("To correct it: {}.", code.help()));
    Ok(lines.join("\n"))
}

/// Finds the code that a person names: `WF026`, `wf026` or `26`.
fn code_named(name: &str) -> Option<Code> {
    let name = name.to_uppercase();
    let number = name.strip_prefix("WF").unwrap_or(&name);
    let full = format!("WF{number:0>3}");
    Code::ALL.iter().copied().find(|code| code.as_str() == full)
}

fn section(code: &str) -> Option<&'static str> {
    let start = PAGE.find(&format!("\n## {code}\n"))?;
    let rest = &PAGE[start + 1..];
    let body = rest.split_once('\n')?.1;
    Some(body.split("\n## ").next()?.trim())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_code_has_a_section_and_every_section_a_code() {
        for code in Code::ALL {
            assert!(
                section(code.as_str()).is_some_and(|text| text.len() > 40),
                "{code}"
            );
        }
        assert_eq!(PAGE.matches("\n## ").count(), Code::ALL.len());
    }

    #[test]
    fn a_code_is_found_by_its_number() {
        assert_eq!(code_named("WF026"), Some(Code::FreeShell));
        assert_eq!(code_named("wf26"), Some(Code::FreeShell));
        assert_eq!(code_named("26"), Some(Code::FreeShell));
        assert_eq!(code_named("WF999"), None);
    }
}

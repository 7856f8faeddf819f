//! Invalid patterns.

/// The reason why a pattern is invalid.
#[derive(Debug, thiserror::Error)]
pub(crate) enum PatternError {
    /// A syntax error in a glob.
    #[error("{}", .0.kind())]
    Glob(#[from] globset::Error),
    /// A syntax error in a regular expression, or one that is too large.
    #[error("{0}")]
    Regex(#[from] regex::Error),
    /// `..` after a part with wildcards.
    #[error("`..` after a `*` is not supported: write the path without `..`")]
    Climbs,
    /// A place outside of the project, where only files of the project count.
    #[error("it must name files of the project")]
    Outside,
    /// Braces with too many alternatives.
    #[error("its braces expand to too many paths: write several patterns")]
    Braces,
}

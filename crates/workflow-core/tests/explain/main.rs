//! What is explained: the values are what a session goes by, and each names the line that says it.

mod origins;
mod places;

//! The platform: everything that sessions need outside of the process.

mod effects;
mod real;

pub(crate) use effects::{Platform, PlatformReport, Project, SessionContext};
pub(crate) use real::RealPlatform;

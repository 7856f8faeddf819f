//! Files and directories, without regard to what is in them: the ground below
//! [`platform`](crate::platform). Imports nothing else of this crate.

mod atomic_write;
mod file_set;
mod file_state;
mod home;
pub(crate) mod private_file;
pub(crate) mod regular_file;

pub(crate) use self::atomic_write::write_atomically;
pub use self::file_state::FileState;
pub(crate) use self::home::{STATE_DIRECTORY, expanded_home, home_dir};

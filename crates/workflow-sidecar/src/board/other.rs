//! A board that listens already.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use workflow_core::diagnostic::shown;

use super::NAME;

const TIME: Duration = Duration::from_secs(2);
/// The most bytes that are read of an answer.
const MAX_ANSWER: usize = 4096;

/// What a board says about itself.
pub(super) fn says() -> String {
    format!("{NAME}, process {}", std::process::id())
}

/// What the board at an address says about itself; `None` if something else listens there.
pub(crate) fn other_board(address: SocketAddr) -> Option<String> {
    let mut stream = TcpStream::connect_timeout(&address, TIME).ok()?;
    stream.set_read_timeout(Some(TIME)).ok()?;
    let request = format!("GET /board HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).ok()?;
    // In one piece: whoever sends letter by letter is no board.
    let mut answer = [0; MAX_ANSWER];
    let length = stream.read(&mut answer).ok()?;
    let answer = std::str::from_utf8(answer.get(..length)?).ok()?;
    let (_, said) = answer.split_once("\r\n\r\n")?;
    let program = NAME.split(' ').next()?;
    said.starts_with(program).then(|| shown(said))
}

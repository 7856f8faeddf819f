//! The messages of a host on standard input and output, as a transport of rmcp.
//!
//! rmcp's own transport does not answer a line that is not JSON, and names no reason for another line that is not a message.
//! This one reads lines as `serve` does: with the same limit, and the same answers to what is not a message.

use std::future::{Future, ready};
use std::io::{self, Write};

use rmcp::RoleServer;
use rmcp::service::{RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use serde::Serialize;
use serde_json::Value;
use tokio::sync::mpsc::{Receiver, Sender, channel};
use workflow_protocol::{Error, Kind};

use crate::rpc::{DEFAULT_MAX_LINE, Frame, LineReader, Message, failure};
use crate::threads::spawn;

/// The messages that are read before the server takes them.
const READ_AHEAD: usize = 16;

/// The pipes to the host.
pub(super) struct Lines {
    messages: Receiver<RxJsonRpcMessage<RoleServer>>,
}

impl Lines {
    /// Starts to read standard input.
    pub(super) fn open() -> io::Result<Self> {
        let (sender, messages) = channel(READ_AHEAD);
        let read = move || {
            if let Err(error) = read(&sender) {
                tracing::error!("the pipe from the host failed: {error}");
            }
        };
        spawn("lines", read)?;
        Ok(Self { messages })
    }
}

impl Transport<RoleServer> for Lines {
    type Error = io::Error;

    fn send(
        &mut self,
        message: TxJsonRpcMessage<RoleServer>,
    ) -> impl Future<Output = io::Result<()>> + Send + 'static {
        ready(write(&message))
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleServer>> {
        self.messages.recv().await
    }

    fn close(&mut self) -> impl Future<Output = io::Result<()>> + Send {
        ready(Ok(()))
    }
}

/// Reads messages until the input ends or the server is gone, and answers invalid lines with an error.
fn read(messages: &Sender<RxJsonRpcMessage<RoleServer>>) -> io::Result<()> {
    let mut lines = LineReader::new(io::stdin().lock(), DEFAULT_MAX_LINE);
    loop {
        match lines.next()? {
            Frame::Line(line) if line.trim_ascii().is_empty() => {}
            Frame::Line(line) => match parse(line) {
                Ok(Some(message)) => {
                    if messages.blocking_send(message).is_err() {
                        return Ok(());
                    }
                }
                Ok(None) => {}
                Err(refusal) => write(&refusal)?,
            },
            Frame::TooLong(_) => {
                tracing::warn!("a line of more than {DEFAULT_MAX_LINE} bytes was skipped");
            }
            Frame::End => return Ok(()),
        }
    }
}

/// The message of a line, `None` for one that needs no answer, or the response that refuses the line.
fn parse(line: &[u8]) -> Result<Option<RxJsonRpcMessage<RoleServer>>, Value> {
    let refused = match (Message::parse(line), serde_json::from_slice(line)) {
        (Ok(_), Ok(message)) => return Ok(Some(message)),
        (Ok(Message::Request(id, _)), Err(error)) => {
            failure(id, &Error::new(Kind::InvalidRequest, error.to_string()))
        }
        (Ok(Message::Notification(_) | Message::Response { .. }), Err(error)) => {
            tracing::debug!("a message of the host was skipped: {error}");
            return Ok(None);
        }
        (Err(refusal), _) => refusal.into_response(),
    };
    Err(serde_json::from_str(&refused).expect("a response is JSON"))
}

/// Writes a message on standard output, which carries nothing else.
fn write(message: &impl Serialize) -> io::Result<()> {
    let mut line = serde_json::to_vec(message)?;
    line.push(b'\n');
    let mut output = io::stdout().lock();
    output.write_all(&line)?;
    output.flush()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_that_is_no_message_is_refused_with_its_reason_and_id() {
        let refused = |line: &str| parse(line.as_bytes()).unwrap_err();
        assert_eq!(refused("nope")["error"]["code"], -32700);
        assert_eq!(refused("[]")["error"]["code"], -32600);
        let half = refused(r#"{"jsonrpc":"2.0","id":7}"#);
        assert_eq!(half["id"], 7);
        // rmcp counts ids with a sign.
        let high = refused(r#"{"jsonrpc":"2.0","id":18446744073709551615,"method":"ping"}"#);
        assert_eq!(high["error"]["code"], -32600);
    }

    #[test]
    fn notifications_that_nobody_knows_are_no_error() {
        for line in [
            r#"{"jsonrpc":"2.0","method":"notifications/other","params":{"a":1}}"#,
            r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":7}"#,
            r#"{"jsonrpc":"2.0","id":1,"result":{}}"#,
        ] {
            assert!(parse(line.as_bytes()).is_ok(), "{line}");
        }
    }
}

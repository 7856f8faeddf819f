//! `board`: all runs in a web page, and the answers to what waits.

use std::io::ErrorKind;
use std::net::{SocketAddr, TcpListener};
use std::process::{Command, Stdio};

use anyhow::{Context, bail, ensure};
use axum::http::HeaderName;

use super::project::StoreLocation;
use crate::board::{Access, Board, Guard, other_board};
use crate::platform::answers::requests::Requests;
use crate::platform::on_path;
use crate::present::say;
use crate::store::AnswerRight;
use crate::threads::spawn;

/// Show all runs in a web page, and answer what waits there
#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    /// Where to listen
    #[arg(long, value_name = "IP:PORT", default_value = "127.0.0.1:7317")]
    listen: SocketAddr,
    /// Print the address, and open no browser
    #[arg(long)]
    no_open: bool,
    /// Name of the board in a network or behind a proxy
    #[arg(long, value_name = "NAME")]
    host: Option<String>,
    /// Header in which a proxy with a sign-on says who asks: no token is needed then, so let only the proxy reach the board
    #[arg(long, value_name = "NAME", requires = "host")]
    trust_header: Option<HeaderName>,
    #[command(flatten)]
    store: StoreLocation,
}

pub(super) fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let store = arguments.store.open()?;
    let listen = arguments.listen;
    ensure!(
        !listen.ip().is_unspecified() || arguments.host.is_some(),
        "--listen {listen} is every address of this machine: --host NAME says which name the board has"
    );
    let listener = listener(listen)?;
    let address = listener.local_addr()?;
    let guard = Guard::new(Access {
        address,
        host: arguments.host.clone(),
        header: arguments.trust_header.clone(),
    })?;
    let page = guard.address();
    say(&page)?;
    if arguments.trust_header.is_none() {
        say("The address counts once, in one browser. Ctrl+C ends the board.")?;
    }
    if !address.ip().is_loopback() {
        tracing::warn!(
            "whoever can listen in this network reads what the board shows: put a proxy with TLS before it"
        );
    }
    let requests = Requests::of(store);
    // Programs of this machine see the address that a browser is started with, and a proxy has another one.
    let is_private = requests.answer_right() != AnswerRight::MayAnswer;
    if !arguments.no_open && arguments.trust_header.is_none() && is_private {
        open_page(page);
    }
    Board::new(requests, guard).serve(listener)
}

fn listener(address: SocketAddr) -> anyhow::Result<TcpListener> {
    TcpListener::bind(address).or_else(|error| {
        if error.kind() == ErrorKind::AddrInUse
            && let Some(other) = other_board(address)
        {
            bail!("{address} is taken by what says that it is a board ({other}): open the address that it has printed, or end it, or give this one another port with --listen");
        }
        Err(error).with_context(|| format!("{address} cannot be listened at"))
    })
}

/// Opens a page in the user's browser, if there is a program that does.
fn open_page(page: String) {
    let program = if cfg!(target_os = "macos") {
        "open"
    } else {
        "xdg-open"
    };
    let Some(program) = on_path(program) else {
        return;
    };
    let opened = spawn("browser", move || {
        let mut command = Command::new(program);
        command.stdin(Stdio::null()).stdout(Stdio::null());
        command.stderr(Stdio::null()).arg(page).status()
    });
    // The address is printed for whoever sees no browser.
    drop(opened);
}

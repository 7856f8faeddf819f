//! What each hook event of the host comes to, one file an event.

mod agent_end;
mod before_agent_start;
mod session;
mod tool_call;
mod turn;

pub(crate) use agent_end::Countdown;
pub(crate) use before_agent_start::Pushed;

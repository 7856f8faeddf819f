//! The table of methods, from which a call reaches its handler.

use std::sync::Arc;

use jsonrpsee::types::{Id, Params};
use jsonrpsee::{Extensions, MethodCallback, MethodResponse, RpcModule};
use parking_lot::Mutex;
use serde_json::value::RawValue;
use workflow_protocol::{Error, Kind, Method, for_each_method, method};

use super::message::Call;
use super::response::{failure, success};

/// The receiver of the host's calls.
pub(crate) trait Service: Send + 'static {
    /// Checks that a call may be made now, before its parameters are read.
    fn check(&self, method: &str, params: Option<&str>) -> Result<(), Error>;

    /// Keeps the id of the call whose handler has just deferred the answer. A notification has no id.
    fn keep_deferred(&mut self, id: Option<Id<'static>>);
}

/// The handler of one method.
pub(crate) trait Handler<M: Method> {
    /// Handles a call of the method.
    fn handle(&mut self, params: M::Params<'_>) -> HandlerResult<M::Result>;
}

/// The answer to a call, or the reason why it has no answer.
pub(crate) type HandlerResult<R> = Result<HandlerAnswer<R>, Error>;

/// The answer to a call.
#[derive(Debug)]
pub(crate) enum HandlerAnswer<R> {
    Now(R),
    /// The answer comes later, under the id of the call.
    Deferred,
}

/// The table of methods.
pub(crate) struct Router<S> {
    pub(crate) methods: RpcModule<Mutex<S>>,
}

impl<S: Service + Handlers> Router<S> {
    pub(crate) fn new(service: &Arc<Mutex<S>>) -> Self {
        let mut methods = RpcModule::from_arc(Arc::clone(service));
        macro_rules! register {
            ($($(#[$doc:meta])* $row:ident = $name:literal ($params:ident) -> $result:ty;)*) => {$(
                let shared = Arc::clone(service);
                let callback = move |id: Id<'_>, params: Params<'_>, _, _| {
                    let mut service = shared.lock();
                    respond::<S, method::$row>(&mut service, id, params.as_str())
                };
                methods
                    .verify_and_insert($name, MethodCallback::Sync(Arc::new(callback)))
                    .expect("a test checks that every method has a different name");
            )*};
        }
        for_each_method!(register);
        Self { methods }
    }

    /// Calls a method. The response is a notification's if none is to be sent now.
    pub(crate) fn call(&self, id: Id<'_>, call: &Call<'_>) -> MethodResponse {
        let Some(MethodCallback::Sync(callback)) = self.methods.method(&call.method) else {
            let unknown = format!("there is no method {:?}", &*call.method);
            return failure(id, &Error::new(Kind::MethodNotFound, unknown));
        };
        let params = Params::new(call.params.map(RawValue::get));
        callback(id, params, usize::MAX, Extensions::new())
    }
}

/// Reads the parameters, runs the handler of the method and makes the response.
fn respond<S: Service + Handler<M>, M: Method>(
    service: &mut S,
    id: Id<'_>,
    params: Option<&str>,
) -> MethodResponse {
    match answer::<S, M>(service, params) {
        Ok(HandlerAnswer::Now(result)) => success(id, result),
        Ok(HandlerAnswer::Deferred) => {
            service.keep_deferred((id != Id::Null).then(|| id.into_owned()));
            MethodResponse::notification()
        }
        Err(error) => failure(id, &error),
    }
}

fn answer<S: Service + Handler<M>, M: Method>(
    service: &mut S,
    params: Option<&str>,
) -> HandlerResult<M::Result> {
    service.check(M::NAME, params)?;
    service.handle(M::read(params)?)
}

macro_rules! handlers {
    ($($(#[$doc:meta])* $row:ident = $name:literal ($params:ident) -> $result:ty;)*) => {
        /// The handlers of all methods: a row of the table without one does not compile.
        pub(crate) trait Handlers: $(Handler<method::$row> +)* {}

        impl<S: $(Handler<method::$row> +)*> Handlers for S {}
    };
}

for_each_method!(handlers);

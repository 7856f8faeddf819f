//! The methods of the protocol, and their way to a handler.

use std::sync::{Arc, Mutex, PoisonError};

use jsonrpsee::types::{Id, Params};
use jsonrpsee::{Extensions, MethodCallback, MethodResponse, RpcModule};
use serde_json::value::RawValue;
use workflow_protocol::{Error, Handlers, Kind, Method, for_each_method, method};

use super::message::Call;
use super::response::{failure, success};

/// The receiver of the host's calls.
pub(crate) trait Service: Handlers + Send + 'static {
    /// Checks that a call may be made now, before its parameters are read.
    fn check(&self, method: &str, params: Option<&str>) -> Result<(), Error>;

    /// Gives the result, or keeps the id of a request that is answered later. A notification has no id.
    fn result<R>(
        &mut self,
        id: Option<Id<'_>>,
        answer: Self::Answer<R>,
    ) -> Result<Option<R>, Error>;
}

/// The table of methods.
pub(crate) struct Router<S> {
    pub(crate) methods: RpcModule<Mutex<S>>,
}

impl<S: Service> Router<S> {
    pub(crate) fn new(service: &Arc<Mutex<S>>) -> Self {
        let mut methods = RpcModule::from_arc(Arc::clone(service));
        macro_rules! register {
            ($($(#[$doc:meta])* $row:ident: $handler:ident = $name:literal ($params:ident) -> $result:ty;)*) => {$(
                let shared = Arc::clone(service);
                let callback = move |id: Id<'_>, params: Params<'_>, _, _| {
                    let mut service = shared.lock().unwrap_or_else(PoisonError::into_inner);
                    handle::<S, method::$row>(&mut service, id, params.as_str())
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
fn handle<S: Service, M: Method>(
    service: &mut S,
    id: Id<'_>,
    params: Option<&str>,
) -> MethodResponse {
    match result::<S, M>(service, &id, params) {
        Ok(Some(result)) => success(id, result),
        Ok(None) => MethodResponse::notification(),
        Err(error) => failure(id, &error),
    }
}

fn result<S: Service, M: Method>(
    service: &mut S,
    id: &Id<'_>,
    params: Option<&str>,
) -> Result<Option<M::Result>, Error> {
    service.check(M::NAME, params)?;
    let params = M::read(params)?;
    let answer = M::call(service, params);
    let id = (*id != Id::Null).then(|| id.clone());
    service.result(id, answer)
}

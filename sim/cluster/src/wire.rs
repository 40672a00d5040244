//! A question over the network.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use madsim::net::Endpoint;
use madsim::net::rpc::Request;

/// Asks, and waits so long. It is a task of its own, as what a process leaves to its kernel is: a
/// slow host looks late for its answers, and its time-outs do not end between two of its looks.
pub(crate) async fn ask<R: Request>(
    endpoint: Arc<Endpoint>,
    address: SocketAddr,
    request: R,
    patience: Duration,
) -> io::Result<R::Response> {
    let asked = async move { endpoint.call_timeout(address, request, patience).await };
    madsim::task::spawn(asked).await.unwrap_or_else(|killed| Err(io::Error::other(killed)))
}

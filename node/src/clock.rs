//! Time, for back-off, for offers that nobody takes, and for deadlines. No decision reads it.

use std::future::Future;
use std::time::Duration;

/// A clock. Its rate and its zero may differ from those of all other processes.
///
/// On tokio: `now` is `Instant::now() - start`, `sleep` is `tokio::time::sleep(duration).await`.
pub trait Clock: Send + Sync + 'static {
    /// The time since some fixed moment of this process. Never goes back.
    fn now(&self) -> Duration;

    /// Ends after this time, or later.
    fn sleep(&self, duration: Duration) -> impl Future<Output = ()> + Send;
}

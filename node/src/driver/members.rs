//! What membership tells: who has ended, who is suspected, who this process is.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use futures_core::future::BoxFuture;
use handover_core::{Change, HostId, Record};

use super::Driver;
use crate::backoff::Backoff;
use crate::erased::Joined;
use crate::membership::{Liveness, MembershipError, Predecessors, Sightings};

/// What is known of the others.
pub(super) struct Members {
    watch: Watch,
    backoff: Backoff,
    pub(super) suspects: BTreeSet<HostId>,
    /// Hosts that have ended and may have a line, and when that is reported.
    gone: BTreeMap<HostId, Duration>,
    /// The host whose earlier lives have all ended; their lines go before it speaks (Ar2).
    succeeds: Option<HostId>,
}

enum Watch {
    Waiting {
        at: Duration,
    },
    Opening(BoxFuture<'static, Result<Sightings, MembershipError>>),
    /// Since when.
    Following(Sightings, Duration),
}

impl Members {
    pub(super) fn new(backoff: Backoff, now: Duration, joined: &Joined) -> Self {
        let mut members = Self {
            watch: Watch::Waiting { at: now },
            backoff,
            suspects: BTreeSet::new(),
            gone: BTreeMap::new(),
            succeeds: None,
        };
        members.joined(joined);
        members
    }

    pub(super) fn joined(&mut self, joined: &Joined) {
        self.succeeds = match joined.predecessors {
            Predecessors::Ended => Some(joined.host.clone()),
            Predecessors::Unknown => None,
        };
    }

    pub(super) fn due(&self) -> Option<Duration> {
        let watch = match &self.watch {
            Watch::Waiting { at } => Some(*at),
            Watch::Opening(_) | Watch::Following(..) => None,
        };
        watch.into_iter().chain(self.gone.values().copied()).min()
    }

    /// The hosts that have ended, and whose lines are to go now.
    pub(super) fn gone_due(&self, record: &Record, now: Duration) -> BTreeSet<HostId> {
        let mut gone = BTreeSet::new();
        if let Some(host) = &self.succeeds {
            let earlier = record.lives(&host.name).map(|(life, _)| life);
            gone.extend(earlier.filter(|life| *life < host).cloned());
        }
        let due = self.gone.iter().filter(|(_, at)| **at <= now).map(|(host, _)| host);
        gone.extend(due.filter(|host| record.line(host).is_some()).cloned());
        gone
    }

    pub(super) fn is_known_gone(&mut self, host: &HostId) {
        self.gone.remove(host);
    }

    /// What the record knows needs no report any more.
    pub(super) fn forget_gone(&mut self, change: &Change, record: &Record) {
        if !change.gone.is_empty() {
            self.gone.retain(|host, _| !record.is_gone(host));
        }
    }
}

impl Driver {
    pub(super) fn poll_members(&mut self, context: &mut Context<'_>, now: Duration) -> bool {
        match &mut self.members.watch {
            Watch::Waiting { at } if now < *at => false,
            Watch::Waiting { .. } => {
                let opened = self.within(Arc::clone(&self.membership).watch());
                self.members.watch = Watch::Opening(Box::pin(async move {
                    opened.await.unwrap_or_else(|| Err(MembershipError::late()))
                }));
                true
            }
            Watch::Opening(open) => {
                let Poll::Ready(opened) = open.as_mut().poll(context) else { return false };
                match opened {
                    Ok(sightings) => self.members.watch = Watch::Following(sightings, now),
                    Err(error) => {
                        tracing::warn!(%error, "watches membership again");
                        self.watch_members_again(now);
                    }
                }
                true
            }
            Watch::Following(sightings, opened) => {
                let lasts = now.saturating_sub(*opened) >= self.options.retry_cap;
                let Poll::Ready(sighting) = sightings.as_stream().poll_next(context) else {
                    return false;
                };
                match sighting {
                    Some((host, liveness)) => self.see(host, liveness, now),
                    None if lasts => {
                        self.members.backoff.reset();
                        self.watch_members_again(now);
                    }
                    None => self.watch_members_again(now),
                }
                true
            }
        }
    }

    fn watch_members_again(&mut self, now: Duration) {
        let at = now.saturating_add(self.members.backoff.next(&mut self.jitter));
        self.members.watch = Watch::Waiting { at };
    }

    fn see(&mut self, host: HostId, liveness: Liveness, now: Duration) {
        tracing::debug!(%host, ?liveness, "membership");
        if self.shared.read(|machine| *machine.host().id() == host) {
            // Of itself a process knows better; what others make of it, it reads in the record.
            return;
        }
        match liveness {
            Liveness::Alive => {
                self.members.suspects.remove(&host);
            }
            Liveness::Suspect => {
                self.members.suspects.insert(host);
            }
            Liveness::Gone => {
                self.members.suspects.remove(&host);
                // Spread, so that not all report at once what all know.
                let at = now.saturating_add(self.jitter.below(self.options.spread));
                self.members.gone.entry(host).or_insert(at);
            }
        }
    }
}

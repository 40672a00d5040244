//! What a candidate is and says now: may be read at any time.

use super::{Candidate, Phase, Wish};
use crate::record::Ruling;
use crate::{Gate, GrantId, HostId, Seq, Standing, Statement, Unreadable, Version, View};

impl Candidate {
    /// The host's present word, a level: the driver says it again until the host's view
    /// acknowledges it (Dr1). None from a host that has said nothing or was expelled.
    #[must_use]
    pub fn statement(&self) -> Option<Statement> {
        if let Phase::Expelled { .. } = self.phase {
            return None;
        }
        let standing = self.standing.clone()?;
        let (host, version) = (self.host.clone(), self.version.clone());
        Some(Statement { host, version, seq: self.seq, standing })
    }

    /// Where it stands by its present word; none if it has said nothing.
    #[must_use]
    pub fn standing(&self) -> Option<&Standing> {
        self.standing.as_ref()
    }

    /// Has the record folded the present word (St2)? True also where there is nothing to say.
    #[must_use]
    pub fn is_acknowledged(&self) -> bool {
        self.standing.is_none()
            || self.view.as_ref().is_some_and(|view| view.acknowledged == Some(self.seq))
    }

    /// May the process take traffic (Ca8)?
    #[must_use]
    pub fn gate(&self) -> Gate {
        if self.approved {
            return Gate::Open;
        }
        if let Some(why) = &self.unreadable {
            return Gate::Unknown { why: why.clone() };
        }
        let Some(view) = &self.view else {
            return Gate::Unknown { why: Unreadable::NoView };
        };
        match view.verdict.as_ref().map(|verdict| &verdict.ruling) {
            Some(Ruling::Approved) => Gate::Open,
            Some(Ruling::Failed(reason)) => Gate::Blocked { reason: reason.clone() },
            None => Gate::Waiting { on: view.hold.as_ref().map(|hold| hold.host.clone()) },
        }
    }

    /// Its identity.
    #[must_use]
    pub fn host(&self) -> &HostId {
        &self.host
    }

    /// What it runs.
    #[must_use]
    pub fn version(&self) -> &Version {
        &self.version
    }

    /// What it is in.
    #[must_use]
    pub fn phase(&self) -> Phase {
        self.phase
    }

    /// What is wanted of it.
    #[must_use]
    pub fn wish(&self) -> Wish {
        self.wish
    }

    /// The number of its present word.
    #[must_use]
    pub fn seq(&self) -> Seq {
        self.seq
    }

    /// The newest view that it holds.
    #[must_use]
    pub fn view(&self) -> Option<&View> {
        self.view.as_deref()
    }

    /// The build that has not really ended yet.
    #[must_use]
    pub fn running(&self) -> Option<GrantId> {
        match self.phase {
            Phase::Building { grant } | Phase::Cancelling { grant } => Some(grant),
            Phase::Expelled { running } => running,
            Phase::Idle
            | Phase::Asking
            | Phase::Planning { .. }
            | Phase::Accepted { .. }
            | Phase::Finished { .. }
            | Phase::StoodDown => None,
        }
    }

    /// Asserts what must hold of our own state, whatever the record says.
    ///
    /// # Panics
    /// If an invariant is broken: a defect of this crate.
    pub fn check(&self) {
        assert!(self.standing.is_some() || self.seq == Seq(0), "a number is taken only by a word");
        assert!(
            self.unsaid.is_empty() || self.running().is_some(),
            "sign-offs belong to a running build"
        );
        assert!(
            self.view
                .as_ref()
                .is_none_or(|view| self.read.is_some_and(|read| read >= view.revision)),
            "a view never goes back, so what was read is at least what is held"
        );
        let said = self.standing.as_ref().and_then(Standing::grant);
        let about = self.phase.works_under().or_else(|| self.running());
        assert!(
            about.is_none() || about == said,
            "the word names the grant that the phase is about"
        );
    }
}

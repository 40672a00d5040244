//! Messages: what is on its way between a process and the record.

use std::collections::VecDeque;
use std::sync::Arc;

use handover_core::{Phase, Record, Revision, Statement, View};
use serde::{Deserialize, Serialize};

use super::touched::Move;
use super::{ArbiterIndex, Direction, Fact, Lost, Who, Wire, World};
use crate::variants::{Said, Saying};

/// Both directions between a process and the record.
#[derive(Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Link {
    /// Statements on their way, oldest first.
    pub statements: VecDeque<Arc<Statement>>,
    /// Views on their way, oldest first.
    pub views: VecDeque<Arc<View>>,
    /// The newest view that was published for it, lost or not.
    pub newest: Option<Arc<View>>,
    /// Statements stay on the link.
    pub statements_stalled: bool,
    /// Views stay on the link.
    pub views_stalled: bool,
    /// What is sent is lost, either way.
    pub cut: bool,
}

/// By hand for `clone_from`, which keeps the room of the queues.
impl Clone for Link {
    fn clone(&self) -> Self {
        let mut link = Self::default();
        link.clone_from(self);
        link
    }

    fn clone_from(&mut self, source: &Self) {
        let Self { statements, views, newest, statements_stalled, views_stalled, cut } = source;
        self.statements.clone_from(statements);
        self.views.clone_from(views);
        self.newest.clone_from(newest);
        self.statements_stalled = *statements_stalled;
        self.views_stalled = *views_stalled;
        self.cut = *cut;
    }
}

impl World {
    /// Sends the present word of a host, if it has a new one.
    pub(super) fn say(&mut self, who: Who, from: Phase, facts: &mut Vec<Fact>) {
        let process = self.process(who);
        let seq = process.host.candidate().seq();
        if seq == process.said {
            return;
        }
        let Some(statement) = process.host.statement() else {
            return;
        };
        let said = self.protocol().say(&Saying { statement: &statement, process, from });
        facts.push(Fact::Said { who, statement: Arc::new(statement) });
        self.process_mut(who).said = seq;
        match said {
            Said::Sent(statement) => self.send(who, Arc::new(statement), facts),
            Said::Kept { acknowledged } => {
                facts.push(Fact::Lost { who, what: Lost::Unsaid(seq) });
                self.process_mut(who).muted = seq;
                if acknowledged {
                    self.forge_acknowledgement(who, facts);
                }
            }
        }
    }

    /// A wrong protocol takes its own silence for acknowledged, and the job for done.
    fn forge_acknowledgement(&mut self, who: Who, facts: &mut Vec<Fact>) {
        let process = self.process(who);
        let seq = process.host.candidate().seq();
        let Some(view) = process.host.candidate().view().cloned() else {
            return;
        };
        let revision = view.revision.next();
        let forged = View { acknowledged: Some(seq), revision, ..view };
        self.process_mut(who).shown = Some(Arc::new(forged.clone()));
        self.with_host(who, facts, |host| {
            host.stand_down_after();
            // The candidate has just held an older view, so it takes this one.
            let _ = host.handle_view(forged);
        });
    }

    pub(super) fn send(&mut self, who: Who, statement: Arc<Statement>, facts: &mut Vec<Fact>) {
        if self.link(who).cut {
            facts.push(Fact::Lost { who, what: Lost::Statement(statement.seq) });
        } else {
            self.move_on_link(who, Move::Said(statement));
        }
    }

    /// Puts the arbiter's record on the links, as each host sees it.
    pub(super) fn publish(&mut self, index: ArbiterIndex, facts: &mut Vec<Fact>) {
        self.settle_late(index, facts);
        let record = Arc::clone(&self.arbiter_mut(index).applied);
        self.arbiter_mut(index).unpublished = false;
        self.tell_all(index, &record, facts);
    }

    /// Puts a record on the links, as each host sees it.
    pub(super) fn tell_all(&mut self, index: ArbiterIndex, record: &Record, facts: &mut Vec<Fact>) {
        facts.push(Fact::Published { arbiter: index, revision: record.revision() });
        for i in 0..self.actors.len() {
            let who = Who::from(i);
            let process = self.process(who);
            let read_already = self
                .link(who)
                .newest
                .as_ref()
                .is_some_and(|view| view.revision >= record.revision());
            if !process.lives() || read_already {
                continue;
            }
            let view = record.view_for(process.host.id(), process.host.version());
            self.send_view(who, Arc::new(view), facts);
        }
    }

    pub(super) fn send_view(&mut self, who: Who, view: Arc<View>, facts: &mut Vec<Fact>) {
        if self.link(who).cut {
            facts.push(Fact::Lost { who, what: Lost::View(view.revision) });
            self.link_mut(who).newest = Some(view);
        } else {
            self.move_on_link(who, Move::Shown(view));
        }
    }

    /// The host reads its oldest view.
    pub(super) fn read(&mut self, who: Who, facts: &mut Vec<Fact>) {
        let view = self.link(who).views.front().cloned().expect("enabled only with a view");
        self.move_on_link(who, Move::Read);
        self.read_view(who, &view, facts);
    }

    fn read_view(&mut self, who: Who, view: &Arc<View>, facts: &mut Vec<Fact>) {
        let process = self.process(who);
        let heard = self.protocol().hear_shared(view, process);
        let at = facts.len();
        let mut refused = None;
        self.with_host(who, facts, |host| {
            refused = host.handle_view(heard).err().map(|refusal| refusal.name());
        });
        // Under a wrong protocol it takes older ones too. What is newest it has read for all that,
        // and nobody repeats it.
        if refused.is_none() && self.read_revision(who) < Some(view.revision) {
            self.process_mut(who).shown = Some(Arc::clone(view));
        }
        facts.insert(at, Fact::Read { who, view: Arc::clone(view), refused });
    }

    /// Sends again what was not acknowledged, or not read (Dr1).
    pub(super) fn repeat(&mut self, wire: Wire, facts: &mut Vec<Fact>) {
        let who = wire.who;
        match wire.direction {
            Direction::ToRecord => {
                let process = self.process(who);
                let statement = process.host.statement().expect("enabled only with a word");
                let from = process.phase();
                match self.protocol().say(&Saying { statement: &statement, process, from }) {
                    Said::Sent(statement) => self.send(who, Arc::new(statement), facts),
                    Said::Kept { .. } => {
                        self.process_mut(who).muted = statement.seq;
                        facts.push(Fact::Lost { who, what: Lost::Unsaid(statement.seq) });
                    }
                }
            }
            Direction::FromRecord => {
                let view = self.link(who).newest.clone().expect("enabled only with a view");
                self.send_view(who, view, facts);
            }
        }
    }

    /// Is there something to be said again? The link is empty and the record does not know it.
    pub(crate) fn has_to_repeat(&self, wire: Wire) -> bool {
        let (process, link) = (self.process(wire.who), self.link(wire.who));
        match wire.direction {
            Direction::ToRecord => self.awaits_answer(wire.who) && self.has_to_say_again(wire.who),
            Direction::FromRecord => {
                !link.cut
                    && link.views.is_empty()
                    && process.acts()
                    && link.newest.as_ref().is_some_and(|view| {
                        Some(view.revision) > self.read_revision(wire.who)
                            && view.host == *process.host.id()
                    })
            }
        }
    }

    /// Does the record not know the word that awaits an answer?
    pub(super) fn has_to_say_again(&self, who: Who) -> bool {
        !self.will_be_acknowledged(who)
            // Whoever is gone is refused for ever; it needs the news, not another word.
            && !self.committed().is_gone(self.process(who).host.id())
    }

    /// Its present word is on its link no more, and it has not read that the record knows it.
    pub(super) fn awaits_answer(&self, who: Who) -> bool {
        let (process, link) = (self.process(who), self.link(who));
        let candidate = process.host.candidate();
        !link.cut
            && process.acts()
            && link.statements.is_empty()
            && candidate.seq() > process.muted
            && !matches!(candidate.phase(), Phase::Expelled { .. })
            && !candidate.is_acknowledged()
    }

    /// The record has folded the present word, and the news of it is on its way.
    fn will_be_acknowledged(&self, who: Who) -> bool {
        if !self.arbiters.iter().any(|arbiter| arbiter.unpublished) && !self.has_unread_news(who) {
            return false;
        }
        let process = self.process(who);
        let line = self.committed().line(process.host.id());
        line.is_some_and(|line| line.seq >= process.host.candidate().seq())
    }

    fn has_unread_news(&self, who: Who) -> bool {
        let read = self.read_revision(who);
        self.link(who).newest.as_ref().map(|view| view.revision) > read
    }

    /// What it has read under its present identity.
    fn read_revision(&self, who: Who) -> Option<Revision> {
        let process = self.process(who);
        let shown = process.shown.as_ref();
        let own = shown.filter(|view| view.host == *process.host.id());
        own.map(|view| view.revision)
    }

    /// Whoever begins, or begins anew, finds what was published before: it is repeated to it until
    /// it is read (Dr1), unless something newer comes first.
    pub(super) fn find_published(&mut self, who: Who) {
        let published = self.arbiters.iter().filter(|arbiter| !arbiter.unpublished);
        let record = published
            .map(|arbiter| &arbiter.applied)
            .max_by_key(|record| record.revision())
            .filter(|record| record.revision() > Revision(0));
        let host = &self.process(who).host;
        let view = record.map(|record| Arc::new(record.view_for(host.id(), host.version())));
        self.link_mut(who).newest = view;
    }
}

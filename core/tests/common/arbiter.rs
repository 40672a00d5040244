//! One record, driven by hand in words that read like the protocol's.

use std::collections::{BTreeMap, BTreeSet};

use handover_core::{
    Change, Chunk, GrantId, HostId, Input, Outcome, Priority, Record, RecordId, Refusal, Remark,
    Seq, SignOff, Standing, Statement, Then, Version, View,
};

/// A record, its suspects, and the numbers that its hosts have used. Hosts run `v1` unless told
/// otherwise.
pub(crate) struct Arbiter {
    pub(crate) record: Record,
    pub(crate) suspects: BTreeSet<HostId>,
    seqs: BTreeMap<HostId, Seq>,
    versions: BTreeMap<HostId, Version>,
}

impl Arbiter {
    pub(crate) fn new() -> Self {
        Self {
            record: Record::new(RecordId(7)),
            suspects: BTreeSet::new(),
            seqs: BTreeMap::new(),
            versions: BTreeMap::new(),
        }
    }

    /// These hosts have asked, in this order.
    pub(crate) fn asked_by(names: &[&str]) -> Self {
        let mut arbiter = Self::new();
        for name in names {
            arbiter.accepts(name, asking());
        }
        arbiter
    }

    /// `a` has accepted `g1` with this plan.
    pub(crate) fn started_by_a(plan: &[&str]) -> Self {
        let mut arbiter = Self::asked_by(&["a"]);
        arbiter.accepts("a", accepted(1, plan));
        assert_eq!(arbiter.hold(), "Started(a, g1)");
        arbiter
    }

    pub(crate) fn runs(&mut self, name: &str, version: &str) {
        self.versions.insert(host(name), version.into());
    }

    pub(crate) fn suspect(&mut self, name: &str) {
        self.suspects.insert(host(name));
    }

    /// The next statement of a host, folded and committed, or refused; then it has changed nothing.
    pub(crate) fn says(
        &mut self,
        name: &str,
        standing: Standing,
    ) -> Result<Option<Remark>, Refusal> {
        let seq = self.seqs.entry(host(name)).or_default();
        *seq = seq.next();
        let seq = seq.0;
        self.says_numbered(name, seq, standing)
    }

    pub(crate) fn says_numbered(
        &mut self,
        name: &str,
        seq: u64,
        standing: Standing,
    ) -> Result<Option<Remark>, Refusal> {
        let statement = Statement {
            host: host(name),
            version: self.version(&host(name)),
            seq: Seq(seq),
            standing,
        };
        self.fold(&Input::Statement(statement))
    }

    /// As [`says`](Self::says), where neither a refusal nor a remark is expected.
    pub(crate) fn accepts(&mut self, name: &str, standing: Standing) {
        assert_eq!(self.says(name, standing), Ok(None), "{name} is believed");
    }

    pub(crate) fn gone(&mut self, name: &str) -> Result<Option<Remark>, Refusal> {
        self.fold(&Input::Gone(host(name)))
    }

    pub(crate) fn lapse(&mut self, grant: u64) -> Result<Option<Remark>, Refusal> {
        let grant = GrantId(grant);
        self.fold(&Input::Lapse { grant })
    }

    pub(crate) fn retry(&mut self, version: &str, grant: u64) -> Result<Option<Remark>, Refusal> {
        self.fold(&Input::Retry { version: version.into(), grant: GrantId(grant) })
    }

    pub(crate) fn cancel(&mut self, grant: u64, then: Then) -> Result<Option<Remark>, Refusal> {
        self.fold(&Input::Cancel { grant: GrantId(grant), reason: "wrong branch".into(), then })
    }

    pub(crate) fn revoke(&mut self, grant: u64) -> Result<Option<Remark>, Refusal> {
        self.fold(&Input::Revoke { grant: GrantId(grant), reason: "hung".into() })
    }

    /// Folds and commits one input, and checks what holds of each fold.
    pub(crate) fn fold(&mut self, input: &Input) -> Result<Option<Remark>, Refusal> {
        let change: Change = self.record.fold(input, &self.suspects)?;
        let remark = change.remark.clone();
        self.record.apply(&change).expect("a change applies to the record that it was folded on");
        self.record.check();
        assert_eq!(self.record.settle(&self.suspects), None, "a fold settles");
        Ok(remark)
    }

    /// The hold as text: `Offered(a, g1)`, or `nobody`.
    pub(crate) fn hold(&self) -> String {
        let hold = self.record.hold();
        hold.map_or_else(|| "nobody".into(), ToString::to_string)
    }

    /// The verdict as text: `Approved(g1)`, or `none`.
    pub(crate) fn verdict(&self, version: &str) -> String {
        let verdict = self.record.verdict(&version.into());
        verdict.map_or_else(|| "none".into(), ToString::to_string)
    }

    pub(crate) fn view(&self, name: &str) -> View {
        let host = host(name);
        self.record.view_for(&host, &self.version(&host))
    }

    fn version(&self, host: &HostId) -> Version {
        let version = self.versions.get(host).cloned();
        version.unwrap_or_else(|| "v1".into())
    }
}

/// `a` is the first life of `a`, `a.2` the second.
pub(crate) fn host(text: &str) -> HostId {
    match text.rsplit_once('.') {
        Some((name, life)) => HostId::new(name, life.parse().expect("a life is a number")),
        None => HostId::new(text, 1),
    }
}

pub(crate) fn asking() -> Standing {
    Standing::Asking { priority: Priority(0) }
}

pub(crate) fn accepted(grant: u64, plan: &[&str]) -> Standing {
    Standing::Accepted { grant: GrantId(grant), plan: chunks(plan) }
}

pub(crate) fn building(grant: u64, signed_off: &[&str]) -> Standing {
    Standing::Building { grant: GrantId(grant), signed_off: signed(signed_off) }
}

pub(crate) fn finished(grant: u64, outcome: Outcome, signed_off: &[&str]) -> Standing {
    Standing::Finished { grant: GrantId(grant), outcome, signed_off: signed(signed_off) }
}

pub(crate) fn chunks(names: &[&str]) -> BTreeSet<Chunk> {
    names.iter().map(|name| Chunk::from(*name)).collect()
}

/// `x` is signed off clean, `x!` as failed.
pub(crate) fn signed(marks: &[&str]) -> BTreeMap<Chunk, SignOff> {
    let sign_off = |mark: &&str| match mark.strip_suffix('!') {
        Some(chunk) => (chunk.into(), SignOff::Failed("broken".into())),
        None => ((*mark).into(), SignOff::Clean),
    };
    marks.iter().map(sign_off).collect()
}

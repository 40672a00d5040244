//! A record as a scenario can have it: its lives numbered as they come, its reasons in plain words.

use std::collections::BTreeMap;

use handover_core::{
    Cancelling, Chunk, Hold, HostId, Line, Outcome, Reason, RecordParts, Ruling, SignOff, Standing,
    Verdict,
};

/// What the world says of a chunk that failed: `sign-off` takes no reason, since nothing follows
/// from one but the words of a verdict. The real one is told above the commands.
const BAD_CHUNK: &str = "bad chunk";

/// A reason that stands in a line of a scenario: words with one space between.
pub(super) fn plain_reason(reason: &Reason) -> Reason {
    let fits = |c: char| if c == '#' || c.is_control() { ' ' } else { c };
    let text: String = reason.as_str().chars().map(fits).collect();
    let words: Vec<&str> = text.split_whitespace().collect();
    let mut text = words.join(" ");
    if let Some((at, _)) = text.char_indices().nth(REASON_CHARS_MAX) {
        text.truncate(at);
    }
    text.trim_end().into()
}

/// The longest reason that is kept: a line of a scenario has an end.
const REASON_CHARS_MAX: usize = 300;

/// The same record under other names; none if a host of it has none.
pub(super) fn plain(parts: RecordParts, ids: &BTreeMap<HostId, HostId>) -> Option<RecordParts> {
    let renamed = |id: &HostId| ids.get(id).cloned();
    let lines = parts.lines.into_iter();
    let lines =
        lines.map(|(id, line)| Some((renamed(&id)?, plain_line(line)))).collect::<Option<_>>();
    let hold = match parts.hold {
        None => None,
        Some(hold) => Some(Hold {
            host: renamed(&hold.host)?,
            signed_off: plain_chunks(hold.signed_off),
            cancelling: hold
                .cancelling
                .map(|it| Cancelling { reason: plain_reason(&it.reason), ..it }),
            ..hold
        }),
    };
    let verdicts = parts.verdicts.into_iter().map(|(version, verdict)| {
        let host = renamed(&verdict.host)?;
        let ruling = match verdict.ruling {
            Ruling::Approved => Ruling::Approved,
            Ruling::Failed(reason) => {
                let of_chunk = of_chunk(&reason, &verdict.signed_off);
                Ruling::Failed(of_chunk.unwrap_or_else(|| plain_reason(&reason)))
            }
        };
        let signed_off = plain_chunks(verdict.signed_off);
        Some((version, Verdict { ruling, host, signed_off, ..verdict }))
    });
    let gone = parts.gone.into_iter().map(|(name, incarnation)| {
        let id = renamed(&HostId { name: name.clone(), incarnation })?;
        Some((name, id.incarnation))
    });
    Some(RecordParts {
        lines: lines?,
        hold,
        verdicts: verdicts.collect::<Option<_>>()?,
        gone: gone.collect::<Option<_>>()?,
        ..parts
    })
}

/// The reason of a verdict that a failed chunk is the reason of, as the world has it.
fn of_chunk(reason: &Reason, signed_off: &BTreeMap<Chunk, SignOff>) -> Option<Reason> {
    let text = |chunk: &Chunk, why: &str| format!("chunk {chunk}: {why}");
    let (chunk, _) = signed_off.iter().find(|(chunk, sign_off)| match sign_off {
        SignOff::Clean => false,
        SignOff::Failed(why) => text(chunk, why.as_str()) == reason.as_str(),
    })?;
    Some(Reason::new(text(chunk, BAD_CHUNK)))
}

fn plain_line(line: Line) -> Line {
    let standing = match line.standing {
        Standing::Building { grant, signed_off } => {
            Standing::Building { grant, signed_off: plain_chunks(signed_off) }
        }
        Standing::Finished { grant, outcome, signed_off } => {
            let outcome = match outcome {
                Outcome::Failed(reason) => Outcome::Failed(plain_reason(&reason)),
                Outcome::Clean | Outcome::Abandoned => outcome,
            };
            Standing::Finished { grant, outcome, signed_off: plain_chunks(signed_off) }
        }
        Standing::Asking { .. } | Standing::Accepted { .. } | Standing::StoodDown => line.standing,
    };
    Line { standing, ..line }
}

fn plain_chunks(chunks: BTreeMap<Chunk, SignOff>) -> BTreeMap<Chunk, SignOff> {
    let plain = |sign_off| match sign_off {
        SignOff::Clean => SignOff::Clean,
        SignOff::Failed(_) => SignOff::Failed(BAD_CHUNK.into()),
    };
    chunks.into_iter().map(|(chunk, sign_off)| (chunk, plain(sign_off))).collect()
}

//! `ctxbench-import/1`: what an import prints for machines.

use serde::Serialize;

use super::{Confidence, Delegation, Imported, Link, Report, Session, Status};

#[derive(Serialize)]
struct Document<'a> {
    format: &'static str,
    sessions: Vec<SessionRow<'a>>,
    report: &'a Report,
}

#[derive(Serialize)]
struct SessionRow<'a> {
    id: &'a str,
    source: &'static str,
    version: Option<&'a str>,
    file: &'a str,
    responses: u64,
    spend: SpendRow,
    spend_inclusive: InclusiveRow,
    final_context: Option<u64>,
    parent: Option<&'a str>,
    inherited_items: u64,
    delegations: Vec<DelegationRow<'a>>,
}

#[derive(Serialize)]
struct SpendRow {
    uncached_input: Option<u64>,
    cache_read: Option<u64>,
    cache_write: Option<u64>,
    output: Option<u64>,
    reasoning: Option<u64>,
    total: Option<u64>,
    estimated: bool,
}

#[derive(Serialize)]
struct InclusiveRow {
    total: Option<u64>,
    unknown_children: u64,
}

#[derive(Serialize)]
struct DelegationRow<'a> {
    call_id: &'a str,
    kind: &'a str,
    child: Option<&'a str>,
    link: Link,
    confidence: Confidence,
    status: Status,
}

fn session(session: &Session) -> SessionRow<'_> {
    let spend = &session.spend;
    SessionRow {
        id: &session.id,
        source: session.source.name(),
        version: session.version.as_deref(),
        file: &session.file,
        responses: session.responses,
        spend: SpendRow {
            uncached_input: spend.uncached_input,
            cache_read: spend.cache_read,
            cache_write: spend.cache_write,
            output: spend.output,
            reasoning: spend.reasoning,
            total: spend.total,
            estimated: spend.estimated,
        },
        spend_inclusive: InclusiveRow { total: session.inclusive.total, unknown_children: session.inclusive.unknown_children },
        final_context: session.final_context,
        parent: session.parent.as_deref(),
        inherited_items: session.inherited_items,
        delegations: session.delegations.iter().map(delegation).collect(),
    }
}

fn delegation(one: &Delegation) -> DelegationRow<'_> {
    DelegationRow {
        call_id: &one.call_id,
        kind: &one.kind,
        child: one.child.as_deref(),
        link: one.link,
        confidence: one.confidence,
        status: one.status,
    }
}

/// The `ctxbench-import/1` object, indented, with a newline at its end. Field order is fixed; unknown is `null`.
pub fn json(imported: &Imported) -> String {
    let document =
        Document { format: "ctxbench-import/1", sessions: imported.sessions.iter().map(session).collect(), report: &imported.report };
    // Strings, numbers and lists only: writing them into memory cannot fail.
    let mut text = serde_json::to_string_pretty(&document).unwrap_or_default();
    text.push('\n');
    text
}

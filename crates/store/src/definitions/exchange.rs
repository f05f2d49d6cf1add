//! Reads the approvals of a server from the file, and writes those that were merged with other files. This module must not
//! know where the other files are.

use std::collections::{BTreeMap, HashSet};

use rusqlite::{Connection, OptionalExtension as _, Transaction, params};

use super::approvals::{self, ApprovedDefinition, ServerApprovals, ToolApproval};
use super::{Definitions, FIRST_SIGHT, has_room, hex, recorded, stored};
use crate::Error;
use crate::catalogues::ServerDigest;
use crate::database::{counted, kept};

/// Tables that earlier versions ignore. They are not a step of the schema, because an earlier version refuses a file with more
/// steps than it knows, and a gateway of a cluster can be replaced by one of the version before.
pub(super) const SHARED: &str = "
    CREATE TABLE IF NOT EXISTS beginnings (
        server BLOB PRIMARY KEY,
        since_ms INTEGER NOT NULL
    ) STRICT, WITHOUT ROWID;
    CREATE TABLE IF NOT EXISTS removed (
        server BLOB NOT NULL,
        tool TEXT NOT NULL,
        at_ms INTEGER NOT NULL,
        by TEXT NOT NULL,
        PRIMARY KEY (server, tool)
    ) STRICT, WITHOUT ROWID;
";

/// The body of a definition whose text was too large to be exchanged.
const NO_BODY: &[u8] = b"{}";

impl Definitions {
    /// Returns the decisions about the tools of a server; `None` if the server is not in the file.
    ///
    /// # Errors
    /// Fails if the file cannot be read.
    pub fn approvals(&self, digest: &ServerDigest) -> Result<Option<ServerApprovals>, Error> {
        self.file.read(|file| decided(file, digest))
    }

    /// Merges decisions from another file about the tools of a server with this name. Returns the decisions that this file then
    /// has, and true if they differ from those before; `None` if the file has no room for the server.
    ///
    /// # Errors
    /// Fails if the file cannot be written.
    pub fn merge_approvals(
        &mut self,
        digest: &ServerDigest,
        (name, theirs): (&str, ServerApprovals),
        now_ms: u64,
    ) -> Result<Option<(ServerApprovals, bool)>, Error> {
        // Another process may approve definitions at the same time.
        self.file.write(|file| {
            let own = decided(file, digest)?;
            if own.is_none() && !has_room(file, digest)? {
                return Ok(None);
            }
            let (before, now) = match own {
                Some(own) => (Some(own.clone()), own.merge(theirs)),
                None => (None, theirs),
            };
            let is_new = before.is_none_or(|before| !before.decides_like(&now));
            if is_new {
                write(file, digest, (name, &now), now_ms)?;
            }
            Ok(Some((now, is_new)))
        })
    }
}

/// Replaces the decisions about the tools of a server with this name.
fn write(
    file: &Transaction<'_>,
    digest: &ServerDigest,
    (name, now): (&str, &ServerApprovals),
    now_ms: u64,
) -> rusqlite::Result<()> {
    let audiences: Vec<String> = now.audiences.iter().map(u32::to_string).collect();
    let sql = "INSERT INTO servers (server, name, audiences, incomplete, seen_ms) VALUES (?1, ?2, ?3, ?4, ?5)
                       ON CONFLICT (server) DO UPDATE SET audiences = excluded.audiences, incomplete = excluded.incomplete";
    file.execute(sql, params![digest, name, audiences.join(" "), now.incomplete, kept(now_ms)])?;
    let sql = "INSERT INTO beginnings VALUES (?1, ?2)
                       ON CONFLICT (server) DO UPDATE SET since_ms = excluded.since_ms";
    file.execute(sql, params![digest, kept(now.since_ms)])?;
    file.execute("DELETE FROM removed WHERE server = ?1", [digest])?;
    withdraw_others(file, digest, now)?;
    now.tools.iter().try_for_each(|one| decide(file, digest, one, now_ms))?;
    let sql = "DELETE FROM definitions WHERE server = ?1 AND listed = 0 AND approved_ms IS NULL";
    file.execute(sql, [digest]).map(drop)
}

/// Records the time at which the record of a server begins, unless it has begun.
pub(super) fn begin(file: &Transaction<'_>, server: &ServerDigest, now_ms: u64) -> rusqlite::Result<()> {
    let sql = "INSERT INTO beginnings
               SELECT ?1, coalesce((SELECT min(first_seen_ms) FROM definitions WHERE server = ?1), ?2)
               WHERE NOT EXISTS (SELECT 1 FROM beginnings WHERE server = ?1)";
    file.prepare_cached(sql)?.execute(params![server, kept(now_ms)]).map(drop)
}

/// Records that a person has removed a tool, or has approved a tool that was removed before.
pub(super) fn note_decision(
    file: &Transaction<'_>,
    (server, tool): (&ServerDigest, &str),
    (by, now_ms): (&str, u64),
) -> rusqlite::Result<()> {
    file.execute("DELETE FROM removed WHERE server = ?1 AND tool = ?2", params![server, tool])?;
    let sql = "INSERT INTO removed SELECT ?1, ?2, ?3, ?4 WHERE NOT EXISTS
               (SELECT 1 FROM definitions WHERE server = ?1 AND tool = ?2 AND approved_ms IS NOT NULL)";
    file.execute(sql, params![server, tool, kept(now_ms), by]).map(drop)
}

fn decided(file: &Connection, digest: &ServerDigest) -> rusqlite::Result<Option<ServerApprovals>> {
    let Some(known) = recorded(file, digest)? else { return Ok(None) };
    let all = stored(file, digest, true)?;
    let query = "SELECT since_ms FROM beginnings WHERE server = ?1";
    let since: Option<i64> = file.prepare_cached(query)?.query_row([digest], |row| row.get(0)).optional()?;
    let first = all.iter().map(|one| one.first_seen_ms).min().unwrap_or_default();
    let mut tools: BTreeMap<String, ToolApproval> = BTreeMap::new();
    for one in all {
        let (Some(at_ms), Some(by)) = (one.approved_ms, one.approved_by) else { continue };
        let definition =
            ApprovedDefinition { fingerprint: hex(&one.fingerprint), body: String::from_utf8(one.body).ok() };
        let tool = one.tool.clone();
        let decision = tools.entry(tool).or_insert_with(|| ToolApproval {
            tool: one.tool,
            at_ms,
            by: by.clone(),
            definitions: Vec::new(),
        });
        // The last decision of a person is about all definitions that the tool still has.
        if (by != FIRST_SIGHT, at_ms) > (decision.by != FIRST_SIGHT, decision.at_ms) {
            (decision.at_ms, decision.by) = (at_ms, by);
        }
        decision.definitions.push(definition);
    }
    for decision in tools.values_mut() {
        decision.definitions.sort_unstable_by(|one, other| one.fingerprint.cmp(&other.fingerprint));
    }
    let mut removed = file.prepare_cached("SELECT tool, at_ms, by FROM removed WHERE server = ?1")?;
    let removed = removed.query_map([digest], |row| {
        let (tool, at_ms) = (row.get(0)?, counted(row.get(1)?));
        Ok(ToolApproval { tool, at_ms, by: row.get(2)?, definitions: Vec::new() })
    })?;
    for one in removed {
        let one = one?;
        tools.insert(one.tool.clone(), one);
    }
    let mut audiences = known.audiences;
    audiences.sort_unstable();
    Ok(Some(ServerApprovals {
        since_ms: since.map_or(first, counted),
        audiences,
        incomplete: known.incomplete,
        tools: tools.into_values().collect(),
    }))
}

/// Withdraws the approvals that are not among these decisions.
fn withdraw_others(
    file: &Transaction<'_>,
    server: &ServerDigest,
    now: &ServerApprovals,
) -> rusqlite::Result<()> {
    let approved: HashSet<(&str, [u8; 32])> = now
        .tools
        .iter()
        .flat_map(|one| one.definitions.iter().map(|definition| (one.tool.as_str(), definition)))
        .filter_map(|(tool, definition)| Some((tool, approvals::digest(&definition.fingerprint)?)))
        .collect();
    let sql = "UPDATE definitions SET approved_ms = NULL, approved_by = NULL
               WHERE server = ?1 AND tool = ?2 AND fingerprint = ?3";
    let mut withdraw = file.prepare_cached(sql)?;
    for one in stored(file, server, false)? {
        if one.approved_ms.is_some() && !approved.contains(&(one.tool.as_str(), one.fingerprint)) {
            withdraw.execute(params![server, one.tool, one.fingerprint])?;
        }
    }
    Ok(())
}

/// Writes one decision.
fn decide(
    file: &Transaction<'_>,
    server: &ServerDigest,
    one: &ToolApproval,
    now_ms: u64,
) -> rusqlite::Result<()> {
    let ToolApproval { tool, at_ms, by, definitions } = one;
    if definitions.is_empty() {
        let sql = "INSERT INTO removed VALUES (?1, ?2, ?3, ?4)";
        return file.prepare_cached(sql)?.execute(params![server, tool, kept(*at_ms), by]).map(drop);
    }
    let sql = "INSERT INTO definitions
               (server, tool, fingerprint, body, first_seen_ms, listed, approved_ms, approved_by)
               VALUES (?1, ?2, ?3, ?4, ?5, 0, ?6, ?7)
               ON CONFLICT (server, tool, fingerprint) DO UPDATE
               SET approved_ms = excluded.approved_ms, approved_by = excluded.approved_by";
    let mut insert = file.prepare_cached(sql)?;
    for definition in definitions {
        let Some(digest) = approvals::digest(&definition.fingerprint) else { continue };
        let body = definition.body.as_ref().map_or(NO_BODY, |body| body.as_bytes());
        insert.execute(params![server, tool, digest, body, kept(now_ms), kept(*at_ms), by])?;
    }
    Ok(())
}

import type { Kysely } from 'kysely';
import { indexIssue } from '../issues/search-index.ts';
import { ProtectionOptions } from '../protection/protections.ts';
import type { EntryDetails } from '../store/issue-tables.ts';
import type { Tables } from '../store/tables.ts';
import type { RepositoryRecord } from './record.ts';

/** Maps IDs of the source to new IDs. */
type IdMap = Map<number, number>;

/** New IDs of rows that other rows refer to. */
interface NewIds {
  readonly labels: IdMap;
  readonly milestones: IdMap;
  readonly issues: IdMap;
  readonly reviews: IdMap;
  readonly entries: IdMap;
}

interface RecordWriter {
  readonly db: Kysely<Tables>;
  readonly repository: number;
  readonly record: RepositoryRecord;
  readonly ids: NewIds;
}

/** Writes the record of a repository into a new, empty repository. */
export async function writeRecord(db: Kysely<Tables>, repository: number, record: RepositoryRecord): Promise<void> {
  const ids: NewIds = {
    labels: new Map(),
    milestones: new Map(),
    issues: new Map(),
    reviews: new Map(),
    entries: new Map(),
  };
  const writer: RecordWriter = { db, repository, record, ids };
  await writeLabelsAndMilestones(writer);
  await writeIssues(writer);
  await writeIssueRelations(writer);
  await writeTimelines(writer);
  await writeEntryRelations(writer);
  await writePulls(writer);
  await writeProtections(writer);
  await writeReleases(writer);
  for (const issue of ids.issues.values()) await indexIssue(db, issue);
}

async function writeLabelsAndMilestones({ db, repository, record, ids }: RecordWriter): Promise<void> {
  for (const { id, ...row } of record.labels) {
    const values = { repository_id: repository, ...row };
    const label = await db.insertInto('labels').values(values).returning('id').executeTakeFirstOrThrow();
    ids.labels.set(id, label.id);
  }
  for (const { id, ...row } of record.milestones) {
    const values = { repository_id: repository, ...row };
    const milestone = await db.insertInto('milestones').values(values).returning('id').executeTakeFirstOrThrow();
    ids.milestones.set(id, milestone.id);
  }
}

async function writeIssues({ db, repository, record, ids }: RecordWriter): Promise<void> {
  const last = record.issues.reduce((highest, { number }) => Math.max(highest, number), record.lastNumber);
  await db.insertInto('issue_counters').values({ repository_id: repository, last }).execute();
  for (const { id, milestone_id, ...row } of record.issues) {
    const milestone = milestone_id === null ? null : (ids.milestones.get(milestone_id) ?? null);
    const values = { repository_id: repository, ...row, milestone_id: milestone };
    const issue = await db.insertInto('issues').values(values).returning('id').executeTakeFirstOrThrow();
    ids.issues.set(id, issue.id);
  }
}

/** Returns the rows of issues that exist, with the new ID of the issue. */
function withNewIssueIds<Row extends { readonly issue_id: number }>({ issues }: NewIds, rows: readonly Row[]): Row[] {
  return rows.flatMap((row) => {
    const issue_id = issues.get(row.issue_id);
    return issue_id === undefined ? [] : [{ ...row, issue_id }];
  });
}

async function writeIssueRelations({ db, record, ids }: RecordWriter): Promise<void> {
  for (const { issue_id, label_id } of withNewIssueIds(ids, record.issue_labels)) {
    const label = ids.labels.get(label_id);
    if (label === undefined) continue;
    await db
      .insertInto('issue_labels')
      .values({ issue_id, label_id: label })
      .onConflict((conflict) => conflict.doNothing())
      .execute();
  }
  for (const row of withNewIssueIds(ids, record.issue_assignees))
    await db
      .insertInto('issue_assignees')
      .values(row)
      .onConflict((conflict) => conflict.doNothing())
      .execute();
  for (const row of withNewIssueIds(ids, record.review_requests))
    await db
      .insertInto('review_requests')
      .values(row)
      .onConflict((conflict) => conflict.doNothing())
      .execute();
}

async function writeTimelines({ db, record, ids }: RecordWriter): Promise<void> {
  for (const { id, ...row } of withNewIssueIds(ids, record.reviews)) {
    const review = await db.insertInto('reviews').values(row).returning('id').executeTakeFirstOrThrow();
    ids.reviews.set(id, review.id);
  }
  for (const { id, review_id, details, ...row } of withNewIssueIds(ids, record.issue_entries)) {
    const review = review_id === null ? null : (ids.reviews.get(review_id) ?? null);
    const values = { ...row, review_id: review, details: renumberDetails(details, ids) };
    const entry = await db.insertInto('issue_entries').values(values).returning('id').executeTakeFirstOrThrow();
    ids.entries.set(id, entry.id);
  }
}

async function writeEntryRelations({ db, record, ids }: RecordWriter): Promise<void> {
  for (const { entry_id, ...row } of withNewIssueIds(ids, record.issue_reactions)) {
    const entry = entry_id === 0 ? 0 : ids.entries.get(entry_id);
    if (entry === undefined) continue;
    await db
      .insertInto('issue_reactions')
      .values({ ...row, entry_id: entry })
      .onConflict((conflict) => conflict.doNothing())
      .execute();
  }
  for (const { entry_id, ...row } of withNewIssueIds(ids, record.issue_attachments)) {
    const entry = entry_id === 0 ? 0 : ids.entries.get(entry_id);
    if (entry === undefined) continue;
    await db
      .insertInto('issue_attachments')
      .values({ ...row, entry_id: entry })
      .execute();
  }
  for (const row of withNewIssueIds(ids, record.tracked_times))
    await db.insertInto('tracked_times').values(row).execute();
  for (const { depends_on, ...row } of withNewIssueIds(ids, record.issue_dependencies)) {
    const dependency = ids.issues.get(depends_on);
    if (dependency === undefined) continue;
    await db
      .insertInto('issue_dependencies')
      .values({ ...row, depends_on: dependency })
      .onConflict((conflict) => conflict.doNothing())
      .execute();
  }
}

async function writePulls({ db, repository, record, ids }: RecordWriter): Promise<void> {
  for (const { own: isOwnBranch, ...row } of withNewIssueIds(ids, record.pulls)) {
    await db
      .insertInto('pulls')
      .values({ ...row, head_repository_id: isOwnBranch ? repository : 0, ref_due: 0 })
      .execute();
  }
}

async function writeProtections({ db, repository, record }: RecordWriter): Promise<void> {
  for (const { options, ...row } of record.protections) {
    const parsedOptions = ProtectionOptions.parse(JSON.parse(options));
    await db
      .insertInto('protections')
      .values({ repository_id: repository, ...row, options: JSON.stringify(parsedOptions) })
      .execute();
  }
  for (const row of record.tag_protections)
    await db
      .insertInto('tag_protections')
      .values({ repository_id: repository, ...row })
      .execute();
  for (const row of record.commit_statuses)
    await db
      .insertInto('commit_statuses')
      .values({ repository_id: repository, ...row })
      .execute();
}

async function writeReleases({ db, repository, record }: RecordWriter): Promise<void> {
  for (const { id, ...row } of record.releases) {
    const values = { repository_id: repository, ...row };
    const release = await db.insertInto('releases').values(values).returning('id').executeTakeFirstOrThrow();
    for (const { release_id, uuid, ...asset } of record.release_assets) {
      if (release_id !== id) continue;
      await db
        .insertInto('release_assets')
        .values({ ...asset, uuid, release_id: release.id })
        .execute();
    }
  }
}

function renumberDetails(text: string, { labels, milestones }: NewIds): string {
  const details = JSON.parse(text) as EntryDetails;
  const getNewId = (ids: IdMap, id: number | undefined): number | undefined =>
    id === undefined ? undefined : (ids.get(id) ?? 0);
  return JSON.stringify({
    ...details,
    label: getNewId(labels, details.label),
    milestone: getNewId(milestones, details.milestone),
    oldMilestone: getNewId(milestones, details.oldMilestone),
  });
}

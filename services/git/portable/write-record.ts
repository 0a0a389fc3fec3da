import type { Kysely } from 'kysely';
import { indexWords } from '../issues/search-index.ts';
import { ProtectionOptions } from '../protection/protections.ts';
import type { EntryDetails } from '../store/issue-tables.ts';
import type { Tables } from '../store/tables.ts';
import type { RepositoryRecord } from './record.ts';

/** Maps IDs of the source to new IDs. */
type Renumbered = Map<number, number>;

/** Writes the record of a repository into a new, empty repository. */
export async function writeRecord(db: Kysely<Tables>, repository: number, record: RepositoryRecord): Promise<void> {
  const [labels, milestones, issues, reviews, entries]: Renumbered[] = [
    new Map(),
    new Map(),
    new Map(),
    new Map(),
    new Map(),
  ];
  const mine = { repository_id: repository };
  await db
    .insertInto('issue_counters')
    .values({ ...mine, last: record.issues.reduce((last, { number }) => Math.max(last, number), record.lastNumber) })
    .execute();
  for (const { id, ...row } of record.labels)
    labels?.set(
      id,
      (
        await db
          .insertInto('labels')
          .values({ ...mine, ...row })
          .returning('id')
          .executeTakeFirstOrThrow()
      ).id,
    );
  for (const { id, ...row } of record.milestones)
    milestones?.set(
      id,
      (
        await db
          .insertInto('milestones')
          .values({ ...mine, ...row })
          .returning('id')
          .executeTakeFirstOrThrow()
      ).id,
    );
  for (const { id, milestone_id, ...row } of record.issues) {
    const milestone = milestone_id === null ? null : (milestones?.get(milestone_id) ?? null);
    issues?.set(
      id,
      (
        await db
          .insertInto('issues')
          .values({ ...mine, ...row, milestone_id: milestone })
          .returning('id')
          .executeTakeFirstOrThrow()
      ).id,
    );
  }
  /** Returns the rows whose issue exists, with its new ID. */
  const placed = <Row extends { readonly issue_id: number }>(rows: readonly Row[]): Row[] =>
    rows.flatMap((row) => {
      const issue_id = issues?.get(row.issue_id);
      return issue_id === undefined ? [] : [{ ...row, issue_id }];
    });
  for (const { issue_id, label_id } of placed(record.issue_labels)) {
    const label = labels?.get(label_id);
    if (label !== undefined)
      await db
        .insertInto('issue_labels')
        .values({ issue_id, label_id: label })
        .onConflict((conflict) => conflict.doNothing())
        .execute();
  }
  for (const row of placed(record.issue_assignees))
    await db
      .insertInto('issue_assignees')
      .values(row)
      .onConflict((conflict) => conflict.doNothing())
      .execute();
  for (const row of placed(record.review_requests))
    await db
      .insertInto('review_requests')
      .values(row)
      .onConflict((conflict) => conflict.doNothing())
      .execute();
  for (const { id, ...row } of placed(record.reviews))
    reviews?.set(id, (await db.insertInto('reviews').values(row).returning('id').executeTakeFirstOrThrow()).id);
  for (const { id, review_id, details, ...row } of placed(record.issue_entries)) {
    const review = review_id === null ? null : (reviews?.get(review_id) ?? null);
    const values = { ...row, review_id: review, details: renumbered(details, labels, milestones) };
    entries?.set(
      id,
      (await db.insertInto('issue_entries').values(values).returning('id').executeTakeFirstOrThrow()).id,
    );
  }
  for (const { entry_id, ...row } of placed(record.issue_reactions)) {
    const entry = entry_id === 0 ? 0 : entries?.get(entry_id);
    if (entry !== undefined)
      await db
        .insertInto('issue_reactions')
        .values({ ...row, entry_id: entry })
        .onConflict((conflict) => conflict.doNothing())
        .execute();
  }
  for (const { entry_id, ...row } of placed(record.issue_attachments)) {
    const entry = entry_id === 0 ? 0 : entries?.get(entry_id);
    if (entry !== undefined)
      await db
        .insertInto('issue_attachments')
        .values({ ...row, entry_id: entry })
        .execute();
  }
  for (const row of placed(record.tracked_times)) await db.insertInto('tracked_times').values(row).execute();
  for (const { depends_on, ...row } of placed(record.issue_dependencies)) {
    const other = issues?.get(depends_on);
    if (other !== undefined)
      await db
        .insertInto('issue_dependencies')
        .values({ ...row, depends_on: other })
        .onConflict((conflict) => conflict.doNothing())
        .execute();
  }
  for (const { own, ...row } of placed(record.pulls)) {
    await db
      .insertInto('pulls')
      .values({ ...row, head_repository_id: own ? repository : 0, ref_due: 0 })
      .execute();
  }
  for (const { options, ...row } of record.protections) {
    const known = ProtectionOptions.parse(JSON.parse(options));
    await db
      .insertInto('protections')
      .values({ ...mine, ...row, options: JSON.stringify(known) })
      .execute();
  }
  for (const row of record.tag_protections)
    await db
      .insertInto('tag_protections')
      .values({ ...mine, ...row })
      .execute();
  for (const row of record.commit_statuses)
    await db
      .insertInto('commit_statuses')
      .values({ ...mine, ...row })
      .execute();
  for (const { id, ...row } of record.releases) {
    const release = await db
      .insertInto('releases')
      .values({ ...mine, ...row })
      .returning('id')
      .executeTakeFirstOrThrow();
    for (const { release_id, uuid, ...asset } of record.release_assets) {
      if (release_id === id)
        await db
          .insertInto('release_assets')
          .values({ ...asset, uuid, release_id: release.id })
          .execute();
    }
  }
  for (const issue of issues?.values() ?? []) await indexWords(db, issue);
}

function renumbered(text: string, labels: Renumbered | undefined, milestones: Renumbered | undefined): string {
  const details = JSON.parse(text) as EntryDetails;
  const now = (known: Renumbered | undefined, id: number | undefined): number | undefined =>
    id === undefined ? undefined : (known?.get(id) ?? 0);
  return JSON.stringify({
    ...details,
    label: now(labels, details.label),
    milestone: now(milestones, details.milestone),
    oldMilestone: now(milestones, details.oldMilestone),
  });
}

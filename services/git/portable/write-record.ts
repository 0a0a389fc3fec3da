import type { Kysely } from 'kysely';
import { indexIssue } from '../issues/search-index.ts';
import { ProtectionOptions } from '../protection/protections.ts';
import type { EntryDetails } from '../store/issue-tables.ts';
import type { Tables } from '../store/tables.ts';
import type { RepositoryRecord } from './record.ts';

/** Maps IDs of the source to new IDs. */
type IdMap = Map<number, number>;

/** Writes the record of a repository into a new, empty repository. */
export async function writeRecord(db: Kysely<Tables>, repository: number, record: RepositoryRecord): Promise<void> {
  const [labels, milestones, issues, reviews, entries]: IdMap[] = [
    new Map(),
    new Map(),
    new Map(),
    new Map(),
    new Map(),
  ];
  const repositoryColumn = { repository_id: repository };
  await db
    .insertInto('issue_counters')
    .values({
      ...repositoryColumn,
      last: record.issues.reduce((last, { number }) => Math.max(last, number), record.lastNumber),
    })
    .execute();
  for (const { id, ...row } of record.labels)
    labels?.set(
      id,
      (
        await db
          .insertInto('labels')
          .values({ ...repositoryColumn, ...row })
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
          .values({ ...repositoryColumn, ...row })
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
          .values({ ...repositoryColumn, ...row, milestone_id: milestone })
          .returning('id')
          .executeTakeFirstOrThrow()
      ).id,
    );
  }
  /** Returns the rows whose issue exists, with its new ID. */
  const withNewIssueIds = <Row extends { readonly issue_id: number }>(rows: readonly Row[]): Row[] =>
    rows.flatMap((row) => {
      const issue_id = issues?.get(row.issue_id);
      return issue_id === undefined ? [] : [{ ...row, issue_id }];
    });
  for (const { issue_id, label_id } of withNewIssueIds(record.issue_labels)) {
    const label = labels?.get(label_id);
    if (label !== undefined)
      await db
        .insertInto('issue_labels')
        .values({ issue_id, label_id: label })
        .onConflict((conflict) => conflict.doNothing())
        .execute();
  }
  for (const row of withNewIssueIds(record.issue_assignees))
    await db
      .insertInto('issue_assignees')
      .values(row)
      .onConflict((conflict) => conflict.doNothing())
      .execute();
  for (const row of withNewIssueIds(record.review_requests))
    await db
      .insertInto('review_requests')
      .values(row)
      .onConflict((conflict) => conflict.doNothing())
      .execute();
  for (const { id, ...row } of withNewIssueIds(record.reviews))
    reviews?.set(id, (await db.insertInto('reviews').values(row).returning('id').executeTakeFirstOrThrow()).id);
  for (const { id, review_id, details, ...row } of withNewIssueIds(record.issue_entries)) {
    const review = review_id === null ? null : (reviews?.get(review_id) ?? null);
    const values = { ...row, review_id: review, details: renumberDetails(details, labels, milestones) };
    entries?.set(
      id,
      (await db.insertInto('issue_entries').values(values).returning('id').executeTakeFirstOrThrow()).id,
    );
  }
  for (const { entry_id, ...row } of withNewIssueIds(record.issue_reactions)) {
    const entry = entry_id === 0 ? 0 : entries?.get(entry_id);
    if (entry !== undefined)
      await db
        .insertInto('issue_reactions')
        .values({ ...row, entry_id: entry })
        .onConflict((conflict) => conflict.doNothing())
        .execute();
  }
  for (const { entry_id, ...row } of withNewIssueIds(record.issue_attachments)) {
    const entry = entry_id === 0 ? 0 : entries?.get(entry_id);
    if (entry !== undefined)
      await db
        .insertInto('issue_attachments')
        .values({ ...row, entry_id: entry })
        .execute();
  }
  for (const row of withNewIssueIds(record.tracked_times)) await db.insertInto('tracked_times').values(row).execute();
  for (const { depends_on, ...row } of withNewIssueIds(record.issue_dependencies)) {
    const other = issues?.get(depends_on);
    if (other !== undefined)
      await db
        .insertInto('issue_dependencies')
        .values({ ...row, depends_on: other })
        .onConflict((conflict) => conflict.doNothing())
        .execute();
  }
  for (const { own: isOwnBranch, ...row } of withNewIssueIds(record.pulls)) {
    await db
      .insertInto('pulls')
      .values({ ...row, head_repository_id: isOwnBranch ? repository : 0, ref_due: 0 })
      .execute();
  }
  for (const { options, ...row } of record.protections) {
    const parsedOptions = ProtectionOptions.parse(JSON.parse(options));
    await db
      .insertInto('protections')
      .values({ ...repositoryColumn, ...row, options: JSON.stringify(parsedOptions) })
      .execute();
  }
  for (const row of record.tag_protections)
    await db
      .insertInto('tag_protections')
      .values({ ...repositoryColumn, ...row })
      .execute();
  for (const row of record.commit_statuses)
    await db
      .insertInto('commit_statuses')
      .values({ ...repositoryColumn, ...row })
      .execute();
  for (const { id, ...row } of record.releases) {
    const release = await db
      .insertInto('releases')
      .values({ ...repositoryColumn, ...row })
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
  for (const issue of issues?.values() ?? []) await indexIssue(db, issue);
}

function renumberDetails(text: string, labels: IdMap | undefined, milestones: IdMap | undefined): string {
  const details = JSON.parse(text) as EntryDetails;
  const getNewId = (ids: IdMap | undefined, id: number | undefined): number | undefined =>
    id === undefined ? undefined : (ids?.get(id) ?? 0);
  return JSON.stringify({
    ...details,
    label: getNewId(labels, details.label),
    milestone: getNewId(milestones, details.milestone),
    oldMilestone: getNewId(milestones, details.oldMilestone),
  });
}

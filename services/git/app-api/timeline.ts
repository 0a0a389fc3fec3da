import type { GitReaction, GitThreadEntry } from '../../contracts/git/issues.ts';
import { withoutHiddenSources, type VisibleEntries } from '../issues/entry-sources.ts';
import { isVisibleTo } from '../issues/entry-visibility.ts';
import { listRepositoryMilestones } from '../issues/milestones.ts';
import { readReactions, type ReactionGroup } from '../issues/reactions.ts';
import type { Access } from '../repositories/access.ts';
import type { Repository } from '../repositories/repositories.ts';
import type { RepositoryStorage } from '../repositories/storage.ts';
import type { Caller } from '../sign-in/caller.ts';
import type { EntryDetails } from '../store/issue-tables.ts';
import { labelView } from './label-view.ts';

export interface TimelineDependencies {
  readonly access: Access;
  readonly storage: Pick<RepositoryStorage, 'db' | 'repositories'>;
}

/** Reads the comments and events of an issue that an account may see, and the reactions to the issue itself. */
export async function readTimeline(
  { access, storage: { db, repositories } }: TimelineDependencies,
  repository: Repository,
  issue: number,
  caller: Caller,
): Promise<{ readonly entries: GitThreadEntry[]; readonly reactions: readonly GitReaction[] }> {
  const [rows, labels, milestones, reviews, reactions] = await Promise.all([
    db
      .selectFrom('issue_entries')
      .selectAll()
      .where('issue_id', '=', issue)
      .where(isVisibleTo(caller.identity?.account))
      .orderBy('id')
      .execute(),
    db.selectFrom('labels').selectAll().where('repository_id', '=', repository.id).execute(),
    listRepositoryMilestones(db, repository.id),
    db.selectFrom('reviews').select(['id', 'state']).where('issue_id', '=', issue).execute(),
    readReactions(db, issue),
  ]);
  const visible = await withoutHiddenSources({ access, repositories }, caller, rows);
  const references = await readReferences(db, repository, visible);
  const getMilestoneTitle = (id: number | undefined): string => milestones.find((each) => each.id === id)?.title ?? '';
  const entries = visible.entries.map(({ author, body, created_at, details, id, kind, review_id }): GitThreadEntry => {
    const parsedDetails = JSON.parse(details) as EntryDetails;
    const label = labels.find((each) => each.id === parsedDetails.label);
    const state = reviews.find((each) => each.id === review_id)?.state;
    return {
      id,
      kind,
      author,
      time: created_at,
      review: review_id,
      text: kind === 'pull_push' ? '' : body,
      commits: kind === 'pull_push' ? (JSON.parse(body) as { commit_ids: string[] }).commit_ids : [],
      label: label === undefined ? null : labelView(label),
      added: kind === 'label' ? parsedDetails.added === true : parsedDetails.removed !== true,
      before: kind === 'milestone' ? getMilestoneTitle(parsedDetails.oldMilestone) : (parsedDetails.before ?? ''),
      after:
        kind === 'milestone'
          ? getMilestoneTitle(parsedDetails.milestone)
          : (parsedDetails.assignee ?? parsedDetails.after ?? ''),
      commit: parsedDetails.commit ?? '',
      verdict: kind !== 'review' || state === undefined || state === 'PENDING' ? null : state,
      path: parsedDetails.path ?? '',
      line: parsedDetails.line ?? 0,
      hunk: parsedDetails.hunk ?? '',
      repository: formatFullName(visible.sources.get(parsedDetails.repository ?? 0)),
      reference: references.get(getReferenceKey(parsedDetails, repository)) ?? null,
      reactions: toReactionViews(reactions.get(id)),
    };
  });
  return { entries, reactions: toReactionViews(reactions.get(0)) };
}

/** Returns `owner/name`; null for the repository of the issue. */
function formatFullName(repository: Repository | undefined): string | null {
  return repository === undefined ? null : `${repository.owner}/${repository.name}`;
}

/** Returns the key of the referring issue: the ID of its repository and its number. */
function getReferenceKey({ reference = 0, repository }: EntryDetails, { id }: Repository): string {
  return `${String(repository ?? id)}#${String(reference)}`;
}

/** Reads the issues that refer to an issue, by their keys. */
async function readReferences(
  db: RepositoryStorage['db'],
  repository: Repository,
  { entries, sources }: VisibleEntries<{ readonly details: string }>,
): Promise<ReadonlyMap<string, NonNullable<GitThreadEntry['reference']>>> {
  const numbers = entries.flatMap(({ details }) => (JSON.parse(details) as EntryDetails).reference ?? []);
  if (numbers.length === 0) return new Map();
  const rows = await db
    .selectFrom('issues')
    .select(['number', 'pull', 'repository_id', 'title'])
    .where('repository_id', 'in', [repository.id, ...sources.keys()])
    .where('number', 'in', [...new Set(numbers)])
    .execute();
  return new Map(
    rows.map(({ number, pull, repository_id, title }) => [
      `${String(repository_id)}#${String(number)}`,
      { number, title, pull: pull === 1 },
    ]),
  );
}

function toReactionViews(groups: readonly ReactionGroup[] = []): GitReaction[] {
  return groups.map(({ content, accounts }) => ({ content, accounts: [...accounts] }));
}

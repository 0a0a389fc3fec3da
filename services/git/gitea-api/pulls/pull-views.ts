import { seenBy } from '../../issues/entry-visibility.ts';
import { unknown } from '../../repositories/lookup.ts';
import type { Issue } from '../../issues/issues.ts';
import type { Merges } from '../../pulls/merge.ts';
import type { MergeRules } from '../../pulls/merge-rules.ts';
import { isPull, type Pulls } from '../../pulls/pulls.ts';
import type { Level } from '../../repositories/access.ts';
import type { Repository } from '../../repositories/repositories.ts';
import type { PullRow } from '../../store/issue-tables.ts';
import { pullJson } from '../../wire/pulls.ts';
import type { Call } from '../call.ts';
import { namesIn, peopleOf, type IssueParts } from '../issues/issue-access.ts';
import { numberOf } from '../paging.ts';
import { named, placeOf, shown, type Db } from '../api-dependencies.ts';

/** What the routes of pull requests stand on besides those of issues. */
export interface PullRestParts extends IssueParts {
  readonly pulls: Pulls;
  readonly merges: Merges;
  readonly rules: MergeRules;
}

export type PullIssue = Issue & { readonly request: PullRow };

export interface PullPlace {
  readonly repository: Repository;
  readonly level: Level;
  readonly issue: PullIssue;
}

/** The pull request of a call. @throws Problem (404) */
export async function pullAt(parts: PullRestParts, call: Call): Promise<PullPlace> {
  const [owner, name] = named(call);
  const found = await parts.lookup.find(call.visitor, owner, name);
  const issue = found && (await parts.issues.find(found.repository.id, numberOf(call.params['index'])));
  if (found === undefined || issue === undefined || !isPull(issue)) throw unknown();
  return { ...found, issue };
}

/** Pull requests of one repository as the peer shows them. */
export async function pullsJson(
  parts: PullRestParts,
  call: Call,
  { repository, level }: Pick<PullPlace, 'repository' | 'level'>,
  some: readonly PullIssue[],
): Promise<readonly ReturnType<typeof pullJson>[]> {
  const { access, db, pulls } = parts;
  const remarks = await remarksOf(db, some);
  const requests =
    some.length === 0
      ? []
      : await db
          .selectFrom('review_requests')
          .selectAll()
          .where(
            'issue_id',
            'in',
            some.map(({ id }) => id),
          )
          .execute();
  const person = await peopleOf(parts, call, [...namesIn(some), ...requests.map(({ account }) => account)]);
  const baseRepository = await shown(parts, call, repository, level);
  const foreign = new Map<number, unknown>([[repository.id, baseRepository]]);
  return Promise.all(
    some.map(async (issue) => {
      const state = await pulls.state(repository, issue);
      const head = state.headRepository;
      if (head !== undefined && !foreign.has(head.id)) {
        const theirs = await access.level(call.visitor, head);
        foreign.set(head.id, theirs === 'none' ? null : await shown(parts, call, head, theirs));
      }
      const reviewers = requests.flatMap(({ issue_id, account }) => (issue_id === issue.id ? [account] : []));
      const headRepository = head === undefined ? null : foreign.get(head.id);
      return pullJson(issue, placeOf(call, repository), {
        state,
        person,
        reviewers,
        baseRepository,
        headRepository,
        remarks: remarks.get(issue.id) ?? 0,
      });
    }),
  );
}

/** One of them, as it is now. */
export async function pullNow(parts: PullRestParts, call: Call, place: PullPlace) {
  const issue = await parts.issues.byId(place.issue.id);
  const [json] = issue !== undefined && isPull(issue) ? await pullsJson(parts, call, place, [issue]) : [];
  if (json === undefined) throw unknown();
  return json;
}

/** How many remarks on lines were sent, by pull request. */
export async function remarksOf(db: Db, some: readonly Pick<PullIssue, 'id'>[]): Promise<ReadonlyMap<number, number>> {
  if (some.length === 0) return new Map();
  const rows = await db
    .selectFrom('issue_entries')
    .select(['issue_id', (is) => is.fn.countAll<number>().as('count')])
    .where('kind', '=', 'code')
    .where(
      'issue_id',
      'in',
      some.map(({ id }) => id),
    )
    .where(seenBy(undefined))
    .groupBy('issue_id')
    .execute();
  return new Map(rows.map(({ issue_id, count }) => [issue_id, Number(count)]));
}

import { buildNotFoundProblem } from '../../repositories/lookup.ts';
import type { Issue } from '../../issues/issues.ts';
import { countLineComments } from '../../pulls/line-comments.ts';
import { isPull } from '../../pulls/pulls.ts';
import type { Level } from '../../repositories/access.ts';
import type { Repository } from '../../repositories/repositories.ts';
import type { PullRow } from '../../store/issue-tables.ts';
import { pullJson } from '../../wire/pulls.ts';
import type { Call } from '../call.ts';
import { readUsers } from '../../wire/read-users.ts';
import { listAccountNames } from '../../issues/account-names.ts';
import { parseId } from '../paging.ts';
import { getRepositoryName, getRepositoryAddress, toRepositoryView } from '../repository-requests.ts';
import type { RouteDependencies } from '../../components.ts';

type Dependencies = Pick<RouteDependencies, 'context' | 'settings' | 'storage' | 'accessControl' | 'collaboration'>;

export type PullIssue = Issue & { readonly request: PullRow };

export interface PullContext {
  readonly repository: Repository;
  readonly level: Level;
  readonly issue: PullIssue;
}

/** Returns the pull request of a call. @throws Problem (404) */
export async function getPull(deps: Dependencies, call: Call): Promise<PullContext> {
  const [owner, name] = getRepositoryName(call);
  const result = await deps.accessControl.lookup.find(call.caller, owner, name);
  const issue = result && (await deps.collaboration.issues.find(result.repository.id, parseId(call.params['index'])));
  if (result === undefined || issue === undefined || !isPull(issue)) throw buildNotFoundProblem();
  return { ...result, issue };
}

/** Converts pull requests of one repository to JSON. */
export async function pullsJson(
  deps: Dependencies,
  call: Call,
  { repository, level }: Pick<PullContext, 'repository' | 'level'>,
  some: readonly PullIssue[],
): Promise<readonly ReturnType<typeof pullJson>[]> {
  const { access } = deps.accessControl;
  const { db } = deps.storage;
  const { pulls } = deps.collaboration;
  const remarks = await countLineComments(db, some);
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
  const toUser = await readUsers(deps, call, [...listAccountNames(some), ...requests.map(({ account }) => account)]);
  const baseRepository = await toRepositoryView(deps, call, repository, level);
  const headRepositories = new Map<number, unknown>([[repository.id, baseRepository]]);
  return Promise.all(
    some.map(async (issue) => {
      const state = await pulls.state(repository, issue);
      const head = state.headRepository;
      if (head !== undefined && !headRepositories.has(head.id)) {
        const headLevel = await access.getLevel(call.caller, head);
        headRepositories.set(
          head.id,
          headLevel === 'none' ? null : await toRepositoryView(deps, call, head, headLevel),
        );
      }
      const reviewers = requests.flatMap(({ issue_id, account }) => (issue_id === issue.id ? [account] : []));
      const headRepository = head === undefined ? null : headRepositories.get(head.id);
      return pullJson(issue, getRepositoryAddress(call, repository), {
        state,
        toUser,
        reviewers,
        baseRepository,
        headRepository,
        remarks: remarks.get(issue.id) ?? 0,
      });
    }),
  );
}

/** Reads a pull request again and converts it to JSON. */
export async function readPullJson(deps: Dependencies, call: Call, target: PullContext) {
  const issue = await deps.collaboration.issues.findById(target.issue.id);
  const [json] = issue !== undefined && isPull(issue) ? await pullsJson(deps, call, target, [issue]) : [];
  if (json === undefined) throw buildNotFoundProblem();
  return json;
}

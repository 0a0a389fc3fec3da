import { z } from 'zod';
import { addDependency, buildNoDependencyProblem, removeDependency } from '../../issues/dependencies.ts';
import type { Issue } from '../../issues/issues.ts';
import { buildNotFoundProblem } from '../../repositories/lookup.ts';
import type { Repository } from '../../repositories/repositories.ts';
import { issueJson } from '../../wire/issues.ts';
import { getAccount, readJsonBody, ok, optional, type Call, type Route } from '../call.ts';
import { listHeaders, parsePage, getPageItems } from '../paging.ts';
import { getRepositoryAddress } from '../repository-requests.ts';
import { readUsers } from '../../wire/read-users.ts';
import { listAccountNames } from '../../issues/account-names.ts';
import { getIssue, mayWrite, requireNotArchived, type IssueContext } from './issue-access.ts';
import type { RouteDependencies } from '../../components.ts';

type Dependencies = Pick<RouteDependencies, 'context' | 'storage' | 'accessControl' | 'collaboration'>;

type RelatedIssue = IssueContext & { readonly issue: Issue };

const metaBody = z.object({ index: z.int().min(1), owner: optional(z.string()), repo: optional(z.string()) });

/** Builds the routes of dependencies between issues, also across repositories. */
export function dependencyRoutes(deps: Dependencies): readonly Route[] {
  return [
    ...relationRoutes(deps, 'dependencies', 'issue_id', 'depends_on'),
    ...relationRoutes(deps, 'blocks', 'depends_on', 'issue_id'),
  ];
}

async function issuesJson(
  deps: Dependencies,
  call: Call,
  pageItems: readonly { readonly issue: Issue; readonly repository: Repository }[],
) {
  const toUser = await readUsers(deps, call, listAccountNames(pageItems.map(({ issue }) => issue)));
  return pageItems.map(({ issue, repository }) =>
    issueJson(issue, repository, getRepositoryAddress(call, repository), toUser),
  );
}

/** Reads the issue in the body; without owner and repository it is in the repository of the path. */
async function readAddress(call: Call) {
  const { index, owner = '', repo = '' } = await readJsonBody(call, metaBody);
  return { index, repositoryParams: owner === '' || repo === '' ? call.params : { owner, repo } };
}

async function getRequestedIssue(deps: Dependencies, call: Call): Promise<RelatedIssue> {
  const { index, repositoryParams } = await readAddress(call);
  return getIssue(deps, { caller: call.caller, params: { ...repositoryParams, index: String(index) } });
}

/** Returns the issue without an access check, so that a dependency on an issue that became unreadable can be removed. */
async function getAnyIssue(
  { collaboration: { issues }, storage: { repositories } }: Dependencies,
  call: Call,
): Promise<Issue> {
  const { index, repositoryParams } = await readAddress(call);
  const repository = await repositories.find(repositoryParams['owner'] ?? '', repositoryParams['repo'] ?? '');
  const issue = repository && (await issues.find(repository.id, index));
  if (issue === undefined) throw buildNoDependencyProblem();
  return issue;
}

function listRelated(
  deps: Dependencies,
  from: 'issue_id' | 'depends_on',
  to: 'issue_id' | 'depends_on',
): Route['handle'] {
  const { access } = deps.accessControl;
  const { db, repositories } = deps.storage;
  const { issues } = deps.collaboration;
  return async (call) => {
    const { issue } = await getIssue(deps, call);
    const rows = await db
      .selectFrom('issue_dependencies')
      .select(to)
      .where(from, '=', issue.id)
      .orderBy('created_at')
      .execute();
    const all: { readonly issue: Issue; readonly repository: Repository }[] = [];
    for (const row of rows) {
      const one = await issues.findById(row[to]);
      const repository = one && (await repositories.findById(one.repository_id));
      // Issues that the caller may not read are left out.
      if (one === undefined || repository === undefined || !(await access.hasLevel(call.caller, repository, 'read')))
        continue;
      all.push({ issue: one, repository });
    }
    const page = parsePage(call.query);
    return ok(await issuesJson(deps, call, getPageItems(all, page)), listHeaders(call, page, all.length));
  };
}

/** Adds or removes a dependency. The caller needs write access to the repository of the dependent issue. */
async function changeDependency(
  deps: Dependencies,
  call: Call,
  dependent: RelatedIssue,
  getDependency: () => Promise<Issue>,
  respondedIssue: RelatedIssue,
) {
  const { writer } = deps.collaboration;
  if (!mayWrite(dependent.level)) throw buildNotFoundProblem();
  requireNotArchived(dependent.repository);
  const edit = call.method === 'DELETE' ? removeDependency : addDependency;
  const other = await getDependency();
  await writer.run(dependent.repository, getAccount(call), (work) => edit(work, dependent.issue, other));
  const now = await getIssue(deps, {
    caller: call.caller,
    params: {
      owner: respondedIssue.repository.owner,
      repo: respondedIssue.repository.name,
      index: String(respondedIssue.issue.number),
    },
  });
  return { status: call.method === 'DELETE' ? 200 : 201, json: (await issuesJson(deps, call, [now]))[0] };
}

function relationRoutes(
  deps: Dependencies,
  name: 'dependencies' | 'blocks',
  from: 'issue_id' | 'depends_on',
  to: 'issue_id' | 'depends_on',
): readonly Route[] {
  const path = `/repos/:owner/:repo/issues/:index/${name}`;
  const handle: Route['handle'] = async (call) => {
    const issue = await getIssue(deps, call);
    if (name === 'blocks')
      return changeDependency(deps, call, await getRequestedIssue(deps, call), async () => issue.issue, issue);
    return changeDependency(
      deps,
      call,
      issue,
      async () => (call.method === 'DELETE' ? getAnyIssue(deps, call) : (await getRequestedIssue(deps, call)).issue),
      issue,
    );
  };
  return [
    { method: 'GET', path, scope: 'issue', handle: listRelated(deps, from, to) },
    { method: 'POST', path, scope: 'issue', signedIn: true, handle },
    { method: 'DELETE', path, scope: 'issue', signedIn: true, handle },
  ];
}

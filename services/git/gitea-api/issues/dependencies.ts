import { z } from 'zod';
import { addDependency, noDependency, removeDependency } from '../../issues/dependencies.ts';
import type { Issue } from '../../issues/issues.ts';
import { unknown } from '../../repositories/lookup.ts';
import type { Repository } from '../../repositories/repositories.ts';
import { issueJson } from '../../wire/issues.ts';
import { accountOf, bodyOf, ok, optional, type Call, type Route } from '../call.ts';
import { listHeaders, pageOf, partOf } from '../paging.ts';
import { placeOf } from '../api-dependencies.ts';
import { issueAt, mayWrite, namesIn, needOpen, peopleOf, type IssueParts, type IssuePlace } from './issue-access.ts';

type IssueHere = IssuePlace & { readonly issue: Issue };

const metaBody = z.object({ index: z.int().min(1), owner: optional(z.string()), repo: optional(z.string()) });

/** Which issues wait for which, also of other repositories. */
export function dependencyRoutes(parts: IssueParts): readonly Route[] {
  return [
    ...relationRoutes(parts, 'dependencies', 'issue_id', 'depends_on'),
    ...relationRoutes(parts, 'blocks', 'depends_on', 'issue_id'),
  ];
}

async function issuesJson(
  parts: IssueParts,
  call: Call,
  some: readonly { readonly issue: Issue; readonly repository: Repository }[],
) {
  const people = await peopleOf(parts, call, namesIn(some.map(({ issue }) => issue)));
  return some.map(({ issue, repository }) => issueJson(issue, repository, placeOf(call, repository), people));
}

/** What the body names; without an owner and a repository, an issue beside that of the address. */
async function readAddress(call: Call) {
  const { index, owner = '', repo = '' } = await bodyOf(call, metaBody);
  return { index, place: owner === '' || repo === '' ? call.params : { owner, repo } };
}

async function getRequestedIssue(parts: IssueParts, call: Call): Promise<IssueHere> {
  const { index, place } = await readAddress(call);
  return issueAt(parts, { visitor: call.visitor, params: { ...place, index: String(index) } });
}

/** Whoever may read it: an issue would wait for ever for one that nobody who may change it can read any more. */
async function getAnyIssue({ issues, repositories }: IssueParts, call: Call): Promise<Issue> {
  const { index, place } = await readAddress(call);
  const repository = await repositories.find(place['owner'] ?? '', place['repo'] ?? '');
  const issue = repository && (await issues.find(repository.id, index));
  if (issue === undefined) throw noDependency();
  return issue;
}

function listRelated(
  parts: IssueParts,
  from: 'issue_id' | 'depends_on',
  to: 'issue_id' | 'depends_on',
): Route['handle'] {
  const { access, db, issues, repositories } = parts;
  return async (call) => {
    const { issue } = await issueAt(parts, call);
    const rows = await db
      .selectFrom('issue_dependencies')
      .select(to)
      .where(from, '=', issue.id)
      .orderBy('created_at')
      .execute();
    const all: { readonly issue: Issue; readonly repository: Repository }[] = [];
    for (const row of rows) {
      const one = await issues.byId(row[to]);
      const repository = one && (await repositories.byId(one.repository_id));
      // What the caller may not read is not there for him.
      if (one === undefined || repository === undefined || !(await access.may(call.visitor, repository, 'read')))
        continue;
      all.push({ issue: one, repository });
    }
    const page = pageOf(call.query);
    return ok(await issuesJson(parts, call, partOf(all, page)), listHeaders(call, page, all.length));
  };
}

/** Who waits is decided by those who may write where it is. */
async function changeDependency(
  parts: IssueParts,
  call: Call,
  waiting: IssueHere,
  on: () => Promise<Issue>,
  answered: IssueHere,
) {
  const { writer } = parts;
  if (!mayWrite(waiting.level)) throw unknown();
  needOpen(waiting.repository);
  const edit = call.method === 'DELETE' ? removeDependency : addDependency;
  const other = await on();
  await writer.run(waiting.repository, accountOf(call), (work) => edit(work, waiting.issue, other));
  const now = await issueAt(parts, {
    visitor: call.visitor,
    params: {
      owner: answered.repository.owner,
      repo: answered.repository.name,
      index: String(answered.issue.number),
    },
  });
  return { status: call.method === 'DELETE' ? 200 : 201, json: (await issuesJson(parts, call, [now]))[0] };
}

function relationRoutes(
  parts: IssueParts,
  name: 'dependencies' | 'blocks',
  from: 'issue_id' | 'depends_on',
  to: 'issue_id' | 'depends_on',
): readonly Route[] {
  const path = `/repos/:owner/:repo/issues/:index/${name}`;
  const handle: Route['handle'] = async (call) => {
    const here = await issueAt(parts, call);
    if (name === 'blocks')
      return changeDependency(parts, call, await getRequestedIssue(parts, call), async () => here.issue, here);
    return changeDependency(
      parts,
      call,
      here,
      async () => (call.method === 'DELETE' ? getAnyIssue(parts, call) : (await getRequestedIssue(parts, call)).issue),
      here,
    );
  };
  return [
    { method: 'GET', path, scope: 'issue', handle: listRelated(parts, from, to) },
    { method: 'POST', path, scope: 'issue', signedIn: true, handle },
    { method: 'DELETE', path, scope: 'issue', signedIn: true, handle },
  ];
}

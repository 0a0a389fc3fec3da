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
  const { access, db, issues, repositories, writer } = parts;

  const json = async (call: Call, some: readonly { readonly issue: Issue; readonly repository: Repository }[]) => {
    const people = await peopleOf(parts, call, namesIn(some.map(({ issue }) => issue)));
    return some.map(({ issue, repository }) => issueJson(issue, repository, placeOf(call, repository), people));
  };
  /** What the body names; without an owner and a repository, an issue beside that of the address. */
  const addressed = async (call: Call) => {
    const { index, owner = '', repo = '' } = await bodyOf(call, metaBody);
    return { index, place: owner === '' || repo === '' ? call.params : { owner, repo } };
  };
  const namedIssue = async (call: Call): Promise<IssueHere> => {
    const { index, place } = await addressed(call);
    return issueAt(parts, { visitor: call.visitor, params: { ...place, index: String(index) } });
  };
  /** Whoever may read it: an issue would wait for ever for one that nobody who may change it can read any more. */
  const anyIssue = async (call: Call): Promise<Issue> => {
    const { index, place } = await addressed(call);
    const repository = await repositories.find(place['owner'] ?? '', place['repo'] ?? '');
    const issue = repository && (await issues.find(repository.id, index));
    if (issue === undefined) throw noDependency();
    return issue;
  };
  const list =
    (from: 'issue_id' | 'depends_on', to: 'issue_id' | 'depends_on'): Route['handle'] =>
    async (call) => {
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
      return ok(await json(call, partOf(all, page)), listHeaders(call, page, all.length));
    };
  /** Who waits is decided by those who may write where it is. */
  const change = async (call: Call, waiting: IssueHere, on: () => Promise<Issue>, answered: IssueHere) => {
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
    return { status: call.method === 'DELETE' ? 200 : 201, json: (await json(call, [now]))[0] };
  };
  const routes = (
    name: 'dependencies' | 'blocks',
    from: 'issue_id' | 'depends_on',
    to: 'issue_id' | 'depends_on',
  ): readonly Route[] => {
    const path = `/repos/:owner/:repo/issues/:index/${name}`;
    const handle: Route['handle'] = async (call) => {
      const here = await issueAt(parts, call);
      if (name === 'blocks') return change(call, await namedIssue(call), async () => here.issue, here);
      return change(
        call,
        here,
        async () => (call.method === 'DELETE' ? anyIssue(call) : (await namedIssue(call)).issue),
        here,
      );
    };
    return [
      { method: 'GET', path, scope: 'issue', handle: list(from, to) },
      { method: 'POST', path, scope: 'issue', signedIn: true, handle },
      { method: 'DELETE', path, scope: 'issue', signedIn: true, handle },
    ];
  };

  return [...routes('dependencies', 'issue_id', 'depends_on'), ...routes('blocks', 'depends_on', 'issue_id')];
}

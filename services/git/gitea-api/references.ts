import { z } from 'zod';
import { Problem } from '../../contracts/problem.ts';
import { isNewBranchName, isNewTagName, isObjectId, isReferenceName } from '../domain/names.ts';
import { mayPush as mayPushTo, parseProtectionOptions } from '../protection/protections.ts';
import { readCommits } from '../repositories/commits.ts';
import { buildNotFoundProblem } from '../repositories/lookup.ts';
import { levels } from '../repositories/access.ts';
import { buildAuthorEnvironment } from '../repositories/first-commit.ts';
import { readReferences, type Reference } from '../repositories/references.ts';
import { resolveRevision } from '../repositories/revisions.ts';
import type { Repository } from '../repositories/repositories.ts';
import { zeroId } from '../domain/ref-change.ts';
import { annotatedTagJson } from '../wire/tags.ts';
import { branchJson, payloadCommit, referenceJson, tagJson } from '../wire/commits.ts';
import { getCommitEmail } from '../repositories/commit-email.ts';
import {
  getAccount,
  readJsonBody,
  created,
  noContent,
  ok,
  optional,
  required,
  route,
  signedInRoute,
  type Answer,
  type Call,
  type Route,
} from './call.ts';
import { changeReference } from './change-reference.ts';
import { listHeaders, parsePage, getPageItems } from './paging.ts';
import { getRepositoryName, getRepositoryAddress } from './repository-requests.ts';
import type { RouteDependencies } from '../components.ts';

type Dependencies = Pick<RouteDependencies, 'context' | 'storage' | 'accessControl' | 'pushControl'>;

const heads = 'refs/heads/';
const tags = 'refs/tags/';
const branchBody = z.object({
  new_branch_name: required,
  old_ref_name: optional(z.string()),
  old_branch_name: optional(z.string()),
});
const tagBody = z.object({ tag_name: required, target: optional(z.string()), message: optional(z.string()) });

/** Builds the routes of branches, tags and other references. */
export function referenceRoutes(deps: Dependencies): readonly Route[] {
  return [
    route('GET', '/repos/:owner/:repo/branches', 'repository', (call) => listBranches(deps, call)),
    route('GET', '/repos/:owner/:repo/branches/*branch', 'repository', async (call) =>
      ok(await getBranchJson(deps, call, call.params['branch'] ?? '')),
    ),
    signedInRoute('POST', '/repos/:owner/:repo/branches', 'repository', (call) => createBranch(deps, call)),
    signedInRoute('DELETE', '/repos/:owner/:repo/branches/*branch', 'repository', (call) => deleteBranch(deps, call)),
    route('GET', '/repos/:owner/:repo/tags', 'repository', (call) => listTags(deps, call)),
    route('GET', '/repos/:owner/:repo/tags/*tag', 'repository', (call) => readTag(deps, call)),
    signedInRoute('POST', '/repos/:owner/:repo/tags', 'repository', (call) => createTag(deps, call)),
    signedInRoute('DELETE', '/repos/:owner/:repo/tags/*tag', 'repository', (call) => deleteTag(deps, call)),
    route('GET', '/repos/:owner/:repo/git/tags/:sha', 'repository', (call) => readAnnotatedTag(deps, call)),
    ...['/repos/:owner/:repo/git/refs', '/repos/:owner/:repo/git/refs/*prefix'].map((path): Route =>
      route('GET', path, 'repository', (call) => listReferences(deps, call)),
    ),
  ];
}

async function findRepository({ storage: { manager }, accessControl: { lookup } }: Dependencies, call: Call) {
  const [owner, name] = getRepositoryName(call);
  const result = await lookup.find(call.caller, owner, name);
  if (result === undefined) throw buildNotFoundProblem();
  return { ...result, folder: manager.getFolder(result.repository) };
}

async function branchesJson(
  { storage: { git, manager, owners }, pushControl: { protections } }: Dependencies,
  call: Call,
  repository: Repository,
  level: string,
  references: readonly Reference[],
) {
  const ids = [...new Set(references.map(({ commit }) => commit))];
  const folder = manager.getFolder(repository);
  const byId = await readCommits(git, folder, ids);
  const accounts = await owners.findAccountsByEmail(
    [...byId.values()].flatMap(({ author, committer }) => [author.email, committer.email]),
  );
  const mayWrite = levels.findIndex((each) => each === level) >= 2;
  const rules = await Promise.all(
    references.map(({ ref }) => protections.findRule(repository.id, ref.slice(heads.length))),
  );
  const account = call.caller.identity?.account ?? '';
  return references.flatMap(({ ref, commit: id }, index) => {
    const commit = byId.get(id);
    if (commit === undefined) return [];
    const rule = rules[index];
    const mayPush = mayWrite && (rule === undefined || mayPushTo(parseProtectionOptions(rule), { account }));
    const payload = payloadCommit(commit, getRepositoryAddress(call, repository), (email) => accounts.get(email) ?? '');
    return [branchJson(ref.slice(heads.length), payload, { rule: rule?.rule, mayPush })];
  });
}

async function getBranchJson(deps: Dependencies, call: Call, name: string) {
  const { git } = deps.storage;
  const { repository, level, folder } = await findRepository(deps, call);
  const references = isReferenceName(heads + name) ? await readReferences(git, folder, heads + name) : [];
  const [json] = await branchesJson(
    deps,
    call,
    repository,
    level,
    references.filter(({ ref }) => ref === heads + name),
  );
  if (json === undefined) throw buildNotFoundProblem();
  return json;
}

async function tagsJson(
  { storage: { git, manager, objects } }: Dependencies,
  call: Call,
  repository: Repository,
  references: readonly Reference[],
) {
  const folder = manager.getFolder(repository);
  const commits = await readCommits(git, folder, [...new Set(references.map(({ commit }) => commit))]);
  return Promise.all(
    references.map(async (tag) => {
      const commit = commits.get(tag.commit);
      const tagObject = tag.type === 'tag' ? await objects.contents(folder, tag.id) : undefined;
      const message =
        tagObject === undefined
          ? (commit?.message ?? '')
          : tagObject.bytes.toString().split('\n\n').slice(1).join('\n\n');
      return tagJson(
        { ...tag, message, created: commit?.committer.date ?? '' },
        getRepositoryAddress(call, repository),
      );
    }),
  );
}

async function listBranches(deps: Dependencies, call: Call): Promise<Answer> {
  const { git } = deps.storage;
  const { repository, level, folder } = await findRepository(deps, call);
  const all = await readReferences(git, folder, heads);
  const page = parsePage(call.query);
  return ok(
    await branchesJson(deps, call, repository, level, getPageItems(all, page)),
    listHeaders(call, page, all.length),
  );
}

async function createBranch(deps: Dependencies, call: Call): Promise<Answer> {
  const { git, manager, objects } = deps.storage;
  const { lookup } = deps.accessControl;
  const { protections } = deps.pushControl;
  const repository = await lookup.require(call.caller, getRepositoryName(call), 'write');
  const input = await readJsonBody(call, branchBody);
  const name = input.new_branch_name;
  if (!isNewBranchName(name)) throw new Problem('git.invalid', 422, '[NewBranchName]: GitRefName');
  await protections.checkCommit(repository.id, name, { account: getAccount(call) });
  const folder = manager.getFolder(repository);
  const from = await resolveRevision(objects, folder, repository, input.old_ref_name ?? input.old_branch_name);
  if (from === undefined) throw new Problem('git.unknown', 404, 'The old branch does not exist');
  if ((await readReferences(git, folder, heads + name)).some(({ ref }) => ref === heads + name)) {
    throw new Problem('git.branch_taken', 409, 'The branch already exists.');
  }
  await changeReference(deps, repository, getAccount(call), {
    ref: heads + name,
    before: zeroId,
    after: from.commit,
  });
  return created(await getBranchJson(deps, call, name));
}

async function deleteBranch(deps: Dependencies, call: Call): Promise<Answer> {
  const { lookup } = deps.accessControl;
  const repository = await lookup.require(call.caller, getRepositoryName(call), 'write');
  const name = call.params['branch'] ?? '';
  if (name === repository.defaultBranch)
    throw new Problem('git.forbidden', 403, 'can not delete default or pull request target branch');
  await deps.pushControl.protections.checkRemoval(repository.id, name);
  await removeReference(deps, repository, call, heads, name);
  return noContent;
}

async function listTags(deps: Dependencies, call: Call): Promise<Answer> {
  const { git } = deps.storage;
  const { repository, folder } = await findRepository(deps, call);
  const all = (await readReferences(git, folder, tags)).toReversed();
  const page = parsePage(call.query);
  return ok(await tagsJson(deps, call, repository, getPageItems(all, page)), listHeaders(call, page, all.length));
}

async function readTag(deps: Dependencies, call: Call): Promise<Answer> {
  const { git } = deps.storage;
  const { repository, folder } = await findRepository(deps, call);
  const name = tags + (call.params['tag'] ?? '');
  const references = isReferenceName(name) ? await readReferences(git, folder, name) : [];
  const [json] = await tagsJson(
    deps,
    call,
    repository,
    references.filter(({ ref }) => ref === name),
  );
  if (json === undefined) throw buildNotFoundProblem();
  return ok(json);
}

async function createTag(deps: Dependencies, call: Call): Promise<Answer> {
  const { git, manager, objects, owners } = deps.storage;
  const { lookup } = deps.accessControl;
  const repository = await lookup.require(call.caller, getRepositoryName(call), 'write');
  const input = await readJsonBody(call, tagBody);
  const name = tags + input.tag_name;
  if (!isNewTagName(input.tag_name)) throw new Problem('git.invalid', 422, '[TagName]: GitRefName');
  const folder = manager.getFolder(repository);
  const target = await resolveRevision(objects, folder, repository, input.target);
  if (target === undefined) throw new Problem('git.unknown', 404, 'target not found');
  if ((await readReferences(git, folder, name)).some(({ ref }) => ref === name)) {
    throw new Problem('git.tag_taken', 409, 'tag already exists');
  }
  const account = getAccount(call);
  const after =
    input.message === undefined || input.message === ''
      ? target.commit
      : await annotate(
          deps,
          folder,
          { name: input.tag_name, target: target.commit, message: input.message },
          {
            name: account,
            email: getCommitEmail(await owners.getForAccount(account), call.base),
          },
        );
  await changeReference(deps, repository, account, { ref: name, before: zeroId, after });
  const [json] = await tagsJson(
    deps,
    call,
    repository,
    (await readReferences(git, folder, name)).filter(({ ref }) => ref === name),
  );
  return created(json);
}

async function deleteTag(deps: Dependencies, call: Call): Promise<Answer> {
  const { lookup } = deps.accessControl;
  const repository = await lookup.require(call.caller, getRepositoryName(call), 'write');
  await removeReference(deps, repository, call, tags, call.params['tag'] ?? '');
  return noContent;
}

async function readAnnotatedTag(deps: Dependencies, call: Call): Promise<Answer> {
  const { objects } = deps.storage;
  const { repository, folder } = await findRepository(deps, call);
  const sha = call.params['sha'] ?? '';
  const tag = isObjectId(sha) ? await objects.contents(folder, sha) : undefined;
  if (tag?.type !== 'tag') throw buildNotFoundProblem();
  return ok(annotatedTagJson(sha, tag.bytes.toString(), getRepositoryAddress(call, repository)));
}

async function listReferences(deps: Dependencies, call: Call): Promise<Answer> {
  const { git } = deps.storage;
  const { repository, folder } = await findRepository(deps, call);
  const prefix = call.params['prefix'];
  if (prefix !== undefined && !isReferenceName(prefix)) throw buildNotFoundProblem();
  const all = (await readReferences(git, folder, 'refs/')).filter(({ ref }) => ref.startsWith(`refs/${prefix ?? ''}`));
  if (all.length === 0 && prefix !== undefined) throw buildNotFoundProblem();
  const [exact] = all;
  const address = getRepositoryAddress(call, repository);
  if (all.length === 1 && exact?.ref === `refs/${prefix ?? ''}`) return ok([referenceJson(exact, address)]);
  return ok(all.map((reference) => referenceJson(reference, address)));
}

async function removeReference(
  deps: Dependencies,
  repository: Repository,
  call: Call,
  kind: string,
  name: string,
): Promise<void> {
  const folder = deps.storage.manager.getFolder(repository);
  const all = isReferenceName(kind + name) ? await readReferences(deps.storage.git, folder, kind + name) : [];
  const result = all.find(({ ref }) => ref === kind + name);
  if (result === undefined) throw buildNotFoundProblem();
  await changeReference(deps, repository, getAccount(call), { ref: result.ref, before: result.id, after: zeroId });
}

async function annotate(
  { storage: { git }, context: { clock } }: Pick<RouteDependencies, 'context' | 'storage'>,
  folder: string,
  { name, target, message }: { readonly name: string; readonly target: string; readonly message: string },
  author: { readonly name: string; readonly email: string },
): Promise<string> {
  const tagger = buildAuthorEnvironment(author);
  const seconds = Math.floor(clock.now() / 1000);
  const identity = `${tagger.GIT_COMMITTER_NAME} <${tagger.GIT_COMMITTER_EMAIL}> ${seconds} +0000`;
  const header = [`object ${target}`, 'type commit', `tag ${name}`, `tagger ${identity}`].join('\n');
  const input = `${header}\n\n${message.replace(/\n?$/, '\n')}`;
  return (await git.run(folder, ['mktag', '--no-strict'], { input })).stdout.toString().trim();
}

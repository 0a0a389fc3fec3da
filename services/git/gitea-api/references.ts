import { z } from 'zod';
import { Problem } from '../../contracts/problem.ts';
import { isNewBranchName, isNewTagName, isObjectId, isReferenceName } from '../domain/names.ts';
import { mayPush as mayPushTo, optionsOf } from '../protection/protections.ts';
import { readCommits } from '../repositories/commits.ts';
import { unknown } from '../repositories/lookup.ts';
import { levels } from '../repositories/access.ts';
import { authorship } from '../repositories/first-commit.ts';
import { readReferences, type Reference } from '../repositories/references.ts';
import { resolve } from '../repositories/revisions.ts';
import type { Repository } from '../repositories/repositories.ts';
import { noObject } from '../transfer/push-request.ts';
import { annotatedTagJson } from '../wire/tags.ts';
import { branchJson, payloadCommit, referenceJson, tagJson } from '../wire/commits.ts';
import { emailOf } from '../wire/users.ts';
import {
  accountOf,
  bodyOf,
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
import { listHeaders, pageOf, partOf } from './paging.ts';
import { named, placeOf, type RestParts } from './api-dependencies.ts';

const heads = 'refs/heads/';
const tags = 'refs/tags/';
const branchBody = z.object({
  new_branch_name: required,
  old_ref_name: optional(z.string()),
  old_branch_name: optional(z.string()),
});
const tagBody = z.object({ tag_name: required, target: optional(z.string()), message: optional(z.string()) });

/** Branches, tags and references of other kinds. */
export function referenceRoutes(parts: RestParts): readonly Route[] {
  return [
    route('GET', '/repos/:owner/:repo/branches', 'repository', (call) => listBranches(parts, call)),
    route('GET', '/repos/:owner/:repo/branches/*branch', 'repository', async (call) =>
      ok(await getBranchJson(parts, call, call.params['branch'] ?? '')),
    ),
    signedInRoute('POST', '/repos/:owner/:repo/branches', 'repository', (call) => createBranch(parts, call)),
    signedInRoute('DELETE', '/repos/:owner/:repo/branches/*branch', 'repository', (call) => deleteBranch(parts, call)),
    route('GET', '/repos/:owner/:repo/tags', 'repository', (call) => listTags(parts, call)),
    route('GET', '/repos/:owner/:repo/tags/*tag', 'repository', (call) => readTag(parts, call)),
    signedInRoute('POST', '/repos/:owner/:repo/tags', 'repository', (call) => createTag(parts, call)),
    signedInRoute('DELETE', '/repos/:owner/:repo/tags/*tag', 'repository', (call) => deleteTag(parts, call)),
    route('GET', '/repos/:owner/:repo/git/tags/:sha', 'repository', (call) => readAnnotatedTag(parts, call)),
    ...['/repos/:owner/:repo/git/refs', '/repos/:owner/:repo/git/refs/*prefix'].map((path): Route =>
      route('GET', path, 'repository', (call) => listReferences(parts, call)),
    ),
  ];
}

async function findRepository({ keeper, lookup }: RestParts, call: Call) {
  const [owner, name] = named(call);
  const found = await lookup.find(call.visitor, owner, name);
  if (found === undefined) throw unknown();
  return { ...found, folder: keeper.folder(found.repository) };
}

async function branchesJson(
  { git, keeper, owners, protections }: RestParts,
  call: Call,
  repository: Repository,
  level: string,
  some: readonly Reference[],
) {
  const ids = [...new Set(some.map(({ commit }) => commit))];
  const folder = keeper.folder(repository);
  const byId = await readCommits(git, folder, ids);
  const accounts = await owners.accountsOfEmails(
    [...byId.values()].flatMap(({ author, committer }) => [author.email, committer.email]),
  );
  const mayWrite = levels.findIndex((each) => each === level) >= 2;
  const rules = await Promise.all(some.map(({ ref }) => protections.of(repository.id, ref.slice(heads.length))));
  const account = call.visitor.identity?.account ?? '';
  return some.flatMap(({ ref, commit: id }, at) => {
    const commit = byId.get(id);
    if (commit === undefined) return [];
    const rule = rules[at];
    const mayPush = mayWrite && (rule === undefined || mayPushTo(optionsOf(rule), { account }));
    const payload = payloadCommit(commit, placeOf(call, repository), (email) => accounts.get(email) ?? '');
    return [branchJson(ref.slice(heads.length), payload, { rule: rule?.rule, mayPush })];
  });
}

async function getBranchJson(parts: RestParts, call: Call, name: string) {
  const { git } = parts;
  const { repository, level, folder } = await findRepository(parts, call);
  const some = isReferenceName(heads + name) ? await readReferences(git, folder, heads + name) : [];
  const [json] = await branchesJson(
    parts,
    call,
    repository,
    level,
    some.filter(({ ref }) => ref === heads + name),
  );
  if (json === undefined) throw unknown();
  return json;
}

async function tagsJson(
  { git, keeper, objects }: RestParts,
  call: Call,
  repository: Repository,
  some: readonly Reference[],
) {
  const folder = keeper.folder(repository);
  const commits = await readCommits(git, folder, [...new Set(some.map(({ commit }) => commit))]);
  return Promise.all(
    some.map(async (tag) => {
      const commit = commits.get(tag.commit);
      const made = tag.type === 'tag' ? await objects.contents(folder, tag.id) : undefined;
      const message =
        made === undefined ? (commit?.message ?? '') : made.bytes.toString().split('\n\n').slice(1).join('\n\n');
      return tagJson({ ...tag, message, created: commit?.committer.date ?? '' }, placeOf(call, repository));
    }),
  );
}

async function listBranches(parts: RestParts, call: Call): Promise<Answer> {
  const { git } = parts;
  const { repository, level, folder } = await findRepository(parts, call);
  const all = await readReferences(git, folder, heads);
  const page = pageOf(call.query);
  return ok(await branchesJson(parts, call, repository, level, partOf(all, page)), listHeaders(call, page, all.length));
}

async function createBranch(parts: RestParts, call: Call): Promise<Answer> {
  const { git, keeper, lookup, objects, protections } = parts;
  const repository = await lookup.need(call.visitor, named(call), 'write');
  const asked = await bodyOf(call, branchBody);
  const name = asked.new_branch_name;
  if (!isNewBranchName(name)) throw new Problem('git.invalid', 422, '[NewBranchName]: GitRefName');
  await protections.checkCommit(repository.id, name, { account: accountOf(call) });
  const folder = keeper.folder(repository);
  const from = await resolve(objects, folder, repository, asked.old_ref_name ?? asked.old_branch_name);
  if (from === undefined) throw new Problem('git.unknown', 404, 'The old branch does not exist');
  if ((await readReferences(git, folder, heads + name)).some(({ ref }) => ref === heads + name)) {
    throw new Problem('git.branch_taken', 409, 'The branch already exists.');
  }
  await changeReference(parts, repository, accountOf(call), {
    ref: heads + name,
    before: noObject,
    after: from.commit,
  });
  return created(await getBranchJson(parts, call, name));
}

async function deleteBranch(parts: RestParts, call: Call): Promise<Answer> {
  const { lookup } = parts;
  const repository = await lookup.need(call.visitor, named(call), 'write');
  const name = call.params['branch'] ?? '';
  if (name === repository.defaultBranch)
    throw new Problem('git.forbidden', 403, 'can not delete default or pull request target branch');
  await parts.protections.checkRemoval(repository.id, name);
  await removeReference(parts, repository, call, heads, name);
  return noContent;
}

async function listTags(parts: RestParts, call: Call): Promise<Answer> {
  const { git } = parts;
  const { repository, folder } = await findRepository(parts, call);
  const all = (await readReferences(git, folder, tags)).toReversed();
  const page = pageOf(call.query);
  return ok(await tagsJson(parts, call, repository, partOf(all, page)), listHeaders(call, page, all.length));
}

async function readTag(parts: RestParts, call: Call): Promise<Answer> {
  const { git } = parts;
  const { repository, folder } = await findRepository(parts, call);
  const name = tags + (call.params['tag'] ?? '');
  const some = isReferenceName(name) ? await readReferences(git, folder, name) : [];
  const [json] = await tagsJson(
    parts,
    call,
    repository,
    some.filter(({ ref }) => ref === name),
  );
  if (json === undefined) throw unknown();
  return ok(json);
}

async function createTag(parts: RestParts, call: Call): Promise<Answer> {
  const { git, keeper, lookup, objects, owners } = parts;
  const repository = await lookup.need(call.visitor, named(call), 'write');
  const asked = await bodyOf(call, tagBody);
  const name = tags + asked.tag_name;
  if (!isNewTagName(asked.tag_name)) throw new Problem('git.invalid', 422, '[TagName]: GitRefName');
  const folder = keeper.folder(repository);
  const target = await resolve(objects, folder, repository, asked.target);
  if (target === undefined) throw new Problem('git.unknown', 404, 'target not found');
  if ((await readReferences(git, folder, name)).some(({ ref }) => ref === name)) {
    throw new Problem('git.tag_taken', 409, 'tag already exists');
  }
  const account = accountOf(call);
  const after =
    asked.message === undefined || asked.message === ''
      ? target.commit
      : await annotate(
          parts,
          folder,
          { name: asked.tag_name, target: target.commit, message: asked.message },
          {
            name: account,
            email: emailOf(await owners.ofAccount(account), call.base),
          },
        );
  await changeReference(parts, repository, account, { ref: name, before: noObject, after });
  const [json] = await tagsJson(
    parts,
    call,
    repository,
    (await readReferences(git, folder, name)).filter(({ ref }) => ref === name),
  );
  return created(json);
}

async function deleteTag(parts: RestParts, call: Call): Promise<Answer> {
  const { lookup } = parts;
  const repository = await lookup.need(call.visitor, named(call), 'write');
  await removeReference(parts, repository, call, tags, call.params['tag'] ?? '');
  return noContent;
}

async function readAnnotatedTag(parts: RestParts, call: Call): Promise<Answer> {
  const { objects } = parts;
  const { repository, folder } = await findRepository(parts, call);
  const sha = call.params['sha'] ?? '';
  const tag = isObjectId(sha) ? await objects.contents(folder, sha) : undefined;
  if (tag?.type !== 'tag') throw unknown();
  return ok(annotatedTagJson(sha, tag.bytes.toString(), placeOf(call, repository)));
}

async function listReferences(parts: RestParts, call: Call): Promise<Answer> {
  const { git } = parts;
  const { repository, folder } = await findRepository(parts, call);
  const prefix = call.params['prefix'];
  if (prefix !== undefined && !isReferenceName(prefix)) throw unknown();
  const all = (await readReferences(git, folder, 'refs/')).filter(({ ref }) => ref.startsWith(`refs/${prefix ?? ''}`));
  if (all.length === 0 && prefix !== undefined) throw unknown();
  const [exact] = all;
  const place = placeOf(call, repository);
  if (all.length === 1 && exact?.ref === `refs/${prefix ?? ''}`) return ok([referenceJson(exact, place)]);
  return ok(all.map((reference) => referenceJson(reference, place)));
}

async function removeReference(
  parts: RestParts,
  repository: Repository,
  call: Call,
  kind: string,
  name: string,
): Promise<void> {
  const folder = parts.keeper.folder(repository);
  const all = isReferenceName(kind + name) ? await readReferences(parts.git, folder, kind + name) : [];
  const found = all.find(({ ref }) => ref === kind + name);
  if (found === undefined) throw unknown();
  await changeReference(parts, repository, accountOf(call), { ref: found.ref, before: found.id, after: noObject });
}

async function annotate(
  { git, context: { clock } }: Pick<RestParts, 'git' | 'context'>,
  folder: string,
  { name, target, message }: { readonly name: string; readonly target: string; readonly message: string },
  author: { readonly name: string; readonly email: string },
): Promise<string> {
  const made = authorship(author);
  const seconds = Math.floor(clock.now() / 1000);
  const input = `object ${target}\ntype commit\ntag ${name}\ntagger ${made.GIT_COMMITTER_NAME} <${made.GIT_COMMITTER_EMAIL}> ${seconds} +0000\n\n${message.replace(/\n?$/, '\n')}`;
  return (await git.run(folder, ['mktag', '--no-strict'], { input })).stdout.toString().trim();
}

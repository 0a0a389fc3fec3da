import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Grant } from '../../services/contracts/control/accounts.ts';
import { openGitFixture, type GitFixture } from '../services/git/git-fixture.ts';
import { makeKey } from '../services/git/ssh-key.ts';
import { api } from '../support/api.ts';
import { adminAuthorization } from '../support/host.ts';
import { gitRows, needs, type GitObjects, type GitRow, type Need } from './git-app-api-rows.ts';

/**
 * Tests access to Code's app API by object. Each row is a request on a private repository of the organization `acme`;
 * the same requests are sent to a public repository, and from a repository of another owner with the IDs of `acme`.
 */
const levels = {
  anonymous: undefined,
  none: undefined,
  otherOwner: undefined,
  readToken: undefined,
  writeToken: undefined,
  reader: 'read',
  writer: 'write',
  collaborator: 'write',
  maintainer: 'administer',
  member: 'own',
  administrator: 'own',
} as const;
type Caller = keyof typeof levels;
const callers = Object.keys(levels) as Caller[];

let fixture: GitFixture;
const authorization = new Map<Caller, string>([
  ['anonymous', ''],
  ['administrator', adminAuthorization],
]);

function isAllowed(caller: Caller, need: Need): boolean {
  const level: Need | undefined = levels[caller];
  return level !== undefined && needs.indexOf(level) >= needs.indexOf(need);
}

/** Sends a request of the Gitea API, which creates the objects. */
async function gitea<Reply>(caller: Caller, method: string, path: string, body?: unknown): Promise<Reply> {
  const reply = await fixture.api(method, path, body, authorization.get(caller));
  const text = await reply.text();
  expect([method, path, reply.ok, text]).toEqual([method, path, true, text]);
  return (text === '' ? undefined : JSON.parse(text)) as Reply;
}

/** Sends a request of the app API. */
function ask(caller: Caller, method: string, path: string, body?: unknown): Promise<Response> {
  const authorized = authorization.get(caller) ?? '';
  return fetch(`${fixture.host.url('control')}/api/git/repositories${path}`, {
    method,
    headers: {
      ...(authorized === '' ? {} : { authorization: authorized }),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    },
    ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  });
}

beforeAll(async () => {
  fixture = await openGitFixture();
  const grant = (permission: Grant['permission'], resource: string): Grant => ({
    service: 'git',
    resource,
    permission,
  });
  authorization.set('none', await fixture.account('none'));
  authorization.set('reader', await fixture.account('reader', [grant('read', 'acme/*')]));
  authorization.set('writer', await fixture.account('writer', [grant('write', 'acme/*')]));
  for (const name of ['collaborator', 'maintainer', 'member', 'otherOwner'] as const)
    authorization.set(name, await fixture.account(name));
  for (const name of ['target', 'removable']) await fixture.account(name);
  await gitea('member', 'POST', '/orgs', { username: 'acme' });
  await gitea('otherOwner', 'POST', '/orgs', { username: 'rival' });
  for (const [caller, permission] of [
    ['readToken', 'read'],
    ['writeToken', 'read-write'],
  ] as const) {
    const token = await api<{ readonly text: string }>(fixture.host.url('control'), '/api/accounts/ada/tokens', {
      method: 'POST',
      body: JSON.stringify({ label: caller, scopes: [grant(permission, '*')] }),
    });
    authorization.set(caller, `Bearer ${token.text}`);
  }
});
afterAll(() => fixture[Symbol.asyncDispose]());

interface WithId {
  readonly id: number;
}

let created = 0;
let keys = 0;
/** Creates a repository with an object of each kind. */
async function createObjects(creator: 'member' | 'otherOwner', isPrivate: boolean): Promise<GitObjects> {
  const owner = creator === 'member' ? 'acme' : 'rival';
  const repository = `${owner}/r${String((created += 1))}`;
  const repositoryPath = `/repos/${repository}`;
  const options = { name: repository.split('/')[1], private: isPrivate, auto_init: true, default_branch: 'main' };
  await gitea(creator, 'POST', `/orgs/${owner}/repos`, options);
  for (const branch of ['dev', 'other-branch']) {
    const content = Buffer.from(branch).toString('base64');
    const file = { content, message: 'Add a file', branch: 'main', new_branch: branch };
    await gitea(creator, 'POST', `${repositoryPath}/contents/${branch}.txt`, file);
  }
  await gitea(creator, 'POST', `${repositoryPath}/issues`, { title: 'An issue' });
  await gitea(creator, 'POST', `${repositoryPath}/pulls`, { title: 'A pull request', head: 'dev', base: 'main' });
  const { commit } = await gitea<{ readonly commit: { readonly id: string } }>(
    creator,
    'GET',
    `${repositoryPath}/branches/main`,
  );
  return { repository, commit: commit.id, issue: '1', pull: '2', ...(await createParts(creator, repository)) };
}

type ObjectIds = Omit<GitObjects, 'repository' | 'commit' | 'issue' | 'pull'>;

/** Creates the objects that requests remove, repeatedly if needed. */
async function createParts(creator: 'member' | 'otherOwner', repository: string): Promise<ObjectIds> {
  const repositoryPath = `/repos/${repository}`;
  const unique = String((keys += 1));
  const id = async (path: string, body: unknown): Promise<string> =>
    String((await gitea<WithId>(creator, 'POST', `${repositoryPath}${path}`, body)).id);
  await gitea(creator, 'PUT', `${repositoryPath}/collaborators/collaborator`, { permission: 'write' });
  await gitea(creator, 'PUT', `${repositoryPath}/collaborators/maintainer`, { permission: 'admin' });
  await gitea(creator, 'PUT', `${repositoryPath}/collaborators/removable`, { permission: 'read' });
  const config = { url: 'https://hooks.example/', content_type: 'json' };
  const hook = await id('/hooks', { type: 'gitea', config });
  expect((await ask(creator, 'POST', `/${repository}/hooks/${hook}/test`)).status).toBe(200);
  const listed = await ask(creator, 'GET', `/${repository}/hooks/${hook}/deliveries`);
  const [delivery] = ((await listed.json()) as { readonly deliveries: readonly { readonly id: string }[] }).deliveries;
  const { text: key } = await makeKey(fixture, `key-${unique}`);
  const rule = {
    push: 'writers',
    accounts: [],
    force: false,
    approvals: 0,
    rejections: false,
    fresh: false,
    checks: [],
  };
  await ask(creator, 'POST', `/${repository}/protections`, { ...rule, rule: `branch-${unique}` });
  const settings = await ask(creator, 'GET', `/${repository}/settings`);
  const { protections } = (await settings.json()) as { readonly protections: readonly WithId[] };
  const release = await createRelease(creator, repository, { tag: `release-${unique}` });
  const draft = await createRelease(creator, repository, { tag: `draft-${unique}`, draft: true });
  return {
    label: await id('/labels', { name: `label ${unique}`, color: '#ff0000' }),
    milestone: await id('/milestones', { title: 'v1' }),
    hook,
    delivery: delivery?.id ?? '',
    deployKey: await id('/keys', { title: 'key', key: key.trim() }),
    protection: String(protections.at(-1)?.id),
    ...{ release: release.id, file: release.file, draft: draft.id, draftFile: draft.file },
  };
}

async function createRelease(
  creator: 'member' | 'otherOwner',
  repository: string,
  body: object,
): Promise<{ readonly id: string; readonly file: string }> {
  const release = await ask(creator, 'POST', `/${repository}/releases`, body);
  const id = String(((await release.json()) as WithId).id);
  await ask(creator, 'POST', `/${repository}/releases/${id}/files?name=a.txt`, 'content');
  const listed = (await (await ask(creator, 'GET', `/${repository}/releases`)).json()) as {
    readonly releases: readonly (WithId & { readonly files: readonly WithId[] })[];
  };
  const file = listed.releases.find((entry) => String(entry.id) === id)?.files[0];
  return { id, file: String(file?.id) };
}

/** Builds the path of a row from `objects`, and its last parameter from `last` if given. */
function buildPath(row: GitRow, objects: GitObjects, last: GitObjects = objects): string {
  const template = row.route.split(' ')[1] ?? '';
  const parameters = Object.entries(row.at ?? {});
  const lastObject = Object.values(row.at ?? {}).findLast((object) => object in objects);
  const path = parameters.reduce((text, [name, object]) => {
    const from = object === lastObject ? last : objects;
    return text.replace(`:${name}`, object in from ? from[object as keyof GitObjects] : object);
  }, template);
  return `/${objects.repository}${path}${row.query === undefined ? '' : `?${row.query}`}`;
}

const isRefused = (status: number): boolean => [401, 403, 404].includes(status);

describe('the app API of Code', () => {
  let hidden: GitObjects;
  let open: GitObjects;
  let otherObjects: GitObjects;
  beforeAll(async () => {
    hidden = await createObjects('member', true);
    open = await createObjects('member', false);
    otherObjects = await createObjects('otherOwner', true);
  });

  const rows = gitRows.map((row): [string, string, GitRow] => [row.route, row.need, row]);
  it.each(rows)('answers "%s" to callers with the level: %s', async (_route, _need, row) => {
    const [method = ''] = row.route.split(' ');
    const fetchStatus = async (caller: Caller, path: string): Promise<number> => {
      const reply = await ask(caller, method, path, row.body);
      await reply.arrayBuffer();
      return reply.status;
    };
    for (const caller of callers.filter((entry) => !isAllowed(entry, row.need))) {
      const status = await fetchStatus(caller, buildPath(row, hidden));
      expect.soft(['private', caller, isRefused(status), status]).toEqual(['private', caller, true, status]);
    }
    const strangers = ['none', 'otherOwner', 'anonymous', 'readToken', 'writeToken'] as const;
    for (const caller of strangers) {
      const status = await fetchStatus(caller, buildPath(row, open));
      const reads = row.need === 'read' && (caller === 'none' || caller === 'otherOwner');
      expect.soft(['public', caller, isRefused(status), status]).toEqual(['public', caller, !reads, status]);
    }
    if (Object.values(row.at ?? {}).some((object) => !['issue', 'pull'].includes(object) && object in hidden)) {
      const status = await fetchStatus('otherOwner', buildPath(row, otherObjects, hidden));
      expect.soft(['ids of another repository', status]).toEqual(['ids of another repository', 404]);
    }
    for (const caller of callers.filter((entry) => isAllowed(entry, row.need))) {
      const status = await fetchStatus(caller, buildPath(row, hidden));
      expect.soft(['private', caller, isRefused(status), status]).toEqual(['private', caller, false, status]);
      if (row.consumes !== true) continue;
      hidden =
        row.need === 'own'
          ? await createObjects('member', true)
          : { ...hidden, ...(await createParts('member', hidden.repository)) };
    }
  });
});

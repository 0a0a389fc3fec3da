import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Grant } from '../../services/contracts/control/accounts.ts';
import { api } from '../support/api.ts';
import { adminAuthorization } from '../support/host.ts';
import { openGitFixture, type GitFixture } from '../services/git/git-fixture.ts';

/**
 * Tests write access in Code by object. Each row is a request and each column a caller. Objects are created for each
 * row, so that rows are independent.
 */
const callers = [
  'anonymous',
  'none',
  'reader',
  'writer',
  'collaborator',
  'member',
  'otherOwner',
  'administrator',
  'readToken',
  'writeToken',
] as const;
type Caller = (typeof callers)[number];

let fixture: GitFixture;
const authorization = new Map<Caller, string>([
  ['anonymous', ''],
  ['administrator', adminAuthorization],
]);

beforeAll(async () => {
  fixture = await openGitFixture();
  const grant = (permission: Grant['permission'], resource: string): Grant => ({
    service: 'git',
    resource,
    permission,
  });
  authorization.set('none', await fixture.account('none'));
  authorization.set('reader', await fixture.account('reader', [grant('read', 'acme/*'), grant('read', 'member/*')]));
  authorization.set('writer', await fixture.account('writer', [grant('write', 'acme/*'), grant('write', 'member/*')]));
  authorization.set('collaborator', await fixture.account('collaborator'));
  authorization.set('member', await fixture.account('member'));
  authorization.set('otherOwner', await fixture.account('otherOwner'));
  await fixture.account('target');
  expect((await ask('member', 'POST', '/orgs', { username: 'acme' })).status).toBe(201);
  expect((await ask('otherOwner', 'POST', '/orgs', { username: 'rival' })).status).toBe(201);
  for (const [caller, permission] of [
    ['readToken', 'read'],
    ['writeToken', 'write'],
  ] as const) {
    const token = await api<{ readonly text: string }>(fixture.host.url('control'), '/api/accounts/ada/tokens', {
      method: 'POST',
      body: JSON.stringify({ label: caller, scopes: [grant(permission, '*')] }),
    });
    authorization.set(caller, `Bearer ${token.text}`);
  }
});
afterAll(() => fixture[Symbol.asyncDispose]());

function ask(caller: Caller, method: string, path: string, body?: unknown): Promise<Response> {
  return fixture.api(method, path, body, authorization.get(caller));
}

interface Objects {
  /** Name of the organization's private repository of this row. */
  readonly repository: string;
  /** Id of the owners' team. */
  readonly team: number;
  readonly issue: number;
  readonly comment: number;
  readonly label: number;
  readonly milestone: number;
  readonly hook: number;
  readonly ownerHook: number;
}

async function readId(reply: Promise<Response>): Promise<number> {
  const answer = await reply;
  expect(answer.status).toBe(201);
  return ((await answer.json()) as { readonly id: number }).id;
}

/** Paths that refer to a commit. Creating one takes ten times as long as everything else of a row. */
const commitPath = /\/(?:branches|contents|forks|releases|statuses|tags|tests)$|\/statuses\//;

let repositoryCount = 0;
async function makeObjects(hasCommit: boolean): Promise<Objects> {
  repositoryCount += 1;
  const repository = `r${repositoryCount}`;
  const path = `/repos/acme/${repository}`;
  const options = { name: repository, private: true, auto_init: hasCommit, default_branch: 'main' };
  await readId(ask('member', 'POST', '/orgs/acme/repos', options));
  await ask('member', 'PUT', `${path}/collaborators/collaborator`, { permission: 'write' });
  const hook = { type: 'gitea', config: { url: 'https://hooks.example/', content_type: 'json' } };
  const teams = (await (await ask('member', 'GET', '/orgs/acme/teams')).json()) as readonly { readonly id: number }[];
  return {
    repository,
    team: teams[0]?.id ?? 0,
    issue: (await readId(ask('member', 'POST', `${path}/issues`, { title: 'An issue' }))) > 0 ? 1 : 0,
    comment: await readId(ask('member', 'POST', `${path}/issues/1/comments`, { body: 'A comment' })),
    label: await readId(ask('member', 'POST', `${path}/labels`, { name: 'bug', color: '#ff0000' })),
    milestone: await readId(ask('member', 'POST', `${path}/milestones`, { title: 'v1' })),
    hook: await readId(ask('member', 'POST', `${path}/hooks`, hook)),
    ownerHook: await readId(ask('member', 'POST', '/orgs/acme/hooks', hook)),
  };
}

/** Title, method, path and body of a request. */
type Row = readonly [string, string, (objects: Objects) => string, unknown?];

const hookBody = { type: 'gitea', config: { url: 'https://hooks.example/x', content_type: 'json' } };
const key = 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIDnCsyGeNZzqQaeQro70kBf152qxy1Oq41OUqB74NYBl a@b';
const file = { content: Buffer.from('text').toString('base64'), message: 'A file', branch: 'main' };

/** Requests that require administration of the owner. */
const ownership: readonly Row[] = [
  ['changes the organization', 'PATCH', () => '/orgs/acme', { description: 'x' }],
  ['renames the organization', 'POST', () => '/orgs/acme/rename', { new_name: 'acme' }],
  ['adds a member', 'PUT', ({ team }) => `/teams/${team}/members/target`],
  ['removes a member by the team', 'DELETE', ({ team }) => `/teams/${team}/members/target`],
  ['removes a member by the organization', 'DELETE', () => '/orgs/acme/members/target'],
  ['lists webhooks of the organization', 'GET', () => '/orgs/acme/hooks'],
  ['adds a webhook to the organization', 'POST', () => '/orgs/acme/hooks', hookBody],
  ['changes a webhook of the organization', 'PATCH', ({ ownerHook }) => `/orgs/acme/hooks/${ownerHook}`, {}],
  ['deletes a webhook of the organization', 'DELETE', ({ ownerHook }) => `/orgs/acme/hooks/${ownerHook}`],
  ['creates a repository in the organization', 'POST', () => '/orgs/acme/repos', { name: 'new' }],
  ['creates one by the older address', 'POST', () => '/org/acme/repos', { name: 'newer' }],
  [
    'migrates into the organization',
    'POST',
    () => '/repos/migrate',
    { clone_addr: 'https://git.invalid/a.git', repo_name: 'copy', repo_owner: 'acme' },
  ],
  [
    'forks into the organization',
    'POST',
    ({ repository }) => `/repos/acme/${repository}/forks`,
    { organization: 'acme', name: 'forked' },
  ],
  [
    'transfers a repository away',
    'POST',
    ({ repository }) => `/repos/acme/${repository}/transfer`,
    { new_owner: 'target' },
  ],
  ['deletes a repository', 'DELETE', ({ repository }) => `/repos/acme/${repository}`],
];

/** Requests that require administration of the repository. */
const administration: readonly Row[] = [
  ['makes the repository public', 'PATCH', ({ repository }) => `/repos/acme/${repository}`, { private: false }],
  ['adds a collaborator', 'PUT', ({ repository }) => `/repos/acme/${repository}/collaborators/target`, {}],
  ['removes a collaborator', 'DELETE', ({ repository }) => `/repos/acme/${repository}/collaborators/target`],
  ['lists webhooks', 'GET', ({ repository }) => `/repos/acme/${repository}/hooks`],
  ['adds a webhook', 'POST', ({ repository }) => `/repos/acme/${repository}/hooks`, hookBody],
  ['changes a webhook', 'PATCH', ({ repository, hook }) => `/repos/acme/${repository}/hooks/${hook}`, {}],
  ['tests a webhook', 'POST', ({ repository, hook }) => `/repos/acme/${repository}/hooks/${hook}/tests`],
  ['deletes a webhook', 'DELETE', ({ repository, hook }) => `/repos/acme/${repository}/hooks/${hook}`],
  ['adds a deploy key', 'POST', ({ repository }) => `/repos/acme/${repository}/keys`, { title: 'k', key }],
  [
    'protects a branch',
    'POST',
    ({ repository }) => `/repos/acme/${repository}/branch_protections`,
    { rule_name: 'main' },
  ],
  ['protects tags', 'POST', ({ repository }) => `/repos/acme/${repository}/tag_protections`, { name_pattern: 'v*' }],
  ['sets topics', 'PUT', ({ repository }) => `/repos/acme/${repository}/topics`, { topics: ['x'] }],
  ['deletes an issue', 'DELETE', ({ repository, issue }) => `/repos/acme/${repository}/issues/${issue}`],
];

/** Requests that require write access. */
const writing: readonly Row[] = [
  ['creates a file', 'POST', ({ repository }) => `/repos/acme/${repository}/contents/new.txt`, file],
  ['creates a branch', 'POST', ({ repository }) => `/repos/acme/${repository}/branches`, { new_branch_name: 'topic' }],
  ['creates a tag', 'POST', ({ repository }) => `/repos/acme/${repository}/tags`, { tag_name: 'v1' }],
  ['creates a release', 'POST', ({ repository }) => `/repos/acme/${repository}/releases`, { tag_name: 'v1' }],
  ['creates a label', 'POST', ({ repository }) => `/repos/acme/${repository}/labels`, { name: 'a', color: '#000000' }],
  ['changes a label', 'PATCH', ({ repository, label }) => `/repos/acme/${repository}/labels/${label}`, { name: 'b' }],
  ['deletes a label', 'DELETE', ({ repository, label }) => `/repos/acme/${repository}/labels/${label}`],
  ['creates a milestone', 'POST', ({ repository }) => `/repos/acme/${repository}/milestones`, { title: 'v2' }],
  ['deletes a milestone', 'DELETE', ({ repository, milestone }) => `/repos/acme/${repository}/milestones/${milestone}`],
  [
    'labels an issue',
    'POST',
    ({ repository, issue }) => `/repos/acme/${repository}/issues/${issue}/labels`,
    { labels: [] },
  ],
  [
    'changes an issue of another account',
    'PATCH',
    ({ repository, issue }) => `/repos/acme/${repository}/issues/${issue}`,
    { title: 'x' },
  ],
  ['locks an issue', 'PUT', ({ repository, issue }) => `/repos/acme/${repository}/issues/${issue}/lock`, {}],
  [
    'changes a comment of another account',
    'PATCH',
    ({ repository, comment }) => `/repos/acme/${repository}/issues/comments/${comment}`,
    { body: 'x' },
  ],
  [
    'deletes a comment of another account',
    'DELETE',
    ({ repository, comment }) => `/repos/acme/${repository}/issues/comments/${comment}`,
  ],
  ['sets a status', 'POST', ({ repository }) => `/repos/acme/${repository}/statuses/main`, { state: 'success' }],
];

/** Requests of accounts with read access that a read-only token cannot send. */
const taking: readonly Row[] = [
  ['opens an issue', 'POST', ({ repository }) => `/repos/acme/${repository}/issues`, { title: 'Another' }],
  ['comments', 'POST', ({ repository, issue }) => `/repos/acme/${repository}/issues/${issue}/comments`, { body: 'x' }],
  [
    'reacts to an issue',
    'POST',
    ({ repository, issue }) => `/repos/acme/${repository}/issues/${issue}/reactions`,
    { content: '+1' },
  ],
  [
    'reacts to a comment',
    'POST',
    ({ repository, comment }) => `/repos/acme/${repository}/issues/comments/${comment}/reactions`,
    { content: '+1' },
  ],
];

/** Requests on behalf of the account that limited tokens cannot send. */
const personal: readonly Row[] = [
  ['stars a repository', 'PUT', ({ repository }) => `/user/starred/acme/${repository}`],
  ['watches a repository', 'PUT', ({ repository }) => `/repos/acme/${repository}/subscription`],
  ['forks a repository', 'POST', ({ repository }) => `/repos/acme/${repository}/forks`, { name: 'own-fork' }],
  ['marks notifications as read', 'PUT', ({ repository }) => `/repos/acme/${repository}/notifications`],
];

const isRefused = (status: number): boolean => [401, 403, 404].includes(status);

const table: readonly (readonly [string, readonly Row[], readonly Caller[]])[] = [
  ['an owner', ownership, ['member', 'administrator']],
  ['an administrator of the repository', administration, ['member', 'administrator']],
  ['a writer', writing, ['writer', 'collaborator', 'member', 'administrator', 'writeToken']],
  ['a reader', taking, ['reader', 'writer', 'collaborator', 'member', 'administrator', 'writeToken']],
  ['the account itself', personal, ['reader', 'writer', 'collaborator', 'member', 'administrator']],
];

for (const [role, requests, allowed] of table) {
  describe(`what takes ${role}`, () => {
    it.each(requests.map((row) => [row[0], row] as const))(
      'is required by a request that %s',
      async (_title, [, method, buildPath, body]) => {
        // Refused callers are tested first, while the object is unchanged.
        let objects = await makeObjects(false);
        const hasCommit = commitPath.test(buildPath(objects));
        if (hasCommit) objects = await makeObjects(true);
        const refused = callers.filter((caller) => !allowed.includes(caller));
        for (const caller of refused) {
          const { status } = await ask(caller, method, buildPath(objects), body);
          expect.soft([caller, isRefused(status), status]).toEqual([caller, true, status]);
        }
        for (const caller of allowed) {
          const newObjects = await makeObjects(hasCommit);
          const { status } = await ask(caller, method, buildPath(newObjects), body);
          expect.soft([caller, isRefused(status), status]).toEqual([caller, false, status]);
        }
      },
    );
  });
}

describe('a grant to write', () => {
  it('pushes, and changes no setting by options of the push', async () => {
    const { repository } = await makeObjects(true);
    const url = fixture.url.replace('://', `://writer:${encodeURIComponent('a long password of writer')}@`);
    await fixture.git(['clone', '-q', `${url}/acme/${repository}.git`, repository]);
    const cwd = `${fixture.folder}/${repository}`;
    await fixture.git(['commit', '-q', '--allow-empty', '-m', 'more'], { cwd });
    await fixture.git(['push', '-q', '-o', 'repo.private=false', 'origin', 'HEAD:main'], { cwd });
    const now = (await (await ask('member', 'GET', `/repos/acme/${repository}`)).json()) as {
      readonly private: boolean;
    };
    expect(now.private).toBe(true);
  });

  it('creates no repository in the name of another account', async () => {
    const reply = await ask('writer', 'POST', '/admin/users/member/repos', { name: 'planted' });
    expect(reply.status).toBe(403);
  });
});

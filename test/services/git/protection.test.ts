import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { makeKey, openGitRoom, type GitRoom } from './room.ts';

let room: GitRoom;
let bob = '';
let cwd = '';

beforeAll(async () => {
  room = await openGitRoom();
  bob = await room.account('bob');
  await room.create('demo');
  cwd = await room.work('demo');
  await room.git(['push', '-q', `${room.signedUrl}/ada/demo.git`, 'main', 'main:free'], { cwd });
});
afterAll(() => room[Symbol.asyncDispose]());

const status = async (method: string, path: string, body?: unknown, authorization?: string) =>
  (await room.api(method, path, body, authorization)).status;
const bobs = () => `${room.url.replace('://', `://bob:${encodeURIComponent('a long password of bob')}@`)}/ada/demo.git`;
const push = (remote: string, ...args: string[]) => room.git(['push', remote, ...args], { cwd, mayFail: true });

describe('collaborators', () => {
  it('may do what was given to them, until it is taken away', async () => {
    expect((await push(bobs(), 'main:b')).stderr).toContain('403');
    expect(await status('PUT', '/repos/ada/demo/collaborators/bob', { permission: 'read' })).toBe(204);
    expect((await push(bobs(), 'main:b')).stderr).toContain('403');
    expect(await status('PUT', '/repos/ada/demo/collaborators/bob', {})).toBe(204);
    expect((await push(bobs(), 'main:b')).code).toBe(0);
    expect(await (await room.api('GET', '/repos/ada/demo/collaborators')).json()).toMatchObject([{ login: 'bob' }]);
    expect(await status('GET', '/repos/ada/demo/collaborators/bob')).toBe(204);
    const permission = await room.api('GET', '/repos/ada/demo/collaborators/bob/permission');
    expect(await permission.json()).toMatchObject({ permission: 'write', user: { login: 'bob' } });
    expect(await status('PUT', '/repos/ada/demo/collaborators/bob', { permission: 'admin' }, bob)).toBe(403);
    expect(await status('PUT', '/repos/ada/demo/collaborators/nobody', {})).toBe(404);
    expect(await status('DELETE', '/repos/ada/demo/collaborators/bob', undefined, bob)).toBe(204);
    expect(await status('GET', '/repos/ada/demo/collaborators/bob')).toBe(404);
    expect((await push(bobs(), 'main:b')).stderr).toContain('403');
    await room.api('PUT', '/repos/ada/demo/collaborators/bob', {});
  });
});

describe('protected branches', () => {
  const rule = '/repos/ada/demo/branch_protections';

  it('take no push, no commit and no deletion unless their rule says so, over HTTP, SSH and the API', async () => {
    expect(await status('POST', rule, { rule_name: 'main' })).toBe(201);
    expect(await status('POST', rule, { rule_name: 'main' })).toBe(403);
    expect(await status('POST', rule, {})).toBe(422);
    await room.git(['commit', '-q', '--allow-empty', '-m', 'two'], { cwd });
    const remote = `${room.signedUrl}/ada/demo.git`;
    const refused = await push(remote, 'main', 'main:free');
    expect(refused.stderr).toContain('Not allowed to push to protected branch main');
    expect(refused.stderr).toContain('refused with the rest of the push');
    const ssh = await makeKey(room, 'id_ada');
    await room.api('POST', '/user/keys', { title: 'k', key: ssh.text });
    const { ssh_url } = (await (await room.api('GET', '/repos/ada/demo')).json()) as { ssh_url: string };
    const bySsh = await room.git(['push', ssh_url, 'main'], { cwd, mayFail: true, environment: { GIT_SSH_COMMAND: ssh.command } }); // prettier-ignore
    expect(bySsh.stderr).toContain('Not allowed to push to protected branch main');
    expect((await push(remote, ':main')).stderr).toContain('protected from deletion');
    expect(await status('POST', '/repos/ada/demo/contents/n.txt', { content: 'eA==', message: 'n' })).toBe(403);
    expect(await status('POST', '/repos/ada/demo/contents/n.txt', { content: 'eA==', new_branch: 'n' })).toBe(201);
    await room.api('PATCH', '/repos/ada/demo', { default_branch: 'free' });
    expect(await status('DELETE', '/repos/ada/demo/branches/main')).toBe(403);
    const branch = await (await room.api('GET', '/repos/ada/demo/branches/main')).json();
    expect(branch).toMatchObject({ protected: true, user_can_push: false, effective_branch_protection_name: 'main' });
    expect((await push(remote, 'main:free')).code).toBe(0);
  });

  it('are pushed to by who stands in their list, and lose no commits', async () => {
    const changed = await room.api('PATCH', `${rule}/main`, { enable_push: true, enable_push_whitelist: true, push_whitelist_usernames: ['bob'] }); // prettier-ignore
    expect(await changed.json()).toMatchObject({ enable_push: true, push_whitelist_usernames: ['bob'] });
    expect((await push(`${room.signedUrl}/ada/demo.git`, 'main')).code).not.toBe(0);
    expect((await push(bobs(), 'main')).code).toBe(0);
    await room.git(['commit', '-q', '--allow-empty', '--amend', '-m', 'other'], { cwd });
    const forced = await push(bobs(), '-f', 'main', 'main:free');
    expect(forced.stderr).toContain('refs/heads/main is protected: commits may be added to it, and none taken away');
    // The branch beside it is not protected.
    expect(forced.stderr).toMatch(/\+ .* main -> free/);
    await room.api('PATCH', `${rule}/main`, { enable_force_push: true });
    expect((await push(bobs(), '-f', 'main')).code).toBe(0);
    expect(await status('DELETE', `${rule}/main`)).toBe(204);
    expect((await push(`${room.signedUrl}/ada/demo.git`, ':main')).code).toBe(0);
  });

  it('may be named by a pattern, which new branches fall under as well', async () => {
    expect(await status('POST', rule, { rule_name: 'release/*' })).toBe(201);
    const remote = `${room.signedUrl}/ada/demo.git`;
    expect((await push(remote, 'main:release/1')).stderr).toContain('Not allowed to push');
    expect((await push(remote, 'main:release/1/deep')).code).toBe(0);
    expect(await (await room.api('GET', `${rule}/release/*`)).json()).toMatchObject({ rule_name: 'release/*', branch_name: '' }); // prettier-ignore
    expect(await status('GET', rule, undefined, bob)).toBe(403);
  });
});

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { api } from '../support/api.ts';
import { readLevel, keyLevels, openSshFixture, repositories, run, type SshFixture } from './git-ssh-matrix.ts';

let ssh: SshFixture;
beforeAll(async () => {
  ssh = await openSshFixture();
});
afterAll(() => ssh[Symbol.asyncDispose]());

/** Requests large files with the credentials of `git-lfs-authenticate` and returns the status. */
async function lfsStatus(ticket: string): Promise<number> {
  const { header, href } = JSON.parse(ticket) as { readonly header: Record<string, string>; readonly href: string };
  const type = 'application/vnd.git-lfs+json';
  const body = JSON.stringify({ operation: 'download', objects: [{ oid: '0'.repeat(64), size: 1 }] });
  const headers = { ...header, Accept: type, 'Content-Type': type };
  return (await fetch(`${href}/objects/batch`, { method: 'POST', headers, body })).status;
}

describe('access over SSH', () => {
  // The other keys are in git-ssh.security.test.ts.
  it.each(['reader', 'deploy key that reads', 'deploy key of two repositories'])(
    'follows the repository for: %s',
    async (key) => {
      await using client = await ssh.connect(key);
      const levels: string[] = [];
      for (const repository of repositories) levels.push(await readLevel(client, repository));
      expect(levels).toEqual(keyLevels[key]);
    },
  );

  it('ends with the collaboration, also for a connection that is open', async () => {
    await using client = await ssh.connect('collaborator');
    await ssh.call('member', 'DELETE', '/repos/acme/hidden/collaborators/collaborator');
    expect(await readLevel(client, 'acme/hidden')).toBe('none');
    await ssh.call('member', 'PUT', '/repos/acme/hidden/collaborators/collaborator', { permission: 'write' });
    expect(await readLevel(client, 'acme/hidden')).toBe('write');
  });

  it('ends when the account is disabled, also for a connection that is open', async () => {
    await using client = await ssh.connect('solo');
    const change = (enabled: boolean): Promise<unknown> =>
      api(ssh.fixture.host.url('control'), '/api/accounts/solo', {
        method: 'PATCH',
        body: JSON.stringify({ enabled }),
      });
    await change(false);
    expect(await readLevel(client, 'solo/hidden')).toBe('none');
    expect(await readLevel(client, 'acme/open')).toBe('none');
    await expect(ssh.connect('solo')).rejects.toThrow('authentication');
    await change(true);
    await using reopened = await ssh.connect('solo');
    expect(await readLevel(reopened, 'solo/hidden')).toBe('write');
  });

  it('ends when a key of an account is removed, also for a connection that is open', async () => {
    await using client = await ssh.connect('writer');
    const { output: ticket } = await run(client, `git-lfs-authenticate 'acme/hidden.git' download`);
    expect(await lfsStatus(ticket)).toBe(200);
    const listed = await ssh.fixture.api('GET', '/user/keys', undefined, ssh.getAuthorization('writer'));
    const [key] = (await listed.json()) as readonly { readonly id: number }[];
    await ssh.call('writer', 'DELETE', `/user/keys/${String(key?.id)}`);
    expect(await readLevel(client, 'acme/hidden')).toBe('none');
    expect(await lfsStatus(ticket)).toBe(401);
  });

  it('ends when a deploy key is removed, also for a connection that is open', async () => {
    const name = 'deploy key of another repository';
    await using client = await ssh.connect(name);
    const { output: ticket } = await run(client, `git-lfs-authenticate 'other/hidden.git' download`);
    expect(await lfsStatus(ticket)).toBe(200);
    const listed = await ssh.fixture.api('GET', '/repos/other/hidden/keys', undefined, ssh.getAuthorization('other'));
    const [key] = (await listed.json()) as readonly { readonly id: number }[];
    await ssh.call('other', 'DELETE', `/repos/other/hidden/keys/${String(key?.id)}`);
    await expect(ssh.connect(name)).rejects.toThrow('authentication');
    expect(await readLevel(client, 'other/hidden')).toBe('none');
    expect(await lfsStatus(ticket)).toBe(401);
  });
});

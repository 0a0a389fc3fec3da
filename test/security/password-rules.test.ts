import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { control } from '../../services/control/index.ts';
import { push } from '../../services/push/index.ts';
import { openTestHost } from '../support/host.ts';
import { accessPassword, openAccessHost, type AccessHost } from '../support/access.ts';

let host: AccessHost;
beforeAll(async () => {
  host = await openAccessHost(
    { mia: [] },
    { services: [control, push], environment: { NTFY_ENABLE_SIGNUP: 'true', NTFY_ENABLE_LOGIN: 'true' } },
  );
});
afterAll(() => host[Symbol.asyncDispose]());

const weak = ['short', 'password123', 'mia-mia-mia'];

describe('a weak password in the account API of ntfy', () => {
  it.each(weak)('is refused in the shape of ntfy: %s', async (password) => {
    const requests = [
      host.call('anonymous', 'push', 'POST', '/v1/account', { username: 'mia-mia', password }),
      host.call('mia', 'push', 'POST', '/v1/account/password', { password: accessPassword, new_password: password }),
    ];
    for (const reply of await Promise.all(requests)) {
      expect(reply.status).toBe(400);
      expect(await reply.json()).toMatchObject({
        code: 40000,
        http: 400,
        error: expect.stringMatching(/invalid request; /),
      });
    }
    expect((await host.call('mia', 'push', 'GET', '/v1/account')).status).toBe(200);
  });

  it('is accepted from an administrator, as are hashes', async () => {
    const hash = '$2a$10$YLiO8U21sX1uhZamTLJXHuxgVC0Z/GKISibrKCLohPgtG7yIxSk4C';
    for (const user of [{ password: 'b1' }, { hash }]) {
      const username = 'hash' in user ? 'hashed' : 'plain';
      expect((await host.call('admin', 'push', 'POST', '/v1/users', { username, ...user })).status).toBe(200);
    }
  });
});

describe('a weak password of the administrator in the environment', () => {
  const start = (password: string) =>
    openTestHost({
      services: [control],
      environment: { HOMEPORT_ADMIN_USER: 'mia', HOMEPORT_ADMIN_PASSWORD: password },
    });

  it.each(['password123', 'mia-mia-mia', 'adminpass'])('is used with a warning: %s', async (password) => {
    await using started = await start(password);
    const reply = await fetch(`${started.url('control')}/api/session`);
    expect(await reply.json()).toMatchObject({ account: null, setupNeeded: false });
    expect(started.log.join('\n')).toMatch(/weak administrator password accepted/);
    expect(started.log.join('\n')).not.toContain(`"${password}"`);
  });

  it('prevents the start when it has fewer than 8 characters', async () => {
    await expect(start('short')).rejects.toMatchObject({ code: 'host.administrator' });
  });
});

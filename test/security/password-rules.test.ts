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

describe('a weak password in the API of ntfy', () => {
  it.each(weak)('is refused in the shape of ntfy: %s', async (password) => {
    const requests = [
      host.call('admin', 'push', 'POST', '/v1/users', { username: 'mia-mia', password }),
      host.call('admin', 'push', 'PUT', '/v1/users', { username: 'mia', password }),
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

  it('does not affect users with a good password, or with a hash', async () => {
    const hash = '$2a$10$YLiO8U21sX1uhZamTLJXHuxgVC0Z/GKISibrKCLohPgtG7yIxSk4C';
    for (const user of [{ password: 'lantern-otter-velvet-12' }, { hash }]) {
      const username = 'hash' in user ? 'hashed' : 'plain';
      expect((await host.call('admin', 'push', 'POST', '/v1/users', { username, ...user })).status).toBe(200);
    }
  });
});

describe('a weak password of the administrator in the environment', () => {
  it.each(weak)('starts without the account and reports the reason: %s', async (password) => {
    const environment = { HOMEPORT_ADMIN_USER: 'mia', HOMEPORT_ADMIN_PASSWORD: password };
    await using started = await openTestHost({ services: [control], environment });
    const reply = await fetch(`${started.url('control')}/api/session`);
    expect(await reply.json()).toMatchObject({ account: null, setupNeeded: true });
    expect(started.log.join('\n')).toMatch(/administrator not created.*HOMEPORT_ADMIN_PASSWORD/);
    expect(started.log.join('\n')).not.toContain(`"${password}"`);
  });
});

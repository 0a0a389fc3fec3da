import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { adminAuthorization } from '../../support/host.ts';
import { openGitFixture, type GitFixture } from './git-fixture.ts';

let fixture: GitFixture;
let ann: string;
let bob: string;
beforeAll(async () => {
  fixture = await openGitFixture();
  ann = await fixture.account('ann');
  bob = await fixture.account('bob');
});
afterAll(() => fixture[Symbol.asyncDispose]());

const requestStatus = async (method: string, path: string, body?: unknown, authorization = ann): Promise<number> =>
  (await fixture.api(method, path, body, authorization)).status;
const listNames = async (path: string, authorization: string): Promise<readonly string[]> => {
  const reply = await fixture.api('GET', path, undefined, authorization);
  const result = (await reply.json()) as { readonly data?: readonly { readonly name: string }[] };
  return ((result.data ?? result) as readonly { readonly name: string }[]).map(({ name }) => name);
};

describe('a private organization', () => {
  beforeAll(async () => {
    const response = await fixture.api('POST', '/orgs', { username: 'cabin', visibility: 'private' }, ann);
    expect([response.status, ((await response.json()) as { visibility: string }).visibility]).toEqual([201, 'private']);
    expect(await requestStatus('POST', '/orgs/cabin/repos', { name: 'plans', auto_init: true })).toBe(201);
  });

  it.each(['/orgs/cabin', '/users/cabin', '/orgs/cabin/repos', '/users/cabin/repos', '/repos/cabin/plans'])(
    'is not found at %s by other accounts and visitors',
    async (path) => {
      expect(await requestStatus('GET', path)).toBe(200);
      expect(await requestStatus('GET', path, undefined, adminAuthorization)).toBe(200);
      expect(await requestStatus('GET', path, undefined, bob)).toBe(404);
      expect(await requestStatus('GET', path, undefined, '')).toBe(404);
    },
  );

  it.each(['/orgs/cabin/members', '/orgs/cabin/public_members', '/orgs/cabin/teams', '/repos/cabin/plans/contents'])(
    'hides %s',
    async (path) => {
      expect(await requestStatus('GET', path)).toBe(200);
      expect(await requestStatus('GET', path, undefined, bob)).toBe(404);
    },
  );

  it('is hidden from the lists of other accounts', async () => {
    expect(await listNames('/orgs', ann)).toContain('cabin');
    expect(await listNames('/orgs', bob)).not.toContain('cabin');
    expect(await listNames('/users/ann/orgs', bob)).not.toContain('cabin');
    expect(await listNames('/repos/search', ann)).toContain('plans');
    expect(await listNames('/repos/search', bob)).not.toContain('plans');
    expect(await listNames('/repos/search', '')).not.toContain('plans');
  });

  it('is hidden from the page lists of other accounts', async () => {
    const list = async (authorization: string): Promise<string> => {
      const reply = await fetch(`${fixture.host.url('control')}/api/git/repositories`, { headers: { authorization } });
      expect(reply.status).toBe(200);
      return reply.text();
    };
    expect(await list(ann)).toContain('plans');
    expect(await list(bob)).not.toContain('plans');
  });

  it('cannot be cloned by other accounts and visitors', async () => {
    const signed = fixture.url.replace('://', `://bob:${encodeURIComponent('a long password of bob')}@`);
    for (const url of [fixture.url, signed]) {
      const listing = await fixture.git(['ls-remote', `${url}/cabin/plans.git`], { mayFail: true });
      expect(listing.code).not.toBe(0);
    }
  });

  it('becomes public when it is changed', async () => {
    expect(await requestStatus('PATCH', '/orgs/cabin', { visibility: 'limited' })).toBe(200);
    expect(await requestStatus('GET', '/repos/cabin/plans', undefined, bob)).toBe(200);
    expect(await requestStatus('GET', '/repos/cabin/plans', undefined, '')).toBe(404);
    expect(await requestStatus('PATCH', '/orgs/cabin', { visibility: 'public' })).toBe(200);
    expect(await requestStatus('GET', '/repos/cabin/plans', undefined, '')).toBe(200);
  });

  it('rejects an unknown visibility', async () => {
    expect(await requestStatus('POST', '/orgs', { username: 'odd', visibility: 'secret' })).toBe(422);
  });
});

describe('the name of an organization', () => {
  it.each(['ann', 'ANN', 'Bob'])('is rejected if an account has it: %s', async (username) => {
    expect(await requestStatus('POST', '/orgs', { username })).toBe(422);
  });

  it('is rejected for a rename if an account or an organization has it', async () => {
    expect(await requestStatus('POST', '/orgs', { username: 'first' })).toBe(201);
    expect(await requestStatus('POST', '/orgs', { username: 'second' })).toBe(201);
    expect(await requestStatus('POST', '/orgs/second/rename', { new_name: 'First' })).toBe(422);
    expect(await requestStatus('POST', '/orgs/second/rename', { new_name: 'BOB' })).toBe(422);
    expect(await requestStatus('POST', '/orgs/second/rename', { new_name: 'third' })).toBe(204);
    expect(await requestStatus('GET', '/orgs/third')).toBe(200);
    expect(await requestStatus('GET', '/orgs/second')).toBe(404);
  });
});

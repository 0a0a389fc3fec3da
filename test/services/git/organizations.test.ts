import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { adminAuthorization } from '../../support/host.ts';
import { openGitRoom, type GitRoom } from './git-fixture.ts';

let room: GitRoom;
let ann: string;
let bob: string;
beforeAll(async () => {
  room = await openGitRoom();
  ann = await room.account('ann');
  bob = await room.account('bob');
});
afterAll(() => room[Symbol.asyncDispose]());

const statusOf = async (method: string, path: string, body?: unknown, authorization = ann): Promise<number> =>
  (await room.api(method, path, body, authorization)).status;
const namesOf = async (path: string, authorization: string): Promise<readonly string[]> => {
  const reply = await room.api('GET', path, undefined, authorization);
  const found = (await reply.json()) as { readonly data?: readonly { readonly name: string }[] };
  return ((found.data ?? found) as readonly { readonly name: string }[]).map(({ name }) => name);
};

describe('a private organization', () => {
  beforeAll(async () => {
    const made = await room.api('POST', '/orgs', { username: 'cabin', visibility: 'private' }, ann);
    expect([made.status, ((await made.json()) as { visibility: string }).visibility]).toEqual([201, 'private']);
    expect(await statusOf('POST', '/orgs/cabin/repos', { name: 'plans', auto_init: true })).toBe(201);
  });

  it.each(['/orgs/cabin', '/users/cabin', '/orgs/cabin/repos', '/users/cabin/repos', '/repos/cabin/plans'])(
    'is not found at %s by other accounts and visitors',
    async (path) => {
      expect(await statusOf('GET', path)).toBe(200);
      expect(await statusOf('GET', path, undefined, adminAuthorization)).toBe(200);
      expect(await statusOf('GET', path, undefined, bob)).toBe(404);
      expect(await statusOf('GET', path, undefined, '')).toBe(404);
    },
  );

  it.each(['/orgs/cabin/members', '/orgs/cabin/public_members', '/orgs/cabin/teams', '/repos/cabin/plans/contents'])(
    'hides %s',
    async (path) => {
      expect(await statusOf('GET', path)).toBe(200);
      expect(await statusOf('GET', path, undefined, bob)).toBe(404);
    },
  );

  it('is in no list of other accounts', async () => {
    expect(await namesOf('/orgs', ann)).toContain('cabin');
    expect(await namesOf('/orgs', bob)).not.toContain('cabin');
    expect(await namesOf('/users/ann/orgs', bob)).not.toContain('cabin');
    expect(await namesOf('/repos/search', ann)).toContain('plans');
    expect(await namesOf('/repos/search', bob)).not.toContain('plans');
    expect(await namesOf('/repos/search', '')).not.toContain('plans');
  });

  it('is not in the list of the pages for other accounts', async () => {
    const list = async (authorization: string): Promise<string> => {
      const reply = await fetch(`${room.host.url('control')}/api/git/repositories`, { headers: { authorization } });
      expect(reply.status).toBe(200);
      return reply.text();
    };
    expect(await list(ann)).toContain('plans');
    expect(await list(bob)).not.toContain('plans');
  });

  it('cannot be cloned by other accounts and visitors', async () => {
    const signed = room.url.replace('://', `://bob:${encodeURIComponent('a long password of bob')}@`);
    for (const url of [room.url, signed]) {
      const ran = await room.git(['ls-remote', `${url}/cabin/plans.git`], { mayFail: true });
      expect(ran.code).not.toBe(0);
    }
  });

  it('becomes public when it is changed', async () => {
    expect(await statusOf('PATCH', '/orgs/cabin', { visibility: 'limited' })).toBe(200);
    expect(await statusOf('GET', '/repos/cabin/plans', undefined, bob)).toBe(200);
    expect(await statusOf('GET', '/repos/cabin/plans', undefined, '')).toBe(404);
    expect(await statusOf('PATCH', '/orgs/cabin', { visibility: 'public' })).toBe(200);
    expect(await statusOf('GET', '/repos/cabin/plans', undefined, '')).toBe(200);
  });

  it('refuses a visibility that it does not know', async () => {
    expect(await statusOf('POST', '/orgs', { username: 'odd', visibility: 'secret' })).toBe(422);
  });
});

describe('the name of an organization', () => {
  it.each(['ann', 'ANN', 'Bob'])('is refused where an account has it: %s', async (username) => {
    expect(await statusOf('POST', '/orgs', { username })).toBe(422);
  });

  it('is refused for a rename where an account or an organization has it', async () => {
    expect(await statusOf('POST', '/orgs', { username: 'first' })).toBe(201);
    expect(await statusOf('POST', '/orgs', { username: 'second' })).toBe(201);
    expect(await statusOf('POST', '/orgs/second/rename', { new_name: 'First' })).toBe(422);
    expect(await statusOf('POST', '/orgs/second/rename', { new_name: 'BOB' })).toBe(422);
    expect(await statusOf('POST', '/orgs/second/rename', { new_name: 'third' })).toBe(204);
    expect(await statusOf('GET', '/orgs/third')).toBe(200);
    expect(await statusOf('GET', '/orgs/second')).toBe(404);
  });
});

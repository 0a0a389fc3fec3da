import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openAuthFixture, type AuthFixture } from './auth-fixture.ts';

const password = 'correct horse 1';
let fixture: AuthFixture;
beforeAll(async () => {
  fixture = await openAuthFixture();
  await fixture.call('POST', '/signup', { email: 'ann@example.com', password });
});
afterAll(() => fixture[Symbol.asyncDispose]());

/** Signs in through a proxy that the settings do not trust. */
async function signIn(from: string, secret: string): Promise<number> {
  const reply = await fixture.call(
    'POST',
    '/token',
    { email: 'ann@example.com', password: secret },
    { 'X-Forwarded-For': from },
  );
  await reply.arrayBuffer();
  return reply.status;
}

describe('password attempts behind a proxy', () => {
  it('locks out the attacker and not the user', async () => {
    const guesses = Array.from({ length: 60 }, (_, guess) => signIn('203.0.113.9', `wrong ${String(guess)}`));
    const statuses = await Promise.all(guesses);
    // The limit drains while the guesses are under way.
    expect(statuses.filter((status) => status === 429).length).toBeGreaterThan(15);
    expect(await signIn('198.51.100.7', password)).toBe(200);
  });

  it('limits clients with forged forwarding headers', async () => {
    fixture.clock.advance(300_000);
    const guesses = Array.from({ length: 180 }, (_, index) => signIn(`203.0.113.${String(index)}`, 'wrong'));
    const statuses = await Promise.all(guesses);
    // The limit drains while the guesses are under way.
    expect(statuses.filter((status) => status === 429).length).toBeGreaterThan(20);
    fixture.clock.advance(300_000);
    expect(await signIn('198.51.100.7', password)).toBe(200);
  });
});

describe('redirects to a development server', () => {
  const leadsTo = async (target: string): Promise<string> => {
    const reply = await fixture.call(
      'POST',
      `/admin/generate_link`,
      { type: 'magiclink', email: 'ann@example.com', redirect_to: target },
      { Authorization: `Bearer ${fixture.serviceKey}`, apikey: fixture.serviceKey },
    );
    const body: any = await reply.json();
    return body.redirect_to;
  };

  it('allows localhost and every loopback address on any port', async () => {
    for (const target of ['http://localhost:5173/cb', 'http://127.0.0.1:3000/', 'http://[::1]:8080/x']) {
      expect(await leadsTo(target)).toBe(target);
    }
  });

  it('refuses other targets', async () => {
    for (const target of ['http://localhost.example.com/', 'https://localhost:5173/', 'http://10.0.0.1:5173/']) {
      expect(await leadsTo(target)).not.toBe(target);
    }
  });
});

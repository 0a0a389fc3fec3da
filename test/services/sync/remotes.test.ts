import { once } from 'node:events';
import { createServer } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openProvider, type Provider } from './oauth-provider.ts';
import { lacksRclone, openSyncFixture, until, type SyncFixture } from './sync-fixture.ts';

/**
 * Uses a separate connection, since the engine reopens the same port each time and a kept-alive connection would be
 * stale.
 */
const getPage = (address: string): Promise<Response> => fetch(address, { headers: { connection: 'close' } });

/**
 * Follows redirects as a browser does. The engine closes its listener once it has the code, sometimes before the last
 * page is complete.
 */
const signIn = async (address: string): Promise<void> => {
  const toProvider = await fetch(address, { headers: { connection: 'close' }, redirect: 'manual' });
  expect(toProvider.status).toBe(307);
  await getPage(toProvider.headers.get('location') ?? '').then(
    (answer) => expect([200, 400]).toContain(answer.status),
    () => undefined,
  );
};

describe.skipIf(lacksRclone)('a remote with a browser sign-in', () => {
  let fixture: SyncFixture;
  let provider: Provider;
  const begin = (name: string, type: string, overrides: object = {}) =>
    fixture.api('POST', '/api/sync/remotes', { name, type, parameters: { ...provider.parameters, ...overrides } });
  const answer = (name: string, text: string) =>
    fixture.api('POST', `/api/sync/remotes/${name}/setup`, { answer: text });
  const getSetupStep = (name: string) => fixture.api('GET', `/api/sync/remotes/${name}/setup`);
  const names = async () =>
    (await fixture.api('GET', '/api/sync/remotes')).remotes.map(({ name }: { name: string }) => name);

  beforeAll(async () => {
    provider = await openProvider();
    fixture = await openSyncFixture();
  });
  afterAll(async () => {
    await fixture[Symbol.asyncDispose]();
    await provider[Symbol.asyncDispose]();
  });

  it('is set up after the browser sign-in and the further questions of the engine', async () => {
    const first = await begin('cloud', 'drive');
    expect(first).toMatchObject({ step: 'question', question: { name: 'config_is_local', kind: 'switch' } });
    const listed = async () => (await fixture.api('GET', '/api/sync/remotes')).remotes;
    expect(await listed()).toContainEqual(expect.objectContaining({ name: 'cloud', isBeingSetUp: true }));
    await expect(fixture.api('PATCH', '/api/sync/remotes/cloud', { parameters: { scope: 'drive' } })).rejects.toThrow(
      '409',
    );
    await expect(answer('nosuch', 'true')).rejects.toThrow('404');
    const browser = await answer('cloud', 'true');
    expect(browser).toMatchObject({ step: 'browser', address: expect.any(String) });
    expect(await getSetupStep('cloud')).toEqual(browser);
    await signIn(browser.address);
    const browserStep = await until(
      () => getSetupStep('cloud'),
      (setup) => setup.step !== 'browser',
    );
    expect(browserStep).toMatchObject({ step: 'question', question: { name: 'config_change_team_drive' } });
    expect([await answer('cloud', 'false'), await getSetupStep('cloud')]).toEqual([{ step: 'done' }, { step: 'done' }]);
    expect(await listed()).toContainEqual(expect.objectContaining({ name: 'cloud', isBeingSetUp: false }));
    expect(provider.exchanged.join()).toContain('code=c0de');
    const { body } = await fixture.call('config/get', { name: 'cloud' });
    expect(body).toMatchObject({ type: 'drive', token: 'XXX', client_secret: 'XXX' });
    expect(JSON.stringify([await fixture.api('GET', '/api/sync/remotes'), fixture.host.log])).not.toMatch(
      /golden|hush/,
    );
  });

  it('accepts a token from another computer', async () => {
    const token = JSON.stringify({ access_token: 'elsewhere', token_type: 'bearer', expiry: '2099-01-01T00:00:00Z' });
    await begin('typed', 'yandex');
    const nextStep = await answer('typed', 'false');
    expect(nextStep).toMatchObject({ step: 'question', question: { name: 'config_token' } });
    expect(nextStep.question.help).toContain('rclone authorize "yandex"');
    expect(await answer('typed', token)).toEqual({ step: 'done' });
    expect(await begin('brought', 'yandex', { token })).toEqual({ step: 'done' });
    expect(await names()).toEqual(expect.arrayContaining(['typed', 'brought']));
  });

  it('leaves no remote when the setup fails or is canceled', async () => {
    provider.denies = true;
    await begin('refused', 'yandex');
    const { address } = await answer('refused', 'true');
    await signIn(address);
    expect(
      await until(
        () => getSetupStep('refused'),
        ({ step }) => step !== 'browser',
      ),
    ).toMatchObject({ step: 'failed', error: expect.stringMatching(/denied|rclone says/i) as string });
    provider.denies = false;
    await begin('given-up', 'yandex');
    const { address: other } = await answer('given-up', 'true');
    await fixture.api('DELETE', '/api/sync/remotes/given-up');
    await expect(getSetupStep('given-up')).rejects.toThrow('404');
    await until(
      () =>
        getPage(other).then(
          () => false,
          () => true,
        ),
      (isClosed) => isClosed,
    );
    expect(await names()).not.toEqual(expect.arrayContaining(['refused']));
    expect(await names()).not.toEqual(expect.arrayContaining(['given-up']));
    // The next sign-in can start.
    await begin('given-up', 'yandex');
    expect(await answer('given-up', 'true')).toMatchObject({ step: 'browser' });
    await fixture.api('DELETE', '/api/sync/remotes/given-up');
  });

  it('remains when a setup is canceled that was finished in the meantime', async () => {
    const token = JSON.stringify({ access_token: 'elsewhere', token_type: 'bearer', expiry: '2099-01-01T00:00:00Z' });
    await begin('finished', 'yandex');
    await answer('finished', 'false');
    expect(await answer('finished', token)).toEqual({ step: 'done' });
    await expect(fixture.api('DELETE', '/api/sync/remotes/finished/setup')).rejects.toThrow('409');
    expect(await names()).toContain('finished');
    await begin('unfinished', 'yandex');
    await fixture.api('DELETE', '/api/sync/remotes/unfinished/setup');
    expect(await names()).not.toContain('unfinished');
    await expect(fixture.api('DELETE', '/api/sync/remotes/unfinished/setup')).rejects.toThrow('409');
  });

  it('is not confused with another remote during the sign-in', async () => {
    await begin('one', 'yandex');
    await begin('two', 'yandex');
    const { address } = await answer('one', 'true');
    await expect(answer('two', 'true')).rejects.toThrow('409');
    expect(await getSetupStep('two')).toMatchObject({ step: 'question', question: { name: 'config_is_local' } });
    await signIn(address);
    expect(
      await until(
        () => getSetupStep('one'),
        ({ step }) => step !== 'browser',
      ),
    ).toEqual({ step: 'done' });
    const { address: next } = await answer('two', 'true');
    await signIn(next);
    expect(
      await until(
        () => getSetupStep('two'),
        ({ step }) => step !== 'browser',
      ),
    ).toEqual({ step: 'done' });
  });

  it('waits for the sign-in port and retries if another program uses it', async () => {
    const other = createServer().listen(53_682, '127.0.0.1');
    await once(other, 'listening');
    await begin('patient', 'yandex');
    await expect(answer('patient', 'true')).rejects.toThrow(/409.*port 53682/);
    expect(await getSetupStep('patient')).toMatchObject({ step: 'question', question: { name: 'config_is_local' } });
    const pendingAnswer = answer('patient', 'true');
    // No event reports the first attempt, so a fixed time is used.
    await pause(500);
    other.close();
    expect(await pendingAnswer).toMatchObject({ step: 'browser' });
    await fixture.api('DELETE', '/api/sync/remotes/patient');
  });

  it('starts once when it is requested repeatedly', async () => {
    const both = await Promise.allSettled([begin('twice', 'yandex'), begin('twice', 'yandex')]);
    expect(both.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected']);
    expect(await getSetupStep('twice')).toMatchObject({ step: 'question', question: { name: 'config_is_local' } });
    await fixture.api('DELETE', '/api/sync/remotes/twice');
  });

  it('is reserved to administrators', async () => {
    const bob = await fixture.account('bob', [{ resource: 'cloud:*', permission: 'read-write' }]);
    await expect(fixture.api('GET', '/api/sync/remotes/cloud/setup', undefined, bob)).rejects.toThrow('403');
    await expect(fixture.api('POST', '/api/sync/remotes/cloud/setup', { answer: 'x' }, bob)).rejects.toThrow('403');
    await begin('tricky', 'yandex');
    await expect(answer('tricky', ':sftp,ssh="touch /tmp/x":')).rejects.toThrow('run a program');
  });
});

import * as causes from '#messages/sync-causes';
import * as texts from '#messages/sync-texts';
import { symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, it } from 'vitest';
import { withLanguage } from '../../../messages/language.ts';
import { loadLanguage } from '../../../messages/runtime.ts';
import { adminAuthorization, type TestHost } from '../../support/host.ts';
import { openSyncFixture, until, type SyncFixture } from './sync-fixture.ts';

const missing = { RCLONE_PATH: '/nonexistent/rclone' };

beforeAll(async () => {
  await loadLanguage('de');
  await loadLanguage('fr');
});

async function request(host: TestHost, language: string, method: string, path: string, body?: unknown): Promise<any> {
  const response = await fetch(`${host.url('control')}${path}`, {
    method,
    headers: { authorization: adminAuthorization, 'accept-language': language, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  return response.json();
}

/** Adds a sync of local folders and starts it from a German page. */
async function runFromGermanPage(
  fixture: SyncFixture,
  fields: { readonly source?: string; readonly destination?: string } = {},
): Promise<{ readonly id: number; readonly task: number }> {
  const folder = (name: string): string => join(fixture.folder, name);
  const task = await request(fixture.host, 'de', 'POST', '/api/sync/tasks', {
    name: 'Photos',
    source: folder('a'),
    destination: folder('b'),
    mode: 'copy',
    ...fields,
  });
  const { id } = await request(fixture.host, 'de', 'POST', `/api/sync/tasks/${String(task.id)}/run`, {});
  await until(
    () => fixture.call('job/status', { jobid: id }),
    ({ body }) => body.finished === true,
  );
  return { id, task: task.id };
}

it('shows the failure of a run that a German page started in the language of each reader', async () => {
  await using fixture = await openSyncFixture({ environment: missing });
  fixture.write({ 'a/one': '1', 'c/other': '2', 'b/x': '' });
  symlinkSync(join(fixture.folder, 'c/other'), join(fixture.folder, 'b/one'));
  const { id } = await runFromGermanPage(fixture);
  const sentence = 'one is a link at the destination, and links are left as they are';
  expect((await fixture.call('job/status', { jobid: id })).body).toMatchObject({ error: sentence, success: false });
  for (const language of ['de', 'fr', 'en']) {
    const { job } = await request(fixture.host, language, 'GET', `/api/sync/jobs/${String(id)}`);
    expect(job.error).toBe(withLanguage(language, () => causes.linkAtDestination({ path: 'one' })));
  }
});

it('shows a missing rclone in the language of each reader, and in English to clients of rclone', async () => {
  await using fixture = await openSyncFixture({ environment: missing });
  fixture.write({ 'a/one': '1' });
  const { id } = await runFromGermanPage(fixture, { destination: 'drive:Photos' });
  const { error } = (await fixture.call('job/status', { jobid: id })).body;
  expect(error).toContain('/nonexistent/rclone');
  for (const language of ['fr', 'en']) {
    const { job } = await request(fixture.host, language, 'GET', `/api/sync/jobs/${String(id)}`);
    expect(job.error).toBe(withLanguage(language, causes.engineMissing));
    const remotes = await request(fixture.host, language, 'GET', '/api/sync/remotes');
    expect(remotes.error.code).toBe('sync.engine_missing');
  }
});

it('has the reasons for the approval of a run in the language of each reader', async () => {
  await using fixture = await openSyncFixture({ environment: missing });
  fixture.write({ 'a/.keep': '', 'b/one': '1', 'b/two': '2' });
  const task = await request(fixture.host, 'de', 'POST', '/api/sync/tasks', {
    ...{ name: 'Photos', source: join(fixture.folder, 'a'), destination: join(fixture.folder, 'b'), mode: 'sync' },
    ...{ exclude: ['.keep'] },
  });
  const { id } = await request(fixture.host, 'de', 'POST', `/api/sync/tasks/${String(task.id)}/run`, {});
  await until(
    () => fixture.call('job/status', { jobid: id }),
    ({ body }) => body.finished === true,
  );
  for (const language of ['fr', 'en']) {
    const { job, plan } = await request(fixture.host, language, 'GET', `/api/sync/jobs/${String(id)}`);
    const reason = withLanguage(language, () => causes.heldEmptySource({ count: 2 }));
    expect([job.error, plan.brakes]).toEqual([reason, [reason]]);
  }
});

it('counts the data of an account in words that agree with the number', async () => {
  await using fixture = await openSyncFixture({ environment: missing });
  await fixture.account('bea', [{ resource: `${fixture.folder}/*`, permission: 'read-write' }]);
  fixture.write({ 'a/one': '1' });
  const fields = {
    name: 'Photos',
    source: join(fixture.folder, 'a'),
    destination: join(fixture.folder, 'b'),
    mode: 'copy',
  };
  const authorization = `Basic ${Buffer.from('bea:a long password').toString('base64')}`;
  await fixture.api('POST', '/api/sync/tasks', fields, authorization);
  const { data } = await request(fixture.host, 'fr', 'GET', '/api/accounts/bea/data');
  expect(data).toContainEqual({
    service: 'sync',
    kind: withLanguage('fr', () => texts.savedSyncs({ count: 1 })),
    count: 1,
  });
  expect(withLanguage('fr', () => texts.savedSyncs({ count: 1 }))).not.toBe(
    withLanguage('fr', () => texts.savedSyncs({ count: 2 })),
  );
});

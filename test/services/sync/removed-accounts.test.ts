import { describe, expect, it } from 'vitest';
import { openSyncFixture, type SyncFixture } from './sync-fixture.ts';

const listTasks = async (fixture: SyncFixture, authorization?: string): Promise<readonly Record<string, unknown>[]> =>
  (await fixture.api('GET', '/api/sync', undefined, authorization)).tasks;

describe('a removed account', () => {
  it('transfers its paused sync tasks to administrators, and nothing to a new account with that name', async () => {
    await using fixture = await openSyncFixture();
    fixture.write({ 'from/a': '1' });
    const grants = [{ resource: `${fixture.folder}/*`, permission: 'read-write' as const }];
    const before = await fixture.account('temp', grants);
    const fields = {
      name: 'Papers',
      source: `${fixture.folder}/from`,
      destination: `${fixture.folder}/to`,
      cron: '0 3 * * *',
    };
    const { id } = await fixture.api('POST', '/api/sync/tasks', fields, before);
    const { id: run } = await fixture.api('POST', `/api/sync/tasks/${String(id)}/run`, {}, before);
    await fixture.api('DELETE', '/api/accounts/temp');
    const [task] = await listTasks(fixture);
    expect(task).toMatchObject({ id, name: 'Papers', paused: true });
    expect(task?.['account']).not.toBe('temp');
    const newAuthorization = await fixture.account('temp', grants);
    expect(await listTasks(fixture, newAuthorization)).toEqual([]);
    expect((await fixture.api('GET', '/api/sync/jobs', undefined, newAuthorization)).items).toEqual([]);
    const status = await fixture.call('job/status', { jobid: run }, { authorization: newAuthorization });
    expect([status.status, status.body.error]).toEqual([500, 'job not found']);
  });
});

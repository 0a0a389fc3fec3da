import { describe, expect, it } from 'vitest';
import { openSyncRoom, type SyncRoom } from './sync-fixture.ts';

const tasksOf = async (room: SyncRoom, authorization?: string): Promise<readonly Record<string, unknown>[]> =>
  (await room.api('GET', '/api/sync', undefined, authorization)).tasks;

describe('a removed account', () => {
  it('leaves its sync tasks paused to administrators, and nothing to a new account of that name', async () => {
    await using room = await openSyncRoom();
    room.write({ 'from/a': '1' });
    const grants = [{ resource: `${room.folder}/*`, permission: 'read-write' as const }];
    const before = await room.account('temp', grants);
    const fields = {
      name: 'Papers',
      source: `${room.folder}/from`,
      destination: `${room.folder}/to`,
      cron: '0 3 * * *',
    };
    const { id } = await room.api('POST', '/api/sync/tasks', fields, before);
    const { id: run } = await room.api('POST', `/api/sync/tasks/${String(id)}/run`, {}, before);
    await room.api('DELETE', '/api/accounts/temp');
    const [kept] = await tasksOf(room);
    expect(kept).toMatchObject({ id, name: 'Papers', paused: true });
    expect(kept?.['account']).not.toBe('temp');
    const anew = await room.account('temp', grants);
    expect(await tasksOf(room, anew)).toEqual([]);
    expect((await room.api('GET', '/api/sync/jobs', undefined, anew)).items).toEqual([]);
    const status = await room.call('job/status', { jobid: run }, { authorization: anew });
    expect([status.status, status.body.error]).toEqual([500, 'job not found']);
  });
});

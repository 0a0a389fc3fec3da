import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { z } from 'zod';
import { openDatabase } from '../../../main/host/database/open.ts';
import { jobsMigrations, openJobs } from '../../../main/host/jobs/jobs.ts';
import { systemRandom } from '../../../main/host/runtime/random.ts';
import { defineJob } from '../../../services/contracts/jobs.ts';
import type { InboxItem } from '../../../services/contracts/inbox/api.ts';
import { control } from '../../../services/control/index.ts';
import { inbox } from '../../../services/inbox/index.ts';
import { push } from '../../../services/push/index.ts';
import { migrations } from '../../../services/push/store/migrations.ts';
import { createFakeClock } from '../../support/clock.ts';
import { silentLog } from '../../support/place.ts';
import { admin, openRig, type Rig } from './rig.ts';

const hour = 3_600_000;

let dataDir: string;
beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), 'push-inbox-'));
});
afterEach(() => rmSync(dataDir, { recursive: true, force: true }));

/** What the inbox shows, the oldest first. */
async function shown(rig: Rig): Promise<readonly InboxItem[]> {
  const reply = await fetch(`${rig.host.url('control')}/api/inbox?limit=200`, { headers: { authorization: admin } });
  return ((await reply.json()) as { items: InboxItem[] }).items.toReversed();
}
const bodies = async (rig: Rig): Promise<readonly string[]> => (await shown(rig)).map(({ body }) => body);

it('shows what was published while the inbox was away, also what nobody can read any more', async () => {
  const clock = createFakeClock(Date.now());
  {
    await using rig = await openRig({ dataDir, clock, services: [push, control] });
    await rig.publish('/t', 'kept');
    await rig.publish('/t', 'not cached', { Cache: 'no' });
    expect((await rig.poll('/t/json?poll=1')).map(({ message }) => message)).toEqual(['kept']);
    expect(await rig.metric('push_messages_cached')).toBe(1);
    // It expires after 12 hours; upkeep comes each minute.
    clock.advance(13 * hour);
    await rig.publish('/t', 'later');
    await expect.poll(() => rig.metric('push_messages_cached')).toBe(2);
    expect((await rig.poll('/t/json?poll=1')).map(({ message }) => message)).toEqual(['later']);
  }
  await using rig = await openRig({ dataDir, clock });
  await expect.poll(() => bodies(rig)).toEqual(['kept', 'not cached', 'later']);
  // What the inbox has is removed like anything else.
  await expect
    .poll(() => {
      clock.advance(60_000);
      return rig.metric('push_messages_cached');
    })
    .toBe(1);
  expect(await bodies(rig)).toEqual(['kept', 'not cached', 'later']);
});

it('shows a message that waited for its time, or was moved, with the time it went out', async () => {
  await using rig = await openRig({ dataDir });
  const message = await rig.publish('/t', 'in a while', { In: '10s', Title: 'T' });
  const moved = await fetch(`${rig.host.url('control')}/api/push/planned/${message.id}/publish`, {
    method: 'POST',
    headers: { authorization: admin },
  });
  expect(moved.status).toBe(200);
  const [out] = await rig.poll('/t/json?poll=1');
  await expect
    .poll(() => shown(rig))
    .toMatchObject([{ title: 'T', body: 'in a while', source: 'push', time: out.time * 1000 }]);
});

it('takes over what an older version left: jobs for the inbox, and messages that wait with their entry', async () => {
  const entryOf = (body: string) => ({
    key: `push:${body}`,
    offer: {
      title: 'T',
      body,
      format: 'text',
      priority: 3,
      tags: [],
      source: 'mail',
      topic: 't',
      time: Date.now(),
    },
  });
  const toInbox = defineJob('push.inbox', z.object({ entries: z.array(z.unknown()) }));
  const folder = join(dataDir, 'push');
  {
    await using database = await openDatabase({ folder, schema: 'push', log: silentLog });
    await database.migrate([...jobsMigrations, ...migrations.filter(({ name }) => name < '060')]);
    const metrics = { counter: () => ({ inc() {} }), gauge: () => ({ set() {} }), histogram: () => ({ observe() {} }) };
    const clock = createFakeClock(Date.now());
    await using jobs = await openJobs({
      service: 'push',
      database,
      clock,
      random: systemRandom,
      log: silentLog,
      metrics,
    });
    await database.commit(async (transaction) => {
      await jobs.enqueue(transaction, toInbox, { entries: [entryOf('first'), entryOf('second')] });
      const due = Math.floor(Date.now() / 1000) - 60;
      await transaction
        .insertInto('scheduled')
        .values({
          id: 'waits',
          topic: 't',
          sequence: 'waits',
          time: due,
          expires: due + 3600,
          after: 0,
          account: null,
          text: JSON.stringify({
            id: 'waits',
            time: due,
            expires: due + 3600,
            event: 'message',
            topic: 't',
            message: 'cut…',
          }),
          entry: JSON.stringify(entryOf('whole')),
        })
        .execute();
    });
  }
  for (const _start of ['at the upgrade', 'and after it']) {
    await using rig = await openRig({ dataDir, services: [push, inbox, control] });
    await rig.publish('/t', 'new');
    await expect.poll(() => bodies(rig)).toContain('new');
    const left = async () => (await shown(rig)).flatMap(({ source, body }) => (source === 'mail' ? [body] : []));
    await expect.poll(async () => (await left()).toSorted()).toEqual(['first', 'second', 'whole']);
  }
});

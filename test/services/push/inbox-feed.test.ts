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
import { silentLog } from '../../support/database-location.ts';
import { admin, openRig, type Rig } from './rig.ts';

const hourMs = 3_600_000;

let dataDir: string;
beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), 'push-inbox-'));
});
afterEach(() => rmSync(dataDir, { recursive: true, force: true }));

/** Returns the inbox, oldest first. */
async function listInbox(rig: Rig): Promise<readonly InboxItem[]> {
  const reply = await fetch(`${rig.host.url('control')}/api/inbox?limit=200`, { headers: { authorization: admin } });
  return ((await reply.json()) as { items: InboxItem[] }).items.toReversed();
}
const listBodies = async (rig: Rig): Promise<readonly string[]> => (await listInbox(rig)).map(({ body }) => body);

it('delivers messages published while the inbox was down, including expired ones', async () => {
  const clock = createFakeClock(Date.now());
  {
    await using rig = await openRig({ dataDir, clock, services: [push, control] });
    await rig.publish('/t', 'kept');
    await rig.publish('/t', 'not cached', { Cache: 'no' });
    expect((await rig.poll('/t/json?poll=1')).map(({ message }) => message)).toEqual(['kept']);
    expect(await rig.metric('push_messages_cached')).toBe(1);
    // Messages expire after 12 hours; upkeep runs every minute.
    clock.advance(13 * hourMs);
    await rig.publish('/t', 'later');
    await expect.poll(() => rig.metric('push_messages_cached')).toBe(2);
    expect((await rig.poll('/t/json?poll=1')).map(({ message }) => message)).toEqual(['later']);
  }
  await using rig = await openRig({ dataDir, clock });
  await expect.poll(() => listBodies(rig)).toEqual(['kept', 'not cached', 'later']);
  // Messages stored in the inbox are deleted as usual.
  await expect
    .poll(() => {
      clock.advance(60_000);
      return rig.metric('push_messages_cached');
    })
    .toBe(1);
  expect(await listBodies(rig)).toEqual(['kept', 'not cached', 'later']);
});

it('delivers the path of a picture that the server stores, and none of other files', async () => {
  await using rig = await openRig({ dataDir });
  const png = Buffer.from(
    'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
    'base64',
  );
  const send = async (name: string, body: Buffer | string): Promise<string> => {
    const reply = await rig.ask('PUT', '/camera', { authorization: admin, filename: name }, body);
    return (JSON.parse(reply.text) as { id: string }).id;
  };
  const id = await send('door.png', png);
  await send('door.svg', '<svg xmlns="http://www.w3.org/2000/svg"/>');
  await rig.publish('/camera', 'elsewhere', { attach: 'https://camera.example/door.png' });
  await expect
    .poll(async () => (await listInbox(rig)).map(({ picture }) => picture))
    .toEqual([`/api/push/topics/camera/files/${id}`, undefined, undefined]);
  const [item] = await listInbox(rig);
  const reply = await fetch(`${rig.host.url('control')}${item?.picture ?? ''}`, { headers: { authorization: admin } });
  expect([reply.status, reply.headers.get('content-type')]).toEqual([200, 'image/png']);
});

it('delivers delayed and rescheduled messages with their publication time', async () => {
  await using rig = await openRig({ dataDir });
  const message = await rig.publish('/t', 'in a while', { In: '10s', Title: 'T' });
  const moved = await fetch(`${rig.host.url('control')}/api/push/planned/${message.id}/publish`, {
    method: 'POST',
    headers: { authorization: admin },
  });
  expect(moved.status).toBe(200);
  const [out] = await rig.poll('/t/json?poll=1');
  await expect
    .poll(() => listInbox(rig))
    .toMatchObject([{ title: 'T', body: 'in a while', source: 'push', time: out.time * 1000 }]);
});

it('migrates data of an older version: inbox jobs, and delayed messages with their entry', async () => {
  const toEntry = (body: string) => ({
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
      isAfterCrash: false,
      service: 'push',
      database,
      clock,
      random: systemRandom,
      log: silentLog,
      metrics,
    });
    await database.commit(async (transaction) => {
      await jobs.enqueue(transaction, toInbox, { entries: [toEntry('first'), toEntry('second')] });
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
          entry: JSON.stringify(toEntry('whole')),
        })
        .execute();
    });
  }
  for (const _start of ['at the upgrade', 'and after it']) {
    await using rig = await openRig({ dataDir, services: [push, inbox, control] });
    await rig.publish('/t', 'new');
    await expect.poll(() => listBodies(rig)).toContain('new');
    const findUnprocessed = async () =>
      (await listInbox(rig)).flatMap(({ source, body }) => (source === 'mail' ? [body] : []));
    await expect.poll(async () => (await findUnprocessed()).toSorted()).toEqual(['first', 'second', 'whole']);
  }
});

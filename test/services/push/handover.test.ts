import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { InboxItem } from '../../../services/contracts/inbox/api.ts';
import { pushOffered, pushPublished, PushOffer } from '../../../services/contracts/push/topics.ts';
import { admin, openRig, type Rig } from './rig.ts';

let rig: Rig;
beforeAll(async () => {
  rig = await openRig();
});
afterAll(() => rig[Symbol.asyncDispose]());

const offer = (key: string, fields: Partial<PushOffer>) =>
  rig.context.handovers.pass(pushOffered, key, PushOffer.parse({ topic: 'offered', message: key, ...fields }));

async function listInbox(query: string): Promise<readonly InboxItem[]> {
  const reply = await fetch(`${rig.host.url('control')}/api/inbox?${query}`, { headers: { authorization: admin } });
  return ((await reply.json()) as { items: InboxItem[] }).items;
}

it('publishes an offer once, however often and concurrently it is offered', async () => {
  using stream = await rig.listen('/offered/json');
  await Promise.all([offer('k1', {}), offer('k1', {}), offer('k1', {}), offer('k2', {})]);
  await offer('k1', { message: 'another text' });
  await expect.poll(() => stream.messages.map(({ message }) => message)).toEqual(['k1', 'k2']);
  expect(await rig.poll('/offered/json?poll=1')).toEqual(stream.messages);
});

it('passes every message with all fields to the inbox', async () => {
  const message = await rig.publish('/web-info-monitoring', '**bold** needle', {
    Title: 'T',
    Priority: 'high',
    Tags: 'a,b',
    Click: 'https://c.example/',
    Markdown: 'yes',
  });
  await expect
    .poll(() => listInbox('q=needle'))
    .toEqual([
      {
        id: expect.any(Number),
        title: 'T',
        body: '**bold** needle',
        format: 'markdown',
        priority: 4,
        tags: ['a', 'b'],
        source: 'push',
        topic: 'web-info-monitoring',
        link: 'https://c.example/',
        time: message.time * 1000,
        read: false,
        done: false,
      },
    ]);
});

it('stores a notification that arrives in several ways once, under its own key', async () => {
  await offer('way-1', { origin: 'notice-1', source: 'mail', message: 'several ways' });
  await offer('way-2', { origin: 'notice-1', source: 'mail', message: 'several ways', topic: 'elsewhere' });
  await offer('after', { message: 'a later one' });
  await expect.poll(() => listInbox('q=later')).toHaveLength(1);
  expect(await listInbox('q=several')).toMatchObject([{ source: 'mail' }]);
  expect(await rig.poll('/elsewhere/json?poll=1')).toHaveLength(1);
});

it('accepts offers of any length and truncates them to what clients can read', async () => {
  const [long, tags] = ['t'.repeat(1_000_000), Array.from({ length: 1000 }, () => 'g'.repeat(1000))];
  await offer('huge', { topic: 'huge', title: long, tags, click: `https://x/${long}` });
  const [message] = await rig.poll('/huge/json?poll=1');
  expect(message).toMatchObject({ message: 'huge', title: expect.stringMatching(/^t{900,}…$/) });
  expect(Buffer.byteLength(JSON.stringify(message))).toBeLessThan(10_000);
});

it('truncates a long offer for the topic and keeps the full text for the inbox', async () => {
  const text = `${'ü'.repeat(5000)} end-of-long-text`;
  await offer('long', { topic: 'long', message: text });
  const [message] = await rig.poll('/long/json?poll=1');
  expect(Buffer.byteLength(message.message)).toBeLessThan(4096);
  expect(message.message).toMatch(/^ü{2000,}…$/);
  await expect.poll(async () => (await listInbox('q=end-of-long-text'))[0]?.body).toBe(text);
});

it('excludes unreadable messages from the inbox', async () => {
  await rig.publish('/upABCDEFGHIJKL?up=1', 'sealed-needle');
  await rig.publish('/up2', 'opened-needle');
  await expect.poll(() => listInbox('q=opened-needle')).toHaveLength(1);
  expect(await listInbox('q=sealed-needle')).toEqual([]);
});

it('stores the file of an offer once, and omits a file that is too large', async () => {
  const file = { name: '../cam/door.png', type: 'image/png', bytes: Buffer.from('not quite a picture') };
  await offer('file-1', { topic: 'files', file });
  await offer('file-1', { topic: 'files', file });
  await offer('file-2', { topic: 'files', file: { ...file, bytes: Buffer.alloc(16 * 1024 * 1024) } });
  const [message, messageWithoutFile] = await rig.poll('/files/json?poll=1');
  expect(message).toMatchObject({ message: 'file-1', attachment: { name: 'door.png', size: 19 } });
  expect(messageWithoutFile).not.toHaveProperty('attachment');
  const path = new URL(message.attachment?.url ?? '').pathname;
  const reply = await fetch(rig.host.url('push') + path);
  expect([reply.status, await reply.text()]).toEqual([200, 'not quite a picture']);
  const files = readdirSync(join(rig.host.dataDir, 'push', 'attachments')).filter((name) => !name.startsWith('.'));
  expect(files).toHaveLength(1);
});

it('rejects offers to a reserved topic permanently', async () => {
  await expect(offer('reserved', { topic: 'v1' })).rejects.toMatchObject({ status: 400, retryable: false });
});

it('publishes on the bus', async () => {
  const received: unknown[] = [];
  using _listening = rig.context.bus.subscribe(pushPublished, (event) => received.push(event));
  const { id, time } = await rig.publish('/bus', 'm', { Tags: 'a' });
  await expect
    .poll(() => received)
    .toEqual([{ id, topic: 'bus', title: '', message: 'm', priority: 3, tags: ['a'], time }]);
});

it('stores nothing in the inbox when it is disabled', async () => {
  const keep = async (keepInInbox: boolean): Promise<void> => {
    const reply = await fetch(`${rig.host.url('control')}/api/settings/push`, {
      method: 'PATCH',
      headers: { authorization: admin, 'content-type': 'application/json' },
      body: JSON.stringify({ keepInInbox }),
    });
    expect(reply.status).toBe(200);
  };
  // The server may listen on another port after the change.
  const publish = async (body: string): Promise<void> => {
    const reply = await fetch(`${rig.host.url('push')}/kept`, {
      method: 'POST',
      headers: { authorization: admin },
      body,
    });
    expect(reply.status).toBe(200);
  };
  await keep(false);
  await publish('not for the inbox: pin');
  await keep(true);
  await publish('for the inbox: pin');
  await expect.poll(async () => (await listInbox('q=pin')).map((item) => item.body)).toEqual(['for the inbox: pin']);
});

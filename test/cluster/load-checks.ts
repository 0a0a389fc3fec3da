import pg from 'pg';
import { expect, vi } from 'vitest';
import type { TcpBalancer } from '../support/tcp-balancer.ts';
import { loadTopics, readUpload, type ClusterLoad } from './cluster-load.ts';

const waiting = { timeout: 30_000, interval: 200 } as const;

interface StoredMessage {
  readonly id: string;
  readonly topic: string;
  readonly message: string;
}

/** What the destination of the notifications received. */
export interface ReceivedNotification {
  readonly title: string;
}

/**
 * Checks that everything acknowledged exists once in the tables, that subscribers received all messages in the order
 * of the table, and that nothing was repeated inside. The load must have been stopped.
 */
export async function expectNothingLost(
  load: ClusterLoad,
  databaseUrl: string,
  balancer: TcpBalancer,
  received: readonly ReceivedNotification[],
): Promise<void> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    const stored = await readStored(client);
    expectStoredOnce(load, stored);
    await expectDelivered(load, stored);
    await expectMails(load, client);
    await expectNotifications(load, client, received);
    await expectInbox(client, stored);
  } finally {
    await client.end();
  }
  for (const { path, sha256 } of load.uploads) expect(await readUpload(balancer, path)).toBe(sha256);
}

async function readStored(client: pg.Client): Promise<readonly StoredMessage[]> {
  const { rows } = await client.query<{ id: string; topic: string; text: string }>(
    'select id, topic, text from push.messages order by seq',
  );
  return rows.map(({ id, topic, text }) => ({ id, topic, ...(JSON.parse(text) as { message: string }) }));
}

function expectStoredOnce(load: ClusterLoad, stored: readonly StoredMessage[]): void {
  const ids = new Set(stored.map(({ id }) => id));
  expect(ids.size).toBe(stored.length);
  expect(load.published.filter(({ id }) => !ids.has(id))).toEqual([]);
  // Requests without a response were not repeated, so their messages exist once or not at all.
  const texts = stored.filter(({ topic }) => isLoadTopic(topic)).map(({ message }) => message);
  expect(findRepeated(texts)).toEqual([]);
}

/** Waits until each subscriber has received its topic in the order of the table. */
async function expectDelivered(load: ClusterLoad, stored: readonly StoredMessage[]): Promise<void> {
  for (const [index, { ids: _ids }] of load.subscribers.entries()) {
    const topic = loadTopics[index % loadTopics.length];
    const expected = stored.filter((message) => message.topic === topic).map(({ id }) => id);
    await vi.waitFor(() => expect(load.subscribers[index]?.ids).toEqual(expected), waiting);
  }
}

async function expectMails(load: ClusterLoad, client: pg.Client): Promise<void> {
  const { rows } = await client.query<{ subject: string }>('select subject from mail.messages');
  const subjects = rows.map(({ subject }) => subject);
  expect(findRepeated(subjects)).toEqual([]);
  expect(load.mails.filter((subject) => !subjects.includes(subject))).toEqual([]);
}

/** A notification is stored once, and reaches its destination at least once. */
async function expectNotifications(
  load: ClusterLoad,
  client: pg.Client,
  received: readonly ReceivedNotification[],
): Promise<void> {
  const { rows } = await client.query<{ title: string }>(
    "select title from notify.notices where title like 'notify %'",
  );
  const titles = rows.map(({ title }) => title);
  expect(findRepeated(titles)).toEqual([]);
  expect(load.notifications.filter((title) => !titles.includes(title))).toEqual([]);
  await vi.waitFor(() => {
    const arrived = new Set(received.map(({ title }) => title));
    expect(load.notifications.filter((title) => !arrived.has(title))).toEqual([]);
  }, waiting);
}

/** Waits until the inbox contains each message once. */
async function expectInbox(client: pg.Client, stored: readonly StoredMessage[]): Promise<void> {
  const expected = stored
    .filter(({ topic }) => isLoadTopic(topic))
    .map(({ message }) => message)
    .toSorted();
  await vi.waitFor(async () => {
    const { rows } = await client.query<{ body: string }>('select body from inbox.items where topic = any($1)', [
      loadTopics,
    ]);
    expect(rows.map(({ body }) => body).toSorted()).toEqual(expected);
  }, waiting);
}

function isLoadTopic(topic: string): boolean {
  return (loadTopics as readonly string[]).includes(topic);
}

function findRepeated(texts: readonly string[]): readonly string[] {
  const seen = new Set<string>();
  return texts.filter((text) => seen.size === seen.add(text).size);
}

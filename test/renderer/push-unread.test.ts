import * as pushMessages from '#messages/push';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { control } from '../../services/control/index.ts';
import { inbox } from '../../services/inbox/index.ts';
import { push } from '../../services/push/index.ts';
import { api } from '../support/api.ts';
import { noBrowser } from '../support/browser.ts';
import { adminAuthorization } from '../support/host.ts';
import { openPages, type Pages } from './visit.ts';

/** More messages than one request of the page loads. */
const busyCount = 230;

describe.skipIf(noBrowser)('topics with more unread messages than are loaded', () => {
  let pages: Pages;
  const topicRow = (page: Page, name: string) =>
    page.getByRole('region', { name: pushMessages.topics() }).getByTitle(name, { exact: true });
  const readUnread = async (): Promise<readonly (readonly [string, number, number])[]> => {
    const { topics } = await api<{ topics: { topic: string; count: number; priority: number }[] }>(
      pages.url,
      '/api/inbox/unread-topics',
    );
    return topics.map(({ topic, count, priority }) => [topic, count, priority]);
  };

  beforeAll(async () => {
    pages = await openPages({ services: [push, inbox, control] });
    const publish = async (topic: string, body: string, priority = '3'): Promise<void> => {
      const headers = { Authorization: adminAuthorization, Priority: priority };
      const reply = await fetch(`${pages.host.url('push')}/${topic}`, { method: 'POST', body, headers });
      expect(reply.status).toBe(200);
    };
    await publish('quiet', 'The oldest message', '5');
    for (let index = 0; index < busyCount; index += 1) await publish('busy', `Message ${String(index)}`);
    await vi.waitUntil(async () => (await readUnread()).reduce((sum, [, count]) => sum + count, 0) === busyCount + 1);
  });
  afterAll(() => pages[Symbol.asyncDispose]());

  it('shows the number of all of them, and marks topics whose unread message is older', async () => {
    await using visit = await pages.visit('/push');
    const { page } = visit;
    await topicRow(page, 'busy')
      .getByText(`${String(busyCount)} new`)
      .waitFor();
    await topicRow(page, 'quiet').getByText('1 new').waitFor();
    await topicRow(page, 'quiet').getByText(pushMessages.urgentPriority()).waitFor();
    expect(visit.complaints).toEqual([]);
  });

  it('places the box for notifications directly below a short list', async () => {
    await using visit = await pages.visit('/push', { width: 1440, height: 900 });
    const { page } = visit;
    const topics = page.getByRole('region', { name: pushMessages.topics() });
    const last = await topics.getByRole('listitem').last().boundingBox();
    const box = await topics
      .getByRole('link', { name: pushMessages.quietHoursAndRulesOf() })
      .locator('xpath=..')
      .boundingBox();
    if (last === null || box === null) throw new Error('The list is not visible.');
    expect(box.y - (last.y + last.height)).toBeLessThanOrEqual(16);
  });

  it('marks an old unread message in its topic, and all messages of an opened topic as read', async () => {
    await using visit = await pages.visit('/push/topics/quiet');
    const { page } = visit;
    const message = page.getByRole('group', { name: pushMessages.messages() }).getByRole('listitem');
    await message
      .filter({ hasText: 'The oldest message' })
      .getByText(pushMessages.newLabel(), { exact: true })
      .waitFor();
    await expect.poll(readUnread).toEqual([['busy', busyCount, 3]]);
    await page.getByRole('link', { name: pushMessages.topics(), exact: true }).click();
    await topicRow(page, 'busy')
      .getByText(`${String(busyCount)} new`)
      .waitFor();
    await topicRow(page, 'quiet')
      .getByText(pushMessages.messageCount({ count: 1 }))
      .waitFor();
    await topicRow(page, 'busy').click();
    await message.first().getByText(pushMessages.newLabel(), { exact: true }).waitFor();
    await expect.poll(readUnread).toEqual([]);
    await page.getByRole('link', { name: pushMessages.topics(), exact: true }).click();
    await topicRow(page, 'busy')
      .getByText(`${String(busyCount)} messages`)
      .waitFor();
    expect(visit.complaints).toEqual([]);
  });
});

import * as pushProblems from '#messages/push-problems';
import * as frameMessages from '#messages/frame';
import * as notificationsMessages from '#messages/notifications';
import * as partsMessages from '#messages/parts';
import * as pushMessages from '#messages/push';
import * as pushComposeMessages from '#messages/push-compose';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { control } from '../../services/control/index.ts';
import { inbox } from '../../services/inbox/index.ts';
import { push } from '../../services/push/index.ts';
import { noBrowser } from '../support/browser.ts';
import { adminAuthorization } from '../support/host.ts';
import { newBrowser, openPushService } from '../services/push/push-service.ts';
import { anyText, matching, startingWith } from '../support/message-patterns.ts';
import { expectFits } from './fits.ts';
import { screens } from './screens.ts';
import { besidesRefusals, openPages, type Pages } from './visit.ts';

const headers = { authorization: adminAuthorization, 'content-type': 'application/json' };

describe.skipIf(noBrowser)('quiet rules of push', () => {
  let pages: Pages;
  let service: Awaited<ReturnType<typeof openPushService>>;
  const folder = mkdtempSync(join(tmpdir(), 'push-quiet-page-'));

  beforeAll(async () => {
    service = await openPushService();
    pages = await openPages({
      services: [push, inbox, control],
      dataDir: folder,
      environment: { PUSH_WEB_PUSH_HOSTS: service.origin },
    });
    for (const topic of ['doors', 'nas-error-backup', 'nas-info-backup', 'garden']) await publish(topic, 'Hello');
  });
  beforeEach(async () => {
    await save({ rules: [] });
  });
  afterAll(async () => {
    await pages[Symbol.asyncDispose]();
    await service[Symbol.asyncDispose]();
    rmSync(folder, { recursive: true, force: true });
  });

  async function publish(topic: string, body: string, overrides: Record<string, string> = {}): Promise<void> {
    const response = await fetch(`${pages.host.url('push')}/${topic}`, {
      method: 'POST',
      body,
      headers: { authorization: adminAuthorization, ...overrides },
    });
    expect(response.status).toBe(200);
  }
  async function save(quiet: object): Promise<void> {
    const response = await fetch(`${pages.url}/api/push/quiet`, {
      method: 'PUT',
      headers,
      body: JSON.stringify(quiet),
    });
    expect(response.status).toBe(200);
  }
  const saved = async () => await (await fetch(`${pages.url}/api/push/quiet`, { headers })).json();
  const rules = async () => (await saved()).quiet.rules;

  it('are set for all topics, with hours and repetition, and show their state', async () => {
    await using visit = await pages.visit('/push');
    const { page } = visit;
    await page.getByRole('link', { name: pushMessages.quietHoursAndRulesOf() }).click();
    await page.getByRole('heading', { level: 1, name: frameMessages.notificationsTitle() }).waitFor();
    await page.getByText(notificationsMessages.neverQuiet()).waitFor();
    await page.getByRole('link', { name: pushMessages.allTopics() }).click();
    const dialog = page.getByRole('dialog', { name: pushMessages.allTopics() });
    await dialog.getByRole('button', { name: partsMessages.addHours() }).click();
    const hours = dialog.getByRole('group', {
      name: partsMessages.numberedGroup({ name: partsMessages.quietHours(), number: 1 }),
    });
    await hours.getByLabel(partsMessages.spanDays()).selectOption(pushComposeMessages.mondayToFriday());
    await hours.getByLabel(partsMessages.to()).fill('06:30');
    await dialog.getByRole('button', { name: partsMessages.addHours() }).click();
    const secondSpan = dialog.getByRole('group', {
      name: partsMessages.numberedGroup({ name: partsMessages.quietHours(), number: 2 }),
    });
    await secondSpan.getByLabel(partsMessages.from()).fill('00:00');
    await secondSpan.getByLabel(partsMessages.to()).fill('00:00');
    await dialog
      .getByLabel(notificationsMessages.anUrgentMessageComes())
      .selectOption(notificationsMessages.everyMinutes({ minutes: 5 }));
    await dialog.getByRole('button', { name: pushMessages.save() }).click();
    const spans = [
      partsMessages.timeSpan({ days: partsMessages.mondayToFriday(), from: '22:00', to: '06:30' }),
      partsMessages.allDaySpan({ days: partsMessages.everyDay() }),
    ];
    const effect = notificationsMessages.quietHours({ hours: spans.join('; ') });
    await page.getByText(notificationsMessages.effectRepeated({ effect, minutes: 5 })).waitFor();
    await page
      .getByText(notificationsMessages.quietNow())
      .or(page.getByText(startingWith(notificationsMessages.quietUntil({ time: anyText }))))
      .waitFor();
    expect(await rules()).toEqual([
      { topics: '*', mode: 'normal', quiet: ['mon-fri 22:00-06:30', '00:00-00:00'], repeatMinutes: 5 },
    ]);
    expect(visit.complaints).toEqual([]);
  });

  it('are added for one topic from its page, changed, and removed with Undo', async () => {
    await using visit = await pages.visit('/push/topics/doors');
    const { page } = visit;
    await page.getByRole('link', { name: pushMessages.quietHoursOfThisTopic() }).click();
    const dialog = page.getByRole('dialog', { name: notificationsMessages.newRule() });
    expect(await dialog.getByLabel(pushMessages.topics()).inputValue()).toBe('doors');
    await dialog.getByRole('radio', { name: notificationsMessages.silentMode() }).check();
    await dialog.getByText(notificationsMessages.silentDescription()).waitFor();
    await dialog.getByRole('button', { name: pushMessages.save() }).click();
    await dialog.waitFor({ state: 'detached' });
    expect(await rules()).toEqual([{ topics: 'doors', mode: 'silent', quiet: [], repeatMinutes: null }]);
    await page.getByRole('link', { name: 'doors' }).click();
    const second = page.getByRole('dialog', { name: pushMessages.ruleForName({ name: 'doors' }) });
    await second.getByLabel(pushMessages.topics()).fill('nas-*-backup');
    await second.getByText(notificationsMessages.fitsTopics({ topics: 'nas-info-backup, nas-error-backup' })).waitFor();
    await second.getByRole('radio', { name: notificationsMessages.alwaysMode() }).check();
    await second.getByRole('button', { name: pushMessages.save() }).click();
    await page.getByText(notificationsMessages.alwaysEffect()).waitFor();
    expect((await rules()).map(({ topics }: { topics: string }) => topics)).toEqual(['nas-*-backup']);
    await page.getByRole('link', { name: 'nas-*-backup' }).click();
    await page.getByRole('button', { name: partsMessages.removeTag({ text: 'rule' }) }).click();
    await expect.poll(rules).toEqual([]);
    await page.getByRole('button', { name: partsMessages.undo() }).click();
    await expect.poll(rules).toHaveLength(1);
    await page.getByRole('link', { name: 'nas-*-backup' }).waitFor();
    expect(visit.complaints).toEqual([]);
  });

  it('shows errors at its field', async () => {
    await save({ rules: [{ topics: 'doors', mode: 'silent' }] });
    await using visit = await pages.visit('/settings/notifications');
    const { page } = visit;
    await page.getByRole('button', { name: pushMessages.addARule() }).click();
    const dialog = page.getByRole('dialog', { name: notificationsMessages.newRule() });
    await dialog.getByLabel(pushMessages.topics()).fill('a b');
    await dialog.getByRole('button', { name: partsMessages.addHours() }).click();
    await dialog.getByLabel(partsMessages.from()).fill('');
    await dialog.getByRole('button', { name: pushMessages.save() }).click();
    await dialog.getByText(pushProblems.topicPatternInvalid()).waitFor();
    await dialog.getByText(partsMessages.spanIncomplete()).waitFor();
    await dialog.getByLabel(pushMessages.topics()).fill('doors');
    await dialog.getByLabel(partsMessages.from()).fill('12:00');
    await dialog.getByRole('button', { name: pushMessages.save() }).click();
    await dialog.getByText(pushProblems.rulePatternExists()).waitFor();
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'detached' });
    await expect.poll(() => page.url()).not.toContain('rule=');
    expect(besidesRefusals(visit.complaints)).toEqual([]);
  });

  it('follows another time zone', async () => {
    await using visit = await pages.visit('/settings/notifications');
    const { page } = visit;
    const zones = page.getByLabel(pushComposeMessages.timeZone());
    const timeZone = await page.evaluate(() => Intl.DateTimeFormat().resolvedOptions().timeZone);
    await zones.selectOption(timeZone);
    await expect.poll(async () => (await saved()).quiet.zone).toBe(timeZone);
    expect(visit.complaints).toEqual([]);
  });

  describe('held and urgent messages', () => {
    beforeEach(async () => {
      const browser = newBrowser(service.origin);
      const topics = ['doors', 'garden', 'nas-error-backup'];
      const order = { endpoint: browser.endpoint, ...browser.keys, topics };
      await fetch(`${pages.url}/api/push/browsers`, { method: 'PUT', headers, body: JSON.stringify(order) });
      await save({
        rules: [
          { topics: '*', mode: 'normal', quiet: ['mon-fri 22:00-07:00', '00:00-24:00'], repeatMinutes: 5 },
          { topics: 'nas-*', mode: 'always' },
          { topics: 'garden-info-maintenance-of-the-watering-system-in-the-back-yard', mode: 'silent' },
          { topics: 'heating', mode: 'normal', quiet: ['sat sun 10:00-12:00'], repeatMinutes: 0 },
        ],
      });
    });
    afterEach(() => save({ rules: [{ topics: '*', mode: 'silent' }] }));

    it('are counted, listed while unread, and acknowledged', async () => {
      await using visit = await pages.visit('/settings/notifications');
      const { page } = visit;
      await page.getByRole('list', { name: notificationsMessages.rules() }).waitFor();
      await publish('doors', 'open');
      await publish('garden', 'dry');
      await page.getByText(`${notificationsMessages.messagesHeld({ count: 2 })} doors 1, garden 1`).waitFor();
      await publish('doors', 'Somebody is at the door', { title: 'Door bell', priority: '5' });
      await page.getByText(matching(notificationsMessages.comesAgain({ topic: 'doors', time: anyText }))).waitFor();
      await page.getByRole('button', { name: notificationsMessages.seenTitle({ title: 'Door bell' }) }).click();
      await expect.poll(async () => (await saved()).urgent).toEqual([]);
      await page.getByText(notificationsMessages.nobodyHasSeenTheseYet()).waitFor({ state: 'detached' });
      expect(visit.complaints).toEqual([]);
    });

    it.each(screens)('fits on $on', async (screen) => {
      await publish('garden', 'dry');
      await publish('doors', 'Somebody is at the door', { title: 'Door bell', priority: '5' });
      await using visit = await pages.visit('/settings/notifications', screen);
      await visit.page.getByRole('list', { name: notificationsMessages.rules() }).waitFor();
      await expectFits(visit, 'push-quiet', screen);
      await visit.page.goto(`${pages.url}/settings/notifications?rule=*`);
      await visit.page.getByRole('dialog', { name: pushMessages.allTopics() }).waitFor();
      await expectFits(visit, 'push-quiet-rule', screen);
    });
  });
});

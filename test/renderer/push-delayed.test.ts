import * as pushTexts from '#messages/push-texts';
import * as pushProblems from '#messages/push-problems';
import * as kitProblems from '#messages/kit-problems';
import * as partsMessages from '#messages/parts';
import * as pushMessages from '#messages/push';
import * as pushComposeMessages from '#messages/push-compose';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { control } from '../../services/control/index.ts';
import { inbox } from '../../services/inbox/index.ts';
import { push } from '../../services/push/index.ts';
import { capitalize } from '../../messages/format.ts';
import { api } from '../support/api.ts';
import { noBrowser } from '../support/browser.ts';
import { adminAuthorization } from '../support/host.ts';
import { anyCount, matching, startingWith } from '../support/message-patterns.ts';
import { expectFits } from './fits.ts';
import { screens } from './screens.ts';
import { besidesRefusals, openPages, type Pages } from './visit.ts';

describe.skipIf(noBrowser)('delayed and recurring messages', () => {
  let pages: Pages;
  beforeAll(async () => {
    pages = await openPages({ services: [push, inbox, control] });
  });
  afterAll(() => pages[Symbol.asyncDispose]());

  const send = (topic: string, body: string, headers = {}): Promise<Response> =>
    fetch(`${pages.host.url('push')}/${topic}`, {
      method: 'POST',
      body,
      headers: { Authorization: adminAuthorization, ...headers },
    });
  const poll = async (topic: string): Promise<string> =>
    (
      await fetch(`${pages.host.url('push')}/${topic}/json?poll=1&scheduled=1`, {
        headers: { Authorization: adminAuthorization },
      })
    ).text();

  it('shows how to fill an empty list', async () => {
    await using visit = await pages.visit('/push/delayed');
    await visit.page.getByText(pushComposeMessages.nothingWaitsForItsTime()).waitFor();
    await visit.page.getByRole('radio', { name: /^Repeating/ }).check();
    await visit.page.getByText(pushComposeMessages.noMessageRepeats()).waitFor();
    await expect.poll(() => visit.page.url()).toContain('of=recurring');
    expect(visit.complaints).toEqual([]);
  });

  it('lists delayed messages as they are added; moves, publishes and cancels them with Undo', async () => {
    await using visit = await pages.visit('/push/delayed');
    const { page } = visit;
    await page.getByText(pushComposeMessages.nothingWaitsForItsTime()).waitFor();
    await send('tea', 'Tea is ready', { In: '30m' });
    await send('oven', 'Oven is hot', { In: '2h', Title: 'Oven' });
    const list = page.getByRole('group', { name: pushComposeMessages.messagesThatWait() });
    await list.getByText('Tea is ready').waitFor();
    await list.getByText(pushComposeMessages.inMinutes({ minutes: '30' }), { exact: true }).waitFor();

    await page.getByRole('button', { name: pushMessages.moreForName({ name: 'Oven' }) }).click();
    await page.getByRole('menuitem', { name: pushComposeMessages.changeTheTime() }).click();
    const dialog = page.getByRole('dialog', { name: pushComposeMessages.changeTheTime() });
    await dialog.getByLabel(pushComposeMessages.goesOut()).fill('2019-01-01T10:00');
    await dialog.getByRole('button', { name: pushComposeMessages.change() }).click();
    await dialog.getByText(startingWith(pushProblems.delayInvalid({ hours: anyCount }))).waitFor();
    const scheduledAt = new Date(Date.now() + 20 * 60_000);
    const local = new Date(scheduledAt.getTime() - scheduledAt.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
    await dialog.getByLabel(pushComposeMessages.goesOut()).fill(local);
    await dialog.getByRole('button', { name: pushComposeMessages.change() }).click();
    await list
      .getByText(
        new RegExp([19, 20].map((minutes) => matching(pushComposeMessages.inMinutes({ minutes })).source).join('|')),
      )
      .waitFor();

    await page.getByRole('button', { name: pushMessages.moreForName({ name: 'Tea is ready' }) }).click();
    await page.getByRole('menuitem', { name: pushComposeMessages.publishNow() }).click();
    await expect.poll(() => list.getByText('Tea is ready').count()).toBe(0);
    expect(await poll('tea')).toContain('Tea is ready');

    for (const answer of ['Undo', 'Close'] as const) {
      await page.getByRole('button', { name: pushMessages.moreForName({ name: 'Oven' }) }).click();
      await page.getByRole('menuitem', { name: pushComposeMessages.takeBack() }).click();
      await page.getByText(pushComposeMessages.theMessageToTopicIs({ topic: 'oven' })).waitFor();
      expect(await poll('oven')).toContain('Oven is hot');
      if (answer === 'Undo') {
        await page.getByRole('button', { name: partsMessages.undo() }).click();
        await list.getByText('Oven').first().waitFor();
      }
    }
    await page.goto('about:blank');
    await expect.poll(() => poll('oven')).toBe('');
    expect(besidesRefusals(visit.complaints)).toEqual([]);
  });

  it('creates a schedule, shows its next runs, disables, runs and removes it', async () => {
    await using visit = await pages.visit('/push/delayed?of=recurring');
    const { page } = visit;
    await page.getByRole('button', { name: pushComposeMessages.makeASchedule() }).click();
    const dialog = page.getByRole('dialog', { name: pushComposeMessages.newSchedule() });
    await dialog.getByLabel(pushMessages.topic()).fill('plants');
    await dialog.getByLabel(pushComposeMessages.message()).fill('Water the plants');
    const next = dialog.getByRole('status', { name: pushComposeMessages.nextRuns() });
    await next.getByText(capitalize(pushTexts.everyDayAt({ times: '08:00' }))).waitFor();
    expect(await next.getByRole('listitem').count()).toBe(3);
    await dialog
      .getByLabel(pushComposeMessages.when(), { exact: true })
      .selectOption(pushComposeMessages.mondayToFriday());
    await dialog.getByLabel(pushComposeMessages.at(), { exact: true }).fill('07:30');
    await next
      .getByText(capitalize(pushTexts.onWeekdayRangeAt({ from: 'Monday', to: 'Friday', times: '07:30' })))
      .waitFor();
    await dialog
      .getByLabel(pushComposeMessages.when(), { exact: true })
      .selectOption(pushComposeMessages.anotherRule());
    expect(await dialog.getByLabel(pushComposeMessages.rule(), { exact: true }).inputValue()).toBe('30 7 * * 1-5');
    await dialog.getByLabel(pushComposeMessages.rule(), { exact: true }).fill('99 * * * *');
    await dialog.getByText(kitProblems.calendarFieldInvalid()).waitFor();
    await dialog.getByLabel(pushComposeMessages.rule(), { exact: true }).fill('15 */2 * * *');
    const rule = capitalize(pushTexts.everyHoursAtMinutes({ count: 2, minuteCount: 1, minutes: '15' }));
    await next.getByText(rule).waitFor();
    await dialog.getByLabel(pushComposeMessages.timeZone()).fill('Asia/Tokyo');
    await dialog.getByRole('button', { name: pushComposeMessages.makeTheSchedule() }).click();
    await dialog.waitFor({ state: 'detached' });
    const list = page.getByRole('group', { name: pushComposeMessages.schedules() });
    await list.getByText(`${rule} · Asia/Tokyo · plants`).waitFor();

    await page.getByRole('switch', { name: 'Water the plants' }).click();
    await list.getByText(pushComposeMessages.off(), { exact: true }).waitFor();
    await page.getByRole('button', { name: pushMessages.moreForName({ name: 'Water the plants' }) }).click();
    await page.getByRole('menuitem', { name: pushComposeMessages.runNow() }).click();
    await expect.poll(() => poll('plants')).toContain('Water the plants');

    await page.getByRole('button', { name: pushMessages.moreForName({ name: 'Water the plants' }) }).click();
    await page.getByRole('menuitem', { name: pushComposeMessages.edit() }).click();
    const edit = page.getByRole('dialog', { name: pushComposeMessages.changeTheSchedule() });
    await expect.poll(() => page.url()).toContain('schedule=');
    await edit.getByLabel(pushComposeMessages.message()).fill('Water them twice');
    await edit.getByRole('button', { name: pushMessages.save() }).click();
    await list.getByText('Water them twice').waitFor();
    await list.getByText(pushComposeMessages.off(), { exact: true }).waitFor();
    await page.getByRole('button', { name: pushMessages.moreForName({ name: 'Water them twice' }) }).click();
    await page.getByRole('menuitem', { name: pushComposeMessages.remove() }).click();
    await page.getByText(pushComposeMessages.noMessageRepeats()).waitFor();
    await page.getByRole('button', { name: partsMessages.undo() }).click();
    await list.getByText('Water them twice').waitFor();
    expect(besidesRefusals(visit.complaints)).toEqual([]);
  });

  it('renders a long list in parts', async () => {
    for (let count = 0; count < 700; count += 1)
      await send('many', `many ${String(count)}`, { In: `${String(600 + count)}s` });
    await using visit = await pages.visit('/push/delayed');
    const list = visit.page.getByRole('group', { name: pushComposeMessages.messagesThatWait() });
    await list.getByText('many 0', { exact: true }).waitFor();
    expect(await list.getByRole('listitem').count()).toBeLessThan(60);
    const end = async (): Promise<number> => {
      await list.focus();
      await visit.page.keyboard.press('End');
      return await list.getByText('many 699').count();
    };
    await expect.poll(end).toBe(1);
    expect(visit.complaints).toEqual([]);
  });

  describe('delayed and recurring messages on each screen', () => {
    beforeAll(async () => {
      const form = { message: 'Water the plants on the balcony, all of them', zone: 'Europe/Berlin' };
      for (const rule of ['0 8 * * *', '*/10 8-17 * * 1-5']) {
        await api(pages.host.url('control'), '/api/push/schedules', {
          method: 'POST',
          body: JSON.stringify({ ...form, topic: 'balcony-info-maintenance', rule }),
        });
      }
      await send('tea', 'x'.repeat(200), {
        In: '11s',
        Title: 'A title that is much too long for the smallest of screens',
      });
    });

    it.each(screens)('fits as a list of delayed messages on $on', async (screen) => {
      await using visit = await pages.visit('/push/delayed', screen);
      await visit.page
        .getByRole('group', { name: pushComposeMessages.messagesThatWait() })
        .getByRole('listitem')
        .first()
        .waitFor();
      await expectFits(visit, 'push-planned', screen);
    });

    it.each(screens)('fits as a list of schedules on $on', async (screen) => {
      await using visit = await pages.visit('/push/delayed?of=recurring', screen);
      await visit.page
        .getByRole('group', { name: pushComposeMessages.schedules() })
        .getByRole('listitem')
        .first()
        .waitFor();
      await expectFits(visit, 'push-recurring', screen);
    });

    it.each(screens)('fits with the schedule dialog on $on', async (screen) => {
      await using visit = await pages.visit('/push/delayed?of=recurring&schedule=new', screen);
      await visit.page
        .getByRole('status', { name: pushComposeMessages.nextRuns() })
        .getByRole('listitem')
        .first()
        .waitFor();
      await expectFits(visit, 'push-schedule', screen);
    });
  });
});

import * as downloadsMessages from '#messages/downloads';
import * as partsMessages from '#messages/parts';
import * as settingsFormMessages from '#messages/settings-form';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { noBrowser } from '../support/browser.ts';
import { seriousFindings } from './axe.ts';
import { openPages, type Pages } from './visit.ts';

describe.skipIf(noBrowser)('The limits of downloads', () => {
  let pages: Pages;
  beforeEach(async () => {
    pages = await openPages();
  });
  afterEach(() => pages[Symbol.asyncDispose]());

  it('updates every window after a change in the dialog, which has a URL', async () => {
    await using visit = await pages.visit('/downloads?limits=open');
    const { page } = visit;
    await page.getByRole('radio', { name: downloadsMessages.atMost() }).check({ force: true });
    await page.getByLabel(downloadsMessages.speedField()).fill('1.5');
    await page.getByText(downloadsMessages.speedInBits({ bits: '12' })).waitFor();
    await page.getByRole('button', { name: partsMessages.addHours() }).click();
    const hours = page.getByRole('group', {
      name: partsMessages.numberedGroup({ name: downloadsMessages.hoursForDownloads(), number: 1 }),
    });
    await hours.getByLabel(partsMessages.spanDays()).selectOption('mon-fri');
    await hours.getByLabel(settingsFormMessages.from()).fill('23:30');
    expect(await seriousFindings(page)).toEqual([]);
    await using other = await pages.visit('/downloads');
    await other.page
      .getByRole('button', { name: downloadsMessages.limitsButton({ limits: downloadsMessages.noLimits() }) })
      .waitFor();
    await page.getByRole('button', { name: downloadsMessages.save() }).click();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    expect(pages.downloads.limits.limits).toEqual({ speed: 1_500_000, hours: ['mon-fri 23:30-07:00'] });
    await other.page
      .getByRole('button', {
        name: downloadsMessages.limitsButton({
          limits: `${downloadsMessages.speedLimit({ speed: '1.5 MB/s' })} · ${downloadsMessages.limitedHours()}`,
        }),
      })
      .click();
    expect(await other.page.getByLabel(downloadsMessages.speedField()).inputValue()).toBe('1.5');
    await other.page.getByRole('radio', { name: downloadsMessages.asFastAsItGoes() }).check({ force: true });
    await other.page.getByRole('button', { name: partsMessages.removeTheseHours() }).click();
    await other.page.getByRole('button', { name: downloadsMessages.save() }).click();
    await page
      .getByRole('button', { name: downloadsMessages.limitsButton({ limits: downloadsMessages.noLimits() }) })
      .waitFor();
    expect(visit.complaints).toEqual([]);
  });

  it('focuses the selected option when the dialog opens', async () => {
    await using visit = await pages.visit('/downloads?limits=open');
    const chosen = visit.page.getByRole('radio', { name: downloadsMessages.asFastAsItGoes() });
    await expect.poll(() => chosen.evaluate((field) => field === document.activeElement)).toBe(true);
  });

  it('keeps invalid input and shows the problem', async () => {
    await using visit = await pages.visit('/downloads?limits=open');
    const { page } = visit;
    await page.getByRole('radio', { name: downloadsMessages.atMost() }).check({ force: true });
    await page.getByLabel(downloadsMessages.speedField()).fill('0');
    await page.getByRole('button', { name: downloadsMessages.save() }).click();
    await page.getByText(downloadsMessages.speedInvalid()).waitFor();
    expect(await page.getByLabel(downloadsMessages.speedField()).inputValue()).toBe('0');
  });

  it('shows outside of the hours when a download resumes, and runs it on request', async () => {
    const opens = new Date();
    opens.setHours(opens.getHours() + 2, 0, 0, 0);
    pages.downloads.limits = {
      limits: { speed: null, hours: ['22:00-06:00'] },
      open: false,
      changesAt: opens.getTime(),
    };
    const hour = `${String(opens.getHours()).padStart(2, '0')}:00`;
    for (const name of ['One', 'Two']) pages.downloads.set(name.toLowerCase(), { title: name, state: 'waiting' });
    pages.downloads.set('later', { title: 'Later', state: 'pending' });
    await using visit = await pages.visit('/downloads');
    const { page } = visit;
    await page.getByText(downloadsMessages.waitsForHoursUntil({ time: `at ${hour}` })).waitFor();
    expect(await page.getByText(downloadsMessages.waitingUntil({ time: `at ${hour}` })).count()).toBe(2);
    await page.getByRole('button', { name: downloadsMessages.moreForName({ name: 'Two' }) }).click();
    await page.getByRole('menuitem', { name: downloadsMessages.runOutsideTheHours() }).click();
    await page.getByText(downloadsMessages.waitingForTurn()).waitFor();
    await page.getByRole('button', { name: 'Start Later' }).click();
    await expect
      .poll(() => pages.downloads.starts)
      .toEqual([
        { uids: ['two'], anyway: true },
        { uids: ['later'], anyway: false },
      ]);
    expect(visit.complaints).toEqual([]);
  });
});

import * as notifyFormsMessages from '#messages/notify-forms';
import * as notifyProblems from '#messages/notify-problems';
import * as notifyMessages from '#messages/notify';
import * as partsMessages from '#messages/parts';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { noBrowser } from '../support/browser.ts';
import { anyText, startingWith } from '../support/message-patterns.ts';
import { besidesRefusals } from './visit.ts';
import { openRealServices, type RealServices } from './real-services.ts';

describe.skipIf(noBrowser)('the destination dialog', () => {
  let real: RealServices;
  beforeEach(async () => {
    real = await openRealServices();
  });
  afterEach(() => real[Symbol.asyncDispose]());

  const typed = async (): Promise<string> =>
    (await real.ask('GET', '/notify/keys/aggregator/text?secrets=true')).text as string;

  it('finds kinds by name, scheme and purpose with the keyboard only, and lists used ones first', async () => {
    await using browserPage = await real.visit('/delivery/keys');
    const { page } = browserPage;
    const dialog = page.getByRole('dialog');
    const search = dialog.getByRole('combobox', { name: notifyMessages.whereShallNotificationsGo() });
    const chosen = async (): Promise<string> => {
      const id = await search.getAttribute('aria-activedescendant');
      return (await page.locator(`#${id ?? ''} .name`).textContent()) ?? '';
    };
    await page.getByRole('button', { name: notifyMessages.addADestination() }).click();
    await expect.poll(() => search.evaluate((element) => element === document.activeElement)).toBe(true);
    await page.keyboard.type('tgram');
    await expect.poll(chosen).toMatch(/^Telegram/);
    await dialog.getByText(notifyMessages.needsRequirements({ requirements: 'Bot token, Chats' })).waitFor();
    await search.fill('microsoft');
    await expect.poll(chosen).toMatch(/Microsoft|Teams|Power/);
    await search.fill('zzz');
    await dialog.getByText(notifyMessages.nothingHasThisName()).waitFor();
    await expect.poll(chosen).toMatch(startingWith(notifyMessages.anyOtherServiceURL()));
    await search.fill('gotify');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('ArrowUp');
    await page.keyboard.press('Enter');
    await dialog.getByRole('heading', { name: 'Gotify' }).waitFor();
    await expect
      .poll(() => dialog.getByLabel(notifyFormsMessages.host()).evaluate((field) => field === document.activeElement))
      .toBe(true);
    await page.keyboard.type('gotify.home.example');
    await dialog.getByLabel(/token/i).first().fill('Abcdefghijklmno');
    await dialog.getByRole('button', { name: notifyMessages.add(), exact: true }).click();
    await dialog.waitFor({ state: 'detached' });
    await page.reload();
    await page.getByRole('button', { name: notifyMessages.addADestination() }).click();
    const first = dialog.getByRole('group', { name: notifyMessages.usedBefore() }).getByRole('option').first();
    expect(await first.textContent()).toContain('Gotify');
    expect(browserPage.complaints).toEqual([]);
  });

  it('keeps the name and the address together, and clear of the buttons, on a phone', async () => {
    const url = 'discord://webhookid1234567890/webhooktoken1234567890123456789012345678901234567890';
    await real.ask('POST', '/notify/keys/aggregator/destinations', { url, tags: [] });
    await using browserPage = await real.visit('/delivery/keys/aggregator', { width: 360, height: 740, touch: true });
    const { page } = browserPage;
    const row = page
      .getByRole('listitem')
      .filter({
        has: page.getByRole('button', {
          name: startingWith(notifyMessages.testDestination({ service: anyText, line: anyText })),
        }),
      })
      .filter({ hasText: 'Discord' });
    const button = await row
      .getByRole('button', { name: startingWith(notifyMessages.testDestination({ service: anyText, line: anyText })) })
      .boundingBox();
    const name = await row.locator('strong').boundingBox();
    const address = await row.locator('code, .place').first().boundingBox();
    if (button === null || name === null || address === null) throw new Error('The row is not visible.');
    const gap = address.y - (name.y + name.height);
    expect(gap).toBeGreaterThanOrEqual(-2);
    expect(gap).toBeLessThanOrEqual(4);
    expect(name.x + name.width).toBeLessThanOrEqual(button.x);
    expect(address.x + address.width).toBeLessThanOrEqual(button.x);
    // The button is next to both of them and not below.
    expect(button.y).toBeLessThan(address.y);
  });

  it('lists every kind in a group with its purpose', async () => {
    const { forms } = await real.ask('GET', '/notify/forms');
    const others = forms.filter(({ category }: { category: string }) => category === 'other');
    expect(others.map(({ scheme }: { scheme: string }) => scheme)).toEqual([]);
  });

  it('sets time and frequency by controls, without editing an address', async () => {
    await using browserPage = await real.visit('/delivery/keys');
    const { page } = browserPage;
    const dialog = page.getByRole('dialog');
    await page.getByRole('button', { name: notifyMessages.addADestination() }).click();
    await dialog.getByRole('combobox').fill('push');
    await dialog.getByRole('option', { name: /^Messages push:/ }).click();
    await dialog.getByLabel(notifyFormsMessages.topic()).fill('hall');
    await dialog.getByText(notifyMessages.quietHoursAndLimits()).click();
    await dialog.getByRole('button', { name: partsMessages.addHours() }).click();
    await dialog.getByLabel(partsMessages.spanDays()).selectOption(partsMessages.saturdayAndSunday());
    await dialog.getByLabel(partsMessages.from()).fill('23:00');
    await dialog.getByLabel(notifyMessages.atMost()).fill('many');
    await dialog.getByRole('button', { name: notifyMessages.add(), exact: true }).click();
    await dialog.getByText(notifyProblems.rateInvalid()).waitFor();
    await dialog.getByLabel(notifyMessages.atMost()).fill('10');
    await dialog
      .getByLabel(notifyMessages.notificationsCome())
      .selectOption(notifyMessages.togetherOption({ interval: 'every 15 minutes' }));
    await dialog.getByText(notifyMessages.more(), { exact: true }).click();
    await dialog.getByLabel(notifyMessages.itMayFail()).check();
    await dialog.getByLabel(notifyMessages.aTextThatIsToo()).selectOption(notifyMessages.cutOff());
    await dialog.getByRole('button', { name: notifyMessages.add(), exact: true }).click();
    await dialog.waitFor({ state: 'detached' });
    const summary =
      'Quiet hours: Saturday and Sunday 23:00–07:00, at most 10 in an hour, digest every 15 minutes, optional';
    await page.getByText(summary).waitFor();
    expect(await typed()).toContain(
      'push://hall?quiet=sat+sun+23:00-07:00&rate=10/1h&digest=15m&overflow=truncate&optional=yes\n',
    );
    await page
      .getByRole('button', { name: notifyMessages.moreForServiceInLine({ service: 'Messages', line: '4' }) })
      .click();
    await page.getByRole('menuitem', { name: notifyMessages.edit() }).click();
    expect(await dialog.getByLabel(partsMessages.from()).inputValue()).toBe('23:00');
    expect(await dialog.getByLabel(notifyMessages.itMayFail()).isChecked()).toBe(true);
    await dialog.getByRole('button', { name: partsMessages.removeTheseHours() }).click();
    await dialog.getByLabel(notifyMessages.atMost()).fill('');
    await dialog.getByLabel(notifyMessages.itMayFail()).uncheck();
    await dialog.getByRole('button', { name: notifyMessages.save() }).click();
    await page.getByText('Digest every 15 minutes', { exact: true }).waitFor();
    expect(await typed()).toContain('push://hall?digest=15m&overflow=truncate\n');
    expect(besidesRefusals(browserPage.complaints)).toEqual([]);
  });

  it('keeps typed values, also in the address view', async () => {
    const url = 'json://127.0.0.1:9/x?%2BX-Own=1&quiet=22:00-07:00&digest=7m';
    await real.ask('POST', '/notify/keys/aggregator/destinations', { url, tags: ['1:night'] });
    await using browserPage = await real.visit('/delivery/keys');
    const { page } = browserPage;
    const dialog = page.getByRole('dialog');
    await page.getByText('1:night').first().waitFor();
    await page
      .getByRole('button', {
        name: startingWith(notifyMessages.moreForServiceInLine({ service: 'JSON', line: anyText })),
      })
      .click();
    await page.getByRole('menuitem', { name: notifyMessages.edit() }).click();
    await dialog.getByText(notifyMessages.itsAddress()).click();
    await dialog.getByRole('button', { name: notifyMessages.writeAnotherAddress() }).click();
    await dialog.getByLabel(notifyMessages.atMost()).fill('3');
    await dialog.getByRole('button', { name: notifyMessages.save() }).click();
    await dialog.waitFor({ state: 'detached' });
    expect(await typed()).toContain(`1:night=${url}&rate=3/1h\n`);
    await page
      .getByText(
        notifyMessages.quietHours({ hours: 'Every day 22:00–07:00, at most 3 in an hour, digest every 7 minutes' }),
      )
      .waitFor();
    expect(besidesRefusals(browserPage.complaints)).toEqual([]);
  });
});

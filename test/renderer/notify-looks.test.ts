import * as notifyMessages from '#messages/notify';
import * as partsMessages from '#messages/parts';
import { afterAll, beforeAll, describe, it } from 'vitest';
import { noBrowser } from '../support/browser.ts';
import { expectFits } from './fits.ts';
import { openRealServices, type RealServices } from './real-services.ts';
import { screens } from './screens.ts';

describe.skipIf(noBrowser)('the pages of configuration keys', () => {
  let real: RealServices;
  beforeAll(async () => {
    real = await openRealServices();
    const text = [
      ...['inbox://', 'night,nas=ntfys://bob:sesame@ntfy.home.example/backup-and-other-things?digest=15m'],
      ...['1:on-call=tgram://123456789:abcdefghijklmnop/-100200300400', 'always=push://hall', 'nonsense'],
    ].join('\n');
    await real.ask('POST', '/notify/keys', { key: 'house', text });
  });
  afterAll(() => real[Symbol.asyncDispose]());

  it.each(screens)('shows a key and its import on $on', async (screen) => {
    await using browserPage = await real.visit('/delivery/keys/house', screen);
    const { page } = browserPage;
    await page.getByText(notifyMessages.wouldGetIt({ count: 4, total: 4 })).waitFor();
    await page.getByRole('textbox', { name: notifyMessages.tags() }).fill('night');
    await page.getByText(notifyMessages.wouldGetIt({ count: 2, total: 4 })).waitFor();
    await expectFits(browserPage, 'notify-key', screen);
    await page.getByRole('button', { name: notifyMessages.moreForKey({ key: 'house' }) }).click();
    await page.getByRole('menuitem', { name: notifyMessages.importLabel() }).click();
    await page
      .getByRole('textbox', { name: notifyMessages.destinations() })
      .fill('inbox://\nnight=json://nas.home.example/hook\nnonsense\nfoo://bar');
    await page.getByText(notifyMessages.destinationsTakenAndSkipped({ count: 2, skipped: 2 })).waitFor();
    await expectFits(browserPage, 'notify-import', screen);
  });

  it.each(screens)('shows the kinds of destinations and a form on $on', async (screen) => {
    await using browserPage = await real.visit('/delivery/keys/house', screen);
    const { page } = browserPage;
    await page.getByRole('button', { name: notifyMessages.addADestination() }).click();
    await page.getByRole('option', { name: /^Telegram/ }).waitFor();
    await expectFits(browserPage, 'notify-kinds', screen);
    await page.keyboard.type('tele');
    await page.keyboard.press('Enter');
    await page.getByText(notifyMessages.quietHoursAndLimits()).click();
    await page.getByRole('button', { name: partsMessages.addHours() }).click();
    await page.getByRole('dialog').getByText(notifyMessages.more(), { exact: true }).click();
    await expectFits(browserPage, 'notify-form', screen);
  });
});

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
    await page.getByText('4 of 4 would get it.').waitFor();
    await page.getByRole('textbox', { name: 'Tags' }).fill('night');
    await page.getByText('2 of 4 would get it.').waitFor();
    await expectFits(browserPage, 'notify-key', screen);
    await page.getByRole('button', { name: 'More for the key house' }).click();
    await page.getByRole('menuitem', { name: 'Import' }).click();
    await page
      .getByRole('textbox', { name: 'Destinations' })
      .fill('inbox://\nnight=json://nas.home.example/hook\nnonsense\nfoo://bar');
    await page.getByText('2 destinations are taken, 2 lines do nothing.').waitFor();
    await expectFits(browserPage, 'notify-import', screen);
  });

  it.each(screens)('shows the kinds of destinations and a form on $on', async (screen) => {
    await using browserPage = await real.visit('/delivery/keys/house', screen);
    const { page } = browserPage;
    await page.getByRole('button', { name: 'Add a destination' }).click();
    await page.getByRole('option', { name: /^Telegram/ }).waitFor();
    await expectFits(browserPage, 'notify-kinds', screen);
    await page.keyboard.type('tele');
    await page.keyboard.press('Enter');
    await page.getByText('Quiet hours and limits').click();
    await page.getByRole('button', { name: 'Add hours' }).click();
    await page.getByRole('dialog').getByText('More', { exact: true }).click();
    await expectFits(browserPage, 'notify-form', screen);
  });
});

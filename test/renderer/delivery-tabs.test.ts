import * as delivery from '#messages/delivery';
import * as mail from '#messages/mail';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { noBrowser } from '../support/browser.ts';
import { expectFits } from './fits.ts';
import { openRealServices, type RealServices } from './real-services.ts';
import { screens } from './screens.ts';

describe.skipIf(noBrowser)('the tabs of Delivery', () => {
  let real: RealServices;
  beforeAll(async () => {
    real = await openRealServices();
    const text =
      'inbox://\ntgram://123456789:AAEhBP0av28Yb9Cs1tXfGhIjKlMnOpQrStU/12345\ngotify://127.0.0.1:9/Ak3dXz_hTg.FfSa\n';
    await real.ask('POST', '/notify/keys', { key: 'house', text });
  });
  afterAll(() => real[Symbol.asyncDispose]());

  it('contains the views of emails and rules', async () => {
    await using visit = await real.visit('/delivery');
    const { page } = visit;
    const tabs = page.getByRole('tablist', { name: delivery.delivery() }).getByRole('tab');
    await expect.poll(() => tabs.count()).toBe(6);
    await tabs.filter({ hasText: delivery.history() }).click();
    const views = page.getByRole('navigation', { name: delivery.history() });
    await views.getByRole('link', { name: delivery.mails() }).click();
    await page.waitForURL('**/delivery/mails');
    await page.getByLabel(mail.searchBySenderRecipientOr()).waitFor();
    expect(await tabs.filter({ hasText: delivery.history() }).getAttribute('aria-selected')).toBe('true');
    await page.goto(`${real.host.url('control')}/delivery/rules`);
    const incoming = page.getByRole('navigation', { name: delivery.incomingMail() });
    expect(await incoming.getByRole('link', { name: delivery.rules() }).getAttribute('aria-current')).toBe('page');
    expect(visit.complaints).toEqual([]);
  });

  it('opens the overview in place of the former list of problems', async () => {
    await using visit = await real.visit('/delivery/problems');
    await visit.page.waitForURL('**/delivery');
    await visit.page.getByRole('heading', { name: delivery.destinations() }).waitFor();
    expect(visit.complaints).toEqual([]);
  });

  it('shows the logos of destinations, and initials without one', async () => {
    await using visit = await real.visit('/delivery/keys/house');
    const telegram = visit.page.getByRole('listitem').filter({ hasText: 'Telegram' });
    await telegram.locator('svg path').first().waitFor();
    const gotify = visit.page.getByRole('listitem').filter({ hasText: 'Gotify' });
    await gotify.getByText('Go', { exact: true }).waitFor();
    expect(visit.complaints).toEqual([]);
  });

  it.each(screens)('fits on $on', async (screen) => {
    await using visit = await real.visit('/delivery/mails', screen);
    await visit.page.getByLabel(mail.searchBySenderRecipientOr()).waitFor();
    await expectFits(visit, 'delivery-mails', screen);
  });
});

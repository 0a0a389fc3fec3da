import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { control } from '../../services/control/index.ts';
import { inbox } from '../../services/inbox/index.ts';
import { mail } from '../../services/mail/index.ts';
import { notify } from '../../services/notify/index.ts';
import { push } from '../../services/push/index.ts';
import { noBrowser } from '../support/browser.ts';
import { SmtpDialogue } from '../support/smtp.ts';
import { expectFits } from './fits.ts';
import { screens } from './screens.ts';
import { openPages, type Pages } from './visit.ts';

describe.skipIf(noBrowser)('Mail', () => {
  let pages: Pages;
  beforeAll(async () => {
    pages = await openPages({ services: [mail, notify, push, inbox, control] });
  });
  afterAll(() => pages[Symbol.asyncDispose]());

  const send = async (subject: string, body: string, headers = ''): Promise<string> => {
    using smtp = await SmtpDialogue.open(pages.host.port('mail'));
    return await smtp.send('alerts@homeport.local', `${subject}${headers}`, body);
  };

  it('says what fills it, shows a mail as it comes, and what became of it', async () => {
    await using visit = await pages.visit('/mail');
    const { page } = visit;
    await page.getByText('No mail yet.').waitFor();
    expect(await send('Backup finished', 'All 3 volumes were saved.')).toMatch(/^250/);
    await page.getByRole('link', { name: /Backup finished/ }).click();
    await page.getByRole('heading', { level: 2, name: 'Backup finished' }).waitFor();
    await page.getByText('All 3 volumes were saved.').first().waitFor();
    const deliveries = page.getByRole('list', { name: 'Deliveries' }).getByRole('listitem');
    await deliveries.filter({ hasText: 'notify://aggregator' }).getByText('Delivered').waitFor();
    await page.getByText('Source, as it came').click();
    await page.getByText('Subject: Backup finished').waitFor();
    await page.getByRole('button', { name: 'Send again' }).click();
    await page.getByText('Sent again.').waitFor();
    // A notification of its own: it is there twice.
    await expect
      .poll(async () => {
        const cookies = (await page.context().cookies()).map(({ name, value }) => `${name}=${value}`).join('; ');
        const answer = await fetch(`${pages.url}/api/inbox`, { headers: { Cookie: cookies } });
        return ((await answer.json()) as { items: { title: string }[] }).items.filter(({ title }) =>
          title.startsWith('Backup finished'),
        ).length;
      })
      .toBeGreaterThanOrEqual(2);
    expect(visit.complaints).toEqual([]);
  });

  it('shows hostile mail as harmless text', async () => {
    const html =
      '<script>document.title = "taken"</script><style>body { display: none }</style><svg onload="document.title=1"><img src=x onerror="document.title=2"><p>still \u202e here \u200b</p>';
    await send('<b>Bold</b> \u202e claim', html, '\r\nContent-Type: text/html; charset=utf-8');
    await using visit = await pages.visit('/mail');
    const { page } = visit;
    await page.getByRole('link', { name: /Bold/ }).first().click();
    await page.getByText(/still/).first().waitFor();
    await page.getByText('Source, as it came').click();
    expect(await page.title()).not.toMatch(/taken|^[12]$/);
    expect(await page.locator('article script, article style, article svg[onload]').count()).toBe(0);
    expect(visit.complaints).toEqual([]);
  });

  it('removes a mail with its source, with a way back', async () => {
    await send('Goes away', 'soon');
    await using visit = await pages.visit('/mail');
    const { page } = visit;
    await page.getByRole('link', { name: /Goes away/ }).click();
    await page.getByRole('button', { name: 'Remove' }).click();
    await page.getByRole('link', { name: /Goes away/ }).waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'Undo' }).click();
    await page.getByRole('link', { name: /Goes away/ }).click();
    await page.getByRole('button', { name: 'Remove' }).click();
    await page.getByRole('region', { name: 'News' }).getByRole('button', { name: 'Close' }).last().click();
    await page.goto(`${pages.url}/mail?q=nas`);
    await page.getByRole('list', { name: 'Mails' }).waitFor();
    expect(await page.getByRole('link', { name: /Goes away/ }).count()).toBe(0);
    await page.getByLabel('Search senders and recipients').fill('nobody@nowhere');
    await page.getByText('No mail fits.').waitFor();
    await page.goto(`${pages.url}/mail?id=gone`);
    await page.getByText('This mail is not in the spool any more.').waitFor();
  });

  it('adds and removes recipients, and tells where an address leads', async () => {
    await using visit = await pages.visit('/mail/recipients');
    const { page } = visit;
    const rows = page.getByRole('list', { name: 'Recipients' }).getByRole('listitem');
    await rows.first().waitFor();
    const ask = async (address: string): Promise<string> => {
      await page.getByLabel('Address to try').fill(address);
      await page.getByRole('button', { name: 'Ask' }).click();
      return page.locator('.answer').innerText();
    };
    await expect.poll(() => ask('printer@home.lan')).toContain('550');
    await page.getByRole('textbox', { name: 'Address', exact: true }).fill('printer');
    await page.getByRole('textbox', { name: 'Goes to' }).fill('nonsense');
    await page.getByRole('button', { name: 'Add', exact: true }).click();
    await page
      .getByText(/Use notify:\/\/KEY/)
      .first()
      .waitFor();
    await page.getByRole('textbox', { name: 'Goes to' }).fill('push://printer');
    await page.getByRole('button', { name: 'Add', exact: true }).click();
    await rows.filter({ hasText: 'push://printer' }).waitFor();
    await expect.poll(() => ask('printer.warning@home.lan')).toContain('push://printer, as warning');
    await page.getByRole('button', { name: 'Remove printer' }).click();
    await expect.poll(() => rows.filter({ hasText: 'push://printer' }).count()).toBe(0);
    await page.getByRole('button', { name: 'Undo' }).last().click();
    await rows.filter({ hasText: 'push://printer' }).waitFor();
  });

  it.each(screens)('fits at $width px, dark $dark', async (screen) => {
    await send(
      'A subject that is longer than any row of a list should have to show in full, and then some',
      'x'.repeat(400),
    );
    await using list = await pages.visit('/mail', screen);
    await list.page.getByRole('list', { name: 'Mails' }).waitFor();
    await expectFits(list, 'mail', screen);
    await list.page
      .getByRole('link', { name: /longer than any row/ })
      .first()
      .click();
    await list.page.getByRole('list', { name: 'Deliveries' }).waitFor();
    await expectFits(list, 'mail-reading', screen);
    await using recipients = await pages.visit('/mail/recipients', screen);
    await recipients.page.getByRole('list', { name: 'Recipients' }).waitFor();
    await expectFits(recipients, 'mail-recipients', screen);
  });
});

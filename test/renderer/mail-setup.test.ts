import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { noBrowser } from '../support/browser.ts';
import { expectFits } from './fits.ts';
import { dropText, openRealServices, type RealServices } from './real-services.ts';
import { screens } from './screens.ts';
import { besidesRefusals } from './visit.ts';

const mailrise = [
  'configs:',
  '  ups:',
  '    urls: [discord://id/s3cr3t, "json://nas.home.example/a"]',
  '  "cam*@garden.lan":',
  '    urls: [push://door]',
  '  alerts:',
  '    urls: [json://nas.home.example/b]',
  '    mailrise: {title_template: "$subject"}',
  '  filed:',
  '    include: [more.conf]',
  'smtp: {auth: {basic: {nas: hush}}}',
].join('\n');

describe.skipIf(noBrowser)('the setup of mail', () => {
  let real: RealServices;
  beforeEach(async () => {
    real = await openRealServices();
  });
  afterEach(() => real[Symbol.asyncDispose]());

  it('imports a dropped mailrise.conf after a preview', async () => {
    await using browserPage = await real.visit('/delivery/recipients');
    const { page } = browserPage;
    await page.getByRole('button', { name: 'Import' }).click();
    const dialog = page.getByRole('dialog', { name: 'Import from Mailrise' });
    await dropText(page, 'dialog textarea', 'mailrise.conf', mailrise);
    await dialog.getByText('3 recipients are taken').waitFor();
    await dialog.getByText('filed: it has no destinations that can be used.').waitFor();
    await dialog.getByText('takes the place of the one here').waitFor();
    await dialog.getByLabel('Also its sign-in (1 login)').uncheck();
    await dialog.getByRole('button', { name: 'Take over' }).click();
    await page.getByText('3 recipients are taken over.').waitFor();
    const rows = page.getByRole('list', { name: 'Recipients' }).getByRole('listitem');
    await expect.poll(() => rows.count()).toBe(4);
    await rows.filter({ hasText: 'ups' }).getByText('goes to other destinations').waitFor();
    expect(await page.content()).not.toContain('s3cr3t');
    const address = page.getByLabel('Address to try');
    await address.fill('cam3.warning@garden.lan');
    await page.getByText(/as warning by cam\*@garden\.lan/).waitFor();
    await address.fill('alerts@nas');
    await page.getByText(/as info by alerts, goes to json:\/\/…/).waitFor();
    expect(besidesRefusals(browserPage.complaints)).toEqual([]);
  });

  const saved = async () =>
    (await real.ask('GET', '/settings')).sections
      .find(({ id }: { id: string }) => id === 'mail')
      .fields.find(({ name }: { name: string }) => name === 'recipients')
      .value.map(({ address, to }: { address: string; to: string }) => `${address} ${to}`);
  const take = (...addresses: string[]) =>
    real.ask('PATCH', '/settings/mail', {
      recipients: addresses.map((address) => ({ address, to: `push://${address}` })),
    });

  it('keeps the position of an edited recipient when an earlier one is removed', async () => {
    await take('attic', 'barn', 'cellar');
    await using browserPage = await real.visit('/delivery/recipients');
    const { page } = browserPage;
    await page.getByRole('button', { name: 'Remove attic' }).waitFor();
    await page.clock.install();
    await page.getByRole('button', { name: 'Remove attic' }).click();
    await page.getByRole('button', { name: 'Edit barn' }).click();
    await page.clock.fastForward(10_000);
    await expect.poll(saved).toEqual(['barn push://barn', 'cellar push://cellar']);
    await page.getByRole('dialog').getByLabel('Topic').fill('loft');
    await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click();
    await page.getByText('Saved.').waitFor();
    expect(await saved()).toEqual(['barn push://loft', 'cellar push://cellar']);
  });

  it('deletes all removed recipients when the page is closed', async () => {
    await take('attic', 'barn', 'cellar');
    await using browserPage = await real.visit('/delivery/recipients');
    const { page } = browserPage;
    await page.getByRole('button', { name: 'Remove attic' }).click();
    await page.getByRole('button', { name: 'Remove cellar' }).click();
    await page.getByRole('button', { name: 'Remove cellar' }).waitFor({ state: 'detached' });
    await page.goto('about:blank');
    await expect.poll(saved).toEqual(['barn push://barn']);
  });

  it('shows how a mail is handled before any is sent', async () => {
    await using browserPage = await real.visit('/delivery/rules');
    const { page } = browserPage;
    await page.getByText('Try a mail', { exact: true }).click();
    await page.getByText('Nothing is sent.', { exact: false }).waitFor();
    await page.getByLabel('Subject', { exact: true }).fill('[FAILED] Backup of photos');
    await page.getByText('No rule fits.').waitFor();
    const list = page.getByRole('list', { name: 'What becomes of the mail' });
    await list.getByText('failure').waitFor();
    await page.getByLabel('To', { exact: true }).fill('nobody@home');
    await page.getByText('Refused', { exact: true }).waitFor();
    expect(browserPage.complaints).toEqual([]);
  });

  it('shows the parameters for each device with the actual port', async () => {
    await using browserPage = await real.visit('/delivery/connect');
    const { page } = browserPage;
    const port = String(real.host.port('mail'));
    await page.getByRole('button', { name: 'Copy the port' }).first().waitFor();
    await page.getByText('None. Leave user and password empty.').waitFor();
    // A command runs on this computer; other devices cannot use its loopback address.
    await page.getByText('curl can send mail. Run this in a shell:').waitFor();
    await page.getByLabel('Device or program').selectOption('A NAS (Synology, QNAP, TrueNAS, Unraid)');
    await page.getByText('is this computer itself: another device needs another address.').waitFor();
    await page.getByRole('button', { name: 'Show that address' }).waitFor();
    await page.getByLabel('Device or program').selectOption('Linux with msmtp');
    await page.locator('code', { hasText: `port ${port}` }).waitFor();
    await page.getByLabel('Device or program').selectOption('Proxmox VE');
    await page.getByText('Datacenter › Notifications › Add › SMTP.').waitFor();
    await page.getByLabel('Device or program').selectOption('A script with curl');
    await page.getByText(`smtp://127.0.0.1:${port}`).waitFor();
    expect(browserPage.complaints).toEqual([]);
  });

  it.each(screens)('fits and is accessible on $on', async (screen) => {
    await using browserPage = await real.visit('/delivery/connect', screen);
    const { page } = browserPage;
    await page.getByRole('button', { name: 'Copy the port' }).first().waitFor();
    await expectFits(browserPage, 'mail-connect', screen);
    await page.getByRole('tab', { name: 'Rules' }).click();
    await page.getByText('Try a mail', { exact: true }).click();
    await page.getByLabel('Subject', { exact: true }).fill('[FAILED] Backup of photos');
    await page.getByText('No rule fits.').waitFor();
    await expectFits(browserPage, 'mail-try', screen);
    await page.getByRole('tab', { name: 'Recipients' }).click();
    await page.getByRole('button', { name: 'Import' }).click();
    await page.getByLabel('Its configuration').fill(mailrise);
    await page.getByText('3 recipients are taken').waitFor();
    await expectFits(browserPage, 'mail-import', screen);
  });
});

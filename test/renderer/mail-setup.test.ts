import * as mailTexts from '#messages/mail-texts';
import * as mailMessages from '#messages/mail';
import * as partsMessages from '#messages/parts';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { noBrowser } from '../support/browser.ts';
import { containing } from '../support/message-patterns.ts';
import { openDeliveryView, removeMailEntry } from './delivery-view.ts';
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
    await page.getByRole('button', { name: mailMessages.takeOver() }).click();
    const dialog = page.getByRole('dialog', { name: mailMessages.importFromMailrise() });
    await dropText(page, 'dialog textarea', 'mailrise.conf', mailrise);
    await dialog.getByText(mailMessages.recipientsTaken({ count: 3 })).waitFor();
    await dialog.getByText(mailTexts.recipientSkipped({ name: 'filed' })).waitFor();
    await dialog.getByText(mailMessages.takesThePlaceOfThe()).waitFor();
    await dialog.getByLabel(mailMessages.alsoItsSignIn({ logins: 1 })).uncheck();
    await dialog.getByRole('button', { name: mailMessages.takeOver() }).click();
    await page.getByText(mailMessages.recipientsTakenOver({ count: 3 })).waitFor();
    const rows = page.getByRole('list', { name: mailMessages.recipients() }).getByRole('listitem');
    await expect.poll(() => rows.count()).toBe(4);
    await rows
      .filter({ hasText: 'ups' })
      .getByText(mailMessages.goesToTarget({ target: 'other destinations' }))
      .waitFor();
    expect(await page.content()).not.toContain('s3cr3t');
    const address = page.getByLabel(mailMessages.addressToTry());
    await address.fill('cam3.warning@garden.lan');
    await page
      .getByText(containing(mailMessages.takenAs({ type: mailMessages.warning(), pattern: 'cam*@garden.lan' })))
      .waitFor();
    await address.fill('alerts@nas');
    await page
      .getByText(containing(mailMessages.takenAs({ type: mailMessages.info(), pattern: 'alerts' })))
      .filter({ hasText: 'json://…' })
      .waitFor();
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
    await page.getByRole('button', { name: mailMessages.moreForName({ name: 'attic' }) }).waitFor();
    await page.clock.install();
    await removeMailEntry(page, 'attic');
    await page.getByRole('button', { name: mailMessages.editName({ name: 'barn' }) }).click();
    await page.clock.fastForward(10_000);
    await expect.poll(saved).toEqual(['barn push://barn', 'cellar push://cellar']);
    await page.getByRole('dialog').getByLabel(mailMessages.topic()).fill('loft');
    await page.getByRole('dialog').getByRole('button', { name: mailMessages.save() }).click();
    await page.getByText(mailMessages.saved()).waitFor();
    expect(await saved()).toEqual(['barn push://loft', 'cellar push://cellar']);
  });

  it('deletes all removed recipients when the page is closed', async () => {
    await take('attic', 'barn', 'cellar');
    await using browserPage = await real.visit('/delivery/recipients');
    const { page } = browserPage;
    await removeMailEntry(page, 'attic');
    await removeMailEntry(page, 'cellar');
    await page
      .getByRole('button', { name: mailMessages.moreForName({ name: 'cellar' }) })
      .waitFor({ state: 'detached' });
    await page.goto('about:blank');
    await expect.poll(saved).toEqual(['barn push://barn']);
  });

  it('shows how a mail is handled before any is sent', async () => {
    await using browserPage = await real.visit('/delivery/rules');
    const { page } = browserPage;
    await page.getByText(mailMessages.writeASubjectToSee(), { exact: false }).waitFor();
    await page.getByLabel(mailMessages.subject(), { exact: true }).fill('[FAILED] Backup of photos');
    await page.getByText(mailMessages.noRuleFits()).waitFor();
    const list = page.getByRole('list', { name: mailMessages.whatBecomesOfTheMail() });
    await list.getByText('failure').waitFor();
    await page.getByLabel(mailMessages.to(), { exact: true }).fill('nobody@home');
    await page.getByText(mailMessages.refused(), { exact: true }).waitFor();
    expect(browserPage.complaints).toEqual([]);
  });

  it('shows the parameters for each device with the actual port', async () => {
    await using browserPage = await real.visit('/delivery/connect');
    const { page } = browserPage;
    const port = String(real.host.port('mail'));
    await page
      .getByRole('button', { name: partsMessages.copySubject({ subject: 'the port' }) })
      .first()
      .waitFor();
    await page.getByText(mailMessages.signInOff()).waitFor();
    // A command runs on this computer; other devices cannot use its loopback address.
    await page.getByText(mailMessages.curlStep()).waitFor();
    await page.getByLabel(mailMessages.deviceOrProgram()).selectOption(mailMessages.nasGuide());
    await page.getByText(mailMessages.hostIsThisComputerItself({ host: '127.0.0.1' })).waitFor();
    await page.getByRole('button', { name: mailMessages.showThatAddress() }).waitFor();
    await page.getByLabel(mailMessages.deviceOrProgram()).selectOption(mailMessages.msmtpGuide());
    await page.locator('code', { hasText: `port ${port}` }).waitFor();
    await page.getByLabel(mailMessages.deviceOrProgram()).selectOption(mailMessages.proxmoxGuide());
    await page.getByText(mailMessages.proxmoxOpenStep()).waitFor();
    await page.getByLabel(mailMessages.deviceOrProgram()).selectOption(mailMessages.curlGuide());
    await page.getByText(`smtp://127.0.0.1:${port}`).waitFor();
    expect(browserPage.complaints).toEqual([]);
  });

  it.each(screens)('fits and is accessible on $on', async (screen) => {
    await using browserPage = await real.visit('/delivery/connect', screen);
    const { page } = browserPage;
    await page
      .getByRole('button', { name: partsMessages.copySubject({ subject: 'the port' }) })
      .first()
      .waitFor();
    await expectFits(browserPage, 'mail-connect', screen);
    await openDeliveryView(page, 'incomingMail', 'rules');
    await page.getByLabel(mailMessages.subject(), { exact: true }).fill('[FAILED] Backup of photos');
    await page.getByText(mailMessages.noRuleFits()).waitFor();
    await expectFits(browserPage, 'mail-try', screen);
    await openDeliveryView(page, 'incomingMail', 'recipients');
    if (screen.width < 640) {
      const menu = mailMessages.moreForName({ name: mailMessages.addressesThatTakeMail() });
      await page.getByRole('button', { name: menu }).click();
      await page.getByRole('menuitem', { name: mailMessages.importRecipients() }).click();
    } else await page.getByRole('button', { name: mailMessages.importRecipients() }).click();
    await page.getByLabel(mailMessages.itsConfiguration()).fill(mailrise);
    await page.getByText(mailMessages.recipientsTaken({ count: 3 })).waitFor();
    await expectFits(browserPage, 'mail-import', screen);
  });
});

import * as serviceMessages from '#messages/service';
import * as deliveryMessages from '#messages/delivery';
import * as mailSettingsMessages from '#messages/mail-settings';
import * as mailTexts from '#messages/mail-texts';
import * as mailMessages from '#messages/mail';
import * as partsMessages from '#messages/parts';
import type { Browser } from 'playwright-core';
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { SettingsView } from '../../services/contracts/control/settings.ts';
import { control } from '../../services/control/index.ts';
import { inbox } from '../../services/inbox/index.ts';
import { mail } from '../../services/mail/index.ts';
import { notify } from '../../services/notify/index.ts';
import { push } from '../../services/push/index.ts';
import { api } from '../support/api.ts';
import { noBrowser, openPage, getBrowser, signIn } from '../support/browser.ts';
import { openTestHost, type TestHost } from '../support/host.ts';
import { submit } from '../services/mail/support.ts';
import { anyText, containing, getTagText, startingWith } from '../support/message-patterns.ts';
import { openDeliveryView, removeMailEntry } from './delivery-view.ts';
import { expectFits } from './fits.ts';
import { getToast } from './toasts.ts';
import { screens } from './screens.ts';
import { besidesRefusals } from './visit.ts';

const hostile = [
  'From: Camera <cam@example.org>',
  'Subject: =?utf-8?b?YeKArmducC5leGXigIs=?= <b>bold</b>',
  'Content-Type: multipart/mixed; boundary=b',
  '',
  '--b',
  'Content-Type: text/html; charset=utf-8',
  '',
  '<script>document.title = "taken"</script><style>* { display: none }</style>',
  '<svg onload="document.title = 1"><text>drawn</text></svg>',
  `<p onclick="alert(1)">The door is\0 open.</p><p>${'wide'.repeat(200)}</p>`,
  '--b',
  'Content-Type: image/png; name="door.png"',
  'Content-Transfer-Encoding: base64',
  '',
  'AAAA',
  '--b--',
  '',
].join('\r\n');

describe.skipIf(noBrowser)('the mail pages', () => {
  let browser: Browser;
  let host: TestHost;
  beforeAll(async () => {
    browser = await getBrowser();
  });
  beforeEach(async () => {
    const built = process.env['HOMEPORT_TEST_PAGES'];
    host = await openTestHost({
      services: [mail, notify, push, inbox, control],
      ...(built ? { pages: built } : {}),
    });
  });
  afterEach(() => host[Symbol.asyncDispose]());

  const visit = async (path: string, options = {}) => {
    const browserPage = await openPage(browser, options);
    await signIn(browserPage.page.context(), host.url('control'));
    await browserPage.page.goto(`${host.url('control')}${path}`);
    return browserPage;
  };
  const send = async (subject: string): Promise<void> => {
    const source = `From: nas@example.org\r\nSubject: ${subject}\r\n\r\nAll is well.\r\n`;
    expect(await submit(host.port('mail'), ['alerts@nas'], source)).toMatch(/^250 /);
  };

  it('shows how to send the first mail, and each mail as it arrives', async () => {
    await using browserPage = await visit('/delivery/mails');
    const { page } = browserPage;
    await page.getByText(mailMessages.noMailCameYet()).waitFor();
    await page.getByText(`swaks --server 127.0.0.1:${String(host.port('mail'))} --to alerts@home`).waitFor();
    await page.getByLabel(mailMessages.program()).selectOption('msmtp');
    await page.getByText(`--port=${String(host.port('mail'))}`).waitFor();
    await send('First light');
    const row = page.getByRole('button', { name: /First light/ });
    await row.getByText(mailMessages.passedOn()).waitFor();
    await row.getByText('nas@example.com to alerts@nas').waitFor();
    await page.getByLabel(mailMessages.outcome()).selectOption(mailMessages.waiting());
    await page.getByText(mailMessages.noMailFits()).waitFor();
    await page.getByLabel(mailMessages.outcome()).selectOption(mailMessages.passedOn());
    await row.getByText(mailMessages.passedOn()).waitFor();
    expect(browserPage.complaints).toEqual([]);
  });

  it('hides commands from devices that cannot use them, and shows what to share first', async () => {
    await using browserPage = await visit('/delivery/connect');
    const { page } = browserPage;
    await page.getByRole('radio', { name: serviceMessages.otherDevices() }).check({ force: true });
    for (const [view, says] of [
      ['mails', 'The mail gateway is only reachable on the computer that runs Homeport.'],
      ['notifications', 'Delivery is only reachable on the computer that runs Homeport.'],
    ] as const) {
      await openDeliveryView(page, 'history', view);
      await page.getByText(says).waitFor();
      expect(await page.getByText('127.0.0.1').count()).toBe(0);
      const way = page.getByRole('link', {
        name: getTagText(serviceMessages.shareFirst({ label: '', subject: '' }), 'link'),
      });
      expect(await way.getAttribute('href')).toBe('/network');
    }
    expect(browserPage.complaints).toEqual([]);
  });

  it('shows a hostile mail sanitized, with its source and delivery', async () => {
    await submit(host.port('mail'), ['alerts@nas'], hostile);
    await using browserPage = await visit('/delivery/mails');
    const { page } = browserPage;
    await page.getByRole('button', { name: /agnp\.exe <b>bold<\/b>/ }).click();
    const dialog = page.getByRole('dialog', { name: 'agnp.exe <b>bold</b>' });
    const text = dialog.getByRole('region', { name: mailMessages.textOfTheMail() });
    await text.getByText('The door is').waitFor();
    expect(await text.locator('script, style, svg, [onclick], [style]').count()).toBe(0);
    await dialog.getByText('door.png').waitFor();
    const deliveries = dialog.getByRole('list', { name: mailMessages.deliveriesOfThisMail() }).getByRole('listitem');
    await deliveries.getByText(mailMessages.passedOn()).waitFor();
    await dialog.getByText(mailMessages.source()).click();
    await dialog.getByRole('region', { name: mailMessages.sourceOfTheMail() }).getByText('<script>').waitFor();
    await dialog.getByRole('button', { name: mailMessages.sendAgain() }).click();
    await page.getByText(mailMessages.deliveredAgain({ count: 1 })).waitFor();
    expect(await page.title()).toBe(partsMessages.documentTitle({ title: deliveryMessages.delivery() }));
    expect(browserPage.complaints).toEqual([]);
  });

  it('finds by recipient, and removes with Undo, by keyboard only', async () => {
    await send('Keep me');
    await using browserPage = await visit('/delivery/mails');
    const { page } = browserPage;
    const row = page.getByRole('button', { name: /Keep me/ });
    await row.waitFor();
    await page.getByRole('searchbox').focus();
    await page.keyboard.type('nobody');
    await page.getByText(mailMessages.noMailFits()).waitFor();
    await page.getByRole('button', { name: mailMessages.showAllMails() }).press('Enter');
    await row.focus();
    await page.keyboard.press('Enter');
    await page.getByRole('dialog').getByRole('button', { name: mailMessages.deleteMail() }).press('Enter');
    await page.getByText(mailMessages.noMailCameYet()).waitFor();
    await page.getByRole('button', { name: partsMessages.undo() }).press('Enter');
    await row.press('Enter');
    await page.getByRole('dialog').getByRole('button', { name: mailMessages.deleteMail() }).press('Enter');
    await page
      .getByRole('region', { name: partsMessages.news() })
      .getByRole('button', { name: partsMessages.close() })
      .last()
      .press('Enter');
    await page.reload();
    await page.getByText(mailMessages.noMailCameYet()).waitFor();
    expect(browserPage.complaints).toEqual([]);
  });

  it('adds, edits and removes recipients with Undo, and checks an address', async () => {
    await using browserPage = await visit('/delivery/recipients');
    const { page } = browserPage;
    const rows = page.getByRole('list', { name: mailMessages.recipients() }).getByRole('listitem');
    await expect.poll(() => rows.count()).toBe(2);
    await rows
      .filter({ hasText: 'alerts' })
      .getByText(mailMessages.anyDomainGoesToTargets({ targets: 'key General' }))
      .waitFor();
    await page.getByRole('button', { name: mailMessages.addARecipient() }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel(mailMessages.address()).fill('cam?@*.lan');
    await dialog
      .getByText(mailMessages.nameAtDomainsLike({ name: mailMessages.namesLike({ name: 'cam?' }), domain: '*.lan' }))
      .waitFor();
    const goal = dialog.getByLabel(mailMessages.goesTo());
    expect(await goal.locator(':checked').innerText()).toBe(mailMessages.theDestinationsOfKey({ key: 'General' }));
    await goal.selectOption(mailMessages.severalOrATagAs());
    await dialog.getByLabel(mailMessages.addresses()).fill('nowhere');
    await dialog.getByRole('button', { name: mailMessages.save() }).click();
    await dialog
      .getByText(startingWith(mailSettingsMessages.targetInvalid({ formats: `notify://KEY${anyText}` })))
      .waitFor();
    await goal.selectOption(mailMessages.aTopicOfMessages());
    await dialog.getByLabel(mailMessages.topic()).fill('door');
    await dialog.getByRole('button', { name: mailMessages.save() }).click();
    // The row appears with the event of the change, and the form closes with the reply, after the gateway restarted.
    // The page behind it is inert until then and ignores input.
    await dialog.waitFor({ state: 'detached' });
    await expect.poll(() => rows.count()).toBe(3);
    const address = page.getByLabel(mailMessages.addressToTry());
    await address.fill('cam1.warning@garden.lan');
    await page
      .getByText(containing(mailMessages.takenAs({ type: mailMessages.warning(), pattern: 'cam?@*.lan' })))
      .filter({ hasText: mailMessages.theTopicName({ name: 'door' }) })
      .waitFor();
    await address.fill('nobody@garden.lan');
    await page.getByText(mailMessages.refused(), { exact: true }).waitFor();
    await removeMailEntry(page, 'cam?@*.lan');
    await expect.poll(() => rows.count()).toBe(2);
    await getToast(page, mailMessages.addressIsRemoved({ address: 'cam?@*.lan' }))
      .getByRole('button', { name: partsMessages.undo() })
      .click();
    await expect.poll(() => rows.count()).toBe(3);
    await page.getByRole('button', { name: mailMessages.editName({ name: 'alerts' }) }).click();
    await dialog.getByLabel(mailMessages.address()).fill('alarm');
    await dialog.getByRole('button', { name: mailMessages.save() }).click();
    await rows.getByText('alarm', { exact: true }).waitFor();
    expect(besidesRefusals(browserPage.complaints)).toEqual([]);
  });

  it('keeps stored destinations of a recipient, and saves its texts', async () => {
    await using browserPage = await visit('/delivery/recipients');
    const { page } = browserPage;
    const dialog = page.getByRole('dialog');
    await page.getByRole('button', { name: mailMessages.editName({ name: 'alerts' }) }).click();
    await dialog.getByLabel(mailMessages.moreDestinationsOptional()).fill('json://me:s3cr3t@127.0.0.1:9/x');
    await dialog.getByRole('button', { name: mailMessages.save() }).click();
    await page
      .getByText(mailMessages.anyDomainGoesToTargets({ targets: 'key General and other destinations' }))
      .waitFor();
    await page.getByRole('button', { name: mailMessages.editName({ name: 'alerts' }) }).click();
    await dialog.getByText(mailMessages.thereAreSomeTheyAre()).waitFor();
    await dialog.getByText(mailMessages.wordsOfTheNotification()).click();
    await dialog.getByLabel(mailMessages.title()).fill('[$type] $subject');
    await dialog.getByRole('button', { name: mailMessages.save() }).click();
    await expect.poll(() => dialog.count()).toBe(0);
    await page.getByText(mailMessages.goesToTarget({ target: 'key General and other destinations' })).waitFor();
    expect(await page.content()).not.toContain('s3cr3t');
    await page.getByLabel(mailMessages.addressToTry()).fill('alerts@nas');
    await page.getByRole('button', { name: mailMessages.sendATestMail() }).click();
    await page.getByText(mailMessages.theTestMailIsTaken()).waitFor();
    await openDeliveryView(page, 'history', 'mails');
    await page.getByRole('button', { name: mailTexts.testSubject() }).click();
    await dialog.getByText('json://…', { exact: false }).waitFor();
    expect(besidesRefusals(browserPage.complaints)).toEqual([]);
  });

  it('adds, orders and removes rules with Undo, and shows dropped mails', async () => {
    await using browserPage = await visit('/delivery/rules');
    const { page } = browserPage;
    const dialog = page.getByRole('dialog');
    const rows = page.getByRole('list', { name: mailMessages.rules() }).getByRole('listitem');
    await page.getByText(mailMessages.noRules()).waitFor();
    await page.getByRole('button', { name: mailMessages.addARule() }).click();
    await dialog.getByLabel(mailMessages.subjectHas()).fill('noise');
    expect(await dialog.getByLabel(mailMessages.goesTo()).locator(':checked').innerText()).toBe(
      mailMessages.whereTheRecipientsMailGoes(),
    );
    await dialog.getByLabel(mailMessages.goesTo()).selectOption(mailMessages.severalOrATagAs());
    await dialog.getByLabel(mailMessages.addresses()).fill('nowhere');
    await dialog.getByRole('button', { name: mailMessages.save() }).click();
    await dialog
      .getByText(startingWith(mailSettingsMessages.targetInvalid({ formats: `notify://KEY${anyText}` })))
      .waitFor();
    await dialog.getByLabel(mailMessages.dropThem()).check();
    await expect.poll(() => dialog.getByLabel(mailMessages.goesTo()).count()).toBe(0);
    await dialog.getByLabel(mailMessages.dropThem()).uncheck();
    await dialog.getByLabel(mailMessages.goesTo()).selectOption(mailMessages.whereTheRecipientsMailGoes());
    await dialog.getByLabel(mailMessages.dropThem()).check();
    await dialog.getByRole('button', { name: mailMessages.save() }).click();
    await rows.getByText(mailMessages.isDroppedNobodyIsTold()).waitFor();
    await page.getByRole('button', { name: mailMessages.addARule() }).click();
    await dialog.getByLabel(mailMessages.senderHas()).fill('nas@*');
    await dialog.getByRole('combobox', { name: mailMessages.type() }).selectOption(mailMessages.failure());
    await dialog.getByRole('button', { name: mailMessages.save() }).click();
    await rows.getByText(mailMessages.becomesType({ type: mailMessages.failure() })).waitFor();
    // The dialog restores the focus when it closes.
    await dialog.waitFor({ state: 'detached' });
    const add = page.getByRole('button', { name: mailMessages.addARule() });
    await expect.poll(() => add.evaluate((button) => button === document.activeElement)).toBe(true);
    const moveHandle = page.getByRole('button', { name: partsMessages.moveItem({ name: 'Mail from nas@*' }) });
    await moveHandle.press('ArrowUp');
    await expect.poll(() => rows.first().textContent()).toContain('nas@*');
    await page.getByText(mailMessages.theNewOrderIsKept()).waitFor();
    // The handle still has the focus.
    expect(await moveHandle.evaluate((button) => button === document.activeElement)).toBe(true);
    await removeMailEntry(page, mailMessages.theRuleNamed({ rule: 'Mail from nas@*' }));
    await expect.poll(() => rows.count()).toBe(1);
    await expect.poll(() => submit(host.port('mail'), ['alerts@x'], 'Subject: noise\r\n\r\nx')).toMatch(/^250 /);
    await openDeliveryView(page, 'history', 'mails');
    await page.getByRole('button', { name: /noise/ }).getByText(mailMessages.dropped()).waitFor();
    await page.getByLabel(mailMessages.outcome()).selectOption(mailMessages.givenUp());
    await page.getByText(mailMessages.noMailFits()).waitFor();
    await page.getByLabel(mailMessages.outcome()).selectOption(mailMessages.dropped());
    await page.getByRole('button', { name: /noise/ }).click();
    await dialog.getByText(mailTexts.droppedByRule({ number: '1' })).waitFor();
    expect(besidesRefusals(browserPage.complaints)).toEqual([]);
  });

  it('keeps the position and focus of a moved rule while the settings are reloaded', async () => {
    const rule = (subject: string) => ({ subject, drop: true });
    await using browserPage = await visit('/delivery/rules');
    const { page } = browserPage;
    const change = (patch: object) =>
      api(host.url('control'), '/api/settings/mail', { method: 'PATCH', body: JSON.stringify(patch) });
    await change({ rules: [rule('one'), rule('two')] });
    const rows = page.getByRole('list', { name: mailMessages.rules() }).getByRole('listitem');
    await expect.poll(() => rows.count()).toBe(2);
    const [later, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    let readings = 0;
    // The first load after the order was saved is superseded while it is delayed.
    await page.route('**/api/settings', async (route) => {
      const response = await route.fetch();
      readings += 1;
      if (readings === 1) {
        await change({ spoolDays: 9 });
        await later.promise;
        return route.fulfill({ response });
      }
      later.resolve();
      await released.promise;
      await route.fulfill({ response });
    });
    const moveHandle = page.getByRole('button', {
      name: startingWith(partsMessages.moveItem({ name: `${anyText}two` })),
    });
    await moveHandle.press('ArrowUp');
    await expect.poll(() => rows.first().textContent()).toContain('two');
    const first = page.waitForResponse('**/api/settings');
    await (await first).finished();
    await page.evaluate(() => new Promise(requestAnimationFrame));
    expect(await rows.first().textContent()).toContain('two');
    expect(await moveHandle.evaluate((button) => button === document.activeElement)).toBe(true);
    released.resolve();
    await page.getByText(mailMessages.theNewOrderIsKept()).waitFor();
    expect(await rows.first().textContent()).toContain('two');
    expect(await moveHandle.evaluate((button) => button === document.activeElement)).toBe(true);
    await page.unrouteAll({ behavior: 'wait' });
    expect(besidesRefusals(browserPage.complaints)).toEqual([]);
  });

  it('keeps a recipient removed while another one is moved', async () => {
    const recipients = ['one', 'two', 'three'].map((address) => ({ address }));
    await api(host.url('control'), '/api/settings/mail', { method: 'PATCH', body: JSON.stringify({ recipients }) });
    await using browserPage = await visit('/delivery/recipients');
    const { page } = browserPage;
    const rows = page.getByRole('list', { name: mailMessages.recipients() }).getByRole('listitem');
    await expect.poll(() => rows.count()).toBe(3);
    await page.getByRole('button', { name: partsMessages.moveItem({ name: 'three' }), exact: true }).press('ArrowUp');
    await removeMailEntry(page, 'one');
    // Leaving the page completes both the removal without Undo and the new order.
    await openDeliveryView(page, 'incomingMail', 'rules');
    await page.getByText(mailMessages.theNewOrderIsKept()).waitFor();
    await openDeliveryView(page, 'incomingMail', 'recipients');
    await getToast(page, mailMessages.addressIsRemoved({ address: 'one' }))
      .getByRole('button', { name: partsMessages.close() })
      .click();
    await expect
      .poll(async () => {
        const { sections } = await api<SettingsView>(host.url('control'), '/api/settings');
        const field = sections.find(({ id }) => id === 'mail')?.fields.find(({ name }) => name === 'recipients');
        return (field?.value as readonly { readonly address: string }[]).map(({ address }) => address);
      })
      .toEqual(['three', 'two']);
    expect(besidesRefusals(browserPage.complaints)).toEqual([]);
  });

  it('scrolls through ten thousand mails with few rendered rows', async () => {
    await using browserPage = await visit('/delivery/mails');
    const { page } = browserPage;
    await page.getByText(mailMessages.noMailCameYet()).waitFor();
    const all = Array.from({ length: 10_000 }, (_, index) => ({
      id: String(index),
      sender: 'nas@home',
      recipients: ['alerts@home'],
      subject: `Mail ${String(index)}`,
      size: 1000,
      receivedAt: 1_900_000_000_000 - index,
      state: 'done',
      targets: [],
      note: '',
    }));
    await page.route(/api\/mail\/messages/, (route) => {
      const before = new URL(route.request().url()).searchParams.get('before');
      const start = before === null ? 0 : Number(before.split('.')[1]) + 1;
      return route.fulfill({ json: { messages: all.slice(start, start + 100) } });
    });
    await page.reload();
    await page.getByRole('button', { name: /Mail 0 / }).waitFor();
    const list = page.getByRole('group', { name: mailMessages.mailsNewestFirst() });
    await expect
      .poll(
        async () => {
          await list.evaluate((frame) => (frame.scrollTop = frame.scrollHeight));
          return page.getByRole('button', { name: /Mail 9999 / }).count();
        },
        { interval: 20 },
      )
      .toBe(1);
    expect(await list.getByRole('listitem').count()).toBeLessThan(60);
    expect(browserPage.complaints).toEqual([]);
  });

  it('shows why mails cannot be loaded, and loads them on request', async () => {
    await send('Still there');
    await using browserPage = await visit('/settings/log');
    const { page } = browserPage;
    await page.getByRole('heading', { level: 1 }).waitFor();
    await page.route(/api\/mail\/messages/, (route) =>
      route.fulfill({ status: 500, json: { error: { code: 'x', detail: 'The disk is full.' } } }),
    );
    await page.goto(`${host.url('control')}/mail`);
    await page.getByText('The disk is full.').waitFor();
    await page.unroute(/api\/mail\/messages/);
    await page.getByRole('button', { name: mailMessages.tryAgain() }).click();
    await page.getByRole('button', { name: /Still there/ }).waitFor();
  });

  it.each(screens)('fits and is accessible on $on', async (screen) => {
    await send('Backup finished: a subject that is longer than any list should have to show in full, and then some');
    await submit(host.port('mail'), ['alerts.warning@nas'], hostile);
    await using browserPage = await visit('/delivery/mails', screen);
    const { page } = browserPage;
    const passedOn = page.getByText(mailMessages.passedOn()).and(page.locator(':not(option)'));
    await expect.poll(() => passedOn.count()).toBe(2);
    await expectFits(browserPage, 'mail', screen);
    await page.getByRole('button', { name: /agnp/ }).click();
    await page.getByText('The door is').waitFor();
    await expectFits(browserPage, 'mail-detail', screen);
    await page.keyboard.press('Escape');
    await openDeliveryView(page, 'incomingMail', 'recipients');
    await page.getByLabel(mailMessages.addressToTry()).fill('alerts@nas');
    await page.getByText(mailMessages.taken()).waitFor();
    await expectFits(browserPage, 'mail-recipients', screen);
    await page.getByRole('button', { name: mailMessages.addARecipient() }).click();
    await page.getByText(mailMessages.wordsOfTheNotification()).click();
    await expectFits(browserPage, 'mail-recipient', screen);
    await page.keyboard.press('Escape');
    await openDeliveryView(page, 'incomingMail', 'rules');
    await page.getByText(mailMessages.noRules()).waitFor();
    await page.getByRole('button', { name: mailMessages.addARule() }).click();
    await expectFits(browserPage, 'mail-rule', screen);
  });
});

import * as downloadsMessages from '#messages/downloads';
import * as notifyMessages from '#messages/notify';
import * as inboxMessages from '#messages/inbox';
import * as pushTexts from '#messages/push-texts';
import * as deliveryMessages from '#messages/delivery';
import * as accessMessages from '#messages/access';
import * as frameMessages from '#messages/frame';
import * as homeMessages from '#messages/home';
import * as pushMessages from '#messages/push';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { launchBrowser, noBrowser, openPage } from '../support/browser.ts';
import { startFixtureSite } from '../support/fixture-site/site.ts';
import { startHostProcess } from '../support/host-process.ts';
import { anyText, startingWith } from '../support/message-patterns.ts';

it.skipIf(noBrowser)(
  'takes a new user to the first message, mail, destination test and film with the pages only',
  async () => {
    const dataDir = mkdtempSync(join(tmpdir(), 'homeport-newcomer-'));
    await using open = new AsyncDisposableStack();
    open.defer(() => rmSync(dataDir, { recursive: true, force: true }));
    const site = open.use(await startFixtureSite());
    const host = open.use(
      await startHostProcess(dataDir, {
        administrator: false,
        environment: { HOME: dataDir, ALLOW_PRIVATE_ADDRESSES: 'true' },
      }),
    );
    const browser = await launchBrowser('whole');
    open.defer(() => browser.close());
    const { page, complaints } = open.use(await openPage(browser, { width: 1280, height: 800 }));
    const rail = page.getByRole('navigation', { name: frameMessages.homeport() });
    const messages = page.getByRole('region', { name: frameMessages.pushTitle(), exact: true });

    await page.goto(
      /https?:\/\/\S+/.exec(host.output.find((line) => line.startsWith('First start:')) ?? '')?.[0] ?? '',
    );
    await page.getByLabel(accessMessages.name()).fill('grace');
    await page.getByLabel(accessMessages.password()).fill('nanoseconds of wire');
    await page.getByRole('button', { name: accessMessages.makeTheAccount() }).click();
    await page.getByRole('switch', { name: accessMessages.backUpEveryDay() }).click();
    await page.getByRole('button', { name: accessMessages.startUsingHomeport() }).click();
    await page.getByRole('heading', { level: 1, name: homeMessages.home() }).waitFor();
    expect(readFileSync(join(dataDir, 'homeport.yaml'), 'utf8')).toContain('backupEveryDays: 1');

    await page
      .getByRole('region', { name: homeMessages.nextSteps() })
      .getByRole('button', { name: pushMessages.sendMeAFirstMessage() })
      .click();
    await page.getByRole('heading', { level: 1, name: frameMessages.inboxTitle() }).waitFor();
    await messages.getByRole('button', { name: pushTexts.firstMessageTitle() }).waitFor();

    await rail.getByRole('link', { name: frameMessages.deliveryTitle() }).click();
    await page.getByRole('button', { name: deliveryMessages.sendATestMail() }).click();
    await page.getByText(startingWith(deliveryMessages.testMailSent({ address: anyText }))).waitFor();
    await rail.getByRole('link', { name: frameMessages.inboxTitle() }).click();
    await expect
      .poll(() =>
        messages.getByRole('checkbox', { name: startingWith(inboxMessages.chooseMessage({ title: anyText })) }).count(),
      )
      .toBe(2);

    await rail.getByRole('link', { name: frameMessages.deliveryTitle() }).click();
    await page.getByRole('tab', { name: deliveryMessages.destinations() }).click();
    const destination = page
      .getByRole('list', { name: deliveryMessages.destinations(), exact: true })
      .getByRole('listitem')
      .first();
    await destination
      .getByRole('button', { name: startingWith(notifyMessages.testDestination({ service: anyText, line: anyText })) })
      .click();
    await destination.getByText(deliveryMessages.lastDelivered()).first().waitFor();

    await rail.getByRole('link', { name: frameMessages.downloadsTitle() }).click();
    await page.getByPlaceholder(downloadsMessages.linksPlaceholder()).fill(`${site.address}/single.mp4`);
    await page.keyboard.press('Enter');
    await page
      .getByRole('listitem')
      .filter({ hasText: /MB|kB/ })
      .filter({ hasText: /single/i })
      .first()
      .waitFor();
    expect(complaints).toEqual([]);
  },
);

import * as downloadsMessages from '#messages/downloads';
import * as downloadsTexts from '#messages/downloads-texts';
import * as accessMessages from '#messages/access';
import * as frameMessages from '#messages/frame';
import * as homeMessages from '#messages/home';
import * as partsMessages from '#messages/parts';
import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Page } from 'playwright-core';
import { expect, it, vi } from 'vitest';
import { Desktop, missingPrograms } from '../host/desktop/desktop.ts';
import { launchBrowser, noBrowser, openPage, takeWebp } from '../support/browser.ts';
import { startFixtureSite } from '../support/fixture-site/site.ts';
import { startHostProcess } from '../support/host-process.ts';

const run = promisify(execFile);
const waitOptions = { timeout: 30_000, interval: 50 };
const cannotRun = noBrowser !== undefined || (missingPrograms.length > 0 && process.env['CI'] === undefined);

/** Folder for the pictures of `npm run screenshots`; undefined in a plain test. */
const pictures = process.env['HOMEPORT_WALK_PICTURES'];

async function picture(page: Page, name: string): Promise<void> {
  if (pictures === undefined) return;
  mkdirSync(pictures, { recursive: true });
  await page.evaluate(() => document.fonts.ready.then(() => undefined));
  writeFileSync(join(pictures, `${name}.webp`), await takeWebp(page));
}

it.skipIf(cannotRun)(
  'takes a new user from the first start to the first notification and the first finished download',
  async () => {
    const dataDir = mkdtempSync(join(tmpdir(), 'homeport-new-user-'));
    await using open = new AsyncDisposableStack();
    open.defer(() => rmSync(dataDir, { recursive: true, force: true }));
    const desktop = open.use(await Desktop.open());
    const site = open.use(await startFixtureSite());
    const host = open.use(
      await startHostProcess(dataDir, {
        administrator: false,
        environment: { ...desktop.environment, HOME: dataDir, ALLOW_PRIVATE_ADDRESSES: 'true' },
      }),
    );
    const browser = await launchBrowser('whole');
    open.defer(() => browser.close());
    const { page, complaints } = open.use(await openPage(browser, { width: 1280, height: 800 }));

    // The one line on the terminal that a person needs.
    const link = /https?:\/\/\S+/.exec(host.output.find((line) => line.startsWith('First start:')) ?? '')?.[0];
    await page.goto(link ?? '');
    await page.getByRole('heading', { name: accessMessages.makeTheFirstAccount() }).waitFor();
    await page.getByLabel(accessMessages.name()).fill('grace');
    await page.getByLabel(accessMessages.password()).fill('nanoseconds of wire');
    await picture(page, '1-account');
    await page.getByRole('button', { name: accessMessages.makeTheAccount() }).click();
    await page.getByRole('heading', { name: accessMessages.chooseWhatRuns() }).waitFor();
    await page.getByRole('switch', { name: frameMessages.alertsGroup() }).waitFor();
    await picture(page, '2-services');
    await page.getByRole('button', { name: accessMessages.startUsingHomeport() }).click();
    await page.getByRole('heading', { name: homeMessages.home(), exact: true }).waitFor();
    const services = page.getByRole('region', { name: homeMessages.services() }).getByRole('listitem');
    await services.first().waitFor();
    expect(await services.filter({ hasText: partsMessages.stopped() }).count()).toBe(0);
    await picture(page, '3-home');

    // The empty inbox shows a command that adds a message; it works unchanged.
    await page.getByRole('link', { name: frameMessages.inboxTitle() }).first().click();
    await run('sh', ['-c', await page.getByText(/^swaks --server /).innerText()]);
    await page.getByRole('button', { name: /Hello/ }).click();
    await page.getByRole('article').getByText('First light').waitFor();
    await vi.waitFor(async () => expect(await desktop.count('displayed')).toBe(1), waitOptions);
    const [first] = await desktop.history();
    expect(first).toMatchObject({ appname: 'Homeport', summary: expect.stringContaining('Hello') });
    await picture(page, '4-message');

    await page.getByRole('link', { name: frameMessages.downloadsTitle() }).first().click();
    await page.getByPlaceholder(downloadsMessages.linksPlaceholder()).fill(`${site.address}/single.mp4`);
    await page.keyboard.press('Enter');
    const finished = page
      .getByRole('listitem')
      .filter({ hasText: /MB|kB/ })
      .filter({ hasText: /single/i });
    await finished.first().waitFor();
    await vi.waitFor(
      async () => expect((await desktop.history()).map(({ body }) => body)).toContain(downloadsTexts.finished()),
      waitOptions,
    );
    await picture(page, '5-download');
    expect(complaints).toEqual([]);
  },
);

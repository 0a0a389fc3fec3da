import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { control } from '../../services/control/index.ts';
import { inbox } from '../../services/inbox/index.ts';
import { uptime } from '../../services/uptime/index.ts';
import { noBrowser, openPage, signIn, theBrowser } from '../support/browser.ts';
import { openTarget, openUptime, type Target, type UptimeRig } from '../services/uptime/rig.ts';
import { expectFits } from './fits.ts';
import { screens } from './screens.ts';

describe.skipIf(noBrowser)('Uptime', () => {
  let browser: Browser;
  let rig: UptimeRig;
  let target: Target;
  beforeAll(async () => {
    browser = await theBrowser();
    target = await openTarget();
    const built = process.env['HOMEPORT_TEST_PAGES'];
    rig = await openUptime({ services: [uptime, inbox, control], ...(built ? { pages: built } : {}) });
  });
  afterAll(async () => {
    await rig[Symbol.asyncDispose]();
    await target[Symbol.asyncDispose]();
  });

  const visit = async (path: string, options = {}) => {
    const watched = await openPage(browser, options);
    watched.page.setDefaultTimeout(60_000);
    await signIn(watched.page.context(), rig.host.url('control'));
    await watched.page.goto(`${rig.host.url('control')}${path}`);
    return watched;
  };

  it('adds a monitor, shows it go down at once, and takes a note of the outage', async () => {
    const { page, complaints } = await visit('/uptime');
    await page.getByText('Nothing is watched yet.').waitFor();
    await page.getByRole('button', { name: 'Add a monitor' }).click();
    const form = page.getByRole('dialog');
    await form.getByRole('button', { name: 'Save' }).click();
    await form
      .getByText(/expected string to have >=1 characters|Too small/)
      .first()
      .waitFor();
    await form.getByLabel('Name', { exact: true }).fill('The web');
    await form.getByLabel('Address').fill(target.url);
    await form.getByLabel('Checked every').fill('0.5');
    await form.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('heading', { name: 'The web' }).waitFor();
    await page.getByText('200 - OK').first().waitFor();
    target.handler = (_request, response) => void response.writeHead(500).end();
    await page.getByText('Request failed with status code 500').first().waitFor();
    await page.getByRole('link', { name: 'All monitors' }).click();
    await page.getByText('1 down').waitFor();
    await page.getByRole('tab', { name: 'Outages' }).click();
    await page.getByRole('button', { name: 'I know' }).click();
    await page.getByText('ada knows').waitFor();
    await page.getByRole('button', { name: 'Add a note' }).click();
    await page.getByLabel('Note').fill('The disk is full.');
    await page.getByRole('button', { name: 'Write it down' }).click();
    await page.getByText('The disk is full.').waitFor();
    expect(complaints).toEqual([]);
    await page.context().close();
  });

  it('draws two thousand monitors in a moment and keeps only the seen ones in the page', async () => {
    const items = Array.from({ length: 2000 }, (_, index) => ({ type: 'manual', name: `job ${String(index)}`, interval: 86_400 })); // prettier-ignore
    for (let at = 0; at < items.length; at += 1000) {
      await rig.call('POST', '/api/monitors/bulk', { items: items.slice(at, at + 1000) });
    }
    const { page } = await visit('/uptime');
    await page.getByText('job 0', { exact: true }).waitFor();
    expect(await page.locator('li').count()).toBeLessThan(100);
    await page.getByRole('searchbox', { name: 'Search monitors' }).fill('job 1999');
    await page.getByText('job 1999', { exact: true }).click();
    await page.getByRole('heading', { name: 'job 1999' }).waitFor();
    await page.context().close();
  });

  it.each(screens)('fits $on', async (screen) => {
    const { width, height, touch } = screen;
    for (const [name, path] of [
      ['monitors', '/uptime'],
      ['monitor', '/uptime/monitors/1'],
      ['outages', '/uptime/outages'],
      ['connect', '/uptime/connect'],
    ] as const) {
      const watched = await visit(path, { width, height, touch });
      await watched.page.getByRole('tab', { name: 'Monitors' }).waitFor();
      await watched.page.locator('h2, li, [role="status"]').first().waitFor();
      await expectFits(watched, `uptime-${name}`, screen);
      await watched.page.context().close();
    }
  });
});

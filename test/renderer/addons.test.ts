import stremio from 'stremio-addon-client';
import type { Browser } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { addons } from '../../services/addons/index.ts';
import { control } from '../../services/control/index.ts';
import { inbox } from '../../services/inbox/index.ts';
import { alphaStreams, openFakeAddon, type FakeAddon } from '../services/addons/fake-addon.ts';
import { openTorBox, type FakeStore } from '../services/addons/fake-stores.ts';
import { noBrowser, openPage, signIn, theBrowser } from '../support/browser.ts';
import { openTestHost, type TestHost } from '../support/host.ts';
import { expectFits } from './fits.ts';
import { screens } from './screens.ts';

describe.skipIf(noBrowser)('Addons', () => {
  let browser: Browser;
  let host: TestHost;
  let upstream: FakeAddon;
  let torBox: FakeStore;
  beforeAll(async () => {
    browser = await theBrowser();
    upstream = await openFakeAddon({ streams: alphaStreams });
    torBox = await openTorBox();
  });
  afterAll(async () => {
    await upstream[Symbol.asyncDispose]();
    await torBox[Symbol.asyncDispose]();
  });
  beforeEach(async () => {
    const built = process.env['HOMEPORT_TEST_PAGES'];
    host = await openTestHost({
      services: [addons, inbox, control],
      environment: { PROVIDER_H_BASE_URL: torBox.url },
      ...(built ? { pages: built } : {}),
    });
  });
  afterEach(() => host[Symbol.asyncDispose]());

  const visit = async (path: string, options = {}) => {
    const watched = await openPage(browser, options);
    watched.page.setDefaultTimeout(60_000);
    await signIn(watched.page.context(), host.url('control'));
    await watched.page.goto(`${host.url('control')}${path}`);
    return watched;
  };

  it('from nothing to an addon that the real client installs', async () => {
    await using watched = await visit('/addons');
    const { page } = watched;
    await page.getByRole('button', { name: 'Make a configuration' }).click();
    await page.getByLabel('Name', { exact: true }).fill('Living room');

    await page.getByLabel('Kind of addon').selectOption('custom');
    const card = page.locator('section', { has: page.getByRole('heading', { name: 'Addons', exact: true }) });
    await card.getByRole('button', { name: 'Add' }).click();
    await card.getByLabel('Name', { exact: true }).fill('Alpha');
    await card.getByLabel('Address of its manifest').fill('http://127.0.0.1:9/manifest.json');
    await card.getByText(/Alpha could not be reached: .* nothing listens there/).waitFor();
    await card.getByLabel('Address of its manifest').fill(upstream.manifestUrl);
    await card.getByText('It works, and has stream.').waitFor();

    await page.getByLabel('Service', { exact: true }).selectOption('torbox');
    const accounts = page.locator('section', { has: page.getByRole('heading', { name: 'Debrid accounts' }) });
    await accounts.getByRole('button', { name: 'Add' }).click();
    await accounts.getByLabel('API key').fill('WRONG');
    await accounts.getByRole('button', { name: 'Test' }).click();
    await accounts.getByText('TorBox does not accept this key. Put in a valid one.').waitFor();
    await accounts.getByLabel('API key').fill('TBKEY');
    await accounts.getByRole('button', { name: 'Test' }).click();
    await accounts.getByText('It works: ada@example.org, a paid account, until 2030-01-01.').waitFor();

    await page.getByLabel('Qualities to hide').fill('HDTV');
    await page.getByRole('button', { name: 'Look' }).click();
    await page.getByText('5 shown, 1 hidden.').waitFor();
    await page.getByText('plays at once, 2160p, BluRay REMUX, 60 GB').first().waitFor();
    await page.getByText('Hidden, and why').click();
    await page.getByText('Excluded Quality: HDTV').waitFor();

    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Saved. What is installed goes on working with it.').waitFor();
    const deep = (await page.getByRole('link', { name: 'Install in Stremio' }).getAttribute('href')) ?? '';
    expect(deep).toMatch(/^stremio:\/\/127\.0\.0\.1:\d+\/stremio\/[0-9a-f-]{36}\/[\w-]+\/manifest\.json$/);
    await page.getByRole('img', { name: /install address/ }).waitFor();
    const { addon } = await stremio.detectFromURL(deep.replace('stremio:', 'http:'));
    expect(addon.manifest.name).toBe('Living room');
    const { streams } = await addon.get('stream', 'movie', 'tt0111161');
    expect(streams.map(({ name }: any) => name)).toContain('[RD+] Alpha 2160p\nDV');

    await page.getByRole('link', { name: 'All configurations' }).click();
    await page.getByText('Alpha, with TorBox').waitFor();
    await page.getByRole('button', { name: 'Duplicate Living room' }).click();
    await page
      .getByText('Living room (copy)')
      .or(page.locator('input[placeholder="Living room (copy)"]'))
      .first()
      .waitFor();
    await page.goto(`${host.url('control')}/addons/services`);
    await page.getByText(/answers in \d+ ms/).waitFor();
    expect(watched.complaints).toEqual([]);
  });

  it.each(screens)('fits $on, in both themes', async (screen) => {
    const headers = {
      authorization: `Basic ${Buffer.from('ada:correct horse battery').toString('base64')}`,
      'content-type': 'application/json',
    };
    const preset = {
      type: 'custom',
      instanceId: 'a1',
      enabled: true,
      options: { name: 'Alpha', manifestUrl: upstream.manifestUrl },
    };
    const config = {
      addonName: 'Living room',
      presets: [preset],
      services: [{ id: 'torbox', enabled: true, credentials: { apiKey: 'TBKEY' } }],
      formatter: { id: 'gdrive' },
      sortCriteria: { global: [{ key: 'cached' }] },
      excludedQualities: ['HDTV'],
    };
    const made = await fetch(`${host.url('control')}/api/addons/profiles`, {
      method: 'POST',
      headers,
      body: JSON.stringify({ config }),
    });
    const { uuid } = (await made.json()) as { uuid: string };
    await using watched = await visit(`/addons/configurations/${uuid}`, screen);
    const { page } = watched;
    await page.getByText('It works, and has stream.').waitFor();
    await page.getByRole('button', { name: 'Look' }).click();
    await page.getByText(/5 shown/).waitFor();
    await expectFits(watched, 'addons-configuration', screen);
    await page.goto(`${host.url('control')}/addons`);
    await page.getByText('Alpha, with TorBox').waitFor();
    await expectFits(watched, 'addons', screen);
  });
});

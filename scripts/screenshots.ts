// Takes the screenshots of the documentation: the sample data of `npm run household` in Chromium.
import { spawnSync } from 'node:child_process';
import { mkdir, rm } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import type { Browser } from 'playwright-core';
import { pages } from '../renderer/src/pages/index.ts';
import { openHousehold } from '../test/household/household.ts';
import { launchBrowser, openPage, signIn, type PageOptions } from '../test/support/browser.ts';
import { api, inbox } from '../test/support/api.ts';
import type { TestHost } from '../test/support/host.ts';

const folder = fileURLToPath(new URL('../docs/screenshots', import.meta.url));
const built = process.env['HOMEPORT_TEST_PAGES'];
const wide = { width: 1440, height: 900 };
const phone = { width: 360, height: 740, touch: true };

async function takeScreenshot(
  browser: Browser,
  host: TestHost,
  path: string,
  name: string,
  options: PageOptions & { readonly keys?: string },
): Promise<void> {
  await using visit = await openPage(browser, options);
  const { page } = visit;
  await signIn(page.context(), host.url('control'));
  await page.goto(host.url('control') + path);
  await page.getByRole('heading', { level: 1 }).waitFor();
  await page.getByRole('status', { name: /^Loading / }).waitFor({ state: 'detached' });
  if (options.keys !== undefined) {
    await page.keyboard.press(options.keys);
    await page.getByRole('combobox', { name: 'What do you want to do?' }).waitFor();
  }
  await page.evaluate(() => document.fonts.ready.then(() => undefined));
  // Images below the visible area load when they are scrolled into view.
  await page.waitForFunction(() =>
    [...document.images].every((image) => image.naturalWidth > 0 || image.getBoundingClientRect().top > innerHeight),
  );
  const file = `${name}-${options.width === phone.width ? 'phone' : 'wide'}-${options.dark ? 'dark' : 'light'}.png`;
  await page.screenshot({ path: `${folder}/${file}` });
  console.log(`docs/screenshots/${file}`);
}

/** Returns one detail page of each service. */
async function getDetailPages(host: TestHost): Promise<readonly (readonly [name: string, path: string])[]> {
  const ask = <T>(path: string): Promise<T> => api<T>(host.url('control'), `/api${path}`);
  const [{ items: monitors }, { tasks }, { profiles }, rows] = await Promise.all([
    ask<{ items: { id: number; name: string }[] }>('/uptime/monitors'),
    ask<{ tasks: { id: number; name: string }[] }>('/sync'),
    ask<{ profiles: { uuid: string; name: string }[] }>('/addons/profiles'),
    inbox(host.url('control')),
  ]);
  const getByPrefix = <T extends { readonly name: string }>(list: readonly T[], prefix: string): T => {
    const item = list.find(({ name }) => name.startsWith(prefix));
    if (item === undefined) throw new Error(`the household has no ${prefix}`);
    return item;
  };
  const message = rows.find(({ title }) => title === 'Updates are ready');
  return [
    ['message', `/inbox/messages/${String(message?.id)}`],
    ['topic', '/push/topics/nas-info-backup'],
    ['destinations', '/delivery/keys/house'],
    ['monitor', `/uptime/monitors/${String(getByPrefix(monitors, 'Papers').id)}`],
    ['saved-sync', `/sync/syncs/${String(getByPrefix(tasks, 'Photos').id)}`],
    ['repository', '/git/repositories/ada~lamp'],
    ['pull-request', '/git/repositories/ada~lamp?show=pulls&number=5'],
    ['table', '/data/tables/public.plants/'],
    ['configuration', `/addons/configurations/${getByPrefix(profiles, 'Living room').uuid}`],
    ['downloads-statistics', '/downloads/statistics'],
  ];
}

await using host = await openHousehold({ portsAbove: 0, ...(built ? { pages: built } : {}) });
// Deletes screenshots of removed pages as well.
await rm(folder, { recursive: true, force: true });
await mkdir(folder, { recursive: true });
const browser = await launchBrowser('whole');
try {
  for (const { path: at, group } of pages) {
    // The log and the paths of engines and backups reveal details of this computer.
    if (group === 'hidden' || ['settings/log', 'settings/engines', 'settings/backup'].includes(at)) continue;
    const name = at === '' ? 'home' : at.replaceAll('/', '-');
    for (const dark of [false, true]) await takeScreenshot(browser, host, `/${at}`, name, { ...wide, dark });
  }
  for (const [name, path] of await getDetailPages(host)) await takeScreenshot(browser, host, path, name, wide);
  for (const dark of [false, true]) {
    for (const [name, path] of [
      ['home', '/'],
      ['inbox', '/inbox'],
      ['downloads', '/downloads'],
      ['push', '/push'],
    ] as const)
      await takeScreenshot(browser, host, path, name, { ...phone, dark });
  }
  await takeScreenshot(browser, host, '/', 'commands', { ...wide, keys: 'Control+k' });
} finally {
  await browser.close();
}

// The first steps of a new user, shown in the guide.
const walk = spawnSync('vitest', ['run', 'test/e2e/new-user.test.ts'], {
  stdio: 'inherit',
  env: { ...process.env, HOMEPORT_WALK_PICTURES: folder },
});
process.exitCode = walk.status ?? 1;

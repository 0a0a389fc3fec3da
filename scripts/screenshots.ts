// Photographs the pages for the documentation: the whole app with sample messages and downloads, in Chromium.
import { spawnSync } from 'node:child_process';
import { mkdir, rm } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import type { Browser } from 'playwright-core';
import { registry } from '../main/host/services/registry.ts';
import { pages } from '../renderer/src/pages/index.ts';
import type { ServiceDescriptor } from '../services/contracts/service.ts';
import { launchBrowser, openPage, signIn, type PageOptions } from '../test/support/browser.ts';
import { adminAuthorization, openTestHost, type TestHost } from '../test/support/host.ts';
import { furnish } from '../test/renderer/furnish.ts';
import { MemoryDownloads, MemoryInbox } from '../test/renderer/memory-services.ts';

const folder = fileURLToPath(new URL('../docs/screenshots', import.meta.url));
const built = process.env['HOMEPORT_TEST_PAGES'];
const wide = { width: 1440, height: 900 };
const phone = { width: 360, height: 740, touch: true };

/** The real service's name, port and place in the list, around sample rows. */
function sample(memory: ServiceDescriptor): ServiceDescriptor[] {
  const real = registry.find(({ id }) => id === memory.id);
  return real ? [{ ...memory, title: real.title, summary: real.summary }] : [];
}

async function photograph(
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
  await page.getByRole('status', { name: /^Reading / }).waitFor({ state: 'detached' });
  if (options.keys !== undefined) {
    await page.keyboard.press(options.keys);
    await page.getByRole('combobox', { name: 'What do you want to do?' }).waitFor();
  }
  await page.evaluate(() => document.fonts.ready.then(() => undefined));
  const file = `${name}-${options.width === phone.width ? 'phone' : 'wide'}-${options.dark ? 'dark' : 'light'}.png`;
  await page.screenshot({ path: `${folder}/${file}` });
  console.log(`docs/screenshots/${file}`);
}

const [inbox, downloads] = [new MemoryInbox(), new MemoryDownloads()];
furnish({ inbox, downloads });
const samples = [...sample(inbox.descriptor), ...sample(downloads.descriptor)];
const services = registry.map((each) => samples.find(({ id }) => id === each.id) ?? each);
const ports = registry.flatMap(({ id, listeners: [main] = [] }) =>
  main === undefined ? [] : [[`HOMEPORT_PORT_${id.toUpperCase()}`, String(main.port)] as const],
);

// Pictures of pages that are gone go, too.
await rm(folder, { recursive: true, force: true });
await mkdir(folder, { recursive: true });
await using host = await openTestHost({
  services,
  environment: Object.fromEntries(ports),
  ...(built ? { pages: built } : {}),
});
for (const [topic, priority, title, message] of [
  ['nas-info-backup', '3', 'Backup finished', 'All 3 volumes were saved.'],
  ['nas-error-disk', '5', 'Disk failing', 'sdb: 12 sectors are pending.'],
  ['door-info-bell', '4', 'Somebody rings', 'Front door, 14:02'],
  ['garden-info-water', '2', '', 'The tank is three quarters full.'],
] as const) {
  const headers = { Authorization: adminAuthorization, 'X-Priority': priority, 'X-Title': title };
  await fetch(`${host.url('push')}/${topic}`, { method: 'POST', body: message, headers });
}
for (const title of ['Solar: 12 kWh today', 'The washing machine is done'])
  await fetch(`${host.url('notify')}/notify/aggregator`, {
    method: 'POST',
    body: new URLSearchParams({ title, body: title }),
  });
const browser = await launchBrowser('whole');
try {
  for (const { at, group } of pages) {
    // The log and the paths of engines and backups tell of the machine it was taken on.
    if (group === 'hidden' || ['settings/log', 'settings/engines', 'settings/backup'].includes(at)) continue;
    const name = at === '' ? 'home' : at.replaceAll('/', '-');
    for (const dark of [false, true]) await photograph(browser, host, `/${at}`, name, { ...wide, dark });
  }
  const newest = String(inbox.items[0]?.id);
  for (const dark of [false, true]) {
    await photograph(browser, host, `/inbox/messages/${newest}`, 'message', { ...wide, dark });
    await photograph(browser, host, '/', 'home', { ...phone, dark });
    await photograph(browser, host, '/inbox', 'inbox', { ...phone, dark });
    await photograph(browser, host, '/downloads', 'downloads', { ...phone, dark });
  }
  await photograph(browser, host, '/', 'commands', { ...wide, keys: 'Control+k' });
} finally {
  await browser.close();
}

// The walk of a new user, whose pictures the guide shows.
const walk = spawnSync('vitest', ['run', 'test/e2e/new-user.test.ts'], {
  stdio: 'inherit',
  env: { ...process.env, HOMEPORT_WALK_PICTURES: folder },
});
process.exitCode = walk.status ?? 1;

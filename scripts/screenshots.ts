// Takes the screenshots of the documentation: the sample data of `npm run household` in Chromium, as WebP. Arguments select
// the sets: `guides`, a language such as `de`, and `first-start`; without arguments, all are taken.
import { spawnSync } from 'node:child_process';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Browser, Page } from 'playwright-core';
import { languages } from '../messages/generated/languages.ts';
import { sourceLanguage } from '../messages/language.ts';
import { getGuidePages, getLanguagePages, type ScreenshotPage } from '../test/household/screenshot-pages.ts';
import { openHousehold } from '../test/household/household.ts';
import { launchBrowser, openPage, signIn, takeWebp, type PageOptions } from '../test/support/browser.ts';
import type { TestHost } from '../test/support/host.ts';

const folder = fileURLToPath(new URL('../docs/screenshots', import.meta.url));
const built = process.env['HOMEPORT_TEST_PAGES'];
const wide = { width: 1440, height: 900 };
const phone = { width: 360, height: 740, touch: true };

/** Waits until a page shows its data, its fonts and the images in its visible area. */
async function untilComplete(page: Page): Promise<void> {
  await page.getByRole('heading', { level: 1 }).first().waitFor();
  await page.waitForFunction(() => document.querySelector('main [aria-busy="true"]') === null);
  await page.evaluate(() => document.fonts.ready.then(() => undefined));
  // The number of unread messages arrives after the page; the household always has some.
  await page.locator('nav .count').waitFor();
  // Images below the visible area load when they are scrolled into view.
  await page.waitForFunction(() =>
    [...document.images].every((image) => image.naturalWidth > 0 || image.getBoundingClientRect().top > innerHeight),
  );
}

/** Takes one screenshot of each page in a window. The names of the files end with the kind of window. */
async function takeScreenshots(
  browser: Browser,
  host: TestHost,
  set: { readonly pages: readonly ScreenshotPage[]; readonly name: string; readonly language: string },
  window: PageOptions,
): Promise<void> {
  await using visit = await openPage(browser, window);
  const { page } = visit;
  await signIn(page.context(), host.url('control'));
  await page.addInitScript((choice) => localStorage.setItem('homeport.language', choice), set.language);
  for (const { name, path, dark = false } of set.pages) {
    await page.emulateMedia({ colorScheme: dark ? 'dark' : 'light' });
    await page.goto(host.url('control') + path);
    await untilComplete(page);
    const file = join(set.name, `${name}-${window.width === phone.width ? 'phone' : 'wide'}.webp`);
    await mkdir(dirname(join(folder, file)), { recursive: true });
    await writeFile(join(folder, file), await takeWebp(page));
    console.log(`docs/screenshots/${file}`);
  }
}

/** Takes the screenshots of a household whose notifications and pages have one language. */
async function takeHousehold(browser: Browser, language: string, isSelected: (set: string) => boolean): Promise<void> {
  const hasGuides = language === sourceLanguage && isSelected('guides');
  if (!hasGuides && !isSelected(language)) return;
  await using host = await openHousehold({ portsAbove: 0, language, ...(built ? { pages: built } : {}) });
  if (isSelected(language)) {
    await rm(join(folder, language), { recursive: true, force: true });
    for (const window of [wide, phone])
      await takeScreenshots(browser, host, { pages: getLanguagePages(), name: language, language }, window);
  }
  if (!hasGuides) return;
  await rm(join(folder, 'guides'), { recursive: true, force: true });
  const pages = await getGuidePages(host);
  await takeScreenshots(browser, host, { pages, name: 'guides', language }, wide);
}

const selected = process.argv.slice(2);
const isSelected = (set: string): boolean => selected.length === 0 || selected.includes(set);
const browser = await launchBrowser('whole');
try {
  for (const language of languages) await takeHousehold(browser, language, isSelected);
} finally {
  await browser.close();
}

if (isSelected('first-start')) {
  // The first steps of a new user, shown in the guide.
  const walk = spawnSync('vitest', ['run', 'test/e2e/new-user.test.ts'], {
    stdio: 'inherit',
    env: { ...process.env, HOMEPORT_WALK_PICTURES: join(folder, 'first-start') },
  });
  process.exitCode = walk.status ?? 1;
}

import type { Page } from 'playwright-core';
import { beforeAll, describe, expect, it } from 'vitest';
import { languages } from '../../messages/generated/languages.ts';
import { pseudoLanguages } from '../../messages/pseudo-language.ts';
import { pages } from '../../renderer/src/pages/index.ts';
import { getDetailPages } from '../household/detail-pages.ts';
import { getBrowser, openPage, signIn } from '../support/browser.ts';
import type { TestHost } from '../support/host.ts';

const visiblePaths = pages.filter(({ group }) => group !== 'hidden').map(({ path }) => `/${path}`);

const screens = [
  { width: 360, height: 740, touch: true },
  { width: 1440, height: 900, touch: false },
] as const;

/** Opens a page of the app without loading the document, and waits until its data are shown. */
export async function openPath(page: Page, path: string): Promise<void> {
  await page.evaluate((target) => {
    history.pushState(null, '', target);
    dispatchEvent(new PopStateEvent('popstate'));
  }, path);
  await page.getByRole('heading', { level: 1 }).first().waitFor();
  // A page that takes longer to load shows a skeleton after a moment; two frames later it is there.
  await page.evaluate(() => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve))));
  await page.waitForFunction(() => document.querySelector('main [aria-busy="true"]') === null);
}

/** Returns controls and headings whose text is cut off, and whether the page is wider than its window. */
function findLayoutFaults(page: Page): Promise<readonly string[]> {
  return page.evaluate(() => {
    const faults: string[] = [];
    const excess = document.documentElement.scrollWidth - innerWidth;
    if (excess > 0) faults.push(`the page is ${String(excess)} px wider than the window`);
    for (const element of document.querySelectorAll<HTMLElement>('button, [role=tab], a, th, label, h1, h2, h3')) {
      const { overflowX, textOverflow } = getComputedStyle(element);
      const isCut = overflowX !== 'visible' && textOverflow === 'clip' && element.scrollWidth > element.clientWidth + 1;
      const hidden = element.clientWidth <= 1 || element.closest('[hidden]') !== null;
      if (isCut && !hidden) faults.push(`cut off: ${element.tagName} ${element.innerText.slice(0, 60)}`);
    }
    return faults;
  });
}

/**
 * Defines tests that show all pages in the languages of the catalogs and in the pseudo-languages. The pages are opened
 * without loading the document again, because that takes most of the time.
 */
export function testPageLanguages(getHost: () => TestHost): void {
  const translated = languages.filter((language) => language !== 'en');
  const looks = [
    ...pseudoLanguages.flatMap((language) => screens.map((screen) => ({ language, ...screen }))),
    ...translated.map((language) => ({ language, ...screens[0] })),
  ];
  describe('in other languages', () => {
    let paths: readonly string[] = [];
    beforeAll(async () => {
      // The household of these tests has no downloads.
      const details = (await getDetailPages(getHost())).filter(([name]) => name !== 'downloads-statistics');
      paths = [...visiblePaths, ...details.map(([, path]) => path)];
    });

    it.each(looks)('all pages in $language fit a window of $width px', async ({ language, ...screen }) => {
      await using visit = await openPage(await getBrowser(), screen);
      const { page, complaints } = visit;
      await signIn(page.context(), getHost().url('control'));
      await page.addInitScript((choice) => localStorage.setItem('homeport.language', choice), language);
      await page.goto(getHost().url('control'));
      const faults: Record<string, readonly string[]> = {};
      for (const path of paths) {
        await openPath(page, path);
        const found = await findLayoutFaults(page);
        if (found.length > 0) faults[path] = found;
      }
      expect(faults).toEqual({});
      expect(complaints).toEqual([]);
      expect(await page.evaluate(() => document.documentElement.lang)).toBe(language);
      expect(await page.evaluate(() => document.documentElement.dir)).toBe(language === 'ar-XB' ? 'rtl' : 'ltr');
    });
  });
}

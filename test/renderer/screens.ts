import type { Page } from 'playwright-core';
import { within } from '../support/hangs.ts';

interface Look {
  readonly width: number;
  readonly height: number;
  readonly dark: boolean;
}

/**
 * What a page is opened on, and the windows (px) and themes in which it must fit there. It is loaded once for all of them:
 * loading is most of what a look costs.
 */
export const screens = [
  {
    on: 'a phone',
    width: 360,
    height: 740,
    dark: false,
    touch: true,
    others: [{ width: 360, height: 740, dark: true }],
  },
  {
    on: 'a desk',
    width: 1440,
    height: 900,
    dark: false,
    touch: false,
    others: [
      { width: 1440, height: 900, dark: true },
      { width: 768, height: 900, dark: true },
      { width: 768, height: 900, dark: false },
    ],
  },
] as const;

/** Shows a page that was opened on a screen in each of its windows and themes, and then as it was. */
export async function eachLook(
  page: Page,
  screen: (typeof screens)[number],
  check: (look: Look) => Promise<void>,
): Promise<void> {
  await check(screen);
  for (const look of screen.others) {
    await show(page, look);
    await check(look);
  }
  await show(page, screen);
}

async function show(page: Page, { width, height, dark }: Look): Promise<void> {
  const look = `${page.url()} at ${String(width)} px, ${dark ? 'dark' : 'light'}`;
  await within(`${look} is sized`, page.setViewportSize({ width, height }));
  await within(`${look} takes its theme`, page.emulateMedia({ colorScheme: dark ? 'dark' : 'light' }));
  // What looks at its own size is told in a frame, and draws itself anew in the next.
  const drawn = page.evaluate(
    () => new Promise<void>((resolve) => requestAnimationFrame(() => requestAnimationFrame(() => resolve()))),
  );
  await within(`${look} is drawn`, drawn);
}

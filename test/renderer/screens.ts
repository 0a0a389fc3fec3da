import type { Page } from 'playwright-core';
import { within } from '../support/browser-timeouts.ts';

interface Look {
  readonly width: number;
  readonly height: number;
  readonly dark: boolean;
}

/**
 * Devices with the window sizes (px) and themes in which pages must fit. A page is loaded once for all of them,
 * because loading takes most of the time.
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

/** Shows a page in each window and theme of its screen, and restores it afterwards. */
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
  // A ResizeObserver runs in one frame, and the element is rendered in the next.
  const drawn = page.evaluate(
    () => new Promise<void>((resolve) => requestAnimationFrame(() => requestAnimationFrame(() => resolve()))),
  );
  await within(`${look} is drawn`, drawn);
}

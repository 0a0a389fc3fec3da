import { existsSync } from 'node:fs';
import { chromium, type Browser, type BrowserContext, type BrowserContextOptions, type Page } from 'playwright-core';
import { within } from './browser-timeouts.ts';
import { admin } from './host.ts';

const chosen = process.env['CHROMIUM'];
const chromiumPath = chosen ?? '/usr/bin/chromium';
/** Chromium's engine without windows, menus and profiles; it takes two thirds of the time when two run. */
const engine = chosen ?? '/usr/bin/chromium-headless-shell';

/**
 * Why no browser test can run here, or undefined. On a developer's machine without Chromium they are skipped; where `CI` is
 * set a missing browser is a failure.
 */
export const noBrowser: string | undefined =
  existsSync(chromiumPath) || process.env['CI'] !== undefined
    ? undefined
    : `There is no Chromium at ${chromiumPath}; set CHROMIUM to its path.`;

export type BrowserKind = 'engine' | 'whole';

/**
 * Chromium without a window, and without its own traffic. Pages are drawn and run by the same engine in both; what belongs
 * to the browser around them (notifications, installing, playing what it has codecs for) is tested with the whole one, as
 * all is where no other is installed.
 */
export async function launchBrowser(
  kind: BrowserKind = 'engine',
  further: readonly string[] = [],
  wrap: (executable: string) => string = (executable) => executable,
): Promise<Browser> {
  const root = process.getuid?.() === 0;
  return chromium.launch({
    executablePath: wrap(kind === 'engine' && existsSync(engine) ? engine : chromiumPath),
    args: [
      // Chromium's sandbox does not start as root, which is what containers run tests as.
      ...(root ? ['--no-sandbox'] : []),
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
      '--no-first-run',
      '--disable-gpu',
      '--disable-quic',
      '--disable-dev-shm-usage',
      ...further,
    ],
  });
}

const launched = new Map<BrowserKind, Promise<Browser>>();

/** Returns the browser of this process, which ends with it; each page has a separate profile. */
export function theBrowser(kind: BrowserKind = 'engine'): Promise<Browser> {
  const browser = launched.get(kind) ?? launchBrowser(kind);
  launched.set(kind, browser);
  return browser;
}

/** Shorter than a test's own limit: the error then names the line that waited. */
const pageTimeoutMs = 180_000;

/** Opens a new profile; all its pages, including popups, have time limits of minutes, which only detect hangs. */
export async function openProfile(browser: Browser, options: BrowserContextOptions = {}): Promise<BrowserContext> {
  const context = await browser.newContext(options);
  context.setDefaultTimeout(pageTimeoutMs);
  return context;
}

export interface PageOptions {
  readonly width?: number;
  readonly height?: number;
  readonly dark?: boolean;
  readonly touch?: boolean;
}

export interface WatchedPage extends AsyncDisposable {
  readonly page: Page;
  /** Errors and warnings of the console, uncaught exceptions and violations of the content security policy, in order. */
  readonly complaints: readonly string[];
}

/** A page of a fresh profile that notes everything the browser complains about. */
export async function openPage(browser: Browser, options: PageOptions = {}): Promise<WatchedPage> {
  const { width = 1280, height = 800, dark = false, touch = false } = options;
  const context = await openProfile(browser, {
    viewport: { width, height },
    colorScheme: dark ? 'dark' : 'light',
    reducedMotion: 'reduce',
    hasTouch: touch,
    locale: 'en-GB',
  });
  const page = await context.newPage();
  const complaints: string[] = [];
  page.on('console', (message) => {
    // Another test lays a network between two machines: the browser drops what it was loading, also from this one.
    if (message.text().includes('net::ERR_NETWORK_CHANGED')) return;
    if (message.type() !== 'error' && message.type() !== 'warning') return;
    // The address of a failed request is in the location of the message, not in its text.
    const suffix = message.text().startsWith('Failed to load resource') ? ` ${message.location().url}` : '';
    complaints.push(message.text() + suffix);
  });
  page.on('pageerror', (error) => complaints.push(error.message));
  return { page, complaints, [Symbol.asyncDispose]: () => closed(context) };
}

/** A profile that does not close is left to the end of its browser: what the test found is what counts. */
async function closed(context: BrowserContext): Promise<void> {
  await within('a profile is closed', context.close()).catch((error: unknown) => console.warn(error));
}

/** Gives the browser a session, as the sign-in page would. */
export async function signIn(
  context: BrowserContext,
  url: string,
  who: { readonly name: string; readonly password: string } = admin,
): Promise<void> {
  const answer = await context.request.post(`${url}/api/session`, { data: who });
  if (!answer.ok()) throw new Error(`sign-in failed with ${String(answer.status())}: ${await answer.text()}`);
  const { session } = (await answer.json()) as { session: string };
  // Once per tab, independent of the page: a signed-out tab stays signed out.
  await context.addInitScript((secret) => {
    if (location.protocol === 'about:' || sessionStorage.getItem('signed-in') === secret) return;
    sessionStorage.setItem('signed-in', secret);
    localStorage.setItem('homeport.session', secret);
  }, session);
}

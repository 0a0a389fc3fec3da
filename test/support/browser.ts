import { existsSync } from 'node:fs';
import { chromium, type Browser, type BrowserContext, type BrowserContextOptions, type Page } from 'playwright-core';
import { within } from './browser-timeouts.ts';
import { admin } from './host.ts';
import { chromiumPath, needs } from './requirements.ts';

needs('chromium');

/** `engine` is Chromium without windows, menus and profiles, which takes two thirds of the time when two run. */
const engine = process.env['CHROMIUM'] ?? '/usr/bin/chromium-headless-shell';

/**
 * Reason why browser tests cannot run; undefined if they can. Without Chromium they are skipped on a developer's
 * computer, and fail with `CI` set.
 */
export const noBrowser: string | undefined =
  existsSync(chromiumPath) || process.env['CI'] !== undefined
    ? undefined
    : `There is no Chromium at ${chromiumPath}; set CHROMIUM to its path.`;

export type BrowserKind = 'engine' | 'whole';

/**
 * Arguments of Chromium without a window and without background traffic. Pages are rendered by the same engine in both
 * kinds; features of the browser around them (notifications, installation, codecs) are tested with the complete
 * browser, which is also used where no other is installed.
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
      // Chromium's sandbox does not start as root, the user of tests in containers.
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
export function getBrowser(kind: BrowserKind = 'engine'): Promise<Browser> {
  const browser = launched.get(kind) ?? launchBrowser(kind);
  launched.set(kind, browser);
  return browser;
}

/**
 * Timeout in ms that is shorter than that of a test, so that the error names the waiting line. Dozens of changed texts
 * must not exceed the time of CI; a shorter timeout shows them even sooner.
 */
const pageTimeoutMs = Number(process.env['HOMEPORT_TEST_PAGE_TIMEOUT'] ?? 60_000);

/** Opens a new profile. All its pages, including popups, have time limits of minutes, which only detect hangs. */
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
  /** Allows service workers. Requests of their pages cannot be intercepted by the test. */
  readonly serviceWorkers?: boolean;
}

export interface WatchedPage extends AsyncDisposable {
  readonly page: Page;
  /** Errors and warnings of the console, uncaught exceptions and violations of the content security policy, in order. */
  readonly complaints: readonly string[];
}

/** Page of a new profile that records all errors and warnings of the browser. */
export async function openPage(browser: Browser, options: PageOptions = {}): Promise<WatchedPage> {
  const { width = 1280, height = 800, dark = false, touch = false, serviceWorkers = false } = options;
  const context = await openProfile(browser, {
    viewport: { width, height },
    colorScheme: dark ? 'dark' : 'light',
    reducedMotion: 'reduce',
    hasTouch: touch,
    serviceWorkers: serviceWorkers ? 'allow' : 'block',
    locale: 'en-GB',
  });
  const page = await context.newPage();
  const complaints: string[] = [];
  page.on('console', (message) => {
    // Another test creates a network between two computers: the browser aborts its requests, also those of this test.
    if (message.text().includes(networkChange)) return;
    if (message.text() === 'Service Worker registration blocked by Playwright') return;
    if (message.type() !== 'error' && message.type() !== 'warning') return;
    // The address of a failed request is in the location of the message, not in its text.
    const suffix = message.text().startsWith('Failed to load resource') ? ` ${message.location().url}` : '';
    complaints.push(message.text() + suffix);
  });
  page.on('pageerror', (error) => complaints.push(error.message));
  reloadAfterNetworkChange(page);
  return { page, complaints, [Symbol.asyncDispose]: () => waitForClose(context) };
}

/** Error of requests that Chromium aborts when an interface is added to the computer. */
const networkChange = 'net::ERR_NETWORK_CHANGED';

/**
 * Loads a page again that stays empty because Chromium aborted the requests for its scripts: another test created a
 * network between two computers while the page was opened.
 */
function reloadAfterNetworkChange(page: Page): void {
  let isReloading = false;
  const reload = async (): Promise<void> => {
    isReloading = true;
    await page.waitForLoadState('load');
    if ((await page.locator('h1').count()) === 0) await page.reload();
    isReloading = false;
  };
  page.on('requestfailed', (request) => {
    const isScript = request.resourceType() === 'script' && request.failure()?.errorText === networkChange;
    // The page may be closed meanwhile.
    if (isScript && !isReloading) void reload().catch(() => undefined);
  });
}

/** A profile that cannot be closed is closed with its browser, and does not fail the test. */
async function waitForClose(context: BrowserContext): Promise<void> {
  await within('a profile is closed', context.close()).catch((error: unknown) => console.warn(error));
}

/** Quality at which text stays sharp, and a page of 1440 px takes about 60 kB. */
const webpQuality = 75;

/** Takes a screenshot of the visible area as WebP, a third of the size of a PNG file. */
export async function takeWebp(page: Page): Promise<Buffer> {
  const client = await page.context().newCDPSession(page);
  const { data } = await client.send('Page.captureScreenshot', { format: 'webp', quality: webpQuality });
  await client.detach();
  return Buffer.from(data, 'base64');
}

/** Gives the browser a session, as the sign-in page would. */
export async function signIn(
  context: BrowserContext,
  url: string,
  account: { readonly name: string; readonly password: string } = admin,
): Promise<void> {
  const response = await context.request.post(`${url}/api/session`, { data: account });
  if (!response.ok()) throw new Error(`sign-in failed with ${String(response.status())}: ${await response.text()}`);
  const { session } = (await response.json()) as { session: string };
  // Once per tab, independent of the page: a signed-out tab stays signed out.
  await context.addInitScript((secret) => {
    if (location.protocol === 'about:' || sessionStorage.getItem('signed-in') === secret) return;
    sessionStorage.setItem('signed-in', secret);
    localStorage.setItem('homeport.session', secret);
  }, session);
}

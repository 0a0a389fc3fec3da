import type { Browser } from 'playwright-core';
import type { ServiceDescriptor } from '../../services/contracts/service.ts';
import { control } from '../../services/control/index.ts';
import {
  openPage,
  signIn,
  getBrowser,
  type BrowserKind,
  type PageOptions,
  type WatchedPage,
} from '../support/browser.ts';
import { openTestHost, type TestHost, type TestHostOptions } from '../support/host.ts';
import type { Cable } from './interruptible-proxy.ts';
import { MemoryDownloads, MemoryInbox, MoodyService } from './memory-services.ts';

/** The real host with its pages, and services that the test controls. */
export interface Pages extends AsyncDisposable {
  readonly host: TestHost;
  readonly url: string;
  readonly inbox: MemoryInbox;
  readonly downloads: MemoryDownloads;
  readonly moody: MoodyService;
  readonly browser: Browser;
  /** Opens a page, signed in by default. */
  visit(
    path: string,
    options?: PageOptions & {
      readonly signedIn?: boolean;
      readonly through?: Cable;
      /** Runs in the page before its own code. */
      readonly before?: () => void;
    },
  ): Promise<WatchedPage>;
}

export async function openPages(
  options: TestHostOptions & {
    readonly moody?: MoodyService;
    readonly browser?: BrowserKind;
    /** Further running services, whose routes the test defines. */
    readonly also?: readonly ServiceDescriptor[];
  } = {},
): Promise<Pages> {
  const open = new AsyncDisposableStack();
  const [inbox, downloads, moody] = [new MemoryInbox(), new MemoryDownloads(), options.moody ?? new MoodyService()];
  const also = options.also ?? [];
  const services = [downloads.descriptor, moody.descriptor, inbox.descriptor, ...also, control];
  // Pages of another build, so that several builds can be tested at the same time.
  const built = process.env['HOMEPORT_TEST_PAGES'];
  const host = open.use(await openTestHost({ services, ...(built ? { pages: built } : {}), ...options }));
  const browser = await getBrowser(options.browser ?? 'engine');
  const url = host.url('control');
  return {
    host,
    url,
    inbox,
    downloads,
    moody,
    browser,
    async visit(path, { signedIn = true, through, before, ...size } = {}) {
      const browserPage = await openPage(browser, size);
      if (before !== undefined) await browserPage.page.addInitScript(before);
      if (signedIn) await signIn(browserPage.page.context(), url);
      await browserPage.page.goto(`${through?.url ?? url}${path}`);
      return browserPage;
    },
    [Symbol.asyncDispose]: () => open.disposeAsync(),
  };
}

/** Leaves out console messages about requests that a test fails on purpose. */
export function besidesRefusals(pageErrors: readonly string[]): readonly string[] {
  return pageErrors.filter((line) => !line.startsWith('Failed to load resource'));
}

import type { Page } from 'playwright-core';
import { control } from '../../services/control/index.ts';
import { inbox } from '../../services/inbox/index.ts';
import { mail } from '../../services/mail/index.ts';
import { notify } from '../../services/notify/index.ts';
import { push } from '../../services/push/index.ts';
import { api } from '../support/api.ts';
import { openPage, getBrowser, type PageOptions, type WatchedPage, signIn } from '../support/browser.ts';
import { openTestHost, type TestHost } from '../support/host.ts';

/** Pages of the real services that send and receive notifications. */
export interface RealServices extends AsyncDisposable {
  readonly host: TestHost;
  visit(path: string, options?: PageOptions & { readonly clipboard?: true }): Promise<WatchedPage>;
  /** Calls the app API with a session. */
  ask(method: string, path: string, body?: unknown): Promise<any>;
  /** Posts a notification to a key, as a program does. */
  post(key: string, title: string): Promise<Response>;
}

export async function openRealServices(environment: Readonly<Record<string, string>> = {}): Promise<RealServices> {
  const open = new AsyncDisposableStack();
  const built = process.env['HOMEPORT_TEST_PAGES'];
  const services = [notify, push, mail, inbox, control];
  const host = open.use(await openTestHost({ services, environment, ...(built ? { pages: built } : {}) }));
  const browser = await getBrowser();
  const url = host.url('control');
  return {
    host,
    async visit(path, { clipboard, ...options } = {}) {
      const browserPage = await openPage(browser, options);
      if (clipboard) await browserPage.page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
      await signIn(browserPage.page.context(), url);
      await browserPage.page.goto(`${url}${path}`);
      return browserPage;
    },
    ask: (method, path, body) =>
      api(url, `/api${path}`, { method, ...(body === undefined ? {} : { body: JSON.stringify(body) }) }),
    post: (key, title) =>
      fetch(`${host.url('notify')}/notify/${key}`, { method: 'POST', body: new URLSearchParams({ title, body: 'x' }) }),
    [Symbol.asyncDispose]: () => open.disposeAsync(),
  };
}

/** Drops a text file on an element, as from a folder. */
export async function dropText(page: Page, selector: string, name: string, text: string): Promise<void> {
  const transfer = await page.evaluateHandle(
    ([file, content]) => {
      const transfer = new DataTransfer();
      transfer.items.add(new File([content], file));
      return transfer;
    },
    [name, text] as const,
  );
  await page.dispatchEvent(selector, 'drop', { dataTransfer: transfer });
}

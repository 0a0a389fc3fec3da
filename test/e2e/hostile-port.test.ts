import * as frameMessages from '#messages/frame';
import * as gatewayTexts from '#messages/gateway-texts';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { BrowserContext, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { noBrowser } from '../support/browser.ts';
import { admin } from '../support/host.ts';
import { openPages, type Pages } from '../renderer/visit.ts';

/** Another server on this computer that the user's browser visits: browsers send cookies to every port. */
describe.skipIf(noBrowser !== undefined)('a server on another port', () => {
  let pages: Pages;
  let server: Server;
  let answer: (request: IncomingMessage, response: ServerResponse) => void;
  const received: string[] = [];
  const address = () => `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`;

  beforeAll(async () => {
    pages = await openPages();
    server = createServer((request, response) => {
      received.push(`${request.url ?? ''}\n${request.rawHeaders.join('\n')}`);
      answer(request, response);
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
  });
  afterAll(async () => {
    server.close();
    await pages[Symbol.asyncDispose]();
  });

  const page = (_request: IncomingMessage, response: ServerResponse, headers: Record<string, string | string[]> = {}) =>
    void response
      .writeHead(200, { 'Content-Type': 'text/html', ...headers })
      .end('<!doctype html><title>Other</title>');

  /** Submits the form as a user does. */
  async function signIn(page: Page): Promise<string> {
    await page.getByLabel(gatewayTexts.name()).fill(admin.name);
    await page.getByLabel(gatewayTexts.password()).fill(admin.password);
    await page.getByRole('button', { name: gatewayTexts.signIn() }).click();
    await page.getByRole('heading', { level: 1, name: frameMessages.homeTitle() }).waitFor();
    return page.evaluate(() => localStorage.getItem('homeport.session') ?? '');
  }

  async function visitOther(context: BrowserContext): Promise<Page> {
    const other = await context.newPage();
    await other.goto(address());
    return other;
  }

  it('receives no cookie or header with a secret', async () => {
    answer = page;
    await using visit = await pages.visit('/', { signedIn: false });
    const secret = await signIn(visit.page);
    expect(secret).toMatch(/^[\w-]{43}$/);
    const other = await visitOther(visit.page.context());
    const replies = await other.evaluate(async (base) => {
      const tries = ['/api/session', '/api/services', '/api/events', '/api/account'].map(async (path) => {
        const response = await fetch(base + path, { credentials: 'include' }).catch(() => undefined);
        return response === undefined ? 'unreadable' : await response.text();
      });
      const frame = document.createElement('iframe');
      frame.src = base;
      document.body.append(frame);
      const loaded = new Promise((resolve) => (frame.onload = resolve));
      await loaded;
      let inside = 'nothing';
      try {
        inside = frame.contentWindow?.localStorage.getItem('homeport.session') ?? 'nothing';
      } catch {
        // The page has another origin.
      }
      return { tries: await Promise.all(tries), inside, own: localStorage.getItem('homeport.session') };
    }, pages.url);
    expect(replies).toEqual({ tries: Array(4).fill('unreadable'), inside: 'nothing', own: null });
    // From a page of ours, too: a link, a picture.
    await visit.page.evaluate((url) => void (new Image().src = url.replace('http:', 'https:')), `${address()}/picture`);
    expect(received.join('\n')).not.toContain(secret);
    expect(received.join('\n')).not.toMatch(/^cookie$/im);

    // Stolen cookies authenticate no request, in any place.
    const seen = [...new Set(received.join('\n').split('\n'))].filter((text) => text.length > 8);
    for (const value of seen) {
      const headers = { 'Homeport-Session': value, Cookie: value, Authorization: `Bearer ${value}` };
      const reply = await fetch(`${pages.url}/api/session`, { headers: { ...headers, Authorization: '' } });
      expect(await reply.json()).toMatchObject({ account: null });
    }
  });

  it('cannot sign out a browser with any number of cookies', async () => {
    await using visit = await pages.visit('/', { signedIn: false });
    await signIn(visit.page);
    for (const cookies of [
      ['homeport_session=', 'homeport-session=', 'homeport.session='].map((entry) => `${entry}; Max-Age=0; Path=/`),
      ['homeport_session', 'homeport-session', 'homeport.session'].map((name) => `${name}=${'A'.repeat(43)}; Path=/`),
      // More than any server takes.
      Array.from({ length: 60 }, (_, index) => `bomb${String(index)}=${'x'.repeat(4000)}; Path=/`),
    ]) {
      answer = (request, response) => page(request, response, { 'Set-Cookie': cookies });
      const other = await visitOther(visit.page.context());
      await other.close();
      const statuses: (number | undefined)[] = [];
      for (let attempt = 0; attempt < 2; attempt += 1)
        statuses.push((await visit.page.goto(`${pages.url}/`))?.status());
      // The first response reports that the request is too large; the second request contains no large cookies.
      expect(statuses).toEqual(cookies.length > 10 ? [431, 200] : [200, 200]);
      await visit.page.getByRole('heading', { level: 1, name: frameMessages.homeTitle() }).waitFor();
      expect(await visit.page.getByRole('button', { name: gatewayTexts.signIn() }).count()).toBe(0);
    }
  });

  it('does not interrupt pictures, files and live events of the shared session', async () => {
    answer = page;
    pages.downloads.set('harbour', { state: 'finished', filename: 'harbour.mp4', thumbnail: true });
    await using visit = await pages.visit('/downloads', { signedIn: false });
    await visit.page.getByLabel(gatewayTexts.name()).fill(admin.name);
    await visit.page.getByLabel(gatewayTexts.password()).fill(admin.password);
    await visit.page.getByRole('button', { name: gatewayTexts.signIn() }).click();
    const picture = visit.page.locator('.picture img').first();
    await picture.waitFor();
    await expect
      .poll(() => picture.getAttribute('src'))
      .toMatch(/^\/api\/linked\/v1\.[\w-]+\/api\/downloads\/harbour\/thumbnail$/);
    const source = `${pages.url}${(await picture.getAttribute('src')) ?? ''}`;
    expect((await fetch(source)).status).toBe(200);
    await expect.poll(() => picture.evaluate((image) => (image as HTMLImageElement).naturalWidth)).toBeGreaterThan(0);
    expect((await fetch(source.replace(/thumbnail$/, 'file'))).status).toBe(401);
    expect((await fetch(source.replace('/v1.', '/v1.A'))).status).toBe(401);
    const tab = await visit.page.context().newPage();
    await tab.goto(`${pages.url}/inbox`);
    pages.inbox.add({ title: 'The ferry is late' });
    await tab.getByText('The ferry is late').first().waitFor();
  });
});

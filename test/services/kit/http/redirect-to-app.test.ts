import * as kitTexts from '#messages/kit-texts';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { redirectToAppPage } from '../../../../services/kit/http/redirect-to-app.ts';
import { renderRichHtml } from '../../../../services/kit/rich-html.ts';

describe('redirectToAppPage', () => {
  let base: string | undefined;
  const pages = { forRequest: () => base, forMessages: () => base, serviceForMessages: () => undefined };
  const server = createServer((request, response) => {
    const target = { pages, path: '/downloads', headers: { Vary: 'Origin' } };
    if (!redirectToAppPage(request, response, target)) response.writeHead(406).end();
  });
  beforeAll(() => once(server.listen(0, '127.0.0.1'), 'listening'));
  afterAll(() => server.close());

  const send = (accept: string, language = 'en-GB,en;q=0.8') =>
    fetch(`http://127.0.0.1:${String((server.address() as AddressInfo).port)}/`, {
      headers: { accept, 'accept-language': language },
      redirect: 'manual',
    });

  it('explains in the language of the browser how to reach the app', async () => {
    base = undefined;
    const response = await send('text/html');
    const text = await response.text();

    expect([response.status, response.headers.get('vary')]).toEqual([404, 'Origin, Accept-Language']);
    expect(text).toContain('<html lang="en">');
    expect(text).toContain(`<h1>${kitTexts.noAddressTitle()}</h1>`);
    expect(text).toContain('<li>In <strong>Settings</strong>, set <strong>Public address</strong> to that name.</li>');
  });

  it('selects the first language of the browser that Homeport has', async () => {
    base = undefined;
    expect(await (await send('text/html', 'tlh, de-AT;q=0.9, en;q=0.5')).text()).toContain('<html lang="de">');
  });

  it('sends programs no page, and redirects where the app has an address', async () => {
    base = undefined;
    expect((await send('application/json')).status).toBe(406);
    base = 'https://nas.example';
    expect((await send('text/html')).headers.get('location')).toBe('https://nas.example/downloads');
  });
});

describe('renderRichHtml', () => {
  it('escapes texts, and leaves out tags without a renderer', () => {
    const parts = ['a < b ', { tag: 'code', children: ['<x>'] }, { tag: 'other', children: [' & more'] }];

    expect(renderRichHtml({ parts }, { code: (content) => `<code>${content}</code>` })).toBe(
      'a &lt; b <code>&lt;x&gt;</code> &amp; more',
    );
  });
});
